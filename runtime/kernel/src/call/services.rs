//! The services that a program provides to its tools, by type and by name.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// The services that a program provides to its tools: one value per type. Clones share them.
#[derive(Clone, Default)]
pub struct Services {
    values: Arc<BTreeMap<TypeId, Service>>,
    names: Arc<BTreeSet<String>>,
}

/// The name of a type, and an `Arc` of its value.
type Service = (&'static str, Arc<dyn Any + Send + Sync>);

impl Services {
    /// Adds a service, replacing any other of the same type.
    #[must_use]
    pub fn with<T: Send + Sync + ?Sized + 'static>(mut self, service: Arc<T>) -> Services {
        let entry = (std::any::type_name::<T>(), Arc::new(service) as Arc<dyn Any + Send + Sync>);
        Arc::make_mut(&mut self.values).insert(TypeId::of::<T>(), entry);
        self
    }

    /// Adds a service under a name that tools can require, replacing any other of the same type.
    #[must_use]
    pub fn with_named<T: Send + Sync + ?Sized + 'static>(mut self, name: &str, service: Arc<T>) -> Services {
        Arc::make_mut(&mut self.names).insert(normalized(name));
        self.with(service)
    }

    /// Whether there is a service that was added under this name, or whose type has it. `chat
    /// service` and `chat_service` both match a type or a trait `ChatService`.
    #[must_use]
    pub fn provides(&self, name: &str) -> bool {
        let name = normalized(name);
        self.names.contains(&name)
            || self.values.values().any(|(type_name, _)| normalized(base_name(type_name)) == name)
    }

    /// Merges these services with those of `base`. These take precedence if types are equal.
    pub(crate) fn over(&self, base: &Services) -> Services {
        if self.values.is_empty() {
            return base.clone();
        }
        let mut merged = base.clone();
        Arc::make_mut(&mut merged.values)
            .extend(self.values.iter().map(|(id, service)| (*id, service.clone())));
        if !self.names.is_empty() {
            Arc::make_mut(&mut merged.names).extend(self.names.iter().cloned());
        }
        merged
    }

    /// Returns the service of type `T`, if there is one.
    #[must_use]
    pub fn get<T: Send + Sync + ?Sized + 'static>(&self) -> Option<Arc<T>> {
        self.values.get(&TypeId::of::<T>())?.1.downcast_ref::<Arc<T>>().cloned()
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.values().map(|(name, _)| name)).finish()
    }
}

/// Returns the letters and digits of a name, in lower case.
fn normalized(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the name of a type without its modules and parameters.
fn base_name(type_name: &str) -> &str {
    let path = type_name.trim_start_matches("dyn ");
    let path = path.split(['<', ' ']).next().unwrap_or(path);
    path.rsplit("::").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_is_found_by_type() {
        trait Greets: Send + Sync {
            fn greet(&self) -> &'static str;
        }
        struct Polite;
        impl Greets for Polite {
            fn greet(&self) -> &'static str {
                "good day"
            }
        }
        let services = Services::default().with::<dyn Greets>(Arc::new(Polite)).with(Arc::new(5_u8));
        assert_eq!(services.get::<dyn Greets>().unwrap().greet(), "good day");
        assert_eq!(services.get::<u8>().as_deref(), Some(&5));
        assert!(services.get::<u16>().is_none());
    }

    #[test]
    fn service_is_provided_under_its_type_name_and_its_own() {
        trait ChatService: Send + Sync {}
        struct Room;
        impl ChatService for Room {}
        struct Pool<T>(T);
        let base = Services::default().with::<dyn ChatService>(Arc::new(Room));
        let call = Services::default().with_named("weather db", Arc::new(Pool(5_u8)));
        let merged = call.over(&base);
        for name in ["chat service", "chat_service", "ChatService", "weather db", "Weather DB", "pool"] {
            assert!(merged.provides(name), "{name}");
        }
        for missing in ["chat", "room", "service", "u8", "weather", ""] {
            assert!(!merged.provides(missing), "{missing}");
        }
        assert!(!base.provides("weather db") && call.provides("weather db"));
    }
}

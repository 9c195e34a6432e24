//! The services that a program provides to its tools, by type.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The services that a program provides to its tools: one value per type. Clones share them.
#[derive(Clone, Default)]
pub struct Services(Arc<BTreeMap<TypeId, Service>>);

/// The name of a type, and an `Arc` of its value.
type Service = (&'static str, Arc<dyn Any + Send + Sync>);

impl Services {
    /// Adds a service, replacing any other of the same type.
    #[must_use]
    pub fn with<T: Send + Sync + ?Sized + 'static>(mut self, service: Arc<T>) -> Services {
        let named = (std::any::type_name::<T>(), Arc::new(service) as Arc<dyn Any + Send + Sync>);
        Arc::make_mut(&mut self.0).insert(TypeId::of::<T>(), named);
        self
    }

    /// Merges these services with those of `base`; on equal types these win.
    pub(crate) fn over(&self, base: &Services) -> Services {
        if self.0.is_empty() {
            return base.clone();
        }
        let mut all = base.clone();
        Arc::make_mut(&mut all.0).extend(self.0.iter().map(|(id, service)| (*id, service.clone())));
        all
    }

    /// Returns the service of type `T`, if there is one.
    #[must_use]
    pub fn get<T: Send + Sync + ?Sized + 'static>(&self) -> Option<Arc<T>> {
        self.0.get(&TypeId::of::<T>())?.1.downcast_ref::<Arc<T>>().cloned()
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.values().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_found_by_its_type() {
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
}

//! A pointer that ends rustc's walk through types.

use std::fmt;
use std::ops::{Deref, DerefMut};

use serde_json::Value;

use super::json::{FromJson, JsonError, ToJson};

/// A `Box` in documents whose types nest very deeply.
///
/// rustc follows types through one another when it checks drops and `Send`, and gives up at a depth of 128 (its
/// recursion limit, in whatever crate uses the type). It does not follow this pointer. Made by `Link::from(value)`
/// or `value.into()`.
pub struct Link<T: 'static>(Box<dyn Holder<T> + Send + Sync>);

trait Holder<T> {
    fn get(&self) -> &T;
    fn get_mut(&mut self) -> &mut T;
    fn take(self: Box<Self>) -> T;
    fn copy(&self) -> Link<T>;
}

struct Held<T>(T);

impl<T: Clone + Send + Sync> Holder<T> for Held<T> {
    fn get(&self) -> &T {
        &self.0
    }

    fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }

    fn take(self: Box<Self>) -> T {
        self.0
    }

    fn copy(&self) -> Link<T> {
        Link::from(self.0.clone())
    }
}

impl<T> Link<T> {
    /// The value itself.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.0.take()
    }
}

impl<T: Clone + Send + Sync> From<T> for Link<T> {
    fn from(value: T) -> Self {
        Link(Box::new(Held(value)))
    }
}

impl<T> Deref for Link<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.get()
    }
}

impl<T> DerefMut for Link<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T> Clone for Link<T> {
    fn clone(&self) -> Self {
        self.0.copy()
    }
}

impl<T: fmt::Debug> fmt::Debug for Link<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Link<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ToJson> ToJson for Link<T> {
    fn to_json(&self) -> Value {
        (**self).to_json()
    }
}

impl<T: FromJson + Clone + Send + Sync> FromJson for Link<T> {
    fn from_json(value: Value) -> Result<Self, JsonError> {
        T::from_json(value).map(Link::from)
    }
}

impl<T: serde::Serialize> serde::Serialize for Link<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: serde::Deserialize<'de> + Clone + Send + Sync> serde::Deserialize<'de> for Link<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Link::from)
    }
}

#[cfg(test)]
mod tests {
    use super::Link;

    #[test]
    fn a_link_is_what_it_holds() {
        let mut link = Link::from(vec![1]);
        link.push(2);
        assert_eq!(link, Link::from(vec![1, 2]));
        assert_eq!(format!("{:?}", link.clone()), "[1, 2]");
        assert_eq!(link.into_inner(), [1, 2]);
    }
}

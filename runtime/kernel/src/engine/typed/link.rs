//! A pointer that stops rustc's recursion through types.

use std::fmt;
use std::ops::{Deref, DerefMut};

#[doc(hidden)]
pub use serde_json::Value;

use super::json::{FromJson, JsonError, ToJson};

/// A `Box` for documents whose types nest very deeply.
///
/// rustc follows types recursively when it checks drops and `Send`, and functions recursively when it generates code,
/// and stops with an error at a depth of 128 (the recursion limit of the crate that uses the type). It does not
/// follow this pointer: every operation on the value goes through a trait object. Create a link with
/// `Link::from(value)` or `value.into()`.
pub struct Link<T: 'static>(Box<dyn Holder<T> + Send + Sync>);

trait Holder<T> {
    fn get(&self) -> &T;
    fn get_mut(&mut self) -> &mut T;
    fn take(self: Box<Self>) -> T;
    fn copy(&self) -> Link<T>;
    fn debug(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    fn equals(&self, other: &T) -> bool;
    fn json(&self) -> Value;
}

/// The operations on a linked value. Generated types implement it.
pub trait Linkable: Clone + fmt::Debug + PartialEq + ToJson + Send + Sync {}

impl<T: Clone + fmt::Debug + PartialEq + ToJson + Send + Sync> Linkable for T {}

/// A type that links point to, read through a table of all such types of its module. rustc visits a static once, so
/// it does not follow readers that call each other recursively.
pub trait Linked: Linkable {
    /// Reads a value.
    ///
    /// # Errors
    ///
    /// The errors of [`FromJson::from_json`].
    fn read(value: Value) -> Result<Self, JsonError>
    where
        Self: Sized;
}

struct Inline<T>(T);

impl<T: Linkable> Holder<T> for Inline<T> {
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

    fn debug(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }

    fn equals(&self, other: &T) -> bool {
        self.0 == *other
    }

    fn json(&self) -> Value {
        self.0.to_json()
    }
}

impl<T> Link<T> {
    /// Returns the value itself.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.0.take()
    }
}

impl<T: Linkable> From<T> for Link<T> {
    fn from(value: T) -> Self {
        Link(Box::new(Inline(value)))
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

impl<T> fmt::Debug for Link<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.debug(f)
    }
}

impl<T> PartialEq for Link<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(other)
    }
}

impl<T> ToJson for Link<T> {
    fn to_json(&self) -> Value {
        self.0.json()
    }
}

impl<T: Linked> FromJson for Link<T> {
    fn from_json(value: Value) -> Result<Self, JsonError> {
        T::read(value).map(Link::from)
    }
}

impl<T> serde_core::Serialize for Link<T> {
    fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.json().serialize(serializer)
    }
}

impl<'de, T: Linked> serde_core::Deserialize<'de> for Link<T> {
    fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::json::deserialize(deserializer)
    }
}

/// Lets links point to generated types.
#[doc(hidden)]
#[macro_export]
macro_rules! __link {
    ($($type:ident)*) => {
        const _: () = {
            #[allow(non_snake_case, reason = "each field has the name of its type")]
            struct Readers {
                $($type: fn($crate::engine::typed::link::Value) -> ::core::result::Result<$type, $crate::engine::typed::JsonError>,)*
            }

            static READERS: Readers = Readers {
                $($type: <$type as $crate::engine::typed::FromJson>::from_json,)*
            };

            $(impl $crate::engine::typed::link::Linked for $type {
                fn read(
                    value: $crate::engine::typed::link::Value,
                ) -> ::core::result::Result<Self, $crate::engine::typed::JsonError> {
                    // Opaque, so that no optimization makes rustc follow the table.
                    (::core::hint::black_box(&READERS).$type)(value)
                }
            })*
        };
    };
}

#[cfg(test)]
mod tests {
    use super::Link;

    #[test]
    fn link_behaves_like_its_value() {
        let mut link = Link::from(vec![1_i64]);
        link.push(2);
        assert_eq!(link, Link::from(vec![1, 2]));
        assert_eq!(format!("{:?}", link.clone()), "[1, 2]");
        assert_eq!(link.into_inner(), [1, 2]);
    }
}

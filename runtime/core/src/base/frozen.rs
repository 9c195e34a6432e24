//! Data that is either compiled into the program or shared at run time.
//!
//! A tool is the same value in both cases: generated code contains it as a `static`, and dynamic loaders build it in
//! memory. [`Frozen`] is the pointer type for both. Unlike `Cow`, it is cheap to clone and can hold a recursive type
//! such as a schema.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

/// An immutable value that is either `'static` or shared.
#[doc(hidden)]
pub enum Frozen<T: ?Sized + 'static> {
    /// A static value.
    Static(&'static T),
    /// A value built at run time. Clones share it.
    Shared(Arc<T>),
}

/// A string of a tool: `Frozen::Static("…")` in generated code, `"…".into()` elsewhere.
#[doc(hidden)]
pub type Text = Frozen<str>;

/// A list of a tool: `Frozen::Static(&[…])` in generated code, `vec![…].into()` elsewhere.
#[doc(hidden)]
pub type List<T> = Frozen<[T]>;

impl Text {
    /// The empty string. It means “not set” where a string is optional.
    pub const EMPTY: Text = Frozen::Static("");

    /// Returns the string as a `&str`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self
    }
}

impl<T> List<T> {
    /// The empty list.
    pub const EMPTY: List<T> = Frozen::Static(&[]);
}

impl<T: ?Sized> Deref for Frozen<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Frozen::Static(value) => value,
            Frozen::Shared(value) => value,
        }
    }
}

impl<T: ?Sized> Clone for Frozen<T> {
    fn clone(&self) -> Self {
        match self {
            Frozen::Static(value) => Frozen::Static(value),
            Frozen::Shared(value) => Frozen::Shared(Arc::clone(value)),
        }
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Frozen<T> {
    fn eq(&self, other: &Self) -> bool {
        let (left, right): (&T, &T) = (self, other);
        std::ptr::eq(left, right) || left == right
    }
}

impl<T: ?Sized + Eq> Eq for Frozen<T> {}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Frozen<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Frozen<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Default for Text {
    fn default() -> Self {
        Text::EMPTY
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        List::EMPTY
    }
}

impl From<&'static str> for Text {
    fn from(text: &'static str) -> Self {
        Frozen::Static(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        if text.is_empty() { Text::EMPTY } else { Frozen::Shared(text.into()) }
    }
}

impl Text {
    /// Copies a string.
    #[must_use]
    pub fn copy_of(text: &str) -> Text {
        if text.is_empty() { Text::EMPTY } else { Frozen::Shared(text.into()) }
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        if items.is_empty() { List::EMPTY } else { Frozen::Shared(items.into()) }
    }
}

impl<T> From<T> for Frozen<T> {
    fn from(value: T) -> Self {
        Frozen::Shared(Arc::new(value))
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        items.into_iter().collect::<Vec<T>>().into()
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl<T: ?Sized + Serialize> Serialize for Frozen<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Text::from)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(List::from)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Frozen<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Frozen::from)
    }
}

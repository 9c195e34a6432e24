//! Converts the Rust types of generated code from and to JSON.
//!
//! Generated types do not derive serde: derived code takes the compiler five times as long as impls of the traits here
//! (measured: 1,000 structs of 8 fields take `cargo check` 10.9 s with serde's derives and 2.0 s with these), and
//! results arrive as JSON values anyway. `serde::Serialize` and `Deserialize` are implemented on top, so the types
//! work wherever serde's do.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};
use toolgen_core::internal::pointer;

use crate::base::json::to_integer;

pub mod build;
pub mod choice;
pub mod members;
#[cfg(test)]
mod tests;

/// Converts to a JSON value.
pub trait ToJson {
    /// Returns the value.
    fn to_json(&self) -> Value;

    /// Whether the value is omitted from an object in which it is optional.
    fn is_absent(&self) -> bool {
        false
    }
}

/// Converts from a JSON value.
///
/// The conversion is lenient, because real responses differ from their documents: unknown fields are ignored, and
/// `null` counts as absent if the type does not allow it.
pub trait FromJson: Sized {
    /// Converts the value.
    ///
    /// # Errors
    ///
    /// Returns the first location where the value does not match.
    fn from_json(value: Value) -> Result<Self, JsonError>;

    /// Returns the value of a missing field; `None` if the field is required.
    fn missing() -> Option<Self> {
        None
    }

    /// Whether the value does not depend on the JSON, so that the response need not be parsed.
    #[must_use]
    fn ignores_body() -> bool {
        false
    }

    /// Whether `null` is a value of the type, so that an optional field of it distinguishes `null` from absence.
    #[must_use]
    fn accepts_null() -> bool {
        false
    }
}

/// The location where a value does not match a type, and the reason.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonError {
    pointer: String,
    message: String,
}

impl JsonError {
    /// Creates an error for the value as a whole.
    #[must_use]
    pub fn new(message: impl Into<String>) -> JsonError {
        JsonError { pointer: String::new(), message: message.into() }
    }

    /// Creates an error for an unexpected type of value.
    #[must_use]
    pub fn expected(expected: &str, value: &Value) -> JsonError {
        let actual = match value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        JsonError::new(format!("expected {expected}, got {actual}"))
    }

    /// Returns the key of the outermost object that contains the value.
    #[doc(hidden)]
    pub fn first_key(&self) -> Option<String> {
        let first = self.pointer.strip_prefix('/')?.split('/').next()?;
        Some(pointer::token_of(first))
    }

    fn at(mut self, token: &str) -> JsonError {
        let mut pointer = String::new();
        pointer::push(&mut pointer, token);
        self.pointer.insert_str(0, &pointer);
        self
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{} at {}", self.message, self.pointer)
    }
}

toolgen_core::__readable_debug!(JsonError);

impl std::error::Error for JsonError {}

/// Builds an object from fields that are always present and fields that may be absent.
#[must_use]
pub fn object(always: &[(&str, &dyn ToJson)], optional: &[(&str, &dyn ToJson)]) -> Value {
    let mut map = Map::with_capacity(always.len() + optional.len());
    for (name, value) in always {
        map.insert((*name).to_owned(), value.to_json());
    }
    for (name, value) in optional {
        if !value.is_absent() {
            map.insert((*name).to_owned(), value.to_json());
        }
    }
    Value::Object(map)
}

/// Builds an object with additional fields.
#[must_use]
pub fn with_extra<T: ToJson>(mut object: Value, extra: &BTreeMap<String, T>) -> Value {
    if let Value::Object(map) = &mut object {
        for (name, value) in extra {
            map.entry(name.as_str()).or_insert_with(|| value.to_json());
        }
    }
    object
}

impl ToJson for Value {
    fn to_json(&self) -> Value {
        self.clone()
    }
}

impl FromJson for Value {
    fn from_json(value: Value) -> Result<Self, JsonError> {
        Ok(value)
    }

    fn missing() -> Option<Self> {
        Some(Value::Null)
    }

    fn accepts_null() -> bool {
        true
    }
}

/// A response without a body. A body that exists despite the document is ignored.
impl FromJson for () {
    fn from_json(_: Value) -> Result<Self, JsonError> {
        Ok(())
    }

    fn missing() -> Option<Self> {
        Some(())
    }

    fn ignores_body() -> bool {
        true
    }
}

impl ToJson for () {
    fn to_json(&self) -> Value {
        Value::Null
    }
}

impl ToJson for &str {
    fn to_json(&self) -> Value {
        Value::String((*self).to_owned())
    }
}

impl ToJson for String {
    fn to_json(&self) -> Value {
        Value::String(self.clone())
    }
}

impl FromJson for String {
    fn from_json(value: Value) -> Result<Self, JsonError> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(JsonError::expected("a string", &other)),
        }
    }
}

macro_rules! scalar {
    ($type:ty, $expected:literal, $value:ident => $read:expr) => {
        impl ToJson for $type {
            fn to_json(&self) -> Value {
                Value::from(*self)
            }
        }

        impl FromJson for $type {
            fn from_json($value: Value) -> Result<Self, JsonError> {
                $read.ok_or_else(|| JsonError::expected($expected, &$value))
            }
        }
    };
}

scalar!(bool, "a boolean", value => value.as_bool());
scalar!(f64, "a number", value => value.as_f64());
scalar!(i32, "a 32-bit integer", value => value.as_i64().or_else(|| to_integer(value.as_f64()?)).and_then(|n| i32::try_from(n).ok()));
scalar!(i64, "a 64-bit integer", value => value.as_i64().or_else(|| to_integer(value.as_f64()?)));
scalar!(u64, "a positive 64-bit integer", value => value.as_u64().or_else(|| u64::try_from(to_integer(value.as_f64()?)?).ok()));

impl<T: ToJson> ToJson for Option<T> {
    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, ToJson::to_json)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: FromJson> FromJson for Option<T> {
    fn from_json(value: Value) -> Result<Self, JsonError> {
        if value.is_null() && !T::accepts_null() { Ok(None) } else { T::from_json(value).map(Some) }
    }

    fn missing() -> Option<Self> {
        Some(None)
    }

    fn accepts_null() -> bool {
        true
    }
}

impl<T: ToJson> ToJson for Box<T> {
    fn to_json(&self) -> Value {
        (**self).to_json()
    }
}

impl<T: FromJson> FromJson for Box<T> {
    fn from_json(value: Value) -> Result<Self, JsonError> {
        T::from_json(value).map(Box::new)
    }
}

impl<T: ToJson> ToJson for Vec<T> {
    fn to_json(&self) -> Value {
        Value::Array(self.iter().map(ToJson::to_json).collect())
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(value: Value) -> Result<Self, JsonError> {
        let Value::Array(items) = value else { return Err(JsonError::expected("an array", &value)) };
        let items = items.into_iter().enumerate();
        items.map(|(index, item)| T::from_json(item).map_err(|error| error.at(&index.to_string()))).collect()
    }
}

/// The keys are types that serialize to strings.
impl<K: ToJson, T: ToJson> ToJson for BTreeMap<K, T> {
    fn to_json(&self) -> Value {
        let name = |key: &K| match key.to_json() {
            Value::String(text) => text,
            other => other.to_string(),
        };
        Value::Object(self.iter().map(|(key, value)| (name(key), value.to_json())).collect())
    }
}

impl<K: FromJson + Ord, T: FromJson> FromJson for BTreeMap<K, T> {
    fn from_json(value: Value) -> Result<Self, JsonError> {
        let Value::Object(map) = value else { return Err(JsonError::expected("an object", &value)) };
        map.into_iter()
            .map(|(name, value)| match T::from_json(value) {
                Ok(value) => {
                    let key = K::from_json(Value::String(name.clone())).map_err(|error| error.at(&name))?;
                    Ok((key, value))
                }
                Err(error) => Err(error.at(&name)),
            })
            .collect()
    }
}

macro_rules! tuple {
    ($($type:ident),+) => {
        impl<$($type: ToJson),+> ToJson for ($($type,)+) {
            #[expect(non_snake_case, reason = "a type and its value have the same name")]
            fn to_json(&self) -> Value {
                let ($($type,)+) = self;
                Value::Array(vec![$($type.to_json()),+])
            }
        }

        impl<$($type: FromJson),+> FromJson for ($($type,)+) {
            fn from_json(value: Value) -> Result<Self, JsonError> {
                let Value::Array(items) = value else { return Err(JsonError::expected("an array", &value)) };
                let mut items = items.into_iter();
                // Missing items are read as `null`.
                Ok(($($type::from_json(items.next().unwrap_or_default())?,)+))
            }
        }
    };
}

tuple!(A);
tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);

/// Implements serde's `Serialize` and `Deserialize` for generated types.
#[doc(hidden)]
#[macro_export]
macro_rules! __serde {
    ($($type:ident)*) => {$(
        impl $crate::engine::typed::serde_core::Serialize for $type {
            fn serialize<S: $crate::engine::typed::serde_core::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::engine::typed::json::serialize(self, serializer)
            }
        }

        impl<'de> $crate::engine::typed::serde_core::Deserialize<'de> for $type {
            fn deserialize<D: $crate::engine::typed::serde_core::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::engine::typed::json::deserialize(deserializer)
            }
        }
    )*};
}

#[doc(hidden)]
pub fn serialize<T: ToJson, S: serde_core::Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serde_core::Serialize::serialize(&value.to_json(), serializer)
}

#[doc(hidden)]
pub fn deserialize<'de, T: FromJson, D: serde_core::Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value: Value = serde_core::Deserialize::deserialize(deserializer)?;
    T::from_json(value).map_err(serde_core::de::Error::custom)
}

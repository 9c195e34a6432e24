//! Rust types of generated code, as JSON.
//!
//! Generated types do not derive serde: the code it derives costs the compiler five times as much as the impls written
//! here against (measured: 1,000 structs of 8 fields take `cargo check` 10.9 s with serde's derives and 2.0 s so), and
//! results come as JSON values anyway. `serde::Serialize` and `Deserialize` are implemented on top, so the types
//! work wherever serde's do.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

#[cfg(test)]
mod tests;

/// Becomes a JSON value.
pub trait ToJson {
    /// The value.
    fn to_json(&self) -> Value;

    /// Left out of an object that need not hold it.
    fn is_absent(&self) -> bool {
        false
    }
}

/// Is made from a JSON value.
///
/// Lenient, for answers in the wild differ from their documents: unknown fields are passed over, and `null` counts
/// as absent where it is not expected.
pub trait FromJson: Sized {
    /// Takes the value apart.
    ///
    /// # Errors
    ///
    /// The first place where the value does not fit.
    fn from_json(value: Value) -> Result<Self, JsonError>;

    /// What stands for a field that is not there; `None` where it must be.
    fn missing() -> Option<Self> {
        None
    }
}

/// Where a value does not fit a type, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    pointer: String,
    message: String,
}

impl JsonError {
    /// The value as a whole does not fit.
    #[must_use]
    pub fn new(message: impl Into<String>) -> JsonError {
        JsonError { pointer: String::new(), message: message.into() }
    }

    /// Another kind of value was expected.
    #[must_use]
    pub fn expected(what: &str, given: &Value) -> JsonError {
        let given = match given {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        JsonError::new(format!("expected {what}, got {given}"))
    }

    fn at(mut self, token: &str) -> JsonError {
        self.pointer = format!("/{}{}", token.replace('~', "~0").replace('/', "~1"), self.pointer);
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

impl std::error::Error for JsonError {}

/// An object of fields that are always there and fields that may be absent.
#[must_use]
pub fn object(always: &[(&str, &dyn ToJson)], given: &[(&str, &dyn ToJson)]) -> Value {
    let mut map = Map::with_capacity(always.len() + given.len());
    for (name, value) in always {
        map.insert((*name).to_owned(), value.to_json());
    }
    for (name, value) in given {
        if !value.is_absent() {
            map.insert((*name).to_owned(), value.to_json());
        }
    }
    Value::Object(map)
}

/// An object with further fields.
#[must_use]
pub fn with_extra<T: ToJson>(mut object: Value, extra: &BTreeMap<String, T>) -> Value {
    if let Value::Object(map) = &mut object {
        for (name, value) in extra {
            map.entry(name.as_str()).or_insert_with(|| value.to_json());
        }
    }
    object
}

/// The fields of an object, taken out one by one.
#[derive(Debug)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// The fields of a value that must be an object.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn new(value: Value) -> Result<Fields, JsonError> {
        match value {
            Value::Object(map) => Ok(Fields(map)),
            other => Err(JsonError::expected("an object", &other)),
        }
    }

    /// A field.
    ///
    /// # Errors
    ///
    /// Its value does not fit, or it is missing and must not be.
    pub fn get<T: FromJson>(&mut self, name: &'static str) -> Result<T, JsonError> {
        match self.0.swap_remove(name) {
            Some(value) => T::from_json(value).map_err(|error| error.at(name)),
            None => T::missing().ok_or_else(|| JsonError::new("a required field is missing").at(name)),
        }
    }

    /// A field for which `null` is not the same as its absence.
    ///
    /// # Errors
    ///
    /// Its value does not fit.
    pub fn nullable<T: FromJson>(&mut self, name: &'static str) -> Result<Option<Option<T>>, JsonError> {
        let Some(value) = self.0.swap_remove(name) else { return Ok(None) };
        Option::<T>::from_json(value).map(Some).map_err(|error| error.at(name))
    }

    /// The fields nobody has taken.
    ///
    /// # Errors
    ///
    /// A value that does not fit.
    pub fn rest<T: FromJson>(self) -> Result<BTreeMap<String, T>, JsonError> {
        BTreeMap::from_json(Value::Object(self.0))
    }
}

/// The text of a property, for telling the variants of a union apart. Empty if there is none.
#[must_use]
pub fn tag<'a>(value: &'a Value, property: &str) -> &'a str {
    value.get(property).and_then(Value::as_str).unwrap_or_default()
}

/// The variant, if the value fits it.
#[must_use]
pub fn attempt<T: FromJson, U>(value: &Value, variant: fn(T) -> U) -> Option<U> {
    T::from_json(value.clone()).ok().map(variant)
}

/// The text of a value that must be one.
///
/// # Errors
///
/// It is none.
pub fn text(value: Value) -> Result<String, JsonError> {
    String::from_json(value)
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
            other => Err(JsonError::expected("a text", &other)),
        }
    }
}

macro_rules! scalar {
    ($type:ty, $what:literal, $value:ident => $read:expr) => {
        impl ToJson for $type {
            fn to_json(&self) -> Value {
                Value::from(*self)
            }
        }

        impl FromJson for $type {
            fn from_json($value: Value) -> Result<Self, JsonError> {
                $read.ok_or_else(|| JsonError::expected($what, &$value))
            }
        }
    };
}

scalar!(bool, "a boolean", value => value.as_bool());
scalar!(f64, "a number", value => value.as_f64());
scalar!(i64, "an integer of 64 bits", value => value.as_i64().or_else(|| whole(&value)));
scalar!(u64, "a positive integer of 64 bits", value => value.as_u64().or_else(|| u64::try_from(whole(&value)?).ok()));

/// `5.0` is an integer to JSON Schema.
fn whole(value: &Value) -> Option<i64> {
    let number = value.as_f64()?;
    // 2^53: up to here every integer has a float of its own.
    let exact = number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
    exact.then(|| format!("{number:.0}").parse().ok())?
}

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
        if value.is_null() { Ok(None) } else { T::from_json(value).map(Some) }
    }

    fn missing() -> Option<Self> {
        Some(None)
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
        let Value::Array(items) = value else { return Err(JsonError::expected("a list", &value)) };
        let items = items.into_iter().enumerate();
        items.map(|(at, item)| T::from_json(item).map_err(|error| error.at(&at.to_string()))).collect()
    }
}

impl<T: ToJson> ToJson for BTreeMap<String, T> {
    fn to_json(&self) -> Value {
        Value::Object(self.iter().map(|(name, value)| (name.clone(), value.to_json())).collect())
    }
}

impl<T: FromJson> FromJson for BTreeMap<String, T> {
    fn from_json(value: Value) -> Result<Self, JsonError> {
        let Value::Object(map) = value else { return Err(JsonError::expected("an object", &value)) };
        map.into_iter()
            .map(|(name, value)| match T::from_json(value) {
                Ok(value) => Ok((name, value)),
                Err(error) => Err(error.at(&name)),
            })
            .collect()
    }
}

macro_rules! tuple {
    ($($type:ident),+) => {
        impl<$($type: ToJson),+> ToJson for ($($type,)+) {
            #[expect(non_snake_case, reason = "one name serves for a type and its value")]
            fn to_json(&self) -> Value {
                let ($($type,)+) = self;
                Value::Array(vec![$($type.to_json()),+])
            }
        }

        impl<$($type: FromJson),+> FromJson for ($($type,)+) {
            fn from_json(value: Value) -> Result<Self, JsonError> {
                let Value::Array(items) = value else { return Err(JsonError::expected("a list", &value)) };
                let mut items = items.into_iter();
                // Items that are not there fail as `null` does.
                Ok(($($type::from_json(items.next().unwrap_or_default())?,)+))
            }
        }
    };
}

tuple!(A);
tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);

/// Gives generated types serde's `Serialize`.
#[doc(hidden)]
#[macro_export]
macro_rules! __serialize {
    ($($type:ident)*) => {$(
        impl $crate::engine::typed::serde::Serialize for $type {
            fn serialize<S: $crate::engine::typed::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::engine::typed::json::serialize(self, serializer)
            }
        }
    )*};
}

/// Gives generated types serde's `Deserialize`.
#[doc(hidden)]
#[macro_export]
macro_rules! __deserialize {
    ($($type:ident)*) => {$(
        impl<'de> $crate::engine::typed::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::engine::typed::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::engine::typed::json::deserialize(deserializer)
            }
        }
    )*};
}

#[doc(hidden)]
pub fn serialize<T: ToJson, S: serde::Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&value.to_json(), serializer)
}

#[doc(hidden)]
pub fn deserialize<'de, T: FromJson, D: serde::Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let value: Value = serde::Deserialize::deserialize(deserializer)?;
    T::from_json(value).map_err(serde::de::Error::custom)
}

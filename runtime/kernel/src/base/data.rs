//! Plain data as JSON: serialization of public types without derived code.

use serde_core::Deserialize;
use serde_core::de::{DeserializeOwned, Deserializer, Error};
use serde_json::{Map, Value};

/// The members of an object that is being read. Unused members are ignored.
pub struct Members {
    /// The name of the type that is being read, for errors.
    what: &'static str,
    all: Map<String, Value>,
}

impl Members {
    /// Reads an object.
    pub fn read<'de, D: Deserializer<'de>>(deserializer: D, what: &'static str) -> Result<Members, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Object(all) => Ok(Members { what, all }),
            _ => Err(D::Error::custom(format!("{what}: not an object"))),
        }
    }

    /// Removes and returns a required member.
    pub fn take<T: DeserializeOwned, E: Error>(&mut self, name: &str) -> Result<T, E> {
        match self.all.remove(name) {
            Some(value) => self.of(name, value),
            None => Err(E::custom(format!("{}: `{name}` is missing", self.what))),
        }
    }

    /// Removes and returns a member, or returns the default if the member is missing.
    pub fn or_default<T: DeserializeOwned + Default, E: Error>(&mut self, name: &str) -> Result<T, E> {
        self.all.remove(name).map_or_else(|| Ok(T::default()), |value| self.of(name, value))
    }

    /// Whether a member is present.
    pub fn has(&self, name: &str) -> bool {
        self.all.contains_key(name)
    }

    /// Returns the error of a member with an unknown value.
    pub fn unknown<E: Error>(&self, name: &str, found: &str) -> E {
        E::custom(format!("{}: `{name}` has the unknown value `{found}`", self.what))
    }

    fn of<T: DeserializeOwned, E: Error>(&self, name: &str, value: Value) -> Result<T, E> {
        T::deserialize(value).map_err(|error| E::custom(format!("{}: `{name}`: {error}", self.what)))
    }
}

/// Whether a value is the default of its type.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Writes and reads a struct with the names of its fields as keys, in this order. Fields after `;` are omitted if
/// they have their default value.
#[doc(hidden)]
#[macro_export]
macro_rules! __plain_data {
    ($type:ident: $($field:ident),* $(; $($optional:ident),+)?) => {
        impl serde_core::Serialize for $type {
            fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde_core::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $(map.serialize_entry(stringify!($field), &self.$field)?;)*
                $($(if !$crate::base::data::is_default(&self.$optional) {
                    map.serialize_entry(stringify!($optional), &self.$optional)?;
                })+)?
                map.end()
            }
        }

        impl<'de> serde_core::Deserialize<'de> for $type {
            fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut members = $crate::base::data::Members::read(deserializer, stringify!($type))?;
                Ok(Self {
                    $($field: members.take(stringify!($field))?,)*
                    $($($optional: members.or_default(stringify!($optional))?,)+)?
                })
            }
        }
    };
}

pub use __plain_data as plain_data;

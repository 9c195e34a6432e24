//! Plain data as JSON: serialization of public types without derived code.

use serde_core::Deserialize;
use serde_core::de::{DeserializeOwned, Deserializer, Error};
use serde_json::{Map, Value};

/// The members of an object that is being read. Unused members are ignored.
pub struct Members {
    /// The name of the type that is being read, for errors.
    type_name: &'static str,
    members: Map<String, Value>,
}

impl Members {
    /// Reads an object.
    pub fn read<'de, D: Deserializer<'de>>(
        deserializer: D,
        type_name: &'static str,
    ) -> Result<Members, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Object(members) => Ok(Members { type_name, members }),
            _ => Err(D::Error::custom(format!("{type_name}: not an object"))),
        }
    }

    /// Removes and returns a required member.
    pub fn take<T: DeserializeOwned, E: Error>(&mut self, name: &str) -> Result<T, E> {
        match self.members.remove(name) {
            Some(value) => self.parse(name, value),
            None => Err(E::custom(format!("{}: `{name}` is missing", self.type_name))),
        }
    }

    /// Removes and returns a member, or returns the default if the member is missing.
    pub fn or_default<T: DeserializeOwned + Default, E: Error>(&mut self, name: &str) -> Result<T, E> {
        self.members.remove(name).map_or_else(|| Ok(T::default()), |value| self.parse(name, value))
    }

    /// Whether a member is present.
    pub fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Returns the error for a member with an unknown value.
    pub fn unknown<E: Error>(&self, name: &str, found: &str) -> E {
        E::custom(format!("{}: `{name}` has the unknown value `{found}`", self.type_name))
    }

    fn parse<T: DeserializeOwned, E: Error>(&self, name: &str, value: Value) -> Result<T, E> {
        T::deserialize(value).map_err(|error| E::custom(format!("{}: `{name}`: {error}", self.type_name)))
    }
}

/// Whether a value is the default of its type.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Serializes and deserializes a struct with the names of its fields as keys, in this order. Fields after `;` are
/// omitted if they have their default value.
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

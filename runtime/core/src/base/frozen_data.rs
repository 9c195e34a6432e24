//! Serialisation of frozen values: written as their content, read as shared.

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

use super::frozen::{Frozen, List, Text};

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

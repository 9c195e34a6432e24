//! A model's arguments, borrowed from their JSON text.
//!
//! Parsing arguments into a [`Value`] builds a map for every object and copies every string, only to take them apart
//! again. Most arguments need no change, so they are parsed once, borrowed from their text, validated, and decoded
//! from there.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use super::ArgumentProblem;

/// A value from a model: borrowed from its JSON text, or an owned [`Value`].
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq)]
pub enum BorrowedValue<'t> {
    /// `null`
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(Cow<'t, str>),
    /// An array.
    List(Vec<BorrowedValue<'t>>),
    /// An object. If a key occurs twice, the last one applies.
    Object(Vec<(Cow<'t, str>, BorrowedValue<'t>)>),
    /// An array or an object that is not borrowed.
    Value(Box<Value>),
}

impl From<Value> for BorrowedValue<'_> {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => BorrowedValue::Null,
            Value::Bool(value) => BorrowedValue::Bool(value),
            Value::Number(number) => BorrowedValue::Number(number),
            Value::String(text) => BorrowedValue::Text(Cow::Owned(text)),
            value @ (Value::Array(_) | Value::Object(_)) => BorrowedValue::Value(Box::new(value)),
        }
    }
}

impl<'t> BorrowedValue<'t> {
    /// The same as `From`, for code without a prelude.
    #[must_use]
    pub fn of(value: Value) -> BorrowedValue<'t> {
        BorrowedValue::from(value)
    }

    /// Converts the value to an owned one.
    #[must_use]
    pub fn into_value(self) -> Value {
        match self {
            BorrowedValue::Null => Value::Null,
            BorrowedValue::Bool(value) => Value::Bool(value),
            BorrowedValue::Number(number) => Value::Number(number),
            BorrowedValue::Text(text) => Value::String(text.into_owned()),
            BorrowedValue::List(items) => items.into_iter().map(BorrowedValue::into_value).collect(),
            BorrowedValue::Object(entries) => {
                let entries = entries.into_iter().map(|(key, value)| (key.into_owned(), value.into_value()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
            BorrowedValue::Value(value) => *value,
        }
    }

    /// Returns the items of an array.
    ///
    /// # Errors
    ///
    /// Returns the value if it is not an array.
    pub fn into_list(self) -> Result<Vec<BorrowedValue<'t>>, Value> {
        match self {
            BorrowedValue::List(items) => Ok(items),
            BorrowedValue::Value(value) => match *value {
                Value::Array(items) => Ok(items.into_iter().map(BorrowedValue::from).collect()),
                other => Err(other),
            },
            other => Err(other.into_value()),
        }
    }

    /// Returns the entries of an object.
    ///
    /// # Errors
    ///
    /// Returns the value if it is not an object.
    pub fn into_entries(self) -> Result<Vec<(Cow<'t, str>, BorrowedValue<'t>)>, Value> {
        match self {
            BorrowedValue::Object(entries) => Ok(entries),
            BorrowedValue::Value(value) => match *value {
                Value::Object(map) => Ok(map
                    .into_iter()
                    .map(|(key, value)| (Cow::Owned(key), BorrowedValue::from(value)))
                    .collect()),
                other => Err(other),
            },
            other => Err(other.into_value()),
        }
    }
}

/// The entries of an object, which are taken one by one.
#[derive(Debug)]
pub struct Entries<'t>(
    /// In reverse order, because most entries are taken in their original order.
    Vec<(Cow<'t, str>, BorrowedValue<'t>)>,
);

impl<'t> Entries<'t> {
    /// Returns the entries of an object, or the value if it is not an object.
    pub fn new(value: BorrowedValue<'t>) -> Result<Entries<'t>, Value> {
        let mut entries = value.into_entries()?;
        entries.reverse();
        Ok(Entries(entries))
    }

    /// Takes an entry. If a key occurs several times, the last entry is taken and the others stay.
    pub fn take(&mut self, name: &str) -> Option<BorrowedValue<'t>> {
        if self.0.last().is_some_and(|(key, _)| key == name) {
            return self.0.pop().map(|(_, value)| value);
        }
        let index = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(index).1)
    }

    /// Returns the key of an entry that was not taken.
    pub fn remaining_key(&self) -> Option<&str> {
        self.0.last().map(|(key, _)| &**key)
    }

    /// Takes all remaining entries, as an object.
    pub fn take_all(&mut self) -> BorrowedValue<'t> {
        let mut entries = std::mem::take(&mut self.0);
        entries.reverse();
        BorrowedValue::Object(entries)
    }
}

/// Adds the key of an entry to the location of a problem.
pub fn entry<T>(name: &str, result: Result<T, ArgumentProblem>) -> Result<T, ArgumentProblem> {
    result.map_err(|problem| problem.within(name))
}

mod read {
    use std::borrow::Cow;
    use std::fmt;

    use serde_core::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

    use super::BorrowedValue;

    impl<'t> BorrowedValue<'t> {
        /// Parses a JSON text; `None` if it is invalid.
        pub fn read(text: &'t str) -> Option<BorrowedValue<'t>> {
            serde_json::from_str(text).ok()
        }
    }

    impl<'t> Deserialize<'t> for BorrowedValue<'t> {
        fn deserialize<D: Deserializer<'t>>(input: D) -> Result<Self, D::Error> {
            input.deserialize_any(Reader)
        }
    }

    /// A key, borrowed if it contains no escapes.
    struct Key<'t>(Cow<'t, str>);

    impl<'t> Deserialize<'t> for Key<'t> {
        fn deserialize<D: Deserializer<'t>>(input: D) -> Result<Self, D::Error> {
            input.deserialize_str(KeyReader).map(Key)
        }
    }

    struct KeyReader;

    impl<'t> Visitor<'t> for KeyReader {
        type Value = Cow<'t, str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a key")
        }

        fn visit_borrowed_str<E>(self, text: &'t str) -> Result<Self::Value, E> {
            Ok(Cow::Borrowed(text))
        }

        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Cow::Owned(text.to_owned()))
        }
    }

    struct Reader;

    impl<'t> Visitor<'t> for Reader {
        type Value = BorrowedValue<'t>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("JSON")
        }

        fn visit_unit<E>(self) -> Result<BorrowedValue<'t>, E> {
            Ok(BorrowedValue::Null)
        }

        fn visit_bool<E>(self, value: bool) -> Result<BorrowedValue<'t>, E> {
            Ok(BorrowedValue::Bool(value))
        }

        fn visit_u64<E>(self, value: u64) -> Result<BorrowedValue<'t>, E> {
            Ok(BorrowedValue::Number(value.into()))
        }

        fn visit_i64<E>(self, value: i64) -> Result<BorrowedValue<'t>, E> {
            Ok(BorrowedValue::Number(value.into()))
        }

        fn visit_f64<E>(self, value: f64) -> Result<BorrowedValue<'t>, E> {
            Ok(serde_json::Number::from_f64(value).map_or(BorrowedValue::Null, BorrowedValue::Number))
        }

        fn visit_borrowed_str<E>(self, text: &'t str) -> Result<BorrowedValue<'t>, E> {
            Ok(BorrowedValue::Text(Cow::Borrowed(text)))
        }

        fn visit_str<E>(self, text: &str) -> Result<BorrowedValue<'t>, E> {
            Ok(BorrowedValue::Text(Cow::Owned(text.to_owned())))
        }

        fn visit_seq<A: SeqAccess<'t>>(self, mut input: A) -> Result<BorrowedValue<'t>, A::Error> {
            let mut items = Vec::new();
            while let Some(item) = input.next_element()? {
                items.push(item);
            }
            Ok(BorrowedValue::List(items))
        }

        fn visit_map<A: MapAccess<'t>>(self, mut input: A) -> Result<BorrowedValue<'t>, A::Error> {
            let mut entries = Vec::new();
            while let Some((Key(key), value)) = input.next_entry()? {
                entries.push((key, value));
            }
            Ok(BorrowedValue::Object(entries))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borrowed_value_agrees_with_serde_json() {
        let texts = [
            "null",
            "[true, false, 0, -1, 18446744073709551615, 1.5, 1e300, -0.0]",
            r#"{"a": "plain", "b": "esc\"aped \u00e9", "k\n": [], "o": {"x": {}}, "a": "again"}"#,
            "[[[[1]]]]",
        ];
        for text in texts {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(BorrowedValue::read(text).map(BorrowedValue::into_value), Some(value), "{text}");
        }
        for broken in ["", "{", "[1,]", "{\"a\" 1}", "nul", "1 2", "{\"a\": 1e999}"] {
            assert_eq!(BorrowedValue::read(broken), None, "{broken}");
            assert!(serde_json::from_str::<Value>(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn entries_are_taken_in_any_order_and_the_last_duplicate_wins() {
        let mut entries =
            Entries::new(BorrowedValue::read(r#"{"a": 1, "b": 2, "c": 3, "b": 4}"#).unwrap()).unwrap();
        assert_eq!(entries.take("c").map(BorrowedValue::into_value), Some(3.into()));
        assert_eq!(entries.take("b").map(BorrowedValue::into_value), Some(4.into()));
        assert_eq!(entries.take("x"), None);
        assert_eq!(entries.remaining_key(), Some("a"));
    }

    #[test]
    fn unescaped_strings_are_borrowed() {
        let text = r#"{"key": "value"}"#;
        let Some(BorrowedValue::Object(entries)) = BorrowedValue::read(text) else { panic!("an object") };
        assert!(matches!(
            entries.as_slice(),
            [(Cow::Borrowed("key"), BorrowedValue::Text(Cow::Borrowed("value")))]
        ));
    }
}

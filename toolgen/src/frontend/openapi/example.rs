//! Finds the examples of bodies and parameters, whose values may be files of their own.

use std::borrow::Cow;

use serde_json::Value;

use super::codes;
use super::context::Context;
use super::node::Node;
use super::reference::{Broken, target_of, told};

impl<'a> Context<'a> {
    /// Returns the first example of a media type or a parameter that has a value. References to examples are followed.
    pub(super) fn first_example(&mut self, node: &Node<'a>) -> Option<Cow<'a, Value>> {
        let own = node.get("example").and_then(|own| {
            let found = self.follow(&own).ok().map(|found| found.node);
            match found {
                Some(found) if found.pointer != own.pointer => self.value_of(&found),
                _ => Some(Cow::Borrowed(own.value)),
            }
        });
        let is_told = |value: &Cow<'a, Value>| !value.is_null();
        if let Some(own) = own.filter(is_told) {
            return Some(own);
        }
        // JSON Schema has a list of values, OpenAPI a map of examples.
        let listed = node.items("examples").into_iter().map(|item| Cow::Borrowed(item.value)).find(is_told);
        listed.or_else(|| {
            let named = node.members("examples");
            named.into_iter().find_map(|(_, example)| self.named_example(&example).filter(is_told))
        })
    }

    fn named_example(&mut self, example: &Node<'a>) -> Option<Cow<'a, Value>> {
        if target_of(example.value).is_some() {
            let found = self.follow(example).ok()?.node;
            return self.value_of(&found);
        }
        self.told_value(example)
    }

    /// Returns the value of what a reference to an example leads to, which may be the value itself.
    fn value_of(&mut self, found: &Node<'a>) -> Option<Cow<'a, Value>> {
        let is_example = ["value", "dataValue", "serializedValue", "externalValue"]
            .iter()
            .any(|key| found.get(key).is_some());
        if is_example { self.told_value(found) } else { Some(Cow::Borrowed(found.value)) }
    }

    /// Returns the value that an example has: as data, as the text that is sent (OpenAPI 3.2), or as a file.
    fn told_value(&mut self, example: &Node<'a>) -> Option<Cow<'a, Value>> {
        if let Some(data) = example.get("dataValue").or_else(|| example.get("value")) {
            return Some(Cow::Borrowed(data.value));
        }
        // Of other texts it cannot be said what they are made of: `5` may be a number or a text.
        let sent = example.text("serializedValue").and_then(|text| serde_json::from_str::<Value>(text).ok());
        let sent = sent.filter(|value| value.is_object() || value.is_array()).map(Cow::Owned);
        sent.or_else(|| self.external_value(example).map(Cow::Borrowed))
    }

    /// Returns the value that an example names as a file, if it is one that the document may read. Nothing is fetched.
    fn external_value(&mut self, example: &Node<'a>) -> Option<&'a Value> {
        let text = example.text("externalValue")?;
        let why = match self.locate(text, &example.pointer) {
            Ok(found) => return Some(found.value),
            Err(why) => why,
        };
        let (message, help) = match why {
            Broken::External(refused) => told(refused),
            Broken::Missing | Broken::Cycle => {
                ("leads to nothing", "correct it, or write the example as `value`")
            }
        };
        self.report(
            codes::EXTERNAL_EXAMPLE,
            &example.pointer.child("externalValue"),
            format!("`{text}` {message}; the example is left out"),
            help,
        );
        None
    }
}

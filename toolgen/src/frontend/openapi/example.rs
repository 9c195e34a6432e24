//! Finds the examples of bodies and parameters, whose values may be files of their own.

use serde_json::Value;

use super::codes;
use super::context::Context;
use super::node::Node;
use super::reference::{Broken, target_of, told};

impl<'a> Context<'a> {
    /// Returns the first example of a media type or a parameter that has a value. References to examples are followed.
    pub(super) fn first_example(&mut self, node: &Node<'a>) -> Option<&'a Value> {
        let own = node.get("example").and_then(|own| {
            let found = self.follow(&own).ok().map(|found| found.node);
            match found {
                Some(found) if found.pointer != own.pointer => self.value_of(&found),
                _ => Some(own.value),
            }
        });
        let is_told = |value: &&Value| !value.is_null();
        if let Some(own) = own.filter(is_told) {
            return Some(own);
        }
        // JSON Schema has a list of values, OpenAPI a map of examples.
        let listed = node.items("examples").into_iter().map(|item| item.value).find(is_told);
        listed.or_else(|| {
            let named = node.members("examples");
            named.into_iter().find_map(|(_, example)| self.named_example(&example).filter(is_told))
        })
    }

    fn named_example(&mut self, example: &Node<'a>) -> Option<&'a Value> {
        if target_of(example.value).is_some() {
            let found = self.follow(example).ok()?.node;
            return self.value_of(&found);
        }
        example.get("value").map(|value| value.value).or_else(|| self.external_value(example))
    }

    /// Returns the value of what a reference to an example leads to, which may be the value itself.
    fn value_of(&mut self, found: &Node<'a>) -> Option<&'a Value> {
        match (found.get("value"), found.get("externalValue")) {
            (Some(value), _) => Some(value.value),
            (None, Some(_)) => self.external_value(found),
            (None, None) => Some(found.value),
        }
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

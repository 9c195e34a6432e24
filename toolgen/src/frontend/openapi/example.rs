//! Finds the examples of bodies and parameters, whose values may be separate files.

use std::borrow::Cow;

use serde_json::Value;
use toolgen_core::Shape;
use toolgen_core::schema::shape::Kind;

use super::codes;
use super::context::Context;
use super::node::Node;
use super::reference::{ResolveError, file_problem, target_of};

/// Maximum number of levels of an example whose scalars are read as written.
const MAX_LEVELS: usize = 64;

impl<'a> Context<'a> {
    /// Returns the first example of a media type or a parameter that has a value. References to examples are
    /// followed.
    ///
    /// Where the shape is a string, a scalar becomes its source text in the document: `1.10`.
    pub(super) fn first_example(&mut self, node: &Node<'a>, shape: &Shape) -> Option<Cow<'a, Value>> {
        let direct = node.get("example").and_then(|direct| {
            let target = self.follow(&direct).ok().map(|target| target.node);
            match target {
                Some(target) if target.pointer != direct.pointer => self.value_of(&target, shape),
                _ => Some(self.with_source_text(&direct, shape)),
            }
        });
        let is_present = |value: &Cow<'a, Value>| !value.is_null();
        if let Some(direct) = direct.filter(is_present) {
            return Some(direct);
        }
        // JSON Schema has an array of values, OpenAPI a map of examples.
        let first_item = node.items("examples").into_iter().find(|item| !item.value.is_null());
        first_item.map(|item| self.with_source_text(&item, shape)).or_else(|| {
            let members = node.members("examples");
            members
                .into_iter()
                .find_map(|(_, example)| self.named_example(&example, shape).filter(is_present))
        })
    }

    /// Returns the value of an example, with scalars as source text where the shape is a string.
    pub(super) fn with_source_text(&mut self, node: &Node<'a>, shape: &Shape) -> Cow<'a, Value> {
        match self.files.has_source_text(&node.pointer) {
            true => Cow::Owned(self.source_texts_in(node, shape, 0)),
            false => Cow::Borrowed(node.value),
        }
    }

    fn source_texts_in(&mut self, node: &Node<'a>, shape: &Shape, depth: usize) -> Value {
        let kind = self.resolved(shape).kind;
        match (node.value, &kind) {
            _ if depth > MAX_LEVELS => node.value.clone(),
            (Value::Array(_), Kind::Array(rules)) => node
                .array_items()
                .iter()
                .map(|item| self.source_texts_in(item, &rules.items, depth + 1))
                .collect(),
            (Value::Object(members), Kind::Object(rules)) => {
                let mut object = members.clone();
                for field in &rules.fields {
                    if let (Some(member), Some(value)) =
                        (node.get(field.wire_name()), object.get_mut(field.wire_name()))
                    {
                        *value = self.source_texts_in(&member, &field.shape, depth + 1);
                    }
                }
                Value::Object(object)
            }
            (value, Kind::String(_)) => {
                self.files.source_text(value, &node.pointer).map_or_else(|| value.clone(), Value::from)
            }
            (value, Kind::Enum(values)) => {
                let source_text = self.files.source_text(value, &node.pointer);
                let matching =
                    source_text.filter(|text| values.iter().any(|value| value.to_json() == **text));
                matching.map_or_else(|| value.clone(), Value::from)
            }
            (value, _) => value.clone(),
        }
    }

    fn named_example(&mut self, example: &Node<'a>, shape: &Shape) -> Option<Cow<'a, Value>> {
        if target_of(example.value).is_some() {
            let target = self.follow(example).ok()?.node;
            return self.value_of(&target, shape);
        }
        self.example_value(example, shape)
    }

    /// Returns the value at the target of a reference, which is an Example Object or the value itself.
    fn value_of(&mut self, target: &Node<'a>, shape: &Shape) -> Option<Cow<'a, Value>> {
        let is_example = ["value", "dataValue", "serializedValue", "externalValue"]
            .iter()
            .any(|key| target.get(key).is_some());
        if is_example {
            self.example_value(target, shape)
        } else {
            Some(self.with_source_text(target, shape))
        }
    }

    /// Returns the value of an example: as data, as the serialized string (OpenAPI 3.2), or as a file.
    fn example_value(&mut self, example: &Node<'a>, shape: &Shape) -> Option<Cow<'a, Value>> {
        if let Some(data) = example.get("dataValue").or_else(|| example.get("value")) {
            return Some(self.with_source_text(&data, shape));
        }
        // The type of a serialized scalar is ambiguous: `5` may be a number or a string.
        let parsed =
            example.text("serializedValue").and_then(|text| serde_json::from_str::<Value>(text).ok());
        let parsed = parsed.filter(|value| value.is_object() || value.is_array()).map(Cow::Owned);
        parsed.or_else(|| self.external_value(example).map(Cow::Borrowed))
    }

    /// Returns the value in the file that `externalValue` names, if the document may read the file. Nothing is fetched.
    fn external_value(&mut self, example: &Node<'a>) -> Option<&'a Value> {
        let text = example.text("externalValue")?;
        let reason = match self.locate(text, &example.pointer) {
            Ok(node) => return Some(node.value),
            Err(error) => error,
        };
        let (message, help) = match reason {
            ResolveError::External(refusal) => file_problem(refusal),
            ResolveError::Missing | ResolveError::Cycle => {
                ("does not resolve", "correct it, or write the example as `value`")
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

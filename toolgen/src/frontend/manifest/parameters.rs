//! The arguments and the result of a tool: `parameters`, `input` and `output`.

use serde_json::Value;
use toolgen_core::schema::shape::decode::result_problems;
use toolgen_core::schema::shape::{Extra, Field, Kind, ObjectRules};
use toolgen_core::{Def, List, Schema, Shape, Text};

use super::codes;
use super::context::{Context, SchemaLocation};
use super::node::Node;
use super::value_rules;

use crate::names::{is_portable_key, portable_key};
use crate::shape_walk::parts;
use crate::source::Pointer;

impl<'a> Context<'a> {
    /// Returns the schema of the arguments of a tool.
    pub(super) fn input(&mut self, node: &Node<'a>) -> Schema {
        if let (Some(_), Some(input)) = (node.get("parameters"), node.get("input")) {
            let message = "a tool cannot have both `parameters` and `input`";
            self.report(codes::SCHEMA, &input.pointer, message, "describe the arguments in one of them");
        }
        let shape = match node.get("input") {
            Some(input) if node.get("parameters").is_none() => self.whole_input(&input),
            _ => self.parameters(node),
        };
        shape.into()
    }

    /// Reads `input`: the schema of an object.
    fn whole_input(&mut self, node: &Node<'a>) -> Shape {
        let mut shape = self.shape(node.value, &SchemaLocation::of(&node.pointer));
        // The schema of the arguments must be an object itself, so the target of a reference is copied.
        for _ in 0..16 {
            let Kind::Ref(name) = &shape.kind else { break };
            let name = name.clone();
            shape = self.named_shape(&name).unwrap_or(Shape::ANY);
        }
        let Kind::Object(rules) = &shape.kind else {
            let message = "`input` must be the schema of an object: arguments have names";
            self.report(codes::SCHEMA, &node.pointer, message, "write `type: object` and its `properties`");
            return Shape::NO_ARGUMENTS;
        };
        for field in &rules.fields {
            self.check_name(&field.name, &node.pointer);
        }
        shape
    }

    /// Reads `parameters`: schemas by argument name.
    fn parameters(&mut self, node: &Node<'a>) -> Shape {
        if let Some(schema) = node.get("parameters").filter(is_whole_schema) {
            let message = "`parameters` maps names to schemas, but this is one JSON Schema of all arguments";
            let help =
                "move the members of `properties` one level up, or write `input` instead of `parameters`";
            self.report(codes::SCHEMA, &schema.pointer, message, help);
            return self.whole_input(&schema);
        }
        let mut fields = Vec::new();
        for (name, parameter) in self.object_members(node, "parameters", "schemas") {
            self.check_name(name, &parameter.pointer);
            fields.push(self.parameter(name, &parameter));
        }
        Shape::of(Kind::Object(ObjectRules {
            fields: fields.into(),
            extra: Extra::Closed,
            ..ObjectRules::ANY
        }))
    }

    fn parameter(&mut self, name: &str, node: &Node<'a>) -> Field {
        let location = SchemaLocation::of(&node.pointer);
        let mut field = Field { name: Text::from(name.to_owned()), ..Field::REQUIRED };
        match node.value {
            Value::String(text) => {
                let Some((schema, optional)) = self.short_form(text, &location) else {
                    // The tool is omitted. Other errors are still reported, but no missing description.
                    field.shape.description = Text::from(name.to_owned());
                    return field;
                };
                field.shape = self.read_shape(&schema, &location);
                field.required = !optional && field.shape.default.is_none();
            }
            Value::Object(members) => {
                let optional = self.flag(node, "optional").unwrap_or(false);
                field.aliases = self.aliases(node);
                let mut schema = members.clone();
                let is_manifest_key =
                    |key: &str| matches!(key, "optional" | "aliases") || value_rules::KEYS.contains(&key);
                schema.retain(|key, _| !is_manifest_key(key));
                field.shape = self.shape(&Value::Object(schema), &location);
                self.apply_value_rules(&mut field.shape, node);
                field.required = !optional && field.shape.default.is_none();
            }
            _ => {
                let help = "write `name: string - What it means.`";
                self.report_wrong_type(node, "a type, or a JSON Schema", help);
                field.shape.description = Text::from(name.to_owned());
            }
        }
        field
    }

    /// Returns the other accepted names of an argument.
    fn aliases(&mut self, node: &Node<'a>) -> List<Text> {
        let names = self.texts(node, "aliases").unwrap_or_default();
        for (name, pointer) in &names {
            self.check_name(name, pointer);
        }
        names.into_iter().map(|(name, _)| Text::from(name.to_owned())).collect()
    }

    fn check_name(&mut self, name: &str, pointer: &Pointer) {
        if !is_portable_key(name) {
            let message = format!("`{name}` is not a valid name of an argument");
            let help = format!(
                "write `{}`: providers accept letters, digits and `_`, at most 64 characters, and no digit at the \
                 start",
                portable_key(name)
            );
            self.report(codes::NAME, pointer, message, help);
        }
    }

    /// Reads `output`, the schema of the structured result.
    pub(super) fn output(&mut self, node: &Node<'a>) -> Option<Schema> {
        let output = node.get("output")?;
        Some(self.shape(output.value, &SchemaLocation::of(&output.pointer)).into())
    }

    /// Reports defaults that do not match their schemas.
    pub(super) fn check_defaults(&mut self, shape: &Shape, defs: &List<Def>, pointer: &Pointer) {
        if let Some(default) = &shape.default {
            let default = default.to_json();
            let without_default = Shape { default: None, ..shape.clone() };
            if let Some(problem) = result_problems(&default, &without_default, defs).first() {
                let message = format!("the default {default} does not fit: {}", problem.message);
                self.report(codes::DEFAULT, pointer, message, "correct the default or the schema");
            }
        }
        for (_, part) in parts(shape) {
            self.check_defaults(part, defs, pointer);
        }
    }
}

/// Whether a value is the schema of an object, and not arguments that are named `type` and `properties`.
fn is_whole_schema(node: &Node<'_>) -> bool {
    let properties = node.value.get("properties").and_then(Value::as_object);
    node.value.get("type").and_then(Value::as_str) == Some("object")
        && properties.is_some_and(|properties| !properties.get("type").is_some_and(Value::is_string))
}

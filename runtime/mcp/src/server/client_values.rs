//! Context values that clients may set: as an argument of each tool that requires one, or in `_meta` of a call.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};
use toolgen_kernel::call::context_values::ContextValues;
use toolgen_kernel::schema::shape::Kind;
use toolgen_kernel::spec::{RequirementKind, ToolSpec};

/// The key of `_meta` that holds an object of context values.
const META_KEY: &str = "io.toolgen/context";

/// Maximum length of a value, in bytes: values are identifiers, not documents.
const MAX_VALUE_BYTES: usize = 1024;

/// The names of the values.
#[derive(Clone, Default)]
pub(super) struct ClientValues(Arc<[String]>);

impl ClientValues {
    pub(super) fn new(names: impl IntoIterator<Item = impl Into<String>>) -> ClientValues {
        ClientValues(names.into_iter().map(Into::into).collect())
    }

    /// Returns the names that a tool requires, except for the names of its arguments.
    fn required_by<'a>(&'a self, spec: &'a ToolSpec) -> impl Iterator<Item = (&'a String, &'a str)> {
        let requirement_of = move |name: &&String| {
            let mut requirements = spec.requires.iter();
            requirements.find(|requirement| {
                requirement.kind == RequirementKind::Context && requirement.name.as_str() == name.as_str()
            })
        };
        let names = self.0.iter().filter(|name| !has_argument(spec, name));
        names.filter_map(move |name| Some((name, requirement_of(&name)?.message.as_str())))
    }

    /// Adds the values that a tool requires to its listed arguments.
    pub(super) fn describe(&self, spec: &ToolSpec, descriptor: &mut Value) {
        for (name, message) in self.required_by(spec) {
            let mut description = "The value that an earlier call returned, unchanged.".to_owned();
            if !message.is_empty() {
                description = format!("{description} Without it: {message}");
            }
            let Some(schema) = descriptor.get_mut("inputSchema").and_then(Value::as_object_mut) else {
                return;
            };
            let properties = schema.entry("properties").or_insert_with(|| json!({}));
            if let Some(properties) = properties.as_object_mut() {
                properties.insert(name.clone(), json!({ "type": "string", "description": description }));
            }
        }
    }

    /// Removes the values from the arguments of a call, if the tool lists them there, and from `_meta`. They have the
    /// provenance of the client, and do not replace trusted values of the program.
    pub(super) fn take(
        &self,
        spec: Option<&ToolSpec>,
        arguments: &mut Option<JsonObject>,
        meta: &Map<String, Value>,
    ) -> ContextValues {
        let mut values = ContextValues::default();
        let meta_values = meta.get(META_KEY).and_then(Value::as_object);
        for name in self.0.iter() {
            if let Some(value) = meta_values
                .and_then(|meta_values| meta_values.get(name))
                .filter(|value| is_valid_value(value))
            {
                values = values.with_client(name.clone(), value.clone());
            }
        }
        for (name, _) in spec.into_iter().flat_map(|spec| self.required_by(spec)) {
            let Some(arguments) = arguments else { break };
            if arguments.get(name).is_some_and(is_valid_value)
                && let Some(value) = arguments.shift_remove(name)
            {
                values = values.with_client(name.clone(), value);
            }
        }
        values
    }
}

fn is_valid_value(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= MAX_VALUE_BYTES,
        Value::Number(number) => number.is_i64() || number.is_u64(),
        _ => false,
    }
}

/// Whether a tool has or accepts an argument of this name: then the argument belongs to the tool.
fn has_argument(spec: &ToolSpec, name: &str) -> bool {
    match &spec.input.shape().kind {
        Kind::Object(rules) => rules.fields.iter().any(|field| field.name.as_str() == name),
        _ => true,
    }
}

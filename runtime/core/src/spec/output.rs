//! The structured result that a tool declares.

use crate::base::frozen::List;
use crate::schema::shape::decode::{ArgumentProblem, result_problems};
use crate::schema::shape::{Def, Kind, Schema, Shape, resolved};
use crate::spec::ToolSpec;

use serde_json::{Value, json};

/// The structured result that a tool declares, in the form of MCP's `outputSchema`: an object.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StructuredOutput {
    /// The schema of the result as the tool returns it.
    pub schema: Schema,
    /// The shapes that the schema refers to, sorted by name.
    pub defs: List<Def>,
    /// Whether results may differ from the schema, see [`ToolSpec::output_may_differ`].
    pub may_differ: bool,
    /// Whether the result is not an object, and is therefore wrapped in an object as its [`RESULT`].
    pub wrapped: bool,
}

/// The field of a structured result that is not an object. The official MCP SDKs use the same name.
pub const RESULT: &str = "result";

/// Maximum depth of nested unions that are checked: a union may contain itself.
const MAX_UNIONS: usize = 4;

impl StructuredOutput {
    /// Returns all problems of a result; empty if it matches the declaration.
    #[must_use]
    pub fn problems(&self, result: &Value) -> Vec<ArgumentProblem> {
        result_problems(result, &self.schema, &self.defs)
    }

    /// Returns a result as the object for `structuredContent`.
    #[must_use]
    pub fn as_object(&self, result: Value) -> Value {
        if self.wrapped { json!({ RESULT: result }) } else { result }
    }

    /// Returns the schema of that object, from the schema of the result in JSON Schema.
    #[must_use]
    pub fn object_schema(&self, mut result: Value) -> Value {
        if !self.wrapped {
            if let Value::Object(schema) = &mut result {
                // References to objects and unions of objects have no `type`.
                schema.entry("type").or_insert_with(|| Value::from("object"));
            }
            return result;
        }
        // References start at the root.
        let defs = result.as_object_mut().and_then(|schema| schema.remove("$defs"));
        let mut schema = json!({ "type": "object", "properties": { RESULT: result }, "required": [RESULT] });
        if let Some(defs) = defs {
            schema["$defs"] = defs;
        }
        schema
    }
}

impl ToolSpec {
    /// Returns the structured result that the tool declares. A string is not structured, nor is a result of unknown
    /// shape: the text that the model reads is complete.
    #[must_use]
    pub fn structured_output(&self) -> Option<StructuredOutput> {
        let schema = self.output.as_ref()?;
        let is_unstructured =
            |kind: &Kind| matches!(kind, Kind::String(_) | Kind::Null | Kind::Any | Kind::Never);
        if is_unstructured(&resolved(schema, &self.defs)?.kind) {
            return None;
        }
        Some(StructuredOutput {
            schema: schema.clone(),
            defs: self.defs.clone(),
            may_differ: self.output_may_differ,
            wrapped: !is_object(schema, &self.defs, MAX_UNIONS),
        })
    }
}

/// Whether all values of a shape are objects.
fn is_object(shape: &Shape, defs: &List<Def>, depth: usize) -> bool {
    let Some(target) = resolved(shape, defs).filter(|target| !target.nullable && !shape.nullable) else {
        return false;
    };
    match &target.kind {
        Kind::Object(_) => true,
        Kind::Union(union) if depth > 0 => {
            !union.variants.is_empty()
                && union.variants.iter().all(|variant| is_object(variant, defs, depth - 1))
        }
        Kind::All(parts) if depth > 0 => parts.iter().any(|part| is_object(part, defs, depth - 1)),
        _ => false,
    }
}

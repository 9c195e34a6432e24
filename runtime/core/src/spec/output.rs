//! The structured result that a tool declares.

use serde_json::{Value, json};

use crate::base::frozen::List;
use crate::base::json::json_bytes;
use crate::schema::dialect::JSON_SCHEMA;
use crate::schema::shape::decode::{ArgumentProblem, result_problems};
use crate::schema::shape::render::render_output;
use crate::schema::shape::tolerant::{self, Omission};
use crate::schema::shape::{Def, Kind, Schema, Shape, resolved};
use crate::spec::ToolSpec;
use crate::spec::projection::projected_output;

/// The structured result that a tool declares, in the form of MCP's `outputSchema`: an object.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StructuredOutput {
    /// The schema of the result as the tool returns it.
    pub schema: Schema,
    /// The shapes that the schema refers to, sorted by name.
    pub defs: List<Def>,
    /// Whether results may differ from the schema, see [`ToolSpec::output_may_differ`], or have only some of its
    /// fields, see [`ToolSpec::projection`]. Then the published schema is tolerant, and results
    /// [conform](Self::conform) to it.
    pub may_differ: bool,
    /// Whether the result is not an object, and is therefore wrapped in an object as its [`RESULT`].
    pub wrapped: bool,
}

/// The field of a structured result that is not an object. The official MCP SDKs use the same name.
pub const RESULT: &str = "result";

/// Maximum depth of nested unions that are checked: a union may contain itself.
const MAX_UNIONS: usize = 4;

/// Maximum number of levels of objects in a tolerant schema.
const MAX_LEVELS: usize = 32;

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

    /// Returns a result as the object for `structuredContent`, and messages about the parts that were left out of it
    /// because their types deviate from the declaration. The object always matches the tolerant [published](Self::published) schema.
    #[must_use]
    pub fn conform(&self, result: Value) -> (Value, Vec<String>) {
        if !self.wrapped && !result.is_object() {
            return (json!({}), vec![tolerant::wrong_root(&result)]);
        }
        let (result, omitted) = tolerant::conform(result, &self.schema, &self.defs);
        let messages = omitted.iter().map(Omission::to_string).collect();
        (result.map_or_else(|| json!({}), |result| self.as_object(result)), messages)
    }

    /// Returns the structured result of a call that selects some fields of the result by their paths.
    #[must_use]
    pub fn projected(&self, paths: &[&str]) -> StructuredOutput {
        let shape = projected_output(&self.schema, &self.defs, paths);
        StructuredOutput { schema: shape.into(), may_differ: true, ..self.clone() }
    }

    /// Returns the published schema of the object for `structuredContent`, if it has at most `max_bytes` as compact
    /// JSON.
    ///
    /// If results may differ, the schema is tolerant: only types are declared, no member is required, objects are
    /// open, and every value may be `null`. If that is too large, deep objects are not described; as many levels of
    /// objects are described as fit.
    #[must_use]
    pub fn published(&self, max_bytes: usize) -> Option<Value> {
        if !self.may_differ {
            // Plain JSON Schema rejects nothing; without a schema, results are not structured.
            let rendered = render_output(&self.schema, &self.defs, &JSON_SCHEMA).ok()?;
            return Some(self.object_schema(rendered.schema))
                .filter(|schema| json_bytes(schema) <= max_bytes);
        }
        let mut largest = None;
        for levels in 1..=MAX_LEVELS {
            let (schema, is_complete) = tolerant::schema(&self.schema, &self.defs, levels, !self.wrapped);
            let schema = self.object_schema(schema);
            if json_bytes(&schema) > max_bytes {
                break;
            }
            largest = Some(schema);
            if is_complete {
                break;
            }
        }
        largest
    }

    /// Returns the schema of the object for `structuredContent`, from the schema of the result in JSON Schema.
    fn object_schema(&self, mut result: Value) -> Value {
        if !self.wrapped {
            if let Value::Object(schema) = &mut result {
                // References to objects and unions of objects have no `type`.
                schema.entry("type").or_insert_with(|| Value::from("object"));
            }
            return result;
        }
        // References start at the root.
        let defs = result.as_object_mut().and_then(|schema| schema.remove("$defs"));
        let mut schema = json!({ "type": "object", "properties": { RESULT: result } });
        if !self.may_differ {
            schema["required"] = json!([RESULT]);
        }
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
            may_differ: self.output_may_differ || !self.projection.is_empty(),
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

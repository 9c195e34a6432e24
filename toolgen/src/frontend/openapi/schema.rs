//! Schemas of OpenAPI documents as JSON Schema 2020-12 in one normal form.
//!
//! OpenAPI 3.0 has a dialect of its own, 3.1 has JSON Schema 2020-12, and published documents mix both and err in
//! small ways. All that ends here: what comes out has known keywords with values of the right kind, references
//! `#/$defs/NAME`, `null` as a type, merged `allOf`, and keys that every provider accepts, each with its own key of
//! the data as `x-wire`.

mod bases;
mod compose;
mod cycles;
mod defs;
mod keywords;
mod merge;
mod object;
mod types;

pub(super) use defs::Defs;
pub(super) use keywords::examples;
pub(super) use object::WIRE;

use serde_json::{Map, Value, json};
use toolgen_runtime::Shape;

use super::context::{Context, Version};
use super::node::{Node, Place};
use super::reference::target_of;
use crate::problem::codes;
use crate::source::Pointer;

/// How deep schemas may be nested. Real ones stay below 30; what is deeper is taken as any value.
const MAX_DEPTH: usize = 64;

/// What a schema says about a value without restricting it.
pub(super) const ANNOTATIONS: [&str; 6] =
    ["description", "default", "examples", "deprecated", "readOnly", "writeOnly"];

impl<'a> Context<'a> {
    /// The normal form of the schema at a node.
    pub(super) fn schema_of(&mut self, node: &Node<'a>) -> Value {
        self.schema(node.value, &Place::At(&node.pointer))
    }

    /// The normal form of a schema.
    pub(super) fn schema(&mut self, value: &'a Value, place: &Place<'_>) -> Value {
        if self.depth >= MAX_DEPTH {
            self.report(
                codes::SCHEMA_DEPTH,
                &place.pointer(),
                format!("schemas are nested more than {MAX_DEPTH} deep; this one is taken as any value"),
                "move inner schemas to `components/schemas` and refer to them",
            );
            return json!({});
        }
        self.depth += 1;
        self.stack += 1;
        let schema = match value {
            Value::Object(object) => self.object_schema(value, object, place),
            Value::Bool(true) => json!({}),
            Value::Bool(false) => Value::Bool(false),
            _ => {
                self.schema_problem(place, "a schema must be an object; this one is taken as any value");
                json!({})
            }
        };
        self.depth -= 1;
        self.stack -= 1;
        schema
    }

    fn object_schema(
        &mut self,
        value: &'a Value,
        object: &'a Map<String, Value>,
        place: &Place<'_>,
    ) -> Value {
        if let Some(text) = target_of(value) {
            return self.reference(text, object, place);
        }
        if let Some(text) = object.get("$dynamicRef").and_then(Value::as_str) {
            return self.reference(text, object, place);
        }
        let mut out = Map::new();
        self.keywords(object, place, &mut out);
        self.unions(object, place, &mut out);
        let whole = self.all_of(object, place, out);
        finish_nullable(whole, object)
    }

    /// A reference, with what stands beside it.
    fn reference(&mut self, text: &'a str, object: &'a Map<String, Value>, place: &Place<'_>) -> Value {
        let mut out = Map::new();
        match self.def_of(text) {
            Ok(name) => {
                out.insert("$ref".to_owned(), Value::String(format!("#/$defs/{name}")));
            }
            Err(why) => self.report_broken(why, text, &place.pointer()),
        }
        // OpenAPI 3.0 lets nothing count that stands beside a reference, but remarks are always meant.
        self.annotations(object, place, &mut out);
        let structural = object.iter().any(|(key, value)| {
            !(key.starts_with('$')
                || key.starts_with("x-")
                || value.is_null()
                || ANNOTATIONS.contains(&key.as_str())
                || matches!(
                    key.as_str(),
                    "nullable" | "title" | "summary" | "example" | "xml" | "externalDocs"
                ))
        });
        let mut whole = Value::Object(out);
        if self.version == Version::V31 && structural {
            let mut beside = Map::new();
            self.keywords(object, place, &mut beside);
            self.unions(object, place, &mut beside);
            let beside = self.all_of(object, place, beside);
            whole = self.intersection(vec![whole, beside]);
        }
        finish_nullable(whole, object)
    }

    pub(super) fn schema_problem(&mut self, place: &Place<'_>, message: impl Into<String>) {
        self.report(
            codes::SCHEMA,
            &place.pointer(),
            message,
            "correct the schema; the rest of it is used as it is",
        );
    }
}

/// `nullable: true` of OpenAPI 3.0, wherever it stands.
fn finish_nullable(schema: Value, source: &Map<String, Value>) -> Value {
    match source.get("nullable") {
        Some(Value::Bool(true)) => nullable(schema),
        _ => schema,
    }
}

/// The schema that also allows `null`.
pub(super) fn nullable(schema: Value) -> Value {
    let Value::Object(mut object) = schema else { return schema };
    let combined = ["$ref", "allOf", "not", "if"].iter().any(|key| object.contains_key(*key));
    let union = ["anyOf", "oneOf"].into_iter().find(|key| object.contains_key(*key));
    if combined || (union.is_some() && object.contains_key("type")) {
        return with_null_beside(object);
    }
    if let Some(union) = union {
        if let Some(Value::Array(variants)) = object.get_mut(union) {
            let null = json!({"type": "null"});
            if !variants.contains(&null) {
                variants.push(null);
            }
        }
        return Value::Object(object);
    }
    match object.get_mut("type") {
        Some(Value::Array(types)) if !types.iter().any(|name| name == "null") => types.push(json!("null")),
        Some(Value::String(name)) if name != "null" => {
            let types = json!([name.clone(), "null"]);
            object.insert("type".to_owned(), types);
        }
        _ => {}
    }
    if let Some(Value::Array(values)) = object.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match object.remove("const") {
        Some(Value::Null) | None => {}
        Some(value) => {
            object.insert("enum".to_owned(), json!([value, null]));
        }
    }
    Value::Object(object)
}

fn with_null_beside(mut object: Map<String, Value>) -> Value {
    let mut out = Map::new();
    for key in ANNOTATIONS {
        if let Some(value) = object.shift_remove(key) {
            out.insert(key.to_owned(), value);
        }
    }
    out.insert("anyOf".to_owned(), json!([Value::Object(object), {"type": "null"}]));
    Value::Object(out)
}

impl Context<'_> {
    /// The shape of a schema in normal form, which stands at this place of the document.
    pub(super) fn read_shape(&mut self, schema: &Value, pointer: &Pointer) -> Shape {
        let mut problems = Vec::new();
        let shape = toolgen_runtime::schema::shape::read::read(schema, &mut problems);
        for problem in problems {
            let place = self.nearest_place(pointer, &problem.pointer);
            self.report(
                codes::SCHEMA,
                &place,
                problem.message,
                "correct the schema; the rest of it is used as it is",
            );
        }
        shape
    }

    /// The normal form has members the document has not; a problem is shown at the nearest place there is.
    fn nearest_place(&self, base: &Pointer, rest: &str) -> Pointer {
        let mut node = Node::new(self.root.pointer(base.as_str()).unwrap_or(&Value::Null), base.clone());
        let rest = Pointer::parse(rest).unwrap_or_default();
        for token in rest.tokens() {
            let value = match node.value {
                Value::Object(object) => object.get(&*token),
                Value::Array(items) => token.parse().ok().and_then(|index: usize| items.get(index)),
                _ => None,
            };
            let Some(value) = value else { break };
            node = Node::new(value, node.pointer.child(&token));
        }
        node.pointer
    }
}

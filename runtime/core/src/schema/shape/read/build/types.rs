//! Reads `type`, and what other keywords imply about it.

use serde_json::Value;

use super::{Builder, Object};
use crate::schema::shape::read::normal::implied;
use crate::schema::shape::{
    ArrayRules, Kind, NumberRules, ObjectRules, Shape, StringRules, UnionMode, UnionRules,
};

/// The types of all values.
const LEGAL: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

/// Returns the types that `type` names, if it is present.
pub(super) fn named(schema: &Object) -> Option<Vec<&str>> {
    let mut types: Vec<&str> = match schema.get("type")? {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    // Every integer is a number.
    if types.contains(&"number") {
        types.retain(|name| *name != "integer");
    }
    Some(types)
}

impl Builder<'_> {
    /// The kind that the schema itself describes, apart from references, unions and the like.
    pub(super) fn own_kind(&mut self, schema: &Object, parts: &mut Vec<Shape>) {
        let types = named(schema);
        if self.enumeration(schema, types.as_deref(), parts) {
            return;
        }
        let mut types = types.unwrap_or_else(|| match implied(schema) {
            implied if self.literal && !implied.is_empty() => LEGAL.to_vec(),
            implied => implied,
        });
        // Every type and no rule: some generators write this for "anything".
        if types.len() >= 6 && implied(schema).is_empty() {
            return;
        }
        let all = types.len();
        types.retain(|name| *name != "null");
        let nullable = types.len() < all;
        let mut kinds: Vec<Kind> = types.iter().filter_map(|name| self.kind(name, schema)).collect();
        let kind = match kinds.len() {
            0 if nullable => return parts.push(Shape::of(Kind::Null)),
            0 => return,
            1 => kinds.swap_remove(0),
            _ => {
                let variants = kinds.into_iter().map(Shape::of).collect();
                Kind::Union(UnionRules { mode: UnionMode::Any, variants, discriminator: None })
            }
        };
        parts.push(Shape { nullable, ..Shape::of(kind) });
    }

    fn kind(&mut self, name: &str, schema: &Object) -> Option<Kind> {
        Some(match name {
            "boolean" => Kind::Boolean,
            "integer" => Kind::Integer(NumberRules::read(schema)),
            "number" => Kind::Number(NumberRules::read(schema)),
            "string" => Kind::String(StringRules::read(schema)),
            "array" => self.array(schema),
            "object" => Kind::Object(self.object_rules(schema)),
            _ => return None,
        })
    }
}

/// Whether a shape of this kind has no further rules.
pub(super) fn is_bare(kind: &Kind) -> bool {
    match kind {
        Kind::Boolean => true,
        Kind::Integer(rules) | Kind::Number(rules) => *rules == NumberRules::ANY,
        Kind::String(rules) => *rules == StringRules::ANY,
        Kind::Array(rules) => *rules == ArrayRules::ANY,
        Kind::Object(rules) => *rules == ObjectRules::ANY,
        _ => false,
    }
}

//! Keywords the tree has no form for.

use serde_json::{Value, json};

use super::{Builder, MAX_DEPTH, Object, ReadProblemKind, arrays};
use crate::schema::shape::read::within_depth;
use crate::schema::shape::{Kind, Shape, pointer};

/// What the value of a raw keyword must be.
enum Form {
    Schema,
    Schemas,
    Object,
    Count,
    Flag,
    Text,
}

/// The keywords that constrain a value and have no form of their own.
const KEYWORDS: &[(&str, Form)] = &[
    ("not", Form::Schema),
    ("if", Form::Schema),
    ("then", Form::Schema),
    ("else", Form::Schema),
    ("contains", Form::Schema),
    ("minContains", Form::Count),
    ("maxContains", Form::Count),
    ("propertyNames", Form::Schema),
    ("dependentRequired", Form::Object),
    ("dependentSchemas", Form::Schemas),
    ("dependencies", Form::Object),
    ("unevaluatedItems", Form::Schema),
    ("unevaluatedProperties", Form::Schema),
    ("contentSchema", Form::Schema),
    ("uniqueItems", Form::Flag),
    ("$dynamicRef", Form::Text),
    ("$recursiveRef", Form::Text),
];

/// The keywords of a raw schema, if they may be written as they are and are read back as the same text.
pub(in crate::schema::shape) fn is_natural(text: &str) -> Option<Object> {
    let Ok(Value::Object(schema)) = serde_json::from_str(text) else { return None };
    let mut parts = Vec::new();
    let mut builder = Builder { problems: &mut Vec::new(), path: String::new(), depth: 0, limit: usize::MAX };
    builder.raw(&schema, &mut parts);
    let all_known = schema.keys().all(|keyword| KEYWORDS.iter().any(|(known, _)| known == keyword));
    // Those two are also rules of lists and objects.
    let alone = !schema.contains_key("uniqueItems") && !schema.contains_key("unevaluatedProperties");
    let same = matches!(parts.as_slice(), [Shape { kind: Kind::Raw(read), .. }] if read == text);
    (all_known && alone && same).then_some(schema)
}

/// Whether the value of a raw keyword is what the keyword asks for.
pub(in crate::schema::shape) fn well_formed(keyword: &str, value: &Value) -> bool {
    let Some((_, form)) = KEYWORDS.iter().find(|(known, _)| *known == keyword) else { return false };
    let schema = |value: &Value| value.is_object() || value.is_boolean();
    match form {
        Form::Schema => schema(value),
        Form::Schemas => value.as_object().is_some_and(|schemas| schemas.values().all(schema)),
        Form::Object => value.is_object(),
        Form::Count => value.is_u64(),
        Form::Flag => value.is_boolean(),
        Form::Text => value.is_string(),
    }
}

impl Builder<'_> {
    pub(super) fn raw(&mut self, schema: &Object, parts: &mut Vec<Shape>) {
        let mut raw = Object::new();
        for (keyword, value) in schema {
            if !well_formed(keyword, value) || has_no_effect(keyword, schema) {
                continue;
            }
            if self.limit != usize::MAX && !within_depth(value, MAX_DEPTH) {
                let message = format!("nested more than {MAX_DEPTH} levels deep, so ignored");
                self.at(keyword, |builder| builder.problem(ReadProblemKind::Depth, message));
            } else if keyword == "not" && (*value == json!(true) || *value == json!({})) {
                parts.push(Shape::of(Kind::Never));
            } else {
                let mut value = value.clone();
                rewrite_references(&mut value);
                raw.insert(keyword.clone(), value);
            }
        }
        if !raw.is_empty() {
            parts.push(Shape::of(Kind::Raw(Value::Object(raw).to_string().into())));
        }
    }
}

/// Keywords that say nothing beside what else the schema holds, or that were read already.
fn has_no_effect(keyword: &str, schema: &Object) -> bool {
    match keyword {
        "then" | "else" => !schema.contains_key("if"),
        "minContains" | "maxContains" => !schema.contains_key("contains"),
        "uniqueItems" => arrays::tuple(schema).is_none(),
        "unevaluatedProperties" => schema.get(keyword) == Some(&json!(true)),
        _ => false,
    }
}

/// Makes every reference to a named schema one under `$defs`. The caller has bounded the depth.
fn rewrite_references(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(rewrite_references),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(reference) if key == "$ref" => {
                        if let Some(name) = pointer::referenced(reference) {
                            *reference = pointer::reference(&name);
                        }
                    }
                    other => rewrite_references(other),
                }
            }
        }
        _ => {}
    }
}

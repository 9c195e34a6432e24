//! `type`, and what the other keywords say about it.

use serde_json::Value;

use super::{Object, Reader};
use crate::schema::shape::{Kind, NumberRules, Shape, StringRules, UnionMode, UnionRules};

/// The types of JSON Schema, without `null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

/// What `type` allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Types {
    pub(super) types: Vec<Type>,
    pub(super) null: bool,
}

const OBJECT_KEYWORDS: &[&str] = &[
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "minProperties",
    "maxProperties",
];
const ARRAY_KEYWORDS: &[&str] = &["items", "prefixItems", "minItems", "maxItems", "uniqueItems"];
const STRING_KEYWORDS: &[&str] =
    &["minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType"];
const NUMBER_KEYWORDS: &[&str] =
    &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

impl Reader<'_> {
    /// The kind that the schema itself describes, apart from references, unions and the like.
    pub(super) fn own_kind(&mut self, schema: &Object, parts: &mut Vec<Shape>) {
        let types = self.types(schema);
        if self.enumeration(schema, types.as_ref(), parts) {
            return;
        }
        let Some(Types { types, null }) = types.or_else(|| implied(schema)) else { return };
        // Every type there is, and no rule for any: what some generators write for "anything".
        if null && types.len() >= 5 && !types.contains(&Type::Integer) && implied(schema).is_none() {
            return;
        }
        let mut kinds: Vec<Shape> = types.iter().map(|t| Shape::of(self.kind(*t, schema))).collect();
        let mut shape = match kinds.pop() {
            None => Shape::of(Kind::Null),
            Some(only) if kinds.is_empty() => Shape { nullable: null, ..only },
            Some(last) => {
                kinds.push(last);
                let mode = UnionMode::Any;
                let rules = UnionRules { mode, variants: kinds.into(), discriminator: None };
                Shape { nullable: null, ..Shape::of(Kind::Union(rules)) }
            }
        };
        if matches!(shape.kind, Kind::Null) {
            shape.nullable = false;
        }
        parts.push(shape);
    }

    fn kind(&mut self, of: Type, schema: &Object) -> Kind {
        match of {
            Type::Boolean => Kind::Boolean,
            Type::Integer => Kind::Integer(self.number_rules(schema)),
            Type::Number => Kind::Number(self.number_rules(schema)),
            Type::String => Kind::String(self.string_rules(schema)),
            Type::Array => self.array(schema),
            Type::Object => Kind::Object(self.object_rules(schema)),
        }
    }

    /// What `type` says, if it is there and says something.
    fn types(&mut self, schema: &Object) -> Option<Types> {
        let mut found = Types::default();
        match schema.get("type")? {
            Value::String(name) => self.add_type(name, &mut found)?,
            Value::Array(names) => {
                for name in names {
                    match name {
                        Value::String(name) => self.add_type(name, &mut found)?,
                        _ => self.problem_at("type", "holds something that is not a type, which is ignored"),
                    }
                }
                // Every integer is a number.
                if found.types.contains(&Type::Number) {
                    found.types.retain(|t| *t != Type::Integer);
                }
                if found == Types::default() {
                    self.problem_at("type", "an empty list, so ignored");
                    return None;
                }
            }
            _ => {
                self.problem_at("type", "neither a type nor a list of types, so ignored");
                return None;
            }
        }
        Some(found)
    }

    /// Nothing if the name means any type.
    fn add_type(&mut self, name: &str, found: &mut Types) -> Option<()> {
        let exact = match name {
            "null" => {
                found.null = true;
                return Some(());
            }
            "boolean" => Some(Type::Boolean),
            "integer" => Some(Type::Integer),
            "number" => Some(Type::Number),
            "string" => Some(Type::String),
            "array" => Some(Type::Array),
            "object" => Some(Type::Object),
            _ => None,
        };
        let Some(of) = exact.or_else(|| near_type(name)) else {
            if name.eq_ignore_ascii_case("null") || name.eq_ignore_ascii_case("none") {
                found.null = true;
                return Some(());
            }
            self.problem_at("type", format!("`{name}` is not a type of JSON Schema, so ignored"));
            return None;
        };
        if exact.is_none() {
            let meant = format!("`{name}` is not a type of JSON Schema, taken for {}", of.name());
            self.problem_at("type", meant);
        }
        if !found.types.contains(&of) {
            found.types.push(of);
        }
        Some(())
    }
}

impl Type {
    pub(super) fn name(self) -> &'static str {
        match self {
            Type::Boolean => "boolean",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::String => "string",
            Type::Array => "array",
            Type::Object => "object",
        }
    }
}

/// What authors write by mistake: types of programming languages, and capitals (Gemini's spelling).
fn near_type(name: &str) -> Option<Type> {
    Some(match name.to_ascii_lowercase().as_str() {
        "boolean" | "bool" => Type::Boolean,
        "integer" | "int" | "int32" | "int64" | "long" => Type::Integer,
        "number" | "float" | "double" | "decimal" => Type::Number,
        "string" | "str" | "text" | "char" | "date" | "datetime" | "date-time" | "uuid" | "file" => {
            Type::String
        }
        "array" | "list" | "set" => Type::Array,
        "object" | "dict" | "map" => Type::Object,
        _ => return None,
    })
}

/// The types that the keywords of a schema without `type` speak of.
fn implied(schema: &Object) -> Option<Types> {
    let any = |keywords: &[&str]| keywords.iter().any(|keyword| schema.contains_key(*keyword));
    let mut types = Vec::new();
    // `required: true` is a mistake of the property that holds it and says nothing about its own type.
    let object = OBJECT_KEYWORDS.iter().any(|keyword| match schema.get(*keyword) {
        Some(Value::Array(_)) => *keyword == "required",
        Some(_) => *keyword != "required",
        None => false,
    });
    if object || super::objects::unevaluated_is_additional(schema) {
        types.push(Type::Object);
    }
    if any(ARRAY_KEYWORDS) {
        types.push(Type::Array);
    }
    if any(STRING_KEYWORDS) {
        types.push(Type::String);
    }
    if any(NUMBER_KEYWORDS) {
        types.push(Type::Number);
    }
    let elsewhere = ["$ref", "allOf", "anyOf", "oneOf"].iter().any(|keyword| schema.contains_key(*keyword));
    if let (true, false, Some(Value::String(format))) = (types.is_empty(), elsewhere, schema.get("format")) {
        types.push(match format.as_str() {
            "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64" => Type::Integer,
            "float" | "double" | "decimal" => Type::Number,
            _ => Type::String,
        });
    }
    (!types.is_empty()).then_some(Types { types, null: false })
}

/// The shape of this kind that says nothing more.
pub(super) fn is_bare(kind: &Kind) -> bool {
    match kind {
        Kind::Boolean => true,
        Kind::Integer(rules) | Kind::Number(rules) => *rules == NumberRules::ANY,
        Kind::String(rules) => *rules == StringRules::ANY,
        Kind::Array(rules) => *rules == crate::schema::shape::ArrayRules::ANY,
        Kind::Object(rules) => *rules == crate::schema::shape::ObjectRules::ANY,
        _ => false,
    }
}

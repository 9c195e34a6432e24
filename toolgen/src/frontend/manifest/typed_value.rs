//! The types of the values of placeholders.

use toolgen_core::internal::resolved;
use toolgen_core::schema::shape::{Extra, Kind, Literal, ObjectRules};
use toolgen_core::{Def, List, Schema, Shape, ToolSpec};

/// A value with a known schema.
#[derive(Clone, Debug)]
pub(super) struct TypedValue {
    /// The schema of the value.
    pub(super) schema: Schema,
    /// The named shapes that the schema refers to.
    pub(super) defs: List<Def>,
    /// Whether the value may be missing or `null`.
    pub(super) may_be_absent: bool,
    /// Whether the model provides the value, as an argument or as a part of an argument.
    pub(super) from_model: bool,
}

/// The JSON types that placeholders distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Text,
    Number,
    Boolean,
    List,
    Object,
    /// Several types, or an unknown type.
    Mixed,
}

impl Class {
    /// Returns the type with its article.
    pub(super) fn name(self) -> &'static str {
        match self {
            Class::Text => "a string",
            Class::Number => "a number",
            Class::Boolean => "a boolean",
            Class::List => "an array",
            Class::Object => "an object",
            Class::Mixed => "a value",
        }
    }
}

/// The result of looking up a member or an item of a value.
pub(super) enum Lookup {
    /// A value with a known schema.
    Found(TypedValue),
    /// An unknown value.
    Unknown,
    /// The value has no such member. It has only the listed members.
    Missing(Vec<String>),
}

impl TypedValue {
    /// Returns the arguments of a tool as a value.
    pub(super) fn arguments(spec: &ToolSpec) -> TypedValue {
        TypedValue {
            schema: spec.input.clone(),
            defs: spec.defs.clone(),
            may_be_absent: false,
            from_model: true,
        }
    }

    /// Returns the shape of the value, with references resolved.
    pub(super) fn shape(&self) -> Option<&Shape> {
        resolved(self.schema.shape(), &self.defs)
    }

    /// Returns the JSON type of the value.
    pub(super) fn class(&self) -> Class {
        class(self.schema.shape(), &self.defs, 0)
    }

    /// Whether a value contains no strings except those that the schema enumerates.
    pub(super) fn is_fixed(&self) -> bool {
        matches!(self.class(), Class::Number | Class::Boolean)
            || self.shape().is_some_and(|shape| matches!(shape.kind, Kind::Enum(_)))
    }

    /// Returns the items of an array.
    pub(super) fn item(&self) -> Option<TypedValue> {
        match &self.shape()?.kind {
            Kind::Array(rules) => Some(self.part(&rules.items, false)),
            _ => None,
        }
    }

    /// Returns the member or the item with this key.
    pub(super) fn member(&self, key: &str) -> Lookup {
        let Some(shape) = self.shape() else { return Lookup::Unknown };
        match &shape.kind {
            Kind::Object(rules) => {
                let field = rules.fields.iter().find(|field| *field.name == *key);
                match (field, &rules.extra) {
                    (Some(field), _) => {
                        let may_be_absent = !field.required && field.shape.default.is_none();
                        Lookup::Found(self.part(&field.shape, may_be_absent))
                    }
                    (None, Extra::Of(shape)) => Lookup::Found(self.part(shape, true)),
                    (None, Extra::Closed) if rules.patterns.is_empty() => Lookup::missing(rules),
                    // A schema without listed properties is treated as unknown.
                    (None, Extra::Open) if !rules.fields.is_empty() && rules.patterns.is_empty() => {
                        Lookup::missing(rules)
                    }
                    _ => Lookup::Unknown,
                }
            }
            Kind::Array(rules) => match key.parse::<u64>() {
                Ok(index) => {
                    let may_be_absent = rules.min_items.is_none_or(|min_items| min_items <= index);
                    Lookup::Found(self.part(&rules.items, may_be_absent))
                }
                Err(_) => Lookup::Missing(Vec::new()),
            },
            Kind::Any | Kind::Union(_) | Kind::All(_) | Kind::Raw(_) | Kind::Ref(_) | Kind::Tuple(_) => {
                Lookup::Unknown
            }
            Kind::Enum(_) if self.class() == Class::Mixed => Lookup::Unknown,
            _ => Lookup::Missing(Vec::new()),
        }
    }

    fn part(&self, shape: &Shape, may_be_absent: bool) -> TypedValue {
        let defs = self.defs.clone();
        let nullable = shape.nullable || resolved(shape, &self.defs).is_some_and(|shape| shape.nullable);
        TypedValue {
            schema: shape.clone().into(),
            defs,
            may_be_absent: may_be_absent || nullable,
            from_model: self.from_model,
        }
    }
}

impl Lookup {
    fn missing(rules: &ObjectRules) -> Lookup {
        Lookup::Missing(rules.fields.iter().map(|field| field.name.to_string()).collect())
    }
}

/// Maximum depth of nested unions that are examined.
const MAX_DEPTH: usize = 8;

fn class(shape: &Shape, defs: &List<Def>, depth: usize) -> Class {
    let Some(shape) = resolved(shape, defs).filter(|_| depth < MAX_DEPTH) else { return Class::Mixed };
    match &shape.kind {
        Kind::Boolean => Class::Boolean,
        Kind::Integer(_) | Kind::Number(_) => Class::Number,
        Kind::String(_) => Class::Text,
        Kind::Array(_) | Kind::Tuple(_) => Class::List,
        Kind::Object(_) => Class::Object,
        Kind::Enum(values) => common(values.iter().map(class_of_literal)),
        Kind::Union(rules) => common(rules.variants.iter().map(|variant| class(variant, defs, depth + 1))),
        Kind::All(parts) => {
            let mut classes = parts.iter().map(|part| class(part, defs, depth + 1));
            classes.find(|class| *class != Class::Mixed).unwrap_or(Class::Mixed)
        }
        Kind::Any | Kind::Never | Kind::Null | Kind::Ref(_) | Kind::Raw(_) => Class::Mixed,
    }
}

fn class_of_literal(literal: &Literal) -> Class {
    match literal {
        Literal::Bool(_) => Class::Boolean,
        Literal::Number(_) => Class::Number,
        Literal::String(_) => Class::Text,
        Literal::Json(text) if text.starts_with('[') => Class::List,
        Literal::Json(_) => Class::Object,
        Literal::Null => Class::Mixed,
    }
}

/// Returns the type that all classes have in common, or else [`Class::Mixed`].
fn common(mut classes: impl Iterator<Item = Class>) -> Class {
    match classes.next() {
        Some(first) if classes.all(|class| class == first) => first,
        _ => Class::Mixed,
    }
}

//! What is known about the values of placeholders.

use toolgen_core::internal::resolved;
use toolgen_core::schema::shape::{Extra, Kind, Literal, ObjectRules};
use toolgen_core::{Def, List, Schema, Shape, ToolSpec};

/// A value whose schema is known.
#[derive(Clone, Debug)]
pub(super) struct TypedValue {
    /// The schema.
    pub(super) schema: Schema,
    /// The named shapes that it refers to.
    pub(super) defs: List<Def>,
    /// Whether the value may be missing or `null`.
    pub(super) may_miss: bool,
    /// Whether the model provides the value, as an argument or inside one.
    pub(super) of_model: bool,
}

/// The JSON types that matter to a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Text,
    Number,
    Boolean,
    List,
    Object,
    /// Several types, or an unknown one.
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

/// The result of a step into a value.
pub(super) enum Step {
    /// A value with a known schema.
    To(TypedValue),
    /// An unknown value.
    Unknown,
    /// Nothing: the value has only these members.
    Nowhere(Vec<String>),
}

impl TypedValue {
    /// Returns the arguments of a tool.
    pub(super) fn arguments(spec: &ToolSpec) -> TypedValue {
        TypedValue { schema: spec.input.clone(), defs: spec.defs.clone(), may_miss: false, of_model: true }
    }

    /// Returns the shape, with references resolved.
    pub(super) fn shape(&self) -> Option<&Shape> {
        resolved(self.schema.shape(), &self.defs)
    }

    /// Returns the type.
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

    /// Returns the member or item of this key.
    pub(super) fn step(&self, key: &str) -> Step {
        let Some(shape) = self.shape() else { return Step::Unknown };
        match &shape.kind {
            Kind::Object(rules) => {
                let named = rules.fields.iter().find(|field| *field.name == *key);
                match (named, &rules.extra) {
                    (Some(field), _) => {
                        let may_miss = !field.required && field.shape.default.is_none();
                        Step::To(self.part(&field.shape, may_miss))
                    }
                    (None, Extra::Of(shape)) => Step::To(self.part(shape, true)),
                    (None, Extra::Closed) if rules.patterns.is_empty() => Step::nowhere(rules),
                    // Only listed properties are reliable; a schema that lists none is unknown.
                    (None, Extra::Open) if !rules.fields.is_empty() && rules.patterns.is_empty() => {
                        Step::nowhere(rules)
                    }
                    _ => Step::Unknown,
                }
            }
            Kind::Array(rules) => match key.parse::<u64>() {
                Ok(index) => {
                    let may_miss = rules.min_items.is_none_or(|least| least <= index);
                    Step::To(self.part(&rules.items, may_miss))
                }
                Err(_) => Step::Nowhere(Vec::new()),
            },
            Kind::Any | Kind::Union(_) | Kind::All(_) | Kind::Raw(_) | Kind::Ref(_) | Kind::Tuple(_) => {
                Step::Unknown
            }
            Kind::Enum(_) if self.class() == Class::Mixed => Step::Unknown,
            _ => Step::Nowhere(Vec::new()),
        }
    }

    fn part(&self, shape: &Shape, may_miss: bool) -> TypedValue {
        let defs = self.defs.clone();
        let nullable = shape.nullable || resolved(shape, &self.defs).is_some_and(|shape| shape.nullable);
        TypedValue {
            schema: shape.clone().into(),
            defs,
            may_miss: may_miss || nullable,
            of_model: self.of_model,
        }
    }
}

impl Step {
    fn nowhere(rules: &ObjectRules) -> Step {
        Step::Nowhere(rules.fields.iter().map(|field| field.name.to_string()).collect())
    }
}

/// Maximum depth of unions that are followed.
const MAX_DEPTH: usize = 8;

fn class(shape: &Shape, defs: &List<Def>, depth: usize) -> Class {
    let Some(shape) = resolved(shape, defs).filter(|_| depth < MAX_DEPTH) else { return Class::Mixed };
    match &shape.kind {
        Kind::Boolean => Class::Boolean,
        Kind::Integer(_) | Kind::Number(_) => Class::Number,
        Kind::String(_) => Class::Text,
        Kind::Array(_) | Kind::Tuple(_) => Class::List,
        Kind::Object(_) => Class::Object,
        Kind::Enum(values) => common(values.iter().map(of_literal)),
        Kind::Union(rules) => common(rules.variants.iter().map(|variant| class(variant, defs, depth + 1))),
        Kind::All(parts) => {
            let mut classes = parts.iter().map(|part| class(part, defs, depth + 1));
            classes.find(|class| *class != Class::Mixed).unwrap_or(Class::Mixed)
        }
        Kind::Any | Kind::Never | Kind::Null | Kind::Ref(_) | Kind::Raw(_) => Class::Mixed,
    }
}

fn of_literal(literal: &Literal) -> Class {
    match literal {
        Literal::Bool(_) => Class::Boolean,
        Literal::Number(_) => Class::Number,
        Literal::String(_) => Class::Text,
        Literal::Json(text) if text.starts_with('[') => Class::List,
        Literal::Json(_) => Class::Object,
        Literal::Null => Class::Mixed,
    }
}

/// Returns the common type of all of them.
fn common(mut classes: impl Iterator<Item = Class>) -> Class {
    match classes.next() {
        Some(first) if classes.all(|class| class == first) => first,
        _ => Class::Mixed,
    }
}

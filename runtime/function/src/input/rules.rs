//! Shapes built from other shapes at compile time.
//!
//! A constant cannot drop the contents of a shape, so a shape is never taken apart. It is copied part by part from a
//! reference, which is possible because a constant only borrows from the program.

use toolgen_core::internal::{array_with, copy_literal, number_with, object_with, text_with};

use super::const_copy::copy_kind;
use toolgen_kernel::base::frozen::{Frozen, List, Text};
use toolgen_kernel::schema::shape::{
    Access, ArrayRules, Choices, Extra, Field, Kind, Literal, Number, NumberRules, ObjectRules, Relation,
    RelationKind, Shape, StringRules, Title,
};

/// A schema value in an attribute.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum ConstLiteral {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// A string.
    Str(&'static str),
    /// A list or an object, as compact JSON.
    Json(&'static str),
}

impl ConstLiteral {
    /// Returns the value in the form of schemas.
    #[must_use]
    pub const fn literal(self) -> Literal {
        match self {
            ConstLiteral::Null => Literal::Null,
            ConstLiteral::Bool(value) => Literal::Bool(value),
            ConstLiteral::Int(value) => Literal::Number(Number::Int(value)),
            ConstLiteral::Float(value) => Literal::Number(Number::Float(value)),
            ConstLiteral::Str(text) => Literal::String(Frozen::Static(text)),
            ConstLiteral::Json(text) => Literal::Json(Frozen::Static(text)),
        }
    }
}

/// The rules that attributes add to an argument's type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ArgumentRules {
    /// The description of the value.
    pub description: &'static str,
    /// The default.
    pub default: Option<ConstLiteral>,
    /// Example values.
    pub examples: &'static [Literal],
    /// The minimum value.
    pub minimum: Option<Number>,
    /// The maximum value.
    pub maximum: Option<Number>,
    /// The exclusive upper bound.
    pub below: Option<Number>,
    /// Minimum length, in characters or items.
    pub min_len: Option<u64>,
    /// Maximum length, in characters or items.
    pub max_len: Option<u64>,
    /// A regular expression that the value must match.
    pub pattern: &'static str,
    /// A regular expression for values that are rejected.
    pub deny: &'static str,
    /// The message for rejected values.
    pub deny_message: &'static str,
    /// A format.
    pub format: &'static str,
    /// The only allowed values.
    pub one_of: &'static [Literal],
    /// The shape of the items of a list.
    pub items: Option<&'static Shape>,
    /// Whether the argument is deprecated.
    pub deprecated: bool,
}

impl ArgumentRules {
    /// No rules.
    pub const NONE: ArgumentRules = ArgumentRules {
        description: "",
        default: None,
        examples: &[],
        minimum: None,
        maximum: None,
        below: None,
        min_len: None,
        max_len: None,
        pattern: "",
        deny: "",
        deny_message: "",
        format: "",
        one_of: &[],
        items: None,
        deprecated: false,
    };
}

pub(super) const fn named_field(
    name: &'static str,
    aliases: &'static [Text],
    required: bool,
    shape: Shape,
) -> Field {
    Field {
        name: Frozen::Static(name),
        wire: Text::EMPTY,
        aliases: Frozen::Static(aliases),
        required,
        access: Access::Both,
        shape,
    }
}

/// Returns the object of a struct, or of a tool's arguments.
#[doc(hidden)]
#[must_use]
pub const fn object(fields: &'static [Field], relations: &'static [Relation], extra: Extra) -> Shape {
    with_kind(Kind::Object(ObjectRules {
        fields: Frozen::Static(fields),
        patterns: List::EMPTY,
        extra,
        min_properties: None,
        max_properties: None,
        relations: Frozen::Static(relations),
    }))
}

/// Returns a rule between fields.
#[doc(hidden)]
#[must_use]
pub const fn relation(kind: RelationKind, fields: &'static [Text]) -> Relation {
    Relation { kind, fields: Frozen::Static(fields) }
}

/// Returns the shape of the items of a list. For other types, returns a shape that [`checks`](super::checks) ignores.
#[doc(hidden)]
#[must_use]
pub const fn items_of(shape: &'static Shape) -> &'static Shape {
    const NONE: &Shape = &with_kind(Kind::Never);
    match &shape.kind {
        Kind::Array(ArrayRules { items: Frozen::Static(items), .. }) => items,
        _ => NONE,
    }
}

pub(super) const fn with_kind(kind: Kind) -> Shape {
    Shape {
        kind,
        nullable: false,
        description: Text::EMPTY,
        default: None,
        examples: List::EMPTY,
        deprecated: false,
        title: Title::NONE,
        choices: Choices::NONE,
    }
}

/// Refines a shape by the rules of attributes.
///
/// An enum that describes its values keeps that description if its use has another description: a constant cannot join
/// strings, so the enum is kept as a part of the shape, and `rename_refs` joins the descriptions.
///
/// Rules that do not apply to the type are ignored here; [`checks`](super::checks) reject them at their location.
#[doc(hidden)]
#[must_use]
pub const fn refine(shape: &'static Shape, rules: ArgumentRules) -> Shape {
    let kind = refine_kind(&shape.kind, &rules);
    let describes_values = matches!(kind, Kind::Enum(_)) && lists_values(shape.description.program());
    let kind = if describes_values && rules.one_of.is_empty() && !rules.description.is_empty() {
        // Only borrowed parts are replaced.
        core::mem::forget(kind);
        Kind::All(Frozen::Static(core::slice::from_ref(shape)))
    } else {
        kind
    };
    Shape {
        kind,
        nullable: shape.nullable,
        description: if rules.description.is_empty() {
            shape.description.borrowed()
        } else {
            Frozen::Static(rules.description)
        },
        default: match (rules.default, &shape.default) {
            (Some(default), _) => Some(default.literal()),
            (None, Some(default)) => Some(copy_literal(default)),
            (None, None) => None,
        },
        examples: if rules.examples.is_empty() {
            shape.examples.borrowed()
        } else {
            Frozen::Static(rules.examples)
        },
        deprecated: shape.deprecated || rules.deprecated,
        title: Title::NONE,
        choices: Choices::NONE,
    }
}

/// The prefix of the line of a value in the description of an enum.
const VALUE_PREFIX: &str = "- `";

/// Whether a description lists values, one per line.
const fn lists_values(text: &str) -> bool {
    let (text, prefix) = (text.as_bytes(), VALUE_PREFIX.as_bytes());
    let mut index = 0;
    while index + prefix.len() <= text.len() {
        let starts_line = index == 0 || text[index - 1] == b'\n';
        if starts_line
            && text[index] == prefix[0]
            && text[index + 1] == prefix[1]
            && text[index + 2] == prefix[2]
        {
            return true;
        }
        index += 1;
    }
    false
}

/// Returns the lines of a description, starting with the first value.
pub(super) fn value_lines(text: &str) -> &str {
    let start =
        if text.starts_with(VALUE_PREFIX) { Some(0) } else { text.find("\n- `").map(|index| index + 1) };
    start.map_or("", |index| &text[index..])
}

/// Applies rules to a kind of value, if they are valid for it.
const fn refine_kind(kind: &Kind, rules: &ArgumentRules) -> Kind {
    if !rules.one_of.is_empty() {
        return Kind::Enum(Frozen::Static(rules.one_of));
    }
    match kind {
        Kind::Integer(base) => Kind::Integer(refine_number(base, rules)),
        Kind::Number(base) => Kind::Number(refine_number(base, rules)),
        Kind::String(base) => Kind::String(text_with(
            base,
            &StringRules {
                min_length: rules.min_len,
                max_length: rules.max_len,
                pattern: Frozen::Static(rules.pattern),
                deny: Frozen::Static(rules.deny),
                deny_message: Frozen::Static(rules.deny_message),
                format: Frozen::Static(rules.format),
                ..StringRules::ANY
            },
        )),
        Kind::Array(base) => {
            let items = match rules.items {
                Some(items) => Frozen::Static(items),
                None => base.items.borrowed(),
            };
            Kind::Array(array_with(base, items, rules.min_len, rules.max_len))
        }
        Kind::Object(base) => Kind::Object(object_with(base, rules.min_len, rules.max_len)),
        other => copy_kind(other),
    }
}

/// Replaces the bounds of the type with those of attributes.
const fn refine_number(base: &NumberRules, rules: &ArgumentRules) -> NumberRules {
    let ArgumentRules { minimum, maximum, below, .. } = *rules;
    number_with(base, &NumberRules { minimum, maximum, exclusive_maximum: below, ..NumberRules::ANY })
}

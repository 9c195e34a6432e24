//! The schema of a value: a tree that keeps the meaning of JSON Schema 2020-12.
//!
//! One tree has four uses: it is [`read`] from JSON Schema, [`render`]ed for each LLM provider, used to [`decode`] a
//! model's arguments, and translated to Rust types by `toolgen`. Keywords that the tree cannot model are kept as raw
//! JSON Schema text in [`Kind::Raw`], so nothing is dropped silently. Only dialects that cannot express them drop
//! them.
//!
//! # Two forms of one value
//!
//! [`Schema`] is a shape either as a [`Schema::Tree`] or as its canonical JSON Schema text, which is parsed on first
//! use. Generated code contains the text: it is easier to review, and costs the compiler a hundredth of the same tree
//! as a nested constant (measured: rustc needs 16 s and 1 GB for 63,000 nodes as nested literals). Two schemas are
//! equal by `PartialEq` if their trees are equal.

mod children;
mod choices;
pub(crate) mod closed_variants;
mod codec;
pub(crate) mod coercion;
mod condition_messages;
pub mod cycles;
pub mod decode;
mod disjoint;
mod enum_values;
pub(crate) mod literal;
pub(crate) mod never;
mod number;
pub(crate) mod pattern;
pub(crate) mod pointer;
pub(crate) mod projection;
pub(crate) mod prose;
pub mod read;
mod relations;
pub(crate) mod relative_path;
pub mod render;
pub(crate) mod rules;
pub(crate) mod schema;
pub mod slim;
pub(crate) mod spread;
#[cfg(test)]
pub(crate) mod tests;
mod title;
pub(crate) mod tolerant;

use crate::base::frozen::{List, Text};

pub use choices::{Choice, Choices};
pub use codec::encode::encode;
pub use literal::Literal;
pub use number::Number;
pub use pattern::is_pattern;
pub(crate) use pattern::syntax;
#[cfg(test)]
pub(crate) use pattern::tests::corpus;
pub use relations::{Relation, RelationKind};
pub use rules::array::{ArrayRules, TupleRules};
pub use rules::number::NumberRules;
pub use rules::object::{Access, Extra, Field, ObjectRules, PatternField};
pub use rules::text::StringRules;
pub use schema::{Schema, find_def};
pub(crate) use schema::{find_schema, object_in, resolved};
pub use slim::Slim;
#[cfg(test)]
pub(crate) use tests::arbitrary;
pub use title::Title;

/// The schema of a value.
///
/// Write a literal with `..Shape::ANY`.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The allowed values.
    pub kind: Kind,
    /// Whether `null` is also allowed.
    pub nullable: bool,
    /// The description; empty if there is none.
    pub description: Text,
    /// The value that is used if none is given.
    pub default: Option<Literal>,
    /// Example values.
    pub examples: List<Literal>,
    /// Whether the value is deprecated.
    pub deprecated: bool,
    /// The title, from which the Rust type of the values may get its name.
    pub title: Title,
    /// The names of the enumerated values.
    pub choices: Choices,
}

impl Shape {
    /// Any value.
    pub const ANY: Shape = Shape {
        kind: Kind::Any,
        nullable: false,
        description: Text::EMPTY,
        default: None,
        examples: List::EMPTY,
        deprecated: false,
        title: Title::NONE,
        choices: Choices::NONE,
    };

    /// The arguments of a tool that has none: an object without fields.
    pub const NO_ARGUMENTS: Shape =
        Shape { kind: Kind::Object(ObjectRules { extra: Extra::Closed, ..ObjectRules::ANY }), ..Shape::ANY };

    /// Creates a shape of this kind, without annotations.
    #[must_use]
    pub fn of(kind: Kind) -> Shape {
        Shape { kind, ..Shape::ANY }
    }

    /// Copies the annotations that this shape lacks from another shape.
    fn adopt(&mut self, other: &Shape) {
        if self.description.is_empty() {
            self.description = other.description.clone();
        }
        if self.default.is_none() {
            self.default = other.default.clone();
        }
        if self.examples.is_empty() {
            self.examples = other.examples.clone();
        }
        self.deprecated |= other.deprecated;
        if self.title.is_none() {
            self.title = other.title.clone();
        }
        if self.choices.is_none() {
            self.choices = other.choices.clone();
        }
    }
}

/// The values that a `Shape` allows.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Any value.
    Any,
    /// No value.
    Never,
    /// Only `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number without a fractional part; `5.0` is an integer.
    Integer(NumberRules),
    /// A number.
    Number(NumberRules),
    /// A string.
    String(StringRules),
    /// One of these values. A single value is `const` in JSON Schema.
    Enum(List<Literal>),
    /// An array whose items have the same shape.
    Array(ArrayRules),
    /// An array whose first items have their own shapes.
    Tuple(TupleRules),
    /// An object with fields, a map, or both.
    Object(ObjectRules),
    /// One of several shapes.
    Union(UnionRules),
    /// All of several shapes.
    All(List<Shape>),
    /// A reference to the shape with this name in the tool's `defs`.
    Ref(Text),
    /// JSON Schema keywords that the tree cannot represent, as the compact text of one schema object. References in
    /// it have the form `#/$defs/NAME`.
    Raw(Text),
}

/// One of several shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct UnionRules {
    /// How many variants must match.
    pub mode: UnionMode,
    /// The variants.
    pub variants: List<Shape>,
    /// The property that identifies the variant.
    pub discriminator: Option<Discriminator>,
}

/// How many variants of a union must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnionMode {
    /// At least one (`anyOf`).
    Any,
    /// Exactly one (`oneOf`). A value that matches several variants is accepted nevertheless: documents use `oneOf`
    /// for overlapping variants, such as a date and a time, or an integer and a number.
    One,
}

/// The property that identifies the variant of a value (OpenAPI's `discriminator`).
#[derive(Clone, Debug, PartialEq)]
pub struct Discriminator {
    /// The name of the property.
    pub property: Text,
    /// The property's values for the variants that are a [`Kind::Ref`]: the value and the name of the shape.
    pub mapping: List<(Text, Text)>,
    /// The name of the variant for any other value, or for a missing property (OpenAPI's `defaultMapping`).
    pub default_variant: Option<Text>,
}

/// A named shape, the target of [`Kind::Ref`].
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq)]
pub struct Def {
    /// The name.
    pub name: Text,
    /// The shape.
    pub schema: Schema,
}

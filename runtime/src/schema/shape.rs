//! The schema of a value: a closed tree that keeps the meaning of JSON Schema 2020-12.
//!
//! One tree serves four uses: it is [`read`] from JSON Schema, [`render`]ed for each LLM provider, used to [`decode`]
//! a model's arguments, and turned into Rust types by `toolgen`. What the tree cannot model is kept as raw JSON Schema
//! text in [`Kind::Raw`], so nothing is dropped silently; only dialects that must refuse it drop it.
//!
//! # Two forms of one value
//!
//! [`Schema`] is a shape either as a [`Schema::Tree`] or as its canonical JSON Schema text, which is read on first
//! use. Generated code holds the text: it is what a reviewer wants to see, and it costs the compiler a hundredth of
//! what the same tree costs as a nested constant (measured: 63,000 nodes take rustc 16 s and 1 GB as nested literals).
//! Both forms are equal by `PartialEq` if their trees are.

#[cfg(test)]
mod arbitrary;
pub mod decode;
mod nulls;
pub(crate) mod pointer;
pub mod read;
mod relations;
pub mod render;
mod rules;
mod schema;

use crate::base::frozen::{Frozen, List, Text};

pub use relations::{Relation, RelationKind};
pub use rules::is_pattern;
pub use schema::{Def, Schema, find_def};

/// The schema of a value.
///
/// Write a literal with `..Shape::ANY`.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The values that are allowed.
    pub kind: Kind,
    /// Whether `null` is also allowed.
    pub nullable: bool,
    /// What the value means; empty if not stated.
    pub description: Text,
    /// The value that is used when none is given.
    pub default: Option<Literal>,
    /// Allowed values to imitate.
    pub examples: List<Literal>,
    /// Whether the value should no longer be used.
    pub deprecated: bool,
}

impl Shape {
    /// Every value.
    pub const ANY: Shape = Shape {
        kind: Kind::Any,
        nullable: false,
        description: Text::EMPTY,
        default: None,
        examples: List::EMPTY,
        deprecated: false,
    };

    /// The arguments of a tool that takes none: an object without fields.
    pub const NO_ARGUMENTS: Shape =
        Shape { kind: Kind::Object(ObjectRules { extra: Extra::Closed, ..ObjectRules::ANY }), ..Shape::ANY };

    /// Creates a shape of this kind, without annotations.
    #[must_use]
    pub fn of(kind: Kind) -> Shape {
        Shape { kind, ..Shape::ANY }
    }
}

/// The values that a [`Shape`] allows.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Every value.
    Any,
    /// No value.
    Never,
    /// Only `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number without a fractional part; `5.0` is one.
    Integer(NumberRules),
    /// A number.
    Number(NumberRules),
    /// A text.
    String(StringRules),
    /// One of these values. A single value is JSON Schema's `const`.
    Enum(List<Literal>),
    /// A list of values of one shape.
    Array(ArrayRules),
    /// A list whose first values have their own shapes.
    Tuple(TupleRules),
    /// An object: fields, a map, or both.
    Object(ObjectRules),
    /// One of several shapes.
    Union(UnionRules),
    /// All of several shapes at once.
    All(List<Shape>),
    /// The shape of this name in the tool's `defs`.
    Ref(Text),
    /// JSON Schema keywords that the tree has no form for, as the compact text of one schema object. Its references
    /// are `#/$defs/NAME`.
    Raw(Text),
}

/// The rules of a number.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberRules {
    /// The smallest allowed value.
    pub minimum: Option<Number>,
    /// The largest allowed value.
    pub maximum: Option<Number>,
    /// The bound that every allowed value exceeds.
    pub exclusive_minimum: Option<Number>,
    /// The bound that every allowed value is below.
    pub exclusive_maximum: Option<Number>,
    /// The step of which every allowed value is an integer multiple.
    pub multiple_of: Option<Number>,
    /// A format such as `int64` or `double`; empty if there is none. It is an annotation and not enforced.
    pub format: Text,
}

impl NumberRules {
    /// The rules that allow every number.
    pub const ANY: NumberRules = NumberRules {
        minimum: None,
        maximum: None,
        exclusive_minimum: None,
        exclusive_maximum: None,
        multiple_of: None,
        format: Text::EMPTY,
    };

    /// Returns the bounds with their keywords, in the order in which they are written and described.
    pub(crate) fn bounds(&self) -> [(&'static str, Option<Number>); 5] {
        [
            ("minimum", self.minimum),
            ("exclusiveMinimum", self.exclusive_minimum),
            ("maximum", self.maximum),
            ("exclusiveMaximum", self.exclusive_maximum),
            ("multipleOf", self.multiple_of),
        ]
    }
}

/// A number of a schema, exact for every integer up to 128 bits.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// Any other finite number.
    Float(f64),
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a == b,
            // Compared by bits, so that every value equals itself.
            (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}

/// The rules of a text. Lengths count characters (Unicode scalar values).
#[derive(Clone, Debug, PartialEq)]
pub struct StringRules {
    /// The smallest allowed length.
    pub min_length: Option<u64>,
    /// The largest allowed length.
    pub max_length: Option<u64>,
    /// An ECMA-262 regular expression that the text must match somewhere; empty if there is none.
    pub pattern: Text,
    /// An ECMA-262 regular expression that the text must not match anywhere; empty if there is none. A text that is
    /// too long to be matched is refused, too.
    pub deny: Text,
    /// The message for a text that `deny` refuses; if empty, the expression is shown.
    pub deny_message: Text,
    /// A format such as `date-time`, `uuid` or `byte`; empty if there is none. It is an annotation and not enforced.
    pub format: Text,
    /// The encoding of the content, such as `base64`; empty if there is none.
    pub content_encoding: Text,
    /// The media type of the content; empty if there is none.
    pub content_media_type: Text,
}

impl StringRules {
    /// The rules that allow every text.
    pub const ANY: StringRules = StringRules {
        min_length: None,
        max_length: None,
        pattern: Text::EMPTY,
        deny: Text::EMPTY,
        deny_message: Text::EMPTY,
        format: Text::EMPTY,
        content_encoding: Text::EMPTY,
        content_media_type: Text::EMPTY,
    };
}

/// The rules of a list of values of one shape.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayRules {
    /// The shape of each value.
    pub items: Frozen<Shape>,
    /// The smallest allowed number of values.
    pub min_items: Option<u64>,
    /// The largest allowed number of values.
    pub max_items: Option<u64>,
    /// Whether no value may occur twice.
    pub unique: bool,
}

impl ArrayRules {
    /// The rules that allow every list.
    pub const ANY: ArrayRules =
        ArrayRules { items: Frozen::Static(&Shape::ANY), min_items: None, max_items: None, unique: false };
}

/// The rules of a list whose first values have their own shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct TupleRules {
    /// The shapes of the first values.
    pub items: List<Shape>,
    /// The values that may follow.
    pub rest: Extra,
    /// The smallest allowed number of values.
    pub min_items: Option<u64>,
    /// The largest allowed number of values.
    pub max_items: Option<u64>,
}

/// The rules of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectRules {
    /// The known fields, in the order of the source.
    pub fields: List<Field>,
    /// Fields identified by a pattern of their names.
    pub patterns: List<PatternField>,
    /// The values that other fields may hold.
    pub extra: Extra,
    /// The smallest allowed number of fields.
    pub min_properties: Option<u64>,
    /// The largest allowed number of fields.
    pub max_properties: Option<u64>,
    /// Rules between fields.
    pub relations: List<Relation>,
}

impl ObjectRules {
    /// The rules that allow every object.
    pub const ANY: ObjectRules = ObjectRules {
        fields: List::EMPTY,
        patterns: List::EMPTY,
        extra: Extra::Open,
        min_properties: None,
        max_properties: None,
        relations: List::EMPTY,
    };
}

/// What an object or a tuple may hold besides its known members.
#[derive(Clone, Debug, PartialEq)]
pub enum Extra {
    /// Anything.
    Open,
    /// Nothing.
    Closed,
    /// Values of this shape.
    Of(Frozen<Shape>),
}

/// A known field of an object.
///
/// Write a literal with `..Field::OPTIONAL` or `..Field::REQUIRED`.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The key a model sees and sends.
    pub name: Text,
    /// The key in the data, if providers would refuse it as a name (`filter[x]`, `$top`); empty if it is the name.
    /// Decoding replaces the name with it.
    pub wire: Text,
    /// Other keys that decoding accepts for this field. They are not advertised.
    pub aliases: List<Text>,
    /// Whether the field must be given.
    pub required: bool,
    /// Which side gives the field.
    pub access: Access,
    /// The shape of its value.
    pub shape: Shape,
}

impl Field {
    /// A field that may be left out.
    pub const OPTIONAL: Field = Field {
        name: Text::EMPTY,
        wire: Text::EMPTY,
        aliases: List::EMPTY,
        required: false,
        access: Access::Both,
        shape: Shape::ANY,
    };

    /// A field that must be given.
    pub const REQUIRED: Field = Field { required: true, ..Field::OPTIONAL };

    /// Returns the key in the data.
    #[must_use]
    pub fn wire_name(&self) -> &str {
        if self.wire.is_empty() { &self.name } else { &self.wire }
    }
}

/// Fields identified by a pattern of their names.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternField {
    /// An ECMA-262 regular expression.
    pub pattern: Text,
    /// The shape of the values.
    pub shape: Shape,
}

/// Which side gives the value of a field (JSON Schema's `readOnly` and `writeOnly`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Requests and responses.
    Both,
    /// Responses only: a model never sends it.
    ReadOnly,
    /// Requests only: a result never holds it.
    WriteOnly,
}

/// One of several shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct UnionRules {
    /// How many variants may fit.
    pub mode: UnionMode,
    /// The shapes.
    pub variants: List<Shape>,
    /// The property that identifies the variant.
    pub discriminator: Option<Discriminator>,
}

/// How many variants of a union may fit a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnionMode {
    /// At least one (`anyOf`).
    Any,
    /// Exactly one (`oneOf`).
    One,
}

/// The property that identifies the variant of a value (OpenAPI's `discriminator`).
#[derive(Clone, Debug, PartialEq)]
pub struct Discriminator {
    /// The name of the property.
    pub property: Text,
    /// The property's value for each variant that is a [`Kind::Ref`]: the value and the name of the shape.
    pub mapping: List<(Text, Text)>,
}

/// A JSON value in a schema.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    String(Text),
    /// A list or an object, as compact JSON text.
    Json(Text),
}

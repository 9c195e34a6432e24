//! The rules of objects.

use super::{Combination, Form, Keyword, Object, StatedRule, check_count, count, first_set, smaller_limit};
use crate::base::frozen::{Frozen, List, Text};
use crate::schema::shape::relations::{self, Relation};
use crate::schema::shape::{Shape, pattern};

/// The rules of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectRules {
    /// The known fields, in the order of the source.
    pub fields: List<Field>,
    /// Fields whose names match a pattern.
    pub patterns: List<PatternField>,
    /// The values of additional fields.
    pub extra: Extra,
    /// Minimum number of fields.
    pub min_properties: Option<u64>,
    /// Maximum number of fields.
    pub max_properties: Option<u64>,
    /// Rules between fields.
    pub relations: List<Relation>,
}

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("minProperties", Form::Count, Combination::Larger),
    Keyword::new("maxProperties", Form::Count, Combination::Smaller),
];

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

    /// Reads the rules of a schema in normal form, for these members.
    pub(crate) fn read(
        schema: &Object,
        fields: List<Field>,
        patterns: List<PatternField>,
        extra: Extra,
    ) -> ObjectRules {
        ObjectRules {
            fields,
            patterns,
            extra,
            min_properties: count(schema, "minProperties"),
            max_properties: count(schema, "maxProperties"),
            relations: relations::read(schema),
        }
    }

    /// Returns the rules that are set, without the members.
    pub(crate) fn stated_rules(&self) -> Vec<StatedRule> {
        let ObjectRules { fields: _, patterns: _, extra: _, min_properties, max_properties, relations } =
            self;
        // Rules between fields are described separately, and only the root has keywords for them.
        let relations = (!relations.is_empty())
            .then(|| StatedRule::new(relations::KEYWORD, relations::write(relations), String::new()));
        let rules = [
            StatedRule::count("minProperties", *min_properties, "key"),
            StatedRule::count("maxProperties", *max_properties, "key"),
            relations,
        ];
        rules.into_iter().flatten().collect()
    }

    /// Returns the problems with the number of fields.
    pub(crate) fn count_problems(&self, count: usize) -> Vec<String> {
        check_count(count, self.min_properties, self.max_properties, "key")
    }

    /// Returns the field of a key: by its name, its wire name, or an alias.
    pub(crate) fn field(&self, key: &str, hidden: Access) -> Option<&Field> {
        let find_by = |matches: &dyn Fn(&Field) -> bool| {
            self.fields.iter().find(|field| field.access != hidden && matches(field))
        };
        find_by(&|field| field.name == *key)
            .or_else(|| find_by(&|field| field.wire_name() == key))
            .or_else(|| find_by(&|field| field.aliases.iter().any(|alias| *alias == *key)))
    }

    /// Returns the shape of the value under a key that is not a field, if it has one.
    pub(crate) fn extra_shape(&self, key: &str) -> Option<&Shape> {
        match (
            self.patterns.iter().find(|pattern_field| pattern::matches(&pattern_field.pattern, key)),
            &self.extra,
        ) {
            (Some(pattern_field), _) => Some(&pattern_field.shape),
            (None, Extra::Of(shape)) => Some(shape),
            (None, Extra::Open | Extra::Closed) => None,
        }
    }

    /// Whether only the rules of the known fields, of additional fields and between fields remain to be checked.
    pub(crate) fn only_field_checks_remain(&self) -> bool {
        let ObjectRules { fields: _, patterns, extra: _, min_properties, max_properties, relations: _ } =
            self;
        patterns.is_empty() && min_properties.is_none() && max_properties.is_none()
    }

    /// Returns the intersection of two sets of rules, for these fields and these additional fields.
    pub(crate) fn and(&self, other: &ObjectRules, fields: List<Field>, extra: Extra) -> ObjectRules {
        ObjectRules {
            fields,
            patterns: self.patterns.iter().chain(&other.patterns).cloned().collect(),
            extra,
            min_properties: self.min_properties.max(other.min_properties),
            max_properties: smaller_limit(self.max_properties, other.max_properties),
            relations: self.relations.iter().chain(&other.relations).cloned().collect(),
        }
    }
}

/// Copies the rules in a constant, with other limits if they are set.
#[must_use]
pub const fn object_with(
    base: &ObjectRules,
    min_properties: Option<u64>,
    max_properties: Option<u64>,
) -> ObjectRules {
    ObjectRules {
        fields: base.fields.borrowed(),
        patterns: base.patterns.borrowed(),
        extra: copy_extra(&base.extra),
        min_properties: first_set(min_properties, base.min_properties),
        max_properties: first_set(max_properties, base.max_properties),
        relations: base.relations.borrowed(),
    }
}

/// What an object or a tuple may contain in addition to its known members.
#[derive(Clone, Debug, PartialEq)]
pub enum Extra {
    /// Anything.
    Open,
    /// Nothing.
    Closed,
    /// Values of this shape.
    Of(Frozen<Shape>),
}

/// Copies the value in a constant.
#[must_use]
pub const fn copy_extra(extra: &Extra) -> Extra {
    match extra {
        Extra::Open => Extra::Open,
        Extra::Closed => Extra::Closed,
        Extra::Of(shape) => Extra::Of(shape.borrowed()),
    }
}

/// A known field of an object.
///
/// Write a literal with `..Field::OPTIONAL` or `..Field::REQUIRED`.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The key a model sees and sends.
    pub name: Text,
    /// The key in the data, if providers would reject it as a name (`filter[x]`, `$top`); empty if it equals the
    /// name. Decoding replaces the name with it.
    pub wire: Text,
    /// Other keys that decoding accepts for this field. Models do not see them.
    pub aliases: List<Text>,
    /// Whether the field is required.
    pub required: bool,
    /// Whether the field occurs in arguments, in results, or in both.
    pub access: Access,
    /// The shape of its value.
    pub shape: Shape,
}

impl Field {
    /// An optional field.
    pub const OPTIONAL: Field = Field {
        name: Text::EMPTY,
        wire: Text::EMPTY,
        aliases: List::EMPTY,
        required: false,
        access: Access::Both,
        shape: Shape::ANY,
    };

    /// A required field.
    pub const REQUIRED: Field = Field { required: true, ..Field::OPTIONAL };

    /// Returns the key in the data.
    #[must_use]
    pub fn wire_name(&self) -> &str {
        if self.wire.is_empty() { &self.name } else { &self.wire }
    }
}

/// Fields whose names match a pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternField {
    /// An ECMA-262 regular expression.
    pub pattern: Text,
    /// The shape of the values.
    pub shape: Shape,
}

/// Whether a field occurs in requests or responses (JSON Schema's `readOnly` and `writeOnly`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Requests and responses.
    Both,
    /// Only responses: a model never sends it.
    ReadOnly,
    /// Only requests: a result never contains it.
    WriteOnly,
}

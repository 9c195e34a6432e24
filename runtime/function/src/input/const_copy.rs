//! Copies of shapes at compile time: a constant can repeat borrowed parts.

use toolgen_core::internal::{array_with, copy_literal, copy_tuple, number_with, object_with, text_with};

use toolgen_kernel::schema::shape::{
    Choices, Discriminator, Field, Kind, NumberRules, Shape, StringRules, Title, UnionRules,
};

/// Copies a shape and allows `null`.
pub(super) const fn copy_nullable(shape: &Shape) -> Shape {
    copy_as(shape, copy_kind(&shape.kind), true)
}

/// Copies a shape.
pub(super) const fn copy(shape: &Shape) -> Shape {
    copy_as(shape, copy_kind(&shape.kind), shape.nullable)
}

pub(super) const fn copy_as(shape: &Shape, kind: Kind, nullable: bool) -> Shape {
    Shape {
        kind,
        nullable,
        description: shape.description.borrowed(),
        default: match &shape.default {
            Some(default) => Some(copy_literal(default)),
            None => None,
        },
        examples: shape.examples.borrowed(),
        deprecated: shape.deprecated,
        title: Title::NONE,
        choices: Choices::NONE,
    }
}

pub(super) const fn copy_field(field: &Field) -> Field {
    Field {
        name: field.name.borrowed(),
        wire: field.wire.borrowed(),
        aliases: field.aliases.borrowed(),
        required: field.required,
        access: field.access,
        shape: copy(&field.shape),
    }
}

pub(super) const fn copy_kind(kind: &Kind) -> Kind {
    match kind {
        Kind::Any => Kind::Any,
        Kind::Never => Kind::Never,
        Kind::Null => Kind::Null,
        Kind::Boolean => Kind::Boolean,
        Kind::Integer(rules) => Kind::Integer(number_with(rules, &NumberRules::ANY)),
        Kind::Number(rules) => Kind::Number(number_with(rules, &NumberRules::ANY)),
        Kind::String(rules) => Kind::String(text_with(rules, &StringRules::ANY)),
        Kind::Enum(values) => Kind::Enum(values.borrowed()),
        Kind::Array(rules) => Kind::Array(array_with(rules, rules.items.borrowed(), None, None)),
        Kind::Tuple(rules) => Kind::Tuple(copy_tuple(rules)),
        Kind::Object(rules) => Kind::Object(object_with(rules, None, None)),
        Kind::Union(rules) => Kind::Union(UnionRules {
            mode: rules.mode,
            variants: rules.variants.borrowed(),
            discriminator: match &rules.discriminator {
                Some(Discriminator { property, mapping, default_variant }) => Some(Discriminator {
                    property: property.borrowed(),
                    mapping: mapping.borrowed(),
                    default_variant: match default_variant {
                        Some(name) => Some(name.borrowed()),
                        None => None,
                    },
                }),
                None => None,
            },
        }),
        Kind::All(shapes) => Kind::All(shapes.borrowed()),
        Kind::Ref(name) => Kind::Ref(name.borrowed()),
        Kind::Raw(text) => Kind::Raw(text.borrowed()),
    }
}

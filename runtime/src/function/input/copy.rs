//! Copies of shapes at compile time: a borrow in a constant can be repeated.

use super::rules::{Rules, refine_number};
use crate::base::frozen::Frozen;
use crate::schema::shape::{
    ArrayRules, Discriminator, Extra, Field, Kind, Literal, ObjectRules, Shape, StringRules, TupleRules,
    UnionRules,
};

/// Copies a shape and allows `null`.
pub(super) const fn nullable(shape: &Shape) -> Shape {
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
        description: still(&shape.description),
        default: match &shape.default {
            Some(default) => Some(copy_literal(default)),
            None => None,
        },
        examples: still(&shape.examples),
        deprecated: shape.deprecated,
    }
}

/// Copies a borrow of a constant.
#[expect(clippy::panic, reason = "constants hold nothing that is made at run time")]
pub(super) const fn still<T: ?Sized>(frozen: &Frozen<T>) -> Frozen<T> {
    match frozen {
        Frozen::Static(value) => Frozen::Static(value),
        Frozen::Shared(_) => panic!("a constant shape holds only what is part of the program"),
    }
}

pub(super) const fn copy_literal(literal: &Literal) -> Literal {
    match literal {
        Literal::Null => Literal::Null,
        Literal::Bool(value) => Literal::Bool(*value),
        Literal::Number(number) => Literal::Number(*number),
        Literal::String(text) => Literal::String(still(text)),
        Literal::Json(text) => Literal::Json(still(text)),
    }
}

pub(super) const fn copy_extra(extra: &Extra) -> Extra {
    match extra {
        Extra::Open => Extra::Open,
        Extra::Closed => Extra::Closed,
        Extra::Of(shape) => Extra::Of(still(shape)),
    }
}

pub(super) const fn copy_field(field: &Field) -> Field {
    Field {
        name: still(&field.name),
        wire: still(&field.wire),
        aliases: still(&field.aliases),
        required: field.required,
        access: field.access,
        shape: copy(&field.shape),
    }
}

pub(super) const fn copy_object(object: &ObjectRules) -> ObjectRules {
    ObjectRules {
        fields: still(&object.fields),
        patterns: still(&object.patterns),
        extra: copy_extra(&object.extra),
        relations: still(&object.relations),
        min_properties: object.min_properties,
        max_properties: object.max_properties,
    }
}

pub(super) const fn copy_kind(kind: &Kind) -> Kind {
    match kind {
        Kind::Any => Kind::Any,
        Kind::Never => Kind::Never,
        Kind::Null => Kind::Null,
        Kind::Boolean => Kind::Boolean,
        Kind::Integer(rules) => Kind::Integer(refine_number(rules, &Rules::NONE)),
        Kind::Number(rules) => Kind::Number(refine_number(rules, &Rules::NONE)),
        Kind::String(rules) => Kind::String(StringRules {
            min_length: rules.min_length,
            max_length: rules.max_length,
            pattern: still(&rules.pattern),
            deny: still(&rules.deny),
            deny_message: still(&rules.deny_message),
            format: still(&rules.format),
            content_encoding: still(&rules.content_encoding),
            content_media_type: still(&rules.content_media_type),
        }),
        Kind::Enum(values) => Kind::Enum(still(values)),
        Kind::Array(rules) => Kind::Array(ArrayRules {
            items: still(&rules.items),
            min_items: rules.min_items,
            max_items: rules.max_items,
            unique: rules.unique,
        }),
        Kind::Tuple(rules) => Kind::Tuple(TupleRules {
            items: still(&rules.items),
            rest: copy_extra(&rules.rest),
            min_items: rules.min_items,
            max_items: rules.max_items,
        }),
        Kind::Object(rules) => Kind::Object(copy_object(rules)),
        Kind::Union(rules) => Kind::Union(UnionRules {
            mode: rules.mode,
            variants: still(&rules.variants),
            discriminator: match &rules.discriminator {
                Some(Discriminator { property, mapping }) => {
                    Some(Discriminator { property: still(property), mapping: still(mapping) })
                }
                None => None,
            },
        }),
        Kind::All(shapes) => Kind::All(still(shapes)),
        Kind::Ref(name) => Kind::Ref(still(name)),
        Kind::Raw(text) => Kind::Raw(still(text)),
    }
}

//! Decides whether `null` fits a shape.

use super::{Def, Kind, Literal, Shape, find_def};
use crate::base::frozen::List;

/// References nested deeper than this are not followed: they may be cyclic.
const MAX_DEPTH: usize = 16;

/// Whether `null` fits a shape.
pub(crate) fn takes_null(shape: &Shape, defs: &List<Def>) -> bool {
    within(shape, defs, 0)
}

fn within(shape: &Shape, defs: &List<Def>, depth: usize) -> bool {
    if shape.nullable || depth > MAX_DEPTH {
        return true;
    }
    match &shape.kind {
        Kind::Any | Kind::Null | Kind::Raw(_) => true,
        Kind::Enum(values) => values.contains(&Literal::Null),
        Kind::Ref(name) => find_def(defs, name).is_none_or(|shape| within(shape, defs, depth + 1)),
        Kind::All(parts) => parts.iter().all(|part| within(part, defs, depth + 1)),
        Kind::Union(rules) => rules.variants.iter().any(|variant| within(variant, defs, depth + 1)),
        _ => false,
    }
}

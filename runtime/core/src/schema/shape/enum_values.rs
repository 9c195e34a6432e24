//! Merges the enumerated values of several parts of a schema: only common values are allowed, and each occurs once.
//!
//! `{enum: [a], allOf: [{$ref: Kind}]}`, where `Kind` is a `oneOf` of constants, becomes `a`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::number::ByValue;
use super::{Def, Kind, Literal, Shape, UnionRules, resolved};
use crate::base::frozen::List;

/// Maximum depth to which references and unions are followed.
const MAX_DEPTH: usize = 8;

/// A set of values. There may be many, so they are not compared pairwise.
#[derive(Default)]
pub(super) struct Values<'v> {
    strings: BTreeSet<&'v str>,
    documents: BTreeSet<&'v str>,
    numbers: BTreeSet<ByValue>,
    constants: BTreeSet<Option<bool>>,
}

impl<'v> Values<'v> {
    fn of(values: &'v [Literal]) -> Values<'v> {
        let mut set = Values::default();
        for value in values {
            set.insert(value);
        }
        set
    }

    /// Adds a value. Returns false if it is already present.
    pub(super) fn insert(&mut self, value: &'v Literal) -> bool {
        match value {
            Literal::String(text) => self.strings.insert(text),
            Literal::Json(text) => self.documents.insert(text),
            Literal::Number(number) => self.numbers.insert(ByValue(*number)),
            Literal::Bool(flag) => self.constants.insert(Some(*flag)),
            Literal::Null => self.constants.insert(None),
        }
    }

    fn contains(&self, value: &Literal) -> bool {
        match value {
            Literal::String(text) => self.strings.contains(text.as_str()),
            Literal::Json(text) => self.documents.contains(text.as_str()),
            Literal::Number(number) => self.numbers.contains(&ByValue(*number)),
            Literal::Bool(flag) => self.constants.contains(&Some(*flag)),
            Literal::Null => self.constants.contains(&None),
        }
    }
}

/// Returns the parts of a conjunction with one list of the values that all its lists have in common. `None` if at
/// most one part lists values, or if no value is common.
pub(super) fn common_values(parts: &[Shape], defs: &List<Def>) -> Option<Shape> {
    let lists: Vec<_> = parts.iter().map(|part| distinct_values(part, defs)).collect();
    let mut listing_parts = parts.iter().zip(&lists).filter_map(|(part, list)| Some((part, list.as_ref()?)));
    let (first, values) = listing_parts.next()?;
    let mut merged = Shape { nullable: first.nullable, ..Shape::ANY };
    let (mut values, mut has_several) = (values.to_vec(), false);
    for (part, list) in listing_parts {
        has_several = true;
        let list = Values::of(list);
        values.retain(|value| list.contains(value));
        merged.nullable &= resolved(part, defs).is_some_and(|target| part.nullable || target.nullable);
    }
    if !has_several || values.is_empty() {
        return None;
    }
    for part in parts.iter().zip(&lists).filter(|(_, list)| list.is_some()).map(|(part, _)| part) {
        let sources = [Some(part), resolved(part, defs)];
        for source in sources.into_iter().flatten() {
            merged.adopt(&Shape {
                default: None,
                examples: List::EMPTY,
                title: super::Title::NONE,
                ..source.clone()
            });
        }
    }
    merged.kind = Kind::Enum(values.into());
    let others = parts.iter().zip(&lists).filter(|(_, list)| list.is_none()).map(|(part, _)| part.clone());
    let others: Vec<Shape> = others.collect();
    if others.is_empty() {
        return Some(merged);
    }
    Some(Shape::of(Kind::All([merged].into_iter().chain(others).collect())))
}

/// Returns the variants of a union with each enumerated value in only one of them. `None` if nothing changes.
pub(super) fn without_repeated_values(union: &UnionRules, defs: &List<Def>) -> Option<List<Shape>> {
    let is_enum = |variant: &&Shape| matches!(variant.kind, Kind::Enum(_));
    if !union.variants.iter().any(|variant| is_enum(&variant)) || union.variants.len() < 2 {
        return None;
    }
    let referenced: Vec<_> = union
        .variants
        .iter()
        .filter(|variant| !is_enum(variant))
        .filter_map(|variant| distinct_values(variant, defs))
        .collect();
    let mut seen = Values::default();
    for value in referenced.iter().flat_map(|list| list.iter()) {
        seen.insert(value);
    }
    let (mut variants, mut changed) = (Vec::with_capacity(union.variants.len()), false);
    for variant in &union.variants {
        let Kind::Enum(values) = &variant.kind else {
            variants.push(variant.clone());
            continue;
        };
        let new_values: Vec<Literal> = values.iter().filter(|value| seen.insert(value)).cloned().collect();
        changed |= new_values.len() < values.len();
        if !new_values.is_empty() || variant.nullable {
            let kind = if new_values.is_empty() { Kind::Null } else { Kind::Enum(new_values.into()) };
            variants.push(Shape { kind, ..variant.clone() });
        }
    }
    changed.then(|| variants.into())
}

/// Returns the distinct values of a shape that enumerates all of them except `null`. Follows references and unions.
pub(super) fn distinct_values<'s>(shape: &'s Shape, defs: &'s List<Def>) -> Option<Cow<'s, [Literal]>> {
    distinct_values_within(shape, defs, MAX_DEPTH)
}

fn distinct_values_within<'s>(
    shape: &'s Shape,
    defs: &'s List<Def>,
    depth: usize,
) -> Option<Cow<'s, [Literal]>> {
    let depth = depth.checked_sub(1)?;
    match &shape.kind {
        Kind::Enum(values) => Some(Cow::Borrowed(values)),
        Kind::Ref(_) => distinct_values_within(resolved(shape, defs)?, defs, depth),
        Kind::Union(rules) => {
            let lists: Option<Vec<_>> =
                rules.variants.iter().map(|variant| distinct_values_within(variant, defs, depth)).collect();
            let values = lists?.concat();
            let mut seen = Values::default();
            Some(values.iter().filter(|value| seen.insert(value)).cloned().collect())
        }
        _ => None,
    }
}

//! Merges several shapes, all of which apply, into one.

use crate::base::frozen::List;
use crate::schema::shape::decode;
use crate::schema::shape::pattern;
use crate::schema::shape::{
    Access, Def, Extra, Field, Kind, Literal, ObjectRules, Shape, UnionRules, find_def,
};

/// Maximum depth to which references are followed: they may be cyclic.
const MAX_DEPTH: usize = 16;
/// Maximum number of variants of a product of unions.
const MAX_VARIANTS: usize = 32;

/// Maximum number of pairs of shapes that are merged: nested unions multiply them.
const MAX_PAIRS: usize = 1_000;

/// No value.
const NEVER: Shape = Shape { kind: Kind::Never, ..Shape::ANY };

/// Merges shapes. Schemas that cannot be merged are collected in `raw`.
pub(in crate::schema::shape) struct Merger<'d> {
    pub(super) defs: &'d List<Def>,
    /// Fields with this access are ignored.
    pub(super) hidden: Access,
    /// Schemas that could not be merged. Their rules are lost.
    pub(in crate::schema::shape) raw: Vec<String>,
    /// Whether some part cannot be merged. Then there is no merged form: a partial merge would have another meaning.
    has_failed: bool,
    /// How many more pairs of shapes may be merged.
    remaining_merges: usize,
}

impl<'d> Merger<'d> {
    pub(in crate::schema::shape) fn new(defs: &'d List<Def>, hidden: Access) -> Merger<'d> {
        Merger { defs, hidden, raw: Vec::new(), has_failed: false, remaining_merges: MAX_PAIRS }
    }

    /// Returns the number of merged pairs of shapes.
    pub(in crate::schema::shape) const fn pairs(&self) -> usize {
        MAX_PAIRS - self.remaining_merges
    }

    /// Whether every part could be merged, so that the result “no common values” is certain.
    pub(in crate::schema::shape) const fn is_conclusive(&self) -> bool {
        !self.has_failed
    }

    /// Returns `None`, and records that there is no merged form.
    fn fail<T>(&mut self) -> Option<T> {
        self.has_failed = true;
        None
    }

    /// Returns the shape whose values match all parts; `None` if there is no such shape.
    pub(in crate::schema::shape) fn merge_all(&mut self, parts: &[Shape], depth: usize) -> Option<Shape> {
        let mut merged = Shape { nullable: true, ..Shape::ANY };
        for part in parts {
            merged = self.merge_pair(&merged, part, depth)?;
        }
        (!self.has_failed).then_some(merged)
    }

    fn merge_pair(&mut self, a: &Shape, b: &Shape, depth: usize) -> Option<Shape> {
        let Some(remaining) =
            self.remaining_merges.checked_sub(1).filter(|_| depth <= MAX_DEPTH && !self.has_failed)
        else {
            return self.fail();
        };
        self.remaining_merges = remaining;
        let (a, b) = (self.resolve(a, depth)?, self.resolve(b, depth)?);
        // Not only `nullable`: a variant of a union may also allow `null`.
        let accepts_null = |shape: &Shape| decode::fits(&serde_json::Value::Null, shape, self.defs);
        let nullable = accepts_null(&a) && accepts_null(&b);
        let kind = match self.merge_kinds(&a, &b, depth) {
            Some(kind) => kind,
            // No other value matches both.
            None if nullable && !self.has_failed => Kind::Null,
            None => return None,
        };
        let mut merged = Shape { kind, nullable, ..a };
        merged.adopt(&b);
        Some(merged)
    }

    /// Returns the shape with references and nested conjunctions resolved at the top.
    fn resolve(&mut self, shape: &Shape, depth: usize) -> Option<Shape> {
        let inner = match &shape.kind {
            Kind::Ref(name) => {
                let Some(target) = find_def(self.defs, name).filter(|_| depth <= MAX_DEPTH) else {
                    return self.fail();
                };
                self.resolve(target, depth + 1)?
            }
            Kind::All(parts) => self.merge_all(parts, depth + 1)?,
            Kind::Raw(text) => {
                self.raw.push(text.to_string());
                Shape { nullable: true, ..Shape::ANY }
            }
            _ => return Some(shape.clone()),
        };
        let mut outer = shape.clone();
        outer.adopt(&inner);
        // A named shape may be deprecated without this use being so.
        outer.deprecated = shape.deprecated;
        Some(Shape { kind: inner.kind, nullable: outer.nullable || inner.nullable, ..outer })
    }

    fn merge_kinds(&mut self, a: &Shape, b: &Shape, depth: usize) -> Option<Kind> {
        Some(match (&a.kind, &b.kind) {
            (Kind::Any, other) | (other, Kind::Any) => other.clone(),
            (Kind::Union(rules), _) => return self.distribute(rules, b, depth),
            (_, Kind::Union(rules)) => return self.distribute(rules, a, depth),
            (Kind::Never, _) | (_, Kind::Never) => Kind::Never,
            (Kind::Enum(values), _) => self.filter_enum(values, b)?,
            (_, Kind::Enum(values)) => self.filter_enum(values, a)?,
            (Kind::Null, Kind::Null) => Kind::Null,
            (Kind::Boolean, Kind::Boolean) => Kind::Boolean,
            (Kind::Number(a), Kind::Number(b)) => Kind::Number(a.and(b).or_else(|| self.fail())?),
            (Kind::Integer(a) | Kind::Number(a), Kind::Integer(b) | Kind::Number(b)) => {
                Kind::Integer(a.and(b).or_else(|| self.fail())?)
            }
            (Kind::String(a), Kind::String(b)) => Kind::String(a.and(b).or_else(|| self.fail())?),
            (Kind::Array(a), Kind::Array(b)) => {
                let items = self.merge_pair(&a.items, &b.items, depth + 1).unwrap_or(NEVER);
                Kind::Array(a.and(b, items.into()))
            }
            (Kind::Object(a), Kind::Object(b)) => Kind::Object(self.merge_objects(a, b, depth)?),
            (Kind::Tuple(_), Kind::Array(_) | Kind::Tuple(_)) | (Kind::Array(_), Kind::Tuple(_)) => {
                return self.fail();
            }
            _ => return None,
        })
    }

    fn filter_enum(&self, values: &[Literal], other: &Shape) -> Option<Kind> {
        let fits = |value: &&Literal| decode::fits(&value.to_json(), other, self.defs);
        let values: List<Literal> = values.iter().filter(fits).cloned().collect();
        (!values.is_empty()).then_some(Kind::Enum(values))
    }

    fn distribute(&mut self, union: &UnionRules, other: &Shape, depth: usize) -> Option<Kind> {
        let factor = if let Kind::Union(rules) = &other.kind { rules.variants.len() } else { 1 };
        if union.variants.len() * factor > MAX_VARIANTS {
            return self.fail();
        }
        // The annotations of the other shape stay outside instead of in every variant.
        let unannotated = Shape { nullable: other.nullable, ..Shape::of(other.kind.clone()) };
        let variants: List<Shape> = union
            .variants
            .iter()
            .filter_map(|variant| self.merge_pair(variant, &unannotated, depth + 1))
            .collect();
        match &*variants {
            [] => None,
            [only] if !only.nullable => Some(only.kind.clone()),
            _ => Some(Kind::Union(UnionRules {
                mode: union.mode,
                variants,
                // Its targets are no longer references.
                discriminator: None,
            })),
        }
    }

    fn merge_objects(&mut self, a: &ObjectRules, b: &ObjectRules, depth: usize) -> Option<ObjectRules> {
        // A key that matches a pattern of one object would be an unknown key of the other, so they cannot be merged.
        let patterns_conflict =
            |a: &ObjectRules, b: &ObjectRules| !a.patterns.is_empty() && b.extra != Extra::Open;
        if patterns_conflict(a, b) || patterns_conflict(b, a) {
            return self.fail();
        }
        let mut fields: Vec<Field> = Vec::new();
        for (object, other) in [(a, b), (b, a)] {
            for field in &object.fields {
                if field.access == self.hidden || fields.iter().any(|existing| existing.name == field.name) {
                    continue;
                }
                if let Some(field) = self.merge_field(field, other, depth)? {
                    fields.push(field);
                }
            }
        }
        let extra = match (&a.extra, &b.extra) {
            (Extra::Open, other) | (other, Extra::Open) => other.clone(),
            (Extra::Closed, _) | (_, Extra::Closed) => Extra::Closed,
            (Extra::Of(a), Extra::Of(b)) => {
                Extra::Of(self.merge_pair(a, b, depth + 1).unwrap_or(NEVER).into())
            }
        };
        Some(a.and(b, fields.into(), extra))
    }

    /// Returns a field of one object as the other object allows it. `Some(None)` if it must be absent, `None` if it
    /// must be both present and absent.
    fn merge_field(&mut self, field: &Field, other: &ObjectRules, depth: usize) -> Option<Option<Field>> {
        if let Some(counterpart) = other
            .fields
            .iter()
            .find(|counterpart| counterpart.name == field.name && counterpart.access != self.hidden)
        {
            let required = field.required || counterpart.required;
            let shape = match self.merge_pair(&field.shape, &counterpart.shape, depth + 1) {
                Some(shape) => shape,
                None if required => return None,
                None => NEVER,
            };
            return Some(Some(Field { required, shape, ..field.clone() }));
        }
        Some(match &other.extra {
            _ if other
                .patterns
                .iter()
                .any(|pattern_field| pattern::matches(&pattern_field.pattern, &field.name)) =>
            {
                Some(field.clone())
            }
            Extra::Open => Some(field.clone()),
            Extra::Closed if field.required => return None,
            Extra::Closed => None,
            Extra::Of(shape) => {
                let shape = match self.merge_pair(&field.shape, shape, depth + 1) {
                    Some(shape) => shape,
                    None if field.required => return None,
                    None => NEVER,
                };
                Some(Field { shape, ..field.clone() })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::schema::dialect::JSON_SCHEMA;
    use crate::schema::shape::StringRules;
    use crate::schema::shape::decode::decode;
    use crate::schema::shape::decode::tests::oracle;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn merged_shape_accepts_the_intersection(
            parts in vec(oracle::shape(), 2..4),
            values in vec(oracle::value(), 1..12),
        ) {
            let defs = oracle::defs(Shape::of(Kind::Boolean), Shape::of(Kind::String(StringRules::ANY)));
            let mut merger = Merger::new(&defs, Access::ReadOnly);
            let Some(merged) = merger.merge_all(&parts, 0) else { return Ok(()) };
            // A rule that is only stated in prose rejects nothing in the merged shape.
            let is_complete = merger.raw.is_empty();
            let (expected, merged) = (oracle::arguments(Shape::of(Kind::All(parts.into()))), oracle::arguments(merged));
            for value in values {
                let arguments = json!({ "v": value });
                let expected = decode(&arguments, &expected, &defs, &JSON_SCHEMA);
                let merged_result = decode(&arguments, &merged, &defs, &JSON_SCHEMA);
                let agree = expected.is_ok() == merged_result.is_ok() || !is_complete && merged_result.is_ok();
                prop_assert!(agree, "{} {:?} {:?}", arguments, expected, merged_result);
            }
        }
    }
}

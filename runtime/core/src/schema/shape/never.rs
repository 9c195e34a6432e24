//! Finds shapes that no value matches.

use std::collections::BTreeMap;

use super::decode::describe;
use super::render::merge::Merger;
use super::{Access, Def, Extra, Field, Kind, ObjectRules, Shape, disjoint, find_def, prose};
use crate::base::frozen::List;

/// Maximum number of shapes that one search visits.
const MAX_VISITED: usize = 2_000;

const NOTHING: &str = "its schema allows nothing";

/// Searches for shapes that no argument matches. All searched shapes share one list of named shapes.
#[derive(Debug)]
pub struct Never<'a> {
    defs: &'a List<Def>,
    /// The results for named shapes.
    results: BTreeMap<&'a str, Option<String>>,
    /// The named shapes that are being visited, the outermost first. A finite value cannot contain itself, so until a
    /// shape is finished, no value matches it.
    active: Vec<&'a str>,
    /// The index of the outermost active shape that the last result depends on.
    depends_on: usize,
    remaining: usize,
}

/// The result depends on no active shape.
const NO_DEPENDENCY: usize = usize::MAX;

impl<'a> Never<'a> {
    /// Creates a search.
    #[must_use]
    pub fn new(defs: &'a List<Def>) -> Never<'a> {
        Never { defs, results: BTreeMap::new(), active: Vec::new(), depends_on: NO_DEPENDENCY, remaining: 0 }
    }

    /// Whether the search uses this list of named shapes.
    #[must_use]
    pub fn is_among(&self, defs: &List<Def>) -> bool {
        self.defs.as_ptr() == defs.as_ptr() && self.defs.len() == defs.len()
    }

    /// Returns why no value matches a shape, as part of a sentence. `None` if a value may match.
    pub fn why(&mut self, shape: &'a Shape) -> Option<String> {
        self.remaining = MAX_VISITED;
        self.depends_on = NO_DEPENDENCY;
        self.check(shape)
    }

    fn check(&mut self, shape: &'a Shape) -> Option<String> {
        self.remaining = self.remaining.checked_sub(1)?;
        if shape.nullable {
            return None;
        }
        match &shape.kind {
            Kind::Ref(name) => self.check_named(name),
            Kind::Object(rules) => self.check_object(rules).or_else(|| contradiction(shape)),
            Kind::Array(rules) => contradiction(shape).or_else(|| {
                let requires_items = rules.min_items.is_some_and(|least| least > 0);
                let reason = requires_items.then(|| self.check(&rules.items))??;
                Some(format!("it must have items, and no value fits them: {reason}"))
            }),
            Kind::Tuple(rules) => contradiction(shape).or_else(|| {
                let least = usize::try_from(rules.min_items.unwrap_or(0)).unwrap_or(usize::MAX);
                let reason = rules.items.iter().take(least).find_map(|item| self.check(item))?;
                Some(format!("it must have items that no value fits: {reason}"))
            }),
            Kind::Union(rules) => {
                let mut first = None;
                for variant in &rules.variants {
                    let reason = self.check(variant)?;
                    first.get_or_insert(reason);
                }
                Some(match (first, rules.variants.len()) {
                    (Some(reason), 2..) => {
                        format!("none of its variants is possible; reason for the first: {reason}")
                    }
                    (reason, _) => reason.unwrap_or_else(|| NOTHING.to_owned()),
                })
            }
            Kind::All(parts) => self.check_all(parts),
            _ => contradiction(shape),
        }
    }

    fn check_named(&mut self, name: &'a str) -> Option<String> {
        if let Some(results) = self.results.get(name) {
            return results.clone();
        }
        if let Some(index) = self.active.iter().position(|active| *active == name) {
            self.depends_on = self.depends_on.min(index);
            return Some(format!(
                "each value of `{name}` must contain another value of `{name}`, without end"
            ));
        }
        let index = self.active.len();
        let outer = std::mem::replace(&mut self.depends_on, NO_DEPENDENCY);
        self.active.push(name);
        let reason = find_def(self.defs, name).and_then(|shape| self.check(shape));
        self.active.pop();
        // If a value matches, it does so independently of the outer shapes. If no value matches only because of an
        // active outer shape, the result is not final until that shape is finished.
        if reason.is_none() || self.depends_on >= index {
            self.results.insert(name, reason.clone());
            self.depends_on = NO_DEPENDENCY;
        }
        self.depends_on = self.depends_on.min(outer);
        reason
    }

    fn check_object(&mut self, rules: &'a ObjectRules) -> Option<String> {
        let is_settable = |field: &&Field| field.access != Access::ReadOnly;
        for field in rules.fields.iter().filter(is_settable).filter(|field| field.required) {
            if let Some(reason) = self.check(&field.shape) {
                return Some(format!("`{}` must be given, and no value fits it: {reason}", field.name));
            }
        }
        // At least one key must exist whose value can match.
        let least = rules.min_properties.filter(|least| *least > 0)?;
        let Extra::Of(extra) = &rules.extra else { return None };
        let by_name = rules.fields.iter().filter(is_settable).map(|field| &field.shape);
        let mut shapes = by_name.chain(rules.patterns.iter().map(|pattern| &pattern.shape)).chain([&**extra]);
        let reason = shapes.try_fold(String::new(), |_, shape| self.check(shape))?;
        Some(format!("it must have at least {least} of its keys, and no value fits them: {reason}"))
    }

    fn check_all(&mut self, parts: &'a [Shape]) -> Option<String> {
        if let Some(reason) = parts.iter().find_map(|part| self.check(part)) {
            return Some(reason);
        }
        for (index, part) in parts.iter().enumerate() {
            for other in parts.iter().skip(index + 1) {
                if disjoint::pairwise_disjoint(&[part.clone(), other.clone()], self.defs) {
                    let [left, right] = [part, other].map(|part| describe::expected(part, self.defs));
                    return Some(match left == right {
                        true => "its parts have no value in common".to_owned(),
                        false => format!("it must be both {left} and {right}"),
                    });
                }
            }
        }
        let mut merger = Merger::new(self.defs, Access::ReadOnly);
        match merger.merge_all(parts, 0) {
            None => merger.is_conclusive().then(|| "its parts have no value in common".to_owned()),
            Some(merged) => contradiction(&merged),
        }
    }
}

/// Returns why no value matches a shape, by the shape's own rules alone.
fn contradiction(shape: &Shape) -> Option<String> {
    let is_contradictory = match &shape.kind {
        Kind::Never => return Some(NOTHING.to_owned()),
        Kind::Enum(values) if values.is_empty() => return Some(NOTHING.to_owned()),
        Kind::Integer(rules) => rules.is_contradictory(true),
        Kind::Number(rules) => rules.is_contradictory(false),
        Kind::String(rules) => is_above(rules.min_length, rules.max_length),
        Kind::Array(rules) => is_above(rules.min_items, rules.max_items),
        Kind::Tuple(rules) => {
            let max = u64::try_from(rules.items.len()).ok().filter(|_| rules.rest == Extra::Closed);
            is_above(rules.min_items, rules.max_items) || is_above(rules.min_items, max)
        }
        Kind::Object(rules) => {
            let is_closed = rules.extra == Extra::Closed && rules.patterns.is_empty();
            let max = u64::try_from(rules.fields.len()).ok().filter(|_| is_closed);
            is_above(rules.min_properties, rules.max_properties) || is_above(rules.min_properties, max)
        }
        _ => false,
    };
    let rules = || prose::rules(shape).join(" and ");
    is_contradictory.then(|| format!("its rules contradict one another ({})", rules()))
}

fn is_above(least: Option<u64>, max: Option<u64>) -> bool {
    least.zip(max).is_some_and(|(least, max)| least > max)
}

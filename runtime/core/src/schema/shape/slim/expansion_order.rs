//! Ranks the parts of a tool's arguments, to decide which are shown in full if there is not enough space for all.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{Slimmer, TrimKind, children, depth};
use crate::base::frozen::List;
use crate::schema::shape::{Access, Def, Extra, Field, Kind, Literal, ObjectRules, Shape, find_def, pointer};

/// Number of fields in a group. The fields of a group are shown or cut together.
const FIELDS_PER_GROUP: usize = 12;

/// The parts inside arguments, from the first that is shown to the first that is cut: outer parts come first, then
/// required parts, then small parts.
#[derive(Debug, Default)]
pub(crate) struct ExpansionOrder {
    /// For each part, by its key, the ranks of its groups of fields.
    ranks: HashMap<String, Vec<usize>>,
    /// The number of groups.
    count: usize,
}

/// The groups of fields that are shown in full: the first `count`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expansion<'a> {
    pub(crate) order: &'a ExpansionOrder,
    pub(crate) count: usize,
}

impl Expansion<'_> {
    /// Whether nothing is cut.
    pub(super) fn is_all(self) -> bool {
        self.count >= self.order.len()
    }

    /// Returns how many groups of a part's fields are shown.
    fn groups(self, key: &str) -> usize {
        self.order.ranks(key).iter().take_while(|rank| **rank < self.count).count()
    }

    /// Whether a shape at a location is shown in full.
    pub(super) fn shows(self, shape: &Shape, path: &str) -> bool {
        self.groups(&key(shape, path)) > 0
    }

    /// Returns the fields of an object that are not shown.
    pub(super) fn hidden<'f>(self, rules: &'f ObjectRules, path: &str) -> Vec<&'f Field> {
        let visible = self.groups(path);
        // A shape that is not ranked itself is shown with its parent.
        if self.order.ranks.get(path).is_none_or(|ranks| ranks.len() == visible) {
            return Vec::new();
        }
        let fields = rules.fields.iter().zip(groups(rules));
        fields.filter(|(_, group)| *group >= visible).map(|(field, _)| field).collect()
    }
}

/// A part whose contents were not visited yet.
struct Unvisited<'a> {
    key: String,
    shape: &'a Shape,
    required: bool,
}

/// The sort key of a group of fields: its level, the number of enclosing parts, its number, and the order among equal
/// groups.
type Order = (usize, usize, usize, bool, usize, usize);

impl ExpansionOrder {
    /// Ranks the parts of a shape.
    pub(crate) fn of(shape: &Shape, defs: &List<Def>) -> ExpansionOrder {
        let mut pending: BTreeMap<(usize, usize, usize), Unvisited<'_>> = BTreeMap::new();
        let mut groups: Vec<(Order, String)> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut number = 0;
        pending.insert((0, 0, 0), Unvisited { key: key(shape, "").into_owned(), shape, required: true });
        while let Some(((level, steps, _), part)) = pending.pop_first() {
            if !seen.insert(part.key.clone()) {
                continue;
            }
            let target = match &part.shape.kind {
                Kind::Ref(name) => find_def(defs, name),
                _ => Some(part.shape),
            };
            let Some(target) = target else { continue };
            let weights = weights(target, level);
            let last = groups.len();
            groups.extend(weights.iter().enumerate().map(|(group, weight)| {
                ((level, steps, group, !part.required, *weight, last + group), part.key.clone())
            }));
            let mut path = part.key;
            visit_nested(target, &mut path, level, part.required, defs, &mut |level, nested| {
                number += 1;
                pending.insert((level, steps + 1, number), nested);
            });
        }
        groups.sort_unstable();
        let mut order = ExpansionOrder::default();
        for (_, key) in groups {
            order.ranks.entry(key).or_default().push(order.count);
            order.count += 1;
        }
        order
    }

    /// Returns the ranks of the groups of fields of a part.
    pub(super) fn ranks(&self, key: &str) -> &[usize] {
        self.ranks.get(key).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of groups.
    pub(crate) fn len(&self) -> usize {
        self.count
    }
}

/// Returns the key of a part: its location, or that of the named shape.
pub(super) fn key<'p>(shape: &Shape, path: &'p str) -> Cow<'p, str> {
    match &shape.kind {
        Kind::Ref(name) => {
            let mut key = String::from("/$defs");
            pointer::push(&mut key, name);
            Cow::Owned(key)
        }
        _ => Cow::Borrowed(path),
    }
}

/// Returns the group of each field of an object. Required fields and fields with relations come first.
pub(super) fn groups(rules: &ObjectRules) -> Vec<usize> {
    let has_relation =
        |name: &str| rules.relations.iter().any(|rule| rule.fields.iter().any(|field| **field == *name));
    let is_first = |field: &Field| field.required || has_relation(&field.name);
    let is_settable = |field: &Field| field.access != Access::ReadOnly;
    let mut position = rules.fields.iter().filter(|field| is_first(field) && is_settable(field)).count();
    let group = |field: &Field| {
        let position = &mut position;
        if is_first(field) || !is_settable(field) {
            return 0;
        }
        *position += 1;
        (*position - 1) / FIELDS_PER_GROUP
    };
    rules.fields.iter().map(group).collect()
}

/// Returns the approximate size of each group of a part's fields, in bytes, without descriptions and nested parts.
fn weights(shape: &Shape, level: usize) -> Vec<usize> {
    let Kind::Object(rules) = &shape.kind else { return vec![weight(shape)] };
    // A separate lever omits arguments.
    let groups = if level == 0 { vec![0; rules.fields.len()] } else { groups(rules) };
    let count = groups.iter().max().map_or(1, |last| last + 1);
    let mut weights = vec![0; count];
    for (field, group) in rules.fields.iter().zip(groups) {
        if let Some(sum) = weights.get_mut(group) {
            *sum += field.name.len() + weight(&field.shape);
        }
    }
    weights
}

fn weight(shape: &Shape) -> usize {
    let literal = |literal: &Literal| match literal {
        Literal::String(text) => text.len() + 3,
        _ => 8,
    };
    30 + match &shape.kind {
        Kind::Enum(values) => values.iter().map(literal).sum(),
        Kind::Array(rules) => weight(&rules.items),
        Kind::Union(rules) => rules.variants.iter().map(weight).sum(),
        _ => 0,
    }
}

/// Visits the nested parts of a shape that are cut separately.
fn visit_nested<'a>(
    shape: &'a Shape,
    path: &mut String,
    level: usize,
    required: bool,
    defs: &'a List<Def>,
    visit: &mut dyn FnMut(usize, Unvisited<'a>),
) {
    children::visit_children(&shape.kind, &mut |child, part| {
        let length = path.len();
        child.tokens.iter().filter(|token| !token.is_empty()).for_each(|token| pointer::push(path, token));
        let level = level + usize::from(child.is_member);
        let required = if child.name.is_empty() { required } else { child.is_required };
        if depth::is_never_cut(part) {
            visit_nested(part, path, level, required, defs, visit);
        } else if depth::is_deep(part, defs, &mut BTreeSet::new()) {
            visit(level, Unvisited { key: key(part, path).into_owned(), shape: part, required });
        }
        path.truncate(length);
    });
}

impl Slimmer<'_> {
    /// Returns an object without the fields that are not shown, and the outline of these fields.
    pub(super) fn partially_outlined(&mut self, shape: &Shape, level: usize) -> Option<(Shape, String)> {
        let (Some(expansion), Kind::Object(rules)) = (self.expansion, &shape.kind) else { return None };
        let hidden = if level > 0 { expansion.hidden(rules, &self.path) } else { Vec::new() };
        if hidden.is_empty() {
            return None;
        }
        let outline = format!("also {}", depth::outline_of(&hidden, self.defs));
        let what = format!("{} of {} fields only outlined: {outline}", hidden.len(), rules.fields.len());
        self.trim(TrimKind::Depth, what);
        let kind = Kind::Object(without_fields(rules, &hidden));
        Some((Shape { kind, ..shape.clone() }, outline))
    }
}

/// Returns an object without some of its fields, which it still accepts.
fn without_fields(rules: &ObjectRules, hidden: &[&Field]) -> ObjectRules {
    let hidden: HashSet<&str> = hidden.iter().map(|field| field.name.as_str()).collect();
    let is_shown = |field: &&Field| !hidden.contains(field.name.as_str());
    let fields = rules.fields.iter().filter(is_shown).cloned().collect();
    ObjectRules { fields, extra: Extra::Open, ..rules.clone() }
}

//! Inlines named shapes that are used once.

use std::collections::{BTreeMap, BTreeSet};

use super::{Slim, Trim, TrimKind, children, node_trims};
use crate::base::frozen::List;
use crate::schema::shape::{Def, Kind, Shape, pointer};

type Shapes = BTreeMap<String, Shape>;

/// Maximum nesting of inlined shapes. Named shapes may form chains of thousands, and everything that reads a shape
/// recurses into its levels.
const MAX_DEPTH: usize = 64;

/// Arranges the named shapes of a tool.
pub(super) fn arrange(root: Shape, defs: Shapes, slim: &Slim, trims: &mut Vec<Trim>) -> (Shape, List<Def>) {
    let (root, defs) = if slim.inline { inline_once_used(&root, &defs, trims) } else { (root, defs) };
    let def = |(name, shape): (String, Shape)| Def { name: name.into(), schema: shape.into() };
    (root, defs.into_iter().map(def).collect())
}

pub(super) fn def_trim(name: &str, lever: TrimKind, what: &str) -> Trim {
    let mut path = String::from("/$defs");
    pointer::push(&mut path, name);
    Trim { pointer: path, lever, what: what.to_owned() }
}

/// Inlines the shapes that are referenced once.
fn inline_once_used(root: &Shape, defs: &Shapes, trims: &mut Vec<Trim>) -> (Shape, Shapes) {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    count(root, &mut uses);
    defs.values().for_each(|shape| count(shape, &mut uses));
    let used_once: BTreeSet<&str> =
        uses.iter().filter(|(_, count)| **count == 1).map(|(name, _)| name.as_str()).collect();
    let mut inliner = Inliner { defs, used_once: &used_once, not_inlined: Vec::new() };
    let root = inliner.with_inlined(root, 0);
    let mut remaining = Shapes::new();
    // A shape that only references itself is unreachable, and so is not among the shapes used once.
    let mut pending: Vec<&str> =
        defs.keys().map(String::as_str).filter(|name| !used_once.contains(name)).collect();
    loop {
        pending.append(&mut inliner.not_inlined);
        let Some(name) = pending.pop() else { break };
        if let Some(shape) = defs.get(name) {
            remaining.insert(name.to_owned(), inliner.with_inlined(shape, 0));
        }
    }
    let inlined =
        defs.keys().filter(|name| used_once.contains(name.as_str()) && !remaining.contains_key(*name));
    trims.extend(inlined.map(|name| def_trim(name, TrimKind::Inline, "inlined")));
    (root, remaining)
}

/// Counts the uses of each named shape. Shapes that must keep their names count twice.
fn count(shape: &Shape, uses: &mut BTreeMap<String, usize>) {
    let mut add = |name: &str, times: usize| *uses.entry(name.to_owned()).or_default() += times;
    match &shape.kind {
        Kind::Ref(name) => add(name, 1),
        Kind::Raw(text) => {
            let mut names = Vec::new();
            if let Ok(value) = serde_json::from_str(text) {
                node_trims::collect_references(&value, &mut names);
            }
            names.iter().for_each(|name| add(name, 2));
        }
        Kind::Union(rules) if rules.discriminator.is_some() => {
            for variant in &rules.variants {
                if let Kind::Ref(name) = &variant.kind {
                    add(name, 2);
                }
            }
        }
        _ => {}
    }
    children::visit_children(&shape.kind, &mut |_, child| count(child, uses));
}

/// Inlines shapes.
struct Inliner<'a> {
    defs: &'a Shapes,
    /// The names of the shapes that are referenced once.
    used_once: &'a BTreeSet<&'a str>,
    /// Shapes that keep their names, because they would be nested too deeply.
    not_inlined: Vec<&'a str>,
}

impl Inliner<'_> {
    fn with_inlined(&mut self, shape: &Shape, depth: usize) -> Shape {
        let mut shape = shape.clone();
        // A shape may only be an alias of the next.
        while let Kind::Ref(name) = &shape.kind
            && let Some(name) = self.used_once.get(name.as_str())
            && let Some(target) = self.defs.get(*name)
        {
            if depth >= MAX_DEPTH {
                self.not_inlined.push(name);
                return shape;
            }
            let nullable = shape.nullable || target.nullable;
            let mut inlined = Shape { kind: target.kind.clone(), nullable, ..shape.clone() };
            inlined.adopt(target);
            shape = inlined;
        }
        let kind = children::map_children(&shape.kind, &mut |_, child| self.with_inlined(child, depth + 1));
        Shape { kind, ..shape }
    }
}

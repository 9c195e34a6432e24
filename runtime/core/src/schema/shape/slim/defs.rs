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
    let (root, defs) = if slim.inline { inlined(&root, &defs, trims) } else { (root, defs) };
    let def = |(name, shape): (String, Shape)| Def { name: name.into(), schema: shape.into() };
    (root, defs.into_iter().map(def).collect())
}

pub(super) fn trim(name: &str, lever: TrimKind, what: &str) -> Trim {
    let mut at = String::from("/$defs");
    pointer::push(&mut at, name);
    Trim { pointer: at, lever, what: what.to_owned() }
}

/// Inlines the shapes that are referenced once.
fn inlined(root: &Shape, defs: &Shapes, trims: &mut Vec<Trim>) -> (Shape, Shapes) {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    count(root, &mut uses);
    defs.values().for_each(|shape| count(shape, &mut uses));
    let once: BTreeSet<&str> =
        uses.iter().filter(|(_, count)| **count == 1).map(|(name, _)| name.as_str()).collect();
    let mut inliner = Inliner { defs, once: &once, not_inlined: Vec::new() };
    let root = inliner.with_inlined(root, 0);
    let mut left = Shapes::new();
    // A shape that only references itself is unreachable, and so is not among those used once.
    let mut waiting: Vec<&str> =
        defs.keys().map(String::as_str).filter(|name| !once.contains(name)).collect();
    loop {
        waiting.append(&mut inliner.not_inlined);
        let Some(name) = waiting.pop() else { break };
        if let Some(shape) = defs.get(name) {
            left.insert(name.to_owned(), inliner.with_inlined(shape, 0));
        }
    }
    let gone = defs.keys().filter(|name| once.contains(name.as_str()) && !left.contains_key(*name));
    trims.extend(gone.map(|name| trim(name, TrimKind::Inline, "inlined")));
    (root, left)
}

/// Counts the uses of each named shape. Shapes that must keep their names count twice.
fn count(shape: &Shape, uses: &mut BTreeMap<String, usize>) {
    let mut add = |name: &str, by: usize| *uses.entry(name.to_owned()).or_default() += by;
    match &shape.kind {
        Kind::Ref(name) => add(name, 1),
        Kind::Raw(text) => {
            let mut names = Vec::new();
            if let Ok(value) = serde_json::from_str(text) {
                node_trims::referred(&value, &mut names);
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
    children::each(&shape.kind, &mut |_, child| count(child, uses));
}

/// Inlines shapes.
struct Inliner<'a> {
    defs: &'a Shapes,
    /// The names of the shapes that are referenced once.
    once: &'a BTreeSet<&'a str>,
    /// Shapes that keep their names, because they would be nested too deeply.
    not_inlined: Vec<&'a str>,
}

impl Inliner<'_> {
    fn with_inlined(&mut self, shape: &Shape, depth: usize) -> Shape {
        let mut shape = shape.clone();
        // A shape may only be an alias of the next.
        while let Kind::Ref(name) = &shape.kind
            && let Some(name) = self.once.get(name.as_str())
            && let Some(target) = self.defs.get(*name)
        {
            if depth >= MAX_DEPTH {
                self.not_inlined.push(name);
                return shape;
            }
            let nullable = shape.nullable || target.nullable;
            let mut whole = Shape { kind: target.kind.clone(), nullable, ..shape.clone() };
            whole.adopt(target);
            shape = whole;
        }
        let kind = children::mapped(&shape.kind, &mut |_, child| self.with_inlined(child, depth + 1));
        Shape { kind, ..shape }
    }
}

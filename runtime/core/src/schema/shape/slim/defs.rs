//! Named shapes: those used once are written where they are used, parts that occur more than once get a name.

use std::collections::{BTreeMap, BTreeSet};

use super::share::shared;
use super::{Lever, Slim, Trim, children, leaves};
use crate::base::frozen::List;
use crate::schema::shape::{Def, Kind, Shape, pointer};

pub(super) type Shapes = BTreeMap<String, Shape>;

/// Arranges the named shapes of a tool.
pub(super) fn arrange(root: Shape, defs: Shapes, slim: &Slim, trims: &mut Vec<Trim>) -> (Shape, List<Def>) {
    let (root, defs) = if slim.inline { inlined(&root, &defs, trims) } else { (root, defs) };
    let (root, defs) = if slim.share { shared(root, defs, trims) } else { (root, defs) };
    let def = |(name, shape): (String, Shape)| Def { name: name.into(), schema: shape.into() };
    (root, defs.into_iter().map(def).collect())
}

pub(super) fn trim(name: &str, lever: Lever, what: &str) -> Trim {
    let mut at = String::from("/$defs");
    pointer::push(&mut at, name);
    Trim { pointer: at, lever, what: what.to_owned() }
}

/// Writes the shapes that one place refers to at that place.
fn inlined(root: &Shape, defs: &Shapes, trims: &mut Vec<Trim>) -> (Shape, Shapes) {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    count(root, &mut uses);
    defs.values().for_each(|shape| count(shape, &mut uses));
    let once: BTreeSet<&str> =
        uses.iter().filter(|(_, count)| **count == 1).map(|(name, _)| name.as_str()).collect();
    // A shape that only leads to itself is reached from nowhere and cannot be among them.
    let root = with_inlined(root, defs, &once);
    let is_left = |name: &String| !once.contains(name.as_str());
    let left: Shapes = defs
        .iter()
        .filter(|(name, _)| is_left(name))
        .map(|(name, shape)| (name.clone(), with_inlined(shape, defs, &once)))
        .collect();
    let gone = defs.keys().filter(|name| !is_left(name));
    trims.extend(gone.map(|name| trim(name, Lever::Inline, "written where it is used")));
    (root, left)
}

/// Counts how often each named shape is used. Shapes that must keep their names count twice.
fn count(shape: &Shape, uses: &mut BTreeMap<String, usize>) {
    let mut add = |name: &str, by: usize| *uses.entry(name.to_owned()).or_default() += by;
    match &shape.kind {
        Kind::Ref(name) => add(name, 1),
        Kind::Raw(text) => {
            let mut names = Vec::new();
            if let Ok(value) = serde_json::from_str(text) {
                leaves::referred(&value, &mut names);
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
    children::mapped(&shape.kind, &mut |_, child| {
        count(child, uses);
        child.clone()
    });
}

fn with_inlined(shape: &Shape, defs: &Shapes, once: &BTreeSet<&str>) -> Shape {
    if let Kind::Ref(name) = &shape.kind
        && once.contains(name.as_str())
        && let Some(target) = defs.get(name.as_str())
    {
        let nullable = shape.nullable || target.nullable;
        let mut whole = Shape { kind: target.kind.clone(), nullable, ..shape.clone() };
        whole.adopt(target);
        return with_inlined(&whole, defs, once);
    }
    let kind = children::mapped(&shape.kind, &mut |_, child| with_inlined(child, defs, once));
    Shape { kind, ..shape.clone() }
}

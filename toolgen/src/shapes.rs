//! Walks the trees of shapes.

use toolgen_runtime::Shape;
use toolgen_runtime::schema::shape::{Access, Extra, Kind};

/// Returns the shapes that a shape directly consists of, each with the side that gives its values.
pub(crate) fn parts(shape: &Shape) -> Vec<(Access, &Shape)> {
    let mut parts = Vec::new();
    let mut add = |shape| parts.push((Access::Both, shape));
    match &shape.kind {
        Kind::Array(rules) => add(&*rules.items),
        Kind::Union(rules) => rules.variants.iter().for_each(add),
        Kind::All(all) => all.iter().for_each(add),
        Kind::Tuple(rules) => rules.items.iter().chain(extra(&rules.rest)).for_each(add),
        Kind::Object(rules) => {
            rules.patterns.iter().map(|pattern| &pattern.shape).chain(extra(&rules.extra)).for_each(add);
            parts.extend(rules.fields.iter().map(|field| (field.access, &field.shape)));
        }
        _ => {}
    }
    parts
}

fn extra(extra: &Extra) -> Option<&Shape> {
    match extra {
        Extra::Of(shape) => Some(shape),
        Extra::Open | Extra::Closed => None,
    }
}

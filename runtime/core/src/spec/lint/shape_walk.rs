//! Visits the shapes of a tool's arguments with their locations.

use std::collections::HashSet;

use crate::schema::shape::{Access, Extra, Kind, Shape, find_def};
use crate::spec::ToolSpec;

/// The named shapes that were visited: the address of their list, and their name.
pub(super) type Visited = HashSet<(usize, String)>;

/// Maximum nesting depth that is visited.
const MAX_DEPTH: usize = 32;

/// Returns the shapes of a tool's arguments, with their locations (`filter.tags[]`), and whether each is a variant of
/// a union. A named shape is visited only where it occurs first, even if several tools share it.
pub(super) fn shapes<'a>(spec: &'a ToolSpec, visited: &mut Visited) -> Vec<(String, &'a Shape, bool)> {
    let mut shapes = Vec::new();
    let mut stack = vec![(String::new(), spec.input.shape(), 0, false)];
    while let Some((location, shape, depth, is_variant)) = stack.pop() {
        if depth > MAX_DEPTH {
            continue;
        }
        let first_child = stack.len();
        let children_are_variants =
            matches!(shape.kind, Kind::Union(_)) || is_variant && matches!(shape.kind, Kind::Ref(_));
        let mut visit = |location: String, shape: &'a Shape| {
            stack.push((location, shape, depth + 1, children_are_variants));
        };
        match &shape.kind {
            Kind::Object(rules) => {
                let dot = if location.is_empty() { "" } else { "." };
                for field in rules.fields.iter().filter(|field| field.access != Access::ReadOnly) {
                    visit(format!("{location}{dot}{}", field.name), &field.shape);
                }
                for pattern in &rules.patterns {
                    visit(format!("{location}{dot}*"), &pattern.shape);
                }
                if let Extra::Of(extra) = &rules.extra {
                    visit(format!("{location}{dot}*"), extra);
                }
            }
            Kind::Array(rules) => visit(format!("{location}[]"), &rules.items),
            Kind::Tuple(rules) => {
                for (index, item) in rules.items.iter().enumerate() {
                    visit(format!("{location}[{index}]"), item);
                }
            }
            Kind::Union(rules) => rules.variants.iter().for_each(|variant| visit(location.clone(), variant)),
            Kind::All(parts) => parts.iter().for_each(|part| visit(location.clone(), part)),
            Kind::Ref(name) => {
                if let Some(target) = find_def(&spec.defs, name)
                    && visited.insert((spec.defs.as_ptr().addr(), name.to_string()))
                {
                    visit(location.clone(), target);
                }
            }
            _ => {}
        }
        // The stack is last in, first out.
        stack.get_mut(first_child..).unwrap_or_default().reverse();
        let is_single = matches!(&shape.kind, Kind::Enum(values) if values.len() == 1);
        shapes.push((location, shape, is_variant || is_single));
    }
    shapes
}

//! Reports alternatives that overlap.

use std::collections::BTreeSet;

use toolgen_core::schema::shape::render::overlaps;
use toolgen_core::schema::shape::{Kind, find_def};
use toolgen_core::{Def, List, Shape};

use super::codes;
use crate::problem::Problems;
use crate::shape_walk::{parts, references};
use crate::tool::Tool;

/// Reports each `oneOf` in the arguments of tools if a value may match several of its alternatives. The location is
/// the tool, or for a named schema the first tool that uses it.
pub(super) fn report(tools: &[Tool], problems: &mut Problems) {
    let mut reported: BTreeSet<String> = BTreeSet::new();
    for Tool { spec, origin, .. } in tools {
        let mut locations: Vec<String> = Vec::new();
        if has_overlap(spec.input.shape(), &spec.defs) {
            locations.push(format!("the tool `{}`", spec.name));
        }
        let mut pending: Vec<String> = Vec::new();
        references(spec.input.shape(), &mut pending);
        while let Some(name) = pending.pop() {
            let Some(shape) = find_def(&spec.defs, &name) else { continue };
            if reported.insert(name.clone()) {
                references(shape, &mut pending);
                locations.extend(has_overlap(shape, &spec.defs).then(|| format!("the schema `{name}`")));
            }
        }
        for location in locations {
            let message = format!(
                "a value may match several alternatives of a `oneOf` in {location}; it is accepted, as with `anyOf`"
            );
            let help = "write `anyOf`, or require a property with a different constant in each alternative";
            problems.report_in(&origin.source, codes::OVERLAP, &origin.pointer, message, help);
        }
    }
}

/// Whether a shape has overlapping alternatives. References are not followed.
fn has_overlap(shape: &Shape, defs: &List<Def>) -> bool {
    let overlaps_itself = matches!(&shape.kind, Kind::Union(union) if overlaps(union, defs));
    overlaps_itself || parts(shape).into_iter().any(|(_, part)| has_overlap(part, defs))
}

//! Reports alternatives that overlap.

use std::collections::BTreeSet;

use toolgen_core::schema::shape::render::overlaps;
use toolgen_core::schema::shape::{Kind, find_def};
use toolgen_core::{Def, List, Shape};

use super::codes;
use crate::problem::Problems;
use crate::shape_walk::{parts, references};
use crate::tool::Tool;

/// Reports each `oneOf` in the arguments of tools if a value may match several of its alternatives: at the tool, or
/// for a named schema at the first tool that uses it.
pub(super) fn report(tools: &[Tool], problems: &mut Problems) {
    let mut reported: BTreeSet<String> = BTreeSet::new();
    for Tool { spec, origin, .. } in tools {
        let mut found: Vec<String> = Vec::new();
        if holds(spec.input.shape(), &spec.defs) {
            found.push(format!("the tool `{}`", spec.name));
        }
        let mut open: Vec<String> = Vec::new();
        references(spec.input.shape(), &mut open);
        while let Some(name) = open.pop() {
            let Some(shape) = find_def(&spec.defs, &name) else { continue };
            if reported.insert(name.clone()) {
                references(shape, &mut open);
                found.extend(holds(shape, &spec.defs).then(|| format!("the schema `{name}`")));
            }
        }
        for location in found {
            let message = format!(
                "a value may match several alternatives of a `oneOf` in {location}; it is accepted, as with `anyOf`"
            );
            let help = "write `anyOf`, or require a property with a different constant in each alternative";
            problems.report_in(&origin.source, codes::OVERLAP, &origin.pointer, message, help);
        }
    }
}

/// Whether a shape, without its references, has such alternatives.
fn holds(shape: &Shape, defs: &List<Def>) -> bool {
    let own = matches!(&shape.kind, Kind::Union(union) if overlaps(union, defs));
    own || parts(shape).into_iter().any(|(_, part)| holds(part, defs))
}

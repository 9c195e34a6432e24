//! Determines whether types are used for arguments or results.

use std::collections::{BTreeMap, BTreeSet};

use toolgen_runtime::schema::shape::{Access, Kind, find_def};
use toolgen_runtime::{List, Shape, ToolSpec};

use super::model::{Item, Ty};
use crate::shapes::parts;

/// The direction in which a type is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Whether it is part of arguments.
    pub(super) input: bool,
    /// Whether it is part of results.
    pub(super) output: bool,
}

impl Usage {
    pub(super) const INPUT: Usage = Usage { input: true, output: false };
    pub(super) const OUTPUT: Usage = Usage { input: false, output: true };

    /// Whether a field with this access occurs in this direction.
    pub(super) fn has(self, access: Access) -> bool {
        match access {
            Access::Both => true,
            Access::ReadOnly => self.output,
            Access::WriteOnly => self.input,
        }
    }
}

/// Returns the directions of each named shape that the tools reach.
pub(super) fn of<'a>(specs: impl Iterator<Item = &'a ToolSpec>) -> BTreeMap<String, Usage> {
    let mut usage: BTreeMap<String, Usage> = BTreeMap::new();
    let mut inputs = BTreeSet::new();
    let mut outputs = BTreeSet::new();
    for ToolSpec { input, output, defs, .. } in specs {
        reach(input, defs, Usage::INPUT, &mut inputs);
        if let Some(output) = output {
            reach(output, defs, Usage::OUTPUT, &mut outputs);
        }
    }
    for name in inputs {
        usage.entry(name).or_default().input = true;
    }
    for name in outputs {
        usage.entry(name).or_default().output = true;
    }
    usage
}

fn reach(shape: &Shape, defs: &List<toolgen_runtime::Def>, usage: Usage, reached: &mut BTreeSet<String>) {
    let mut open = Vec::new();
    references(shape, usage, reached, &mut open);
    while let Some(name) = open.pop() {
        if let Some(shape) = find_def(defs, &name) {
            references(shape, usage, reached, &mut open);
        }
    }
}

/// Adds the names a shape refers to that are not reached yet.
fn references(shape: &Shape, usage: Usage, reached: &mut BTreeSet<String>, open: &mut Vec<String>) {
    let mut shapes = vec![shape];
    while let Some(shape) = shapes.pop() {
        if let Kind::Ref(name) = &shape.kind
            && reached.insert(name.to_string())
        {
            open.push(name.to_string());
        }
        let parts = parts(shape).into_iter().filter(|(access, _)| usage.has(*access));
        shapes.extend(parts.map(|(_, part)| part));
    }
}

/// Marks every type that results are made of. A type of both directions needs it for its write-only fields too.
pub(super) fn mark_read<'a>(items: &mut [Item], outputs: impl Iterator<Item = &'a Ty>) {
    let mut open = Vec::new();
    for output in outputs {
        output.clone().for_each_item(false, &mut |_, index, _| open.push(index));
    }
    while let Some(index) = open.pop() {
        let Some(item) = items.get_mut(index) else { continue };
        if std::mem::replace(&mut item.read, true) {
            continue;
        }
        for ty in item.body.types_mut() {
            ty.for_each_item(false, &mut |_, index, _| open.push(index));
        }
    }
}

//! Determines whether types are used for arguments or results.

use std::collections::{BTreeMap, BTreeSet};

use toolgen_runtime::schema::shape::{Access, Kind, find_def};
use toolgen_runtime::{List, Shape, ToolSpec};

use super::model::{CallTypes, Item, Wanted};
use crate::shapes::parts;

/// How a type is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Usage {
    /// Whether it is part of arguments.
    pub(super) input: bool,
    /// Whether it is part of results.
    pub(super) output: bool,
    /// Whether its values are read from JSON: those of results, and the arguments of functions.
    pub(super) read: bool,
}

impl Usage {
    pub(super) const OUTPUT: Usage = Usage { input: false, output: true, read: true };

    /// The use for the arguments of a tool.
    pub(super) fn of_input(tool: &Wanted<'_>) -> Usage {
        Usage { input: true, output: false, read: tool.is_function }
    }

    /// Whether a field with this access occurs in this direction.
    pub(super) fn has(self, access: Access) -> bool {
        match access {
            Access::Both => true,
            Access::ReadOnly => self.output,
            Access::WriteOnly => self.input,
        }
    }
}

/// Returns the uses of each named shape that the tools reach.
pub(super) fn of(tools: &[Wanted<'_>]) -> BTreeMap<String, Usage> {
    let mut reached: BTreeMap<Usage, BTreeSet<String>> = BTreeMap::new();
    for tool in tools {
        let ToolSpec { input, output, defs, .. } = tool.spec;
        let usage = Usage::of_input(tool);
        reach(input, defs, usage, reached.entry(usage).or_default());
        if let Some(output) = output {
            reach(output, defs, Usage::OUTPUT, reached.entry(Usage::OUTPUT).or_default());
        }
    }
    let mut all: BTreeMap<String, Usage> = BTreeMap::new();
    for (Usage { input, output, read }, names) in reached {
        for name in names {
            let usage = all.entry(name).or_default();
            usage.input |= input;
            usage.output |= output;
            usage.read |= read;
        }
    }
    all
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

/// Marks every type that results and the arguments of functions are made of. A type of both directions needs it for its
/// write-only fields too.
pub(super) fn mark_read(items: &mut [Item], calls: &[CallTypes<'_>]) {
    let mut open = Vec::new();
    for call in calls {
        call.output.clone().for_each_item(false, &mut |_, index, _| open.push(index));
    }
    mark(items, open, |item| std::mem::replace(&mut item.open, true));
    let read = items.iter().enumerate().filter(|(_, item)| item.open).map(|(index, _)| index);
    let read = read.chain(calls.iter().filter(|call| call.is_function).map(|call| call.input)).collect();
    mark(items, read, |item| std::mem::replace(&mut item.read, true));
}

/// Marks types and all that they are made of. `set` marks one, and returns whether it was marked before.
fn mark(items: &mut [Item], mut open: Vec<usize>, set: impl Fn(&mut Item) -> bool) {
    while let Some(index) = open.pop() {
        let Some(item) = items.get_mut(index) else { continue };
        if set(item) {
            continue;
        }
        for ty in item.body.types_mut() {
            ty.for_each_item(false, &mut |_, index, _| open.push(index));
        }
    }
}

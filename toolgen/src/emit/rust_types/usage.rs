//! Determines whether types are used for arguments or results.

use std::collections::{BTreeMap, BTreeSet};

use toolgen_core::schema::shape::{Access, Kind, find_def};
use toolgen_core::{List, Shape, ToolSpec};

use super::model::{Body, CallTypes, Item, TypeRequest};
use super::raw;
use crate::shape_walk::parts;

/// How a type is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
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
    pub(super) fn includes(self, access: Access) -> bool {
        match access {
            Access::Both => true,
            Access::ReadOnly => self.output,
            Access::WriteOnly => self.input,
        }
    }
}

/// Returns the uses of each named shape that the tools reach.
pub(super) fn of(tools: &[TypeRequest<'_>]) -> BTreeMap<String, Usage> {
    let mut reached: BTreeMap<Usage, BTreeSet<String>> = BTreeMap::new();
    for tool in tools {
        let ToolSpec { input, output, defs, .. } = tool.spec;
        collect_reached(input, defs, Usage::INPUT, reached.entry(Usage::INPUT).or_default());
        for output in output.iter().map(|output| output.shape()).chain(tool.failure) {
            collect_reached(output, defs, Usage::OUTPUT, reached.entry(Usage::OUTPUT).or_default());
        }
    }
    let mut usages: BTreeMap<String, Usage> = BTreeMap::new();
    for (Usage { input, output }, names) in reached {
        for name in names {
            let usage = usages.entry(name).or_default();
            usage.input |= input;
            usage.output |= output;
        }
    }
    usages
}

fn collect_reached(
    shape: &Shape,
    defs: &List<toolgen_core::Def>,
    usage: Usage,
    reached: &mut BTreeSet<String>,
) {
    let mut pending = Vec::new();
    references(shape, usage, reached, &mut pending);
    while let Some(name) = pending.pop() {
        if let Some(shape) = find_def(defs, &name) {
            references(shape, usage, reached, &mut pending);
        }
    }
}

/// Adds the names that a shape refers to and that have not been reached yet.
fn references(shape: &Shape, usage: Usage, reached: &mut BTreeSet<String>, pending: &mut Vec<String>) {
    let mut shapes = vec![shape];
    while let Some(shape) = shapes.pop() {
        if let Kind::Ref(name) = &shape.kind
            && reached.insert(name.to_string())
        {
            pending.push(name.to_string());
        }
        // Schemas of keys also become types.
        if let Some(Kind::Ref(name)) = raw::key_shape(shape).map(|keys| keys.kind)
            && reached.insert(name.to_string())
        {
            pending.push(name.to_string());
        }
        let parts = parts(shape).into_iter().filter(|(access, _)| usage.includes(*access));
        shapes.extend(parts.map(|(_, part)| part));
    }
}

/// Marks how types are used. Every type that results contain, write-only fields included, is open, since results may
/// have more than the document declares. Every type whose values programs construct is marked as constructed.
pub(super) fn mark_use(items: &mut [Item], calls: &[CallTypes<'_>]) {
    let result_types = |is_included: fn(&CallTypes<'_>) -> bool| {
        let mut indices = Vec::new();
        for call in calls.iter().filter(|call| is_included(call)) {
            for mut ty in
                call.failure.iter().chain(&call.headers).chain(&call.item).chain([&call.output]).cloned()
            {
                ty.for_each_item(false, &mut |_, index, _| indices.push(index));
            }
        }
        indices
    };
    mark(items, result_types(|_| true), |item| std::mem::replace(&mut item.is_open, true));
    let mut constructed = result_types(|call| call.is_function);
    constructed.extend(calls.iter().map(|call| call.input));
    mark(items, constructed, |item| std::mem::replace(&mut item.is_constructed, true));
}

/// Marks the types whose values can be keys: those that contain neither a floating-point number nor an arbitrary
/// value.
pub(super) fn mark_keys(items: &mut [Item]) {
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
    let mut not_keys = Vec::new();
    for (index, item) in items.iter_mut().enumerate() {
        let accepts_any =
            item.is_open && matches!(item.body, Body::Union(_)) || matches!(item.body, Body::Pending);
        let mut is_key = !accepts_any;
        for ty in item.body.types_mut() {
            is_key &= ty.is_key();
            ty.for_each_item(false, &mut |_, used, _| {
                if let Some(users) = users.get_mut(used) {
                    users.push(index);
                }
            });
        }
        item.is_key = true;
        if !is_key {
            not_keys.push(index);
        }
    }
    while let Some(index) = not_keys.pop() {
        let Some(item) = items.get_mut(index) else { continue };
        if std::mem::replace(&mut item.is_key, false) {
            not_keys.extend(users.get(index).into_iter().flatten());
        }
    }
}

/// Marks types and all types that they consist of. `set` marks a type and returns whether it was marked before.
fn mark(items: &mut [Item], mut pending: Vec<usize>, set: impl Fn(&mut Item) -> bool) {
    while let Some(index) = pending.pop() {
        let Some(item) = items.get_mut(index) else { continue };
        if set(item) {
            continue;
        }
        for ty in item.body.types_mut() {
            ty.for_each_item(false, &mut |_, index, _| pending.push(index));
        }
    }
}

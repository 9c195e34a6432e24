//! Traverses the trees of shapes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolgen_core::schema::shape::{Access, Extra, Kind};
use toolgen_core::{Def, List, Shape};

use crate::tool::Tool;

/// Returns the direct subshapes of a shape, each with the direction that its values come from.
pub(crate) fn parts(shape: &Shape) -> Vec<(Access, &Shape)> {
    let mut parts = Vec::new();
    let mut add = |shape| parts.push((Access::Both, shape));
    match &shape.kind {
        Kind::Array(rules) => add(&*rules.items),
        Kind::Union(rules) => rules.variants.iter().for_each(add),
        Kind::All(members) => members.iter().for_each(add),
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

/// Collects the names that a shape refers to.
pub(crate) fn references(shape: &Shape, names: &mut Vec<String>) {
    match &shape.kind {
        Kind::Ref(name) => names.push(name.to_string()),
        Kind::Raw(text) => {
            let schema: Value = serde_json::from_str(text).unwrap_or_default();
            let texts = reference_texts(&schema).into_iter();
            names.extend(texts.filter_map(|text| text.strip_prefix("#/$defs/")).map(str::to_owned));
        }
        _ => parts(shape).into_iter().for_each(|(_, part)| references(part, names)),
    }
}

/// Returns the named shapes that the tools of one document reach, sorted by name. All tools share one list, so only
/// the first is read: reading it for each of thousands of tools takes seconds.
pub(crate) fn reached(tools: &[Tool]) -> List<Def> {
    let mut pending: Vec<String> = Vec::new();
    for Tool { spec, .. } in tools {
        references(spec.input.shape(), &mut pending);
        spec.output.iter().for_each(|output| references(output.shape(), &mut pending));
    }
    let mut reached: BTreeMap<&str, &Def> = BTreeMap::new();
    let by_name: BTreeMap<&str, &Def> =
        tools.iter().take(1).flat_map(|tool| &tool.spec.defs).map(|def| (def.name.as_str(), def)).collect();
    while let Some(name) = pending.pop() {
        if let Some((name, def)) = by_name.get_key_value(name.as_str())
            && reached.insert(name, def).is_none()
        {
            references(def.schema.shape(), &mut pending);
        }
    }
    reached.into_values().cloned().collect()
}

/// Returns all references in a value.
pub(crate) fn reference_texts(root: &Value) -> BTreeSet<&str> {
    let mut references = BTreeSet::new();
    let mut pending = vec![root];
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(object) => {
                references.extend(object.get("$ref").and_then(Value::as_str));
                pending.extend(object.values().filter(|value| value.is_object() || value.is_array()));
            }
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    references
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::{Duration, Instant};

    use serde_json::json;

    use crate::{Document, Options, Problems, compile};

    /// Compiles an array of this many tools, each with its own schemas.
    fn compile_time(tools: usize) -> Duration {
        let tool = |number: usize| {
            let name = format!("B{number}");
            json!({
                "name": format!("tool_{number}"), "description": "Does.",
                "inputSchema": {"type": "object", "properties": {"b": {"$ref": format!("#/$defs/{name}")}},
                    "$defs": {name: {"type": "object", "properties": {"y": {"type": "integer"}}}}},
            })
        };
        let text = json!({"tools": (0..tools).map(tool).collect::<Vec<_>>()}).to_string();
        let mut problems = Problems::new();
        let document = Document::parse(Path::new("list.json"), &text, &mut problems).unwrap();
        let started = Instant::now();
        let program = compile(&document, &Options::default(), &mut problems).unwrap();
        assert_eq!((program.tools.len(), program.defs.len()), (tools, tools));
        started.elapsed()
    }

    #[test]
    fn naming_of_shapes_takes_linear_time() {
        let best = |tools| (0..3).map(|_| compile_time(tools)).min().unwrap_or_default();
        let (few, many) = (best(250), best(2_000));
        assert!(many < few * 24, "{few:?} for 250, {many:?} for 2,000");
    }
}

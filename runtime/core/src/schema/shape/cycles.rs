//! Removes direct cycles of named shapes: `A: {anyOf: [{$ref: A}, …]}`. Such a reference adds nothing, and a reader
//! of values would loop forever.

use std::collections::{BTreeMap, BTreeSet};

use super::{Kind, Shape, UnionRules};

/// Removes references from a shape to itself that have no value in between. Returns the names of the changed
/// shapes.
#[must_use]
pub fn cut(shapes: &mut BTreeMap<String, Shape>) -> Vec<String> {
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, shape) in shapes.iter() {
        let mut targets = BTreeSet::new();
        collect_direct(shape, &mut targets);
        if !targets.is_empty() {
            edges.insert(name.clone(), targets);
        }
    }
    let back = back_edges(&edges);
    for (name, targets) in &back {
        if let Some(shape) = shapes.get_mut(name) {
            remove_references(shape, targets);
        }
    }
    back.into_keys().collect()
}

/// Returns the edges that close a cycle when shapes are visited in the order of their names.
fn back_edges(edges: &BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    let mut back: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut finished: BTreeSet<&str> = BTreeSet::new();
    for start in edges.keys() {
        let mut path: Vec<(&str, Vec<&str>)> = vec![(start, targets_of(edges, start))];
        while let Some((name, targets)) = path.last_mut() {
            let name = *name;
            match targets.pop() {
                None => {
                    finished.insert(name);
                    path.pop();
                }
                Some(target) if finished.contains(target) => {}
                Some(target) if path.iter().any(|(open, _)| *open == target) => {
                    back.entry(name.to_owned()).or_default().insert(target.to_owned());
                }
                Some(target) => path.push((target, targets_of(edges, target))),
            }
        }
    }
    back
}

fn targets_of<'e>(edges: &'e BTreeMap<String, BTreeSet<String>>, name: &str) -> Vec<&'e str> {
    edges.get(name).into_iter().flatten().rev().map(String::as_str).collect()
}

/// Returns the children that apply to the same value as the shape.
fn same_value_children(shape: &Shape) -> &[Shape] {
    match &shape.kind {
        Kind::All(parts) => parts,
        Kind::Union(rules) => &rules.variants,
        _ => &[],
    }
}

/// Collects the shapes that a shape references for the same value.
fn collect_direct(shape: &Shape, targets: &mut BTreeSet<String>) {
    if let Kind::Ref(name) = &shape.kind {
        targets.insert(name.to_string());
    }
    same_value_children(shape).iter().for_each(|part| collect_direct(part, targets));
}

/// Removes references to these shapes for the same value.
fn remove_references(shape: &mut Shape, names: &BTreeSet<String>) {
    let leads_back = |part: &Shape| matches!(&part.kind, Kind::Ref(name) if names.contains(name.as_str()));
    if leads_back(shape) {
        *shape = Shape::ANY;
    }
    let mut parts: Vec<Shape> =
        same_value_children(shape).iter().filter(|part| !leads_back(part)).cloned().collect();
    parts.iter_mut().for_each(|part| remove_references(part, names));
    match (&mut shape.kind, parts.len()) {
        (Kind::All(_) | Kind::Union(_), 0) => shape.kind = Kind::Any,
        (Kind::All(_) | Kind::Union(_), 1) => {
            for part in parts {
                shape.nullable |= part.nullable;
                shape.adopt(&part);
                shape.kind = part.kind;
            }
        }
        (Kind::All(all), _) => *all = parts.into(),
        (Kind::Union(UnionRules { variants, .. }), _) => *variants = parts.into(),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::schema::shape::{read::read, render::canonical};

    fn cut_all(schemas: &Value) -> (Value, Vec<String>) {
        let read = |(name, schema): (&String, &Value)| (name.clone(), read(schema, &mut Vec::new()));
        let mut shapes: BTreeMap<String, Shape> = schemas.as_object().unwrap().iter().map(read).collect();
        let changed = cut(&mut shapes);
        let to_json = |(name, shape)| (name, serde_json::from_str(&canonical(&shape)).unwrap());
        (Value::Object(shapes.into_iter().map(to_json).collect()), changed)
    }

    #[test]
    fn self_references_without_content_are_removed() {
        let (shapes, changed) = cut_all(&json!({
            "A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]},
            "B": {"oneOf": [{"$ref": "#/$defs/C"}, {"type": "integer"}]},
            "C": {"allOf": [{"anyOf": [{"$ref": "#/$defs/B"}, {"type": "boolean"}]}], "description": "c"},
            "D": {"type": "object", "properties": {"d": {"$ref": "#/$defs/D"}}},
            "E": {"anyOf": [{"$ref": "#/$defs/D"}, {"$ref": "#/$defs/A"}]}
        }));
        assert_eq!(changed, ["A", "C"]);
        assert_eq!(shapes["A"], json!({"type": "string"}));
        assert_eq!(shapes["B"], json!({"oneOf": [{"$ref": "#/$defs/C"}, {"type": "integer"}]}));
        assert_eq!(shapes["C"], json!({"description": "c", "type": "boolean"}));
        assert_eq!(shapes["D"]["properties"]["d"], json!({"$ref": "#/$defs/D"}));
        assert_eq!(shapes["E"]["anyOf"][1], json!({"$ref": "#/$defs/A"}));
    }
}

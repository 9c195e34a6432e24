//! Removes direct cycles of named shapes: `A: {anyOf: [{$ref: A}, …]}`. A reader of values would loop for ever, and
//! such a part adds nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// Keywords whose schemas apply to the same value as the schema that contains them.
const SAME_VALUE: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Removes the parts that lead back to their own shape. Returns the names of the changed shapes.
pub(super) fn cut(shapes: &mut BTreeMap<String, Value>) -> Vec<String> {
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, shape) in shapes.iter() {
        let mut targets = BTreeSet::new();
        direct(shape, &mut targets);
        if !targets.is_empty() {
            edges.insert(name.clone(), targets);
        }
    }
    let back = back_edges(&edges);
    for (name, targets) in &back {
        if let Some(shape) = shapes.get_mut(name) {
            without(shape, targets);
        }
    }
    back.into_keys().collect()
}

/// Returns the edges that close a cycle when the shapes are visited in the order of their names.
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

/// Collects the shapes that a schema refers to for the same value.
fn direct(schema: &Value, targets: &mut BTreeSet<String>) {
    targets.extend(target(schema).map(str::to_owned));
    for key in SAME_VALUE {
        for part in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
            direct(part, targets);
        }
    }
}

fn target(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

/// Removes references to these shapes for the same value.
fn without(schema: &mut Value, names: &BTreeSet<String>) {
    if target(schema).is_some_and(|name| names.contains(name)) {
        *schema = json!({});
        return;
    }
    let Value::Object(object) = schema else { return };
    for key in SAME_VALUE {
        if let Some(Value::Array(parts)) = object.get_mut(key) {
            parts.retain(|part| !target(part).is_some_and(|name| names.contains(name)));
            parts.iter_mut().for_each(|part| without(part, names));
            if parts.is_empty() {
                object.shift_remove(key);
            }
        }
    }
    inline_single(object);
}

/// Replaces a list of one part by the part, if nothing else is in the schema.
fn inline_single(object: &mut Map<String, Value>) {
    for key in SAME_VALUE {
        let single = object.get(key).and_then(Value::as_array).filter(|parts| parts.len() == 1);
        let Some(Value::Object(only)) = single.and_then(|parts| parts.first()).cloned() else { continue };
        if only.keys().all(|own| !object.contains_key(own)) {
            object.shift_remove(key);
            object.extend(only);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_all(shapes: Value) -> (Value, Vec<String>) {
        let Value::Object(shapes) = shapes else { panic!() };
        let mut shapes: BTreeMap<String, Value> = shapes.into_iter().collect();
        let changed = cut(&mut shapes);
        (Value::Object(shapes.into_iter().collect()), changed)
    }

    #[test]
    fn what_leads_back_is_taken_out() {
        let (shapes, changed) = cut_all(json!({
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

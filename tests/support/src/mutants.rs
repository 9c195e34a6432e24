//! JSON values with a single mutation.

use serde_json::{Value, json};

/// Collects the JSON pointers of a value, the innermost first, without those below a key named `skip`.
pub fn places(value: &Value, at: &str, skip: &str, found: &mut Vec<String>) {
    let token = |key: &str| format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(members) if !at.ends_with(skip) || skip.is_empty() => {
            members.iter().for_each(|(key, value)| places(value, &token(key), skip, found));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| places(item, &token(&index.to_string()), skip, found));
        }
        _ => {}
    }
    found.push(at.to_owned());
}

/// Returns mutations of the value at a JSON pointer, one change each. The last one removes it.
pub fn mutants(value: &Value, at: &str) -> Vec<Value> {
    let old = value.pointer(at).unwrap();
    let mut other = vec![match old {
        Value::Null => json!(0),
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => json!(number.as_f64().unwrap() + 1.0),
        Value::String(text) => json!(format!("{text}x")),
        Value::Array(items) => items.iter().cloned().chain([json!("x")]).collect(),
        Value::Object(members) => {
            let mut members = members.clone();
            members.insert("x-new".to_owned(), json!(1));
            Value::Object(members)
        }
    }];
    other.push(if old.is_number() { json!("a text") } else { json!(7) });
    let mut mutants: Vec<Value> = other
        .into_iter()
        .map(|new| {
            let mut mutant = value.clone();
            *mutant.pointer_mut(at).unwrap() = new;
            mutant
        })
        .collect();
    if let Some((parent, key)) = at.rsplit_once('/') {
        let mut mutant = value.clone();
        match mutant.pointer_mut(parent).unwrap() {
            Value::Object(members) => {
                members.remove(&key.replace("~1", "/").replace("~0", "~"));
            }
            Value::Array(items) => {
                items.remove(key.parse().unwrap());
            }
            _ => unreachable!("a place has a parent"),
        }
        mutants.push(mutant);
    }
    mutants
}

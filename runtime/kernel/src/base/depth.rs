//! Limits the nesting depth of JSON values.
//!
//! Cloning, comparing, serializing and dropping a value recurse into each of its levels, so a value of several thousand
//! levels overflows the stack. The parser rejects text from a model that is nested deeper than [`MAX_DEPTH`], but a
//! program can build such a value.

use serde_json::Value;

/// Maximum nesting depth of arguments and results.
pub const MAX_DEPTH: usize = 128;

/// Whether the nesting depth of a value is at most [`MAX_DEPTH`].
pub fn is_shallow(value: &Value) -> bool {
    is_within(value, MAX_DEPTH)
}

/// Returns the value if it [`is_shallow`]. A deeper value is dropped level by level.
pub fn shallow(value: Value) -> Option<Value> {
    if is_shallow(&value) {
        return Some(value);
    }
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(fields) => pending.extend(fields.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    None
}

fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| is_within(item, levels - 1)),
        Value::Object(fields) => levels > 0 && fields.values().all(|value| is_within(value, levels - 1)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(levels: usize) -> Value {
        let wrap = |value| Value::Object(serde_json::Map::from_iter([("a".to_owned(), value)]));
        (0..levels)
            .fold(json!(1), |value, level| if level % 2 == 0 { vec![value].into() } else { wrap(value) })
    }

    #[test]
    fn too_deeply_nested_value_is_dropped_without_recursion() {
        assert_eq!(shallow(nested(MAX_DEPTH)), Some(nested(MAX_DEPTH)));
        assert_eq!(shallow(nested(MAX_DEPTH + 1)), None);
        assert_eq!(shallow(vec![json!({"a": [1, {}]}), nested(100_000)].into()), None);
    }
}

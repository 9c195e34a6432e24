//! Limits the nesting depth of JSON values.
//!
//! Cloning, comparing, writing and dropping a value recurses into each of its levels, so a value of several thousand
//! levels overflows the stack. Text of a model cannot become such a value, since the parser stops at the depth
//! [`MAX_DEPTH`]; a value that a program builds can.

use serde_json::Value;

/// Maximum nesting depth of arguments and results.
pub const MAX_DEPTH: usize = 128;

/// Whether the nesting depth of a value is at most [`MAX_DEPTH`].
pub fn is_shallow(value: &Value) -> bool {
    fits(value, MAX_DEPTH)
}

/// Returns the value, unless it is nested too deeply: then it is dropped, level by level.
pub fn shallow(value: Value) -> Option<Value> {
    if is_shallow(&value) {
        return Some(value);
    }
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    None
}

fn fits(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| fits(item, levels - 1)),
        Value::Object(fields) => levels > 0 && fields.values().all(|value| fits(value, levels - 1)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(levels: usize) -> Value {
        let under = |value| Value::Object(serde_json::Map::from_iter([("a".to_owned(), value)]));
        (0..levels)
            .fold(json!(1), |value, level| if level % 2 == 0 { vec![value].into() } else { under(value) })
    }

    #[test]
    fn too_deeply_nested_value_is_dropped_without_recursion() {
        assert_eq!(shallow(nested(MAX_DEPTH)), Some(nested(MAX_DEPTH)));
        assert_eq!(shallow(nested(MAX_DEPTH + 1)), None);
        assert_eq!(shallow(vec![json!({"a": [1, {}]}), nested(100_000)].into()), None);
    }
}

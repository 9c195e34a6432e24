//! JSON values.

use serde_json::Value;

/// Returns the name of the type of a value, for messages: `object`, `array`, `string`, `number`, `boolean` or `null`.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

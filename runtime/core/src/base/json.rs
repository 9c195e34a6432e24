//! Helpers for JSON values.

use std::io::{self, Write};

use serde_core::Serialize;
use serde_json::Value;

/// Returns the size of a value as compact JSON, in bytes.
pub fn json_bytes<T: Serialize + ?Sized>(value: &T) -> usize {
    let mut count = ByteCounter(0);
    // This cannot fail: the writer only counts, and the values have string keys.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// Counts the bytes that are written.
struct ByteCounter(usize);

impl Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a whole number as an integer if floats represent all integers of its magnitude exactly: `5.0` becomes 5.
pub fn to_integer(number: f64) -> Option<i64> {
    let exact = number.fract() == 0.0 && number.abs() <= 2f64.powi(53);
    #[expect(clippy::cast_possible_truncation, reason = "checked to be integral and in range")]
    exact.then_some(number as i64)
}

/// Returns the name of the type of a value, for messages: `object`, `array`, `string`, `number`, `boolean` or `null`.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

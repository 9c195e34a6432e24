//! Fuzzes a schema and arguments, one JSON value per line: parsing, rendering for every dialect and decoding must not
//! panic, the canonical text must round-trip, and decoding must be idempotent.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolgen_runtime::List;
use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::schema::shape::{decode, read, render};

fuzz_target!(|bytes: &[u8]| {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    let Some(Ok(schema)) = values.next() else { return };
    let arguments = values.next().and_then(Result::ok).unwrap_or(Value::Null);
    let shape = read::read(&schema, &mut Vec::new());
    let text = render::canonical(&shape);
    let again: Value = serde_json::from_str(&text).expect("canonical text is JSON");
    assert_eq!(read::read_canonical(&again), shape, "canonical text gives another shape");
    for dialect in Dialect::ALL {
        let _ = render::render_input(&shape, &List::EMPTY, dialect);
        let _ = render::render_output(&shape, &List::EMPTY, dialect);
        let _ = decode::decode(&arguments, &shape, &List::EMPTY, dialect);
    }
});

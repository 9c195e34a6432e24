use std::path::Path;

use toolgen_test_support::script;

use super::*;

/// `in` is a document, and `find` a query for it.
#[test]
fn queries_match_the_script() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/overlay/json_path/tests/queries.txt");
    script::replay(&file, || {
        let mut root = Value::Null;
        move |word, rest| {
            if word == "in" {
                root = serde_json::from_str(rest).unwrap();
                return Vec::new();
            }
            match JsonPath::parse(rest) {
                Ok(path) => path.select(&root).iter().map(|at| format!("`{at}`")).collect(),
                Err(error) => vec![format!("refused: {error}")],
            }
        }
    });
}

#[test]
fn deeply_nested_queries_are_rejected() {
    assert!(JsonPath::parse(&format!("$[?{}@", "(".repeat(100_000))).is_err());
    assert!(JsonPath::parse(&format!("$[?{}@", "!".repeat(100_000))).is_err());
    assert!(JsonPath::parse(&format!("$[?{}@", "length(".repeat(100_000))).is_err());
    assert!(JsonPath::parse(&format!("${}", "[?@".repeat(100_000))).is_err());
}

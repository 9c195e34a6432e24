#![allow(unused)]

use toolgen_runtime::tool;

use std::collections::BTreeMap;

/// Does it.
#[tool(undocumented, dialects(openai_strict))]
fn search(query: &str, labels: BTreeMap<String, String>) {
    let _ = (query, labels);
}

fn main() {}

//! Hints and examples that cannot be written.

#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented, example = "{\"b\": 1}")]
fn example_of_another_argument(a: i64) {}

/// Does it.
#[tool(undocumented, example("{\"a\": 1}", "a"))]
fn example_not_json(a: i64) {}

/// Does it.
#[tool(hints = "programs")]
fn hints_as_text() {}

/// Does it.
#[tool(hints(caller = "programs"))]
fn hints_misspelt() {}

/// Does it.
#[tool(hints(callers = "code", icon = "icon.png", meta = "[]"))]
fn hints_wrong() {}

/// Does it.
#[tool(undocumented, hints(text, regex = "[a-z]"))]
fn hints_two_forms(input: String) {}

/// Does it.
#[tool(undocumented, hints(text))]
fn hints_without_input(text: String) {}

fn main() {}

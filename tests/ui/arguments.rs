//! Invalid arguments of tools, and attributes of arguments without effect.

#![allow(unused)]

use std::path::Path;

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn arg_deny_pattern(#[arg(deny_pattern = "rm (-rf")] a: &str, #[arg(deny_pattern = "")] b: &str, #[arg(deny_pattern)] c: &str) {
}

/// Does it.
#[tool(undocumented)]
fn twice(#[arg(non_empty, len = 1..)] a: String, #[arg(non_empty, len = ..=3)] fine: String) {}

/// Does it.
#[tool(undocumented)]
fn arg_one_of_no_literal(#[arg(one_of(a, b()))] a: &str, #[arg(one_of())] b: &str) {
    let _ = (a, b);
}

/// Does it.
#[tool(undocumented)]
fn arg_pattern_broken(#[arg(pattern = "[a-z")] a: &str, #[arg(pattern = "(?=x)")] b: &str) {
    let _ = (a, b);
}

/// Does it.
#[tool(undocumented)]
fn arg_range_is_none(#[arg(range = 5)] a: u8, #[arg(range = ..)] b: u8) -> u8 {
    a + b
}

/// Does it.
#[tool(undocumented)]
fn arg_unknown_key(#[arg(defualt = 1)] a: u8) -> u8 {
    a
}

/// Does it.
#[tool(undocumented)]
fn argument_bad_rename(#[arg(rename = "filter[x]", alias(""))] a: u8) -> u8 {
    a
}

/// Does it.
#[tool(undocumented)]
fn argument_both_kinds(#[arg] #[inject] a: u8) -> u8 {
    a
}

/// Does it.
#[tool(undocumented)]
fn argument_foreign_attribute(#[serde(default)] a: u8, #[other] b: u8) -> u8 {
    a + b
}

/// Does it.
#[tool(undocumented)]
fn argument_mutable_reference(a: &mut String) {
    a.clear();
}

/// Does it.
#[tool(undocumented)]
fn argument_pattern((a, b): (u8, u8), _: u8) -> u8 {
    a + b
}

/// Does it.
#[tool(undocumented)]
fn argument_static_reference(
    text: &'static str,
    maybe: Option<&'static str>,
    list: &'static [u8],
    path: &'static Path,
    number: &'static u8,
) {
}

/// Does it.
#[tool(undocumented)]
fn argument_static_reference_fine<'a>(text: &'a str, other: Option<&'a str>) {}

/// Does it.
#[tool(undocumented)]
fn argument_twice(a: u8, #[arg(rename = "a")] b: u8) -> u8 {
    a + b
}

/// Does it.
///
/// # Arguments
///
/// - a: The first.
/// - b: There is none.
#[tool]
fn documented_argument_unknown(a: u8) {}

/// Does it.
///
/// # Examples
///
/// - `{"a": 1,}`
#[tool(undocumented)]
fn example_is_no_json(a: u8) {}

/// Does it.
///
/// # Examples
///
/// - `{"b": 1}`
#[tool(undocumented)]
fn example_of_unknown_argument(a: u8) {}

/// Does it.
#[tool(undocumented)]
fn generic_const<const N: usize>(a: [u8; N]) -> usize {
    a.len() + N
}

/// Does it.
#[tool(undocumented)]
fn generic_type<T: ToString>(a: T) -> String {
    a.to_string()
}

/// Does it.
#[tool(undocumented)]
fn impl_trait_argument(a: impl ToString) -> String {
    a.to_string()
}

/// Does it.
#[tool(undocumented, at_most_one(id), exactly_one = 3)]
fn relation_of_one(id: Option<u8>) {}

/// Does it.
#[tool(undocumented, exactly_one(id, nmae), requires(x => id))]
fn relation_unknown_argument(id: Option<u8>, name: Option<u8>) {}

/// Does it.
#[tool(undocumented, requires(entity("plan", argument = "plan_slog"), entity("phase")))]
fn requires_entity_unknown_argument(plan_slug: String) {}

/// Does it.
#[tool(undocumented, reads("file:{pth}", "rows"), writes("file:{path"))]
fn resource_unknown_argument(path: String) {}

/// Does it.
#[tool]
fn undocumented_argument(a: u8, /** The second. */ b: u8, c: u8) {}

fn main() {}

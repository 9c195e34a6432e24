#![allow(unused)]

use std::path::Path;

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(
    text: &'static str,
    maybe: Option<&'static str>,
    list: &'static [u8],
    path: &'static Path,
    number: &'static u8,
) {
}

/// Does it.
#[tool(undocumented)]
fn fine<'a>(text: &'a str, other: Option<&'a str>) {}

fn main() {}

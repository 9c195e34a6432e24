//! Exports the tools of a program to `cargo toolgen`: `cargo toolgen list --example tools --package toolgen-tests`.

use toolgen_runtime::{tool, toolset};

/// Adds two numbers.
#[tool(pure)]
fn add(
    /// The first.
    left: i64,
    /// The second.
    right: i64,
) -> i64 {
    left + right
}

toolgen_runtime::export!(toolset![add]);

//! Prints the tools that registered themselves.
#![deny(warnings)]
#![forbid(unsafe_code)]

use toolgen_runtime::function::inventory;
use toolgen_runtime::tool;

mod far {
    /// No code names it.
    #[toolgen_runtime::tool]
    fn b() {}
}

/// No code names it either.
#[tool]
fn a() {}

fn main() {
    for tool in inventory::tools() {
        println!("{}", tool.name());
    }
}

//! Prints the tools that registered themselves.
#![deny(warnings)]
#![forbid(unsafe_code)]

use toolgen_runtime::function::inventory;
use toolgen_runtime::tool;

mod far {
    /// Nobody names it.
    #[toolgen_runtime::tool]
    fn b() {}
}

/// Nobody names it either.
#[tool]
fn a() {}

fn main() {
    for tool in inventory::tools() {
        println!("{}", tool.name());
    }
}

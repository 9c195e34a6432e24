//! Functions that register themselves.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use toolgen_runtime::function::inventory;
use toolgen_runtime::{Registry, tool};

/// Waits.
#[tool]
fn wait() {}

mod inside {
    use toolgen_runtime::tool;

    /// Ends.
    #[tool(name = "end")]
    pub(super) fn finish() {}
}

fn local() {
    /// Begins.
    #[tool]
    fn begin() {}
    begin();
}

#[test]
fn inventory_contains_every_function_sorted() {
    local();
    wait();
    inside::finish();
    let tools = inventory::tools();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["begin", "end", "wait"]);
    assert_eq!(Registry::new(tools).unwrap().len(), 3);
}

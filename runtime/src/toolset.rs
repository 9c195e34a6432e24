//! Lists of tools, written out: nothing registers itself.

use std::sync::Arc;

use crate::tool::AgentTool;

/// What a [`toolset!`](crate::toolset!) takes beside functions: a tool, or several.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a tool nor a list of tools",
    note = "name a function with `#[tool]`, or give an `AgentTool` or a `Vec<Arc<dyn AgentTool>>`"
)]
pub trait IntoTools {
    /// Adds them.
    fn add_to(self, tools: &mut Vec<Arc<dyn AgentTool>>);
}

impl<T: AgentTool + 'static> IntoTools for T {
    fn add_to(self, tools: &mut Vec<Arc<dyn AgentTool>>) {
        tools.push(Arc::new(self));
    }
}

impl<T: IntoTools> IntoTools for Vec<T> {
    fn add_to(self, tools: &mut Vec<Arc<dyn AgentTool>>) {
        for tool in self {
            tool.add_to(tools);
        }
    }
}

/// Refuses a list with two tools of one name.
///
/// # Panics
///
/// If there are; in a constant that is a compile error.
#[doc(hidden)]
#[track_caller]
pub const fn check_names(names: &[&str]) {
    let mut index = 0;
    while index < names.len() {
        let mut other = 0;
        while other < index {
            assert!(
                !same(names[index].as_bytes(), names[other].as_bytes()),
                "two tools of this set have the same name; give one of them another by `#[tool(name = \"…\")]`"
            );
            other += 1;
        }
        index += 1;
    }
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    true
}

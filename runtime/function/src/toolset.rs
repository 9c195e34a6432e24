//! Explicit lists of tools, without self-registration.

use crate::{FunctionTool, ToolFunction};
use toolgen_kernel::base::const_text::{ConstText, same};
pub use toolgen_kernel::registry::IntoTools;

/// A function in `toolset!`.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The function, as written in the list.
    pub path: &'static str,
    /// The name of its tool.
    pub name: &'static str,
    /// The names of the tools that it requires.
    pub requires: &'static [&'static str],
    /// Returns the tool.
    pub tool: fn() -> FunctionTool,
}

/// Returns the entry of a function.
#[doc(hidden)]
#[must_use]
pub const fn entry<T: ToolFunction>(path: &'static str) -> Entry {
    Entry { path, name: T::NAME, requires: T::REQUIRES, tool: T::tool }
}

/// A stand-in for a name in a list that has no type: `#[tool]` generates the type next to the function. The list
/// imports each name with this fallback, so that the compiler can report the missing attribute.
#[doc(hidden)]
pub mod forgotten {
    /// A function without `#[tool]`.
    #[derive(Debug)]
    pub struct ThisFunction;
}

/// Rejects a list with two tools of the same name.
///
/// # Panics
///
/// Panics if there are such tools, with their name and the functions. In a constant, that is a compile error.
#[doc(hidden)]
#[track_caller]
#[expect(clippy::panic, reason = "an invalid list is a compile error where it is written")]
pub const fn check_names(entries: &[Entry]) {
    let mut index = 0;
    while index < entries.len() {
        let mut other = 0;
        while other < index {
            let (first, second) = (&entries[other], &entries[index]);
            // A tool with an error has no name yet, and its error is reported at the function.
            if !second.name.is_empty() && same(first.name, second.name) {
                let message =
                    ConstText::<1024>::EMPTY.and("two tools of this set have the name `").and(second.name);
                let message = message.and("`: `").and(first.path).and("` and `").and(second.path);
                panic!("{}", message.and("`; rename one of them with `#[tool(name = \"...\")]`").as_str());
            }
            other += 1;
        }
        index += 1;
    }
}

/// Rejects a list of tools, each with the tools that it requires, if there is a cycle. Required tools outside the list
/// are ignored.
///
/// # Panics
///
/// Panics if there is a cycle, with the names of its tools. In a constant, that is a compile error.
#[doc(hidden)]
#[track_caller]
#[expect(clippy::panic, reason = "an invalid list is a compile error where it is written")]
pub const fn check_cycles<const N: usize>(tools: &[(&str, &[&str]); N]) {
    // A tool is free if all tools that it requires are free. A tool that never becomes free is on a cycle, or requires
    // a tool that is on one.
    let mut free = [false; N];
    let mut changed = true;
    while changed {
        changed = false;
        let mut index = 0;
        while index < N {
            if !free[index] && blocker(tools, &free, index).is_none() {
                free[index] = true;
                changed = true;
            }
            index += 1;
        }
    }
    let mut index = 0;
    while index < N {
        if let Some(mut on_cycle) = blocker(tools, &free, index) {
            let mut steps = 0;
            while let (true, Some(next)) = (steps < N, blocker(tools, &free, on_cycle)) {
                on_cycle = next;
                steps += 1;
            }
            panic!("{}", cycle_message(tools, &free, on_cycle).as_str());
        }
        index += 1;
    }
}

/// Returns the first tool of the list that `tool` requires and that is not free.
const fn blocker<const N: usize>(
    tools: &[(&str, &[&str]); N],
    free: &[bool; N],
    tool: usize,
) -> Option<usize> {
    let required = tools[tool].1;
    let mut index = 0;
    while index < required.len() {
        let mut other = 0;
        while other < N {
            if !free[other] && same(required[index], tools[other].0) {
                return Some(other);
            }
            other += 1;
        }
        index += 1;
    }
    None
}

/// Returns the message for a cycle: its tools, each after the tool that requires it.
const fn cycle_message<const N: usize>(
    tools: &[(&str, &[&str]); N],
    free: &[bool; N],
    first: usize,
) -> ConstText<1024> {
    let name = tools[first].0;
    let mut message = ConstText::EMPTY.and("Circular dependency detected while validating [").and(name);
    message = message.and("]. The path is ").and(name);
    let mut tool = first;
    while let Some(next) = blocker(tools, free, tool) {
        message = message.and(" -> ").and(tools[next].0);
        if next == first {
            break;
        }
        tool = next;
    }
    message.and(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal<const N: usize>(tools: [(&str, &[&str]); N]) -> Option<String> {
        let payload = std::panic::catch_unwind(|| check_cycles(&tools)).err()?;
        payload.downcast::<String>().ok().map(|text| *text)
    }

    #[test]
    fn cyclic_requirements_are_detected() {
        const FINE: [(&str, &[&str]); 3] = [("c", &["b", "elsewhere"]), ("b", &["a"]), ("a", &[])];
        const { check_cycles(&FINE) };
        const { check_cycles(&[]) };
        assert_eq!(refusal(FINE), None);
        let message = "Circular dependency detected while validating [b]. The path is b -> c -> b.";
        assert_eq!(refusal([("a", &["b"]), ("b", &["d", "c"]), ("c", &["b"]), ("d", &[])]).unwrap(), message);
        let self_cycle = "Circular dependency detected while validating [x]. The path is x -> x.";
        assert_eq!(refusal([("x", &["x"])]).unwrap(), self_cycle);
    }
}

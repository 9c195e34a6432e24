//! The tools of coding agents under names that many models know: `LS`, `GlobTool`, `GrepTool`, `View`, `Edit`,
//! `Replace`, `Bash` and `dispatch_agent`.
//!
//! Their paths are absolute, and must be inside the working directory.

mod bash;
mod find;
mod view;
mod write;

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use toolgen_agent::sub_agent::{AgentRunner, SubAgentBuilder, SubAgentTool};
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::spec::{Effects, Files};
use toolgen_macros::toolset;

use super::executor_tool;
use super::grep::invalid_argument;
use super::work_dir::file_error;

/// Returns the tools `LS`, `GlobTool`, `GrepTool`, `View`, `Edit`, `Replace` and `Bash`, whose names many models
/// know. Their paths are absolute.
///
/// `Bash` rejects the programs of [`BANNED_PROGRAMS`](toolgen_exec::BANNED_PROGRAMS), anywhere in a command. This
/// prevents accidents, but not deliberate use.
#[must_use]
pub fn coding() -> Vec<Arc<dyn AgentTool>> {
    toolset![read_tools(), write::edit, write::replace, executor_tool(bash::bash::tool())]
}

/// Returns a builder of the tool `dispatch_agent`, which runs a search agent with `LS`, `GlobTool`, `GrepTool` and
/// `View`. Set the model and other options with the builder. The tool is declared to only read files; the network
/// access of the runner to its model is not declared.
pub fn dispatch_agent(runner: impl AgentRunner + 'static) -> SubAgentBuilder {
    SubAgentTool::builder("dispatch_agent", runner)
        .description(
            "Launch an agent that searches with the tools View, GlobTool, GrepTool and LS, for a search that may need \
             several attempts. It reports once, and neither changes files nor runs commands. To read a known file, \
             use View.",
        )
        .system_prompt(
            "You search the files of a project for another agent. Answer its task in a few sentences, with the \
             absolute paths of the files that matter.",
        )
        .tools(read_tools())
        .effects(Effects { files: Files::Read, idempotent: false, ..Effects::NONE })
}

fn read_tools() -> Vec<Arc<dyn AgentTool>> {
    toolset![find::ls, find::glob_tool, find::grep_tool, view::view]
}

/// Rejects a path that is not absolute.
fn check_absolute(path: &str, argument: &str) -> Result<(), ToolError> {
    if Path::new(path).has_root() {
        return Ok(());
    }
    Err(invalid_argument(
        &format!("/{argument}"),
        format!("{argument} must be an absolute path, not a relative path"),
    ))
}

/// Returns the error for a file that could not be used.
fn read_error(error: &io::Error, path: &str, prefix: &str) -> ToolError {
    match error.kind() {
        ErrorKind::NotFound => ToolError::failed(format!("File does not exist: {path}")),
        ErrorKind::IsADirectory => ToolError::failed(format!("{path} is a directory, not a file")),
        _ => file_error(error, "file_path", prefix, ""),
    }
}

/// Returns the error for a search that could not start.
fn search_error(error: &io::Error, path: &str, prefix: &str) -> ToolError {
    match error.kind() {
        ErrorKind::NotFound => ToolError::failed(format!("Path does not exist: {path}")),
        _ => file_error(error, "path", prefix, ""),
    }
}

/// Formats a number of bytes: `1.5 KB`.
fn format_size(bytes: u64) -> String {
    let units = ["KB", "MB", "GB", "TB", "PB", "EB"];
    let power = (bytes.checked_ilog2().unwrap_or(0) / 10) as usize;
    match power.checked_sub(1).and_then(|unit| units.get(unit)) {
        None => format!("{bytes} B"),
        #[expect(clippy::cast_precision_loss, reason = "one digit behind the point is shown")]
        Some(unit) => format!("{:.1} {unit}", bytes as f64 / f64::powi(1024.0, power as i32)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_use_units_of_1024() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KB"),
            (1536, "1.5 KB"),
            (1 << 20, "1.0 MB"),
            (u64::MAX, "16.0 EB"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(format_size(bytes), expected);
        }
    }
}

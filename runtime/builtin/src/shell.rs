//! The tool `shell`, which runs a shell command and returns all details of the run.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toolgen_exec::{ExecError, ExecOptions, Executor};
use toolgen_function::inject::Service;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::roots::{resolve_below, root_of, traversal};
use toolgen_macros::tool;

use super::grep::invalid_argument;
use super::shell_line::Script;

/// Execute a shell command and return the output
///
/// # Returns
///
/// stdout, stderr, exit_code, cwd, command and duration. An exit code other than 0 is a result, not an error.
#[tool(destructive, spawns, files = "write", network = "any", timeout = "35s", writes("file:"))]
pub(super) async fn shell(
    /// The shell command to execute
    #[arg(non_empty)]
    cmd: String,
    /// Optional working directory for the command
    #[arg(non_empty)]
    cwd: Option<String>,
    executor: Service<dyn Executor>,
    ctx: &ToolContext,
) -> Result<Value, ToolError> {
    if Script::parse(&cmd).find_pattern(&["rm -rf /", "rm -rf /*"]).is_some() {
        return Err(invalid_argument("/cmd", "dangerous command rejected".to_owned()));
    }
    let mut options = ExecOptions::default();
    if let Some(cwd) = &cwd {
        options = options.work_dir(directory(cwd, ctx)?);
    }
    let argv = ["sh".to_owned(), "-c".to_owned(), cmd];
    let outcome = executor.run(&argv, &options, ctx.cancel()).await;
    let [.., cmd] = argv;
    match outcome {
        Ok(output) => {
            let mut result = output.to_json();
            result["cwd"] = cwd.unwrap_or_default().into();
            result["command"] = cmd.into();
            Ok(result)
        }
        Err(
            ExecError::Invalid { message } | ExecError::Start { message, .. } | ExecError::Lost { message },
        ) => Err(ToolError::failed(format!("shell command failed: {cmd}")).with_operator_detail(message)),
        Err(error) => Err(error.into()),
    }
}

/// Returns the directory of a command, inside the working directory. The executor may run programs on another
/// machine, so only the path is checked; the executor decides what a command may access.
fn directory(cwd: &str, ctx: &ToolContext) -> Result<PathBuf, ToolError> {
    let root = root_of("workdir", ctx).unwrap_or_default();
    resolve_below(Path::new(cwd), Some(&root)).map_err(|error| traversal("cwd", error))
}

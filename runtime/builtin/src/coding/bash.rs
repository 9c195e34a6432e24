//! The tool `Bash`.

use std::time::Duration;

use toolgen_exec::{BANNED_PROGRAMS, ExecError, ExecOptions, Executor};
use toolgen_function::inject::Service;
use toolgen_kernel::base::truncate::floor;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_macros::tool;

use crate::grep::invalid_argument;
use crate::shell_line::Script;

/// Maximum and default timeout, in milliseconds: 10 minutes.
const MAX_TIMEOUT_MILLIS: u64 = 600_000;
/// Maximum size of the returned output, in bytes.
const MAX_OUTPUT_BYTES: usize = 30_000;

/// Executes a bash command. Each call has its own shell: variables and the current directory are not kept. Programs
/// that access the network, such as curl and wget, are banned; if a command is rejected, explain it to the user. To
/// search and read files, use GrepTool, GlobTool, LS and View. Output over 30000 bytes is truncated.
#[tool(
    name = "Bash",
    destructive,
    spawns,
    files = "write",
    network = "any",
    timeout = "605s",
    writes("file:")
)]
pub(super) async fn bash(
    /// The command to execute.
    #[arg(non_empty)]
    command: String,
    /// The timeout in milliseconds, at most 600000 (10 minutes). Default: 600000.
    #[arg(default = 600_000, range = 1..)]
    timeout: u64,
    executor: Service<dyn Executor>,
    ctx: &ToolContext,
) -> Result<String, ToolError> {
    if timeout > MAX_TIMEOUT_MILLIS {
        let text = format!("timeout cannot exceed {MAX_TIMEOUT_MILLIS}ms (10 minutes)");
        return Err(invalid_argument("/timeout", text));
    }
    if let Some(program) = Script::parse(&command).find_program(BANNED_PROGRAMS) {
        return Err(ExecError::Banned { program: program.to_owned() }.into());
    }
    let options = ExecOptions::default().timeout(Duration::from_millis(timeout)).max_output(MAX_OUTPUT_BYTES);
    // Standard error is merged into standard output in order. The command is passed as an argument.
    let argv = ["bash", "-c", "exec bash -c -- \"$0\" 2>&1", &command].map(String::from);
    let output = executor.run(&argv, &options, ctx.cancel()).await.map_err(|error| match error {
        ExecError::Timeout { .. } => ToolError::failed_with("TIMEOUT", error.to_string()),
        error => error.into(),
    })?;
    let total =
        (output.stdout.len() + output.stderr.len()) as u64 + output.stdout_dropped + output.stderr_dropped;
    let mut text = output.stdout + &output.stderr;
    text.truncate(floor(&text, MAX_OUTPUT_BYTES));
    if (text.len() as u64) < total {
        text.push_str(&format!("\n\n... [Output truncated. Total length: {total} characters]"));
    }
    Ok(match (output.exit_code, text.is_empty()) {
        (0, true) => "SUCCESS".to_owned(),
        (0, false) => text,
        (code, _) => format!("Error: exit status {code}\n\nOutput:\n{text}"),
    })
}

//! The tool `bash`, which runs shell commands.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolgen_exec::{ExecError, ExecOptions, Executor};
use toolgen_function::inject::Service;
use toolgen_function::toolset::IntoTools;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::call::tool::AgentTool;
use toolgen_macros::tools;

use super::executor_tool;
use super::shell_line::Script;

/// Confirms a command before it runs.
type Confirm = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// The tool `bash`, which runs shell commands in the [executor](toolgen_exec::Executor) of its context.
///
/// The executor decides what commands may do. The denied patterns only prevent accidents: a model can express a
/// denied command in another way.
///
/// ```
/// use std::time::Duration;
/// use toolgen_runtime::builtin::{self, Bash};
/// use toolgen_runtime::{Registry, toolset};
///
/// let bash = Bash::default().timeout(Duration::from_secs(20)).deny("git push --force");
/// let registry = Registry::new(toolset![(bash), builtin::files()])?;
/// assert!(registry.get("bash").is_some());
/// # Ok::<(), toolgen_runtime::RegistryError>(())
/// ```
#[derive(Clone)]
pub struct Bash {
    timeout: Duration,
    max_output: usize,
    deny: Vec<String>,
    confirm: Option<Confirm>,
}

impl Default for Bash {
    /// Defaults: 120 seconds, 256 KiB, and patterns for commands that would destroy the machine.
    fn default() -> Bash {
        let deny = ["rm -rf /", "rm -rf /*", "mkfs", "dd if=", ":(){:|:&};:"].map(String::from).into();
        Bash { timeout: Duration::from_secs(120), max_output: 256 << 10, deny, confirm: None }
    }
}

impl Bash {
    /// Sets the timeout of a command.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Bash {
        self.timeout = timeout;
        self
    }

    /// Sets the maximum number of bytes kept of standard output, and of standard error.
    #[must_use]
    pub fn max_output(mut self, bytes: usize) -> Bash {
        self.max_output = bytes;
        self
    }

    /// Rejects commands that match a pattern: the name of a program and words that occur among its arguments, in any
    /// order. Each letter of flags such as `-rf` must be present, in any grouping; a word that ends with `=` matches
    /// all words that start with it. Quoted text is not matched as a command.
    #[must_use]
    pub fn deny(mut self, pattern: impl Into<String>) -> Bash {
        self.deny.push(pattern.into());
        self
    }

    /// Removes all patterns, including the default ones.
    #[must_use]
    pub fn clear_denied(mut self) -> Bash {
        self.deny.clear();
        self
    }

    /// Sets a function that confirms each command. It may block, for example to ask a person. For approvals by other
    /// means, use an [`Approver`](toolgen_kernel::layers::middleware::Approver).
    #[must_use]
    pub fn confirm(mut self, confirm: impl Fn(&str) -> bool + Send + Sync + 'static) -> Bash {
        self.confirm = Some(Arc::new(confirm));
        self
    }

    async fn check(&self, command: &str) -> Result<(), ToolError> {
        if let Some(pattern) = Script::parse(command).find_pattern(&self.deny) {
            return Err(ToolError::failed(format!(
                "Command blocked by safety policy: contains '{pattern}'. This pattern is denied for safety."
            )));
        }
        let Some(confirm) = self.confirm.clone() else { return Ok(()) };
        let owned_command = command.to_owned();
        // A function that panics has not confirmed the command.
        match tokio::task::spawn_blocking(move || confirm(&owned_command)).await {
            Ok(true) => Ok(()),
            _ => Err(ToolError::failed("Command was not confirmed by the user.")),
        }
    }
}

#[tools(list = functions)]
impl Bash {
    /// Execute a bash command and return its output. Use it to run scripts, to build and test, and to inspect the
    /// system.
    #[tool(
        label = "Execute Command",
        destructive,
        spawns,
        files = "write",
        network = "any",
        timeout = "none",
        writes("file:")
    )]
    async fn bash(
        &self,
        /// The bash command to execute.
        #[arg(non_empty)]
        command: String,
        executor: Service<dyn Executor>,
        ctx: &ToolContext,
    ) -> Result<ToolResult, ToolError> {
        self.check(&command).await?;
        let options = ExecOptions::default().timeout(self.timeout).max_output(self.max_output);
        let argv = ["bash".to_owned(), "-c".to_owned(), command];
        let output = executor.run(&argv, &options, ctx.cancel()).await.map_err(|error| match error {
            ExecError::Timeout { duration, .. } => {
                ToolError::failed_with("TIMEOUT", format!("Command timed out after {duration:?}"))
            }
            error => error.into(),
        })?;
        let with_note =
            |text: String, dropped| if dropped > 0 { text + "\n... (output truncated)" } else { text };
        let (code, success) = (output.exit_code, output.success());
        let stdout = with_note(output.stdout, output.stdout_dropped);
        let text = if output.stderr.is_empty() {
            format!("Exit code: {code}\n{stdout}")
        } else {
            let stderr = with_note(output.stderr, output.stderr_dropped);
            format!("Exit code: {code}\nSTDOUT:\n{stdout}\nSTDERR:\n{stderr}")
        };
        // A nonzero exit code is not an error of the tool: the model learns from it.
        Ok(ToolResult::text(text).with_details(json!({ "exit_code": code, "ok": success })))
    }
}

impl IntoTools for Bash {
    fn add_to(self, tools: &mut Vec<Arc<dyn AgentTool>>) {
        Bash::functions(&Arc::new(self)).into_iter().map(executor_tool).for_each(|tool| tool.add_to(tools));
    }
}

impl fmt::Debug for Bash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bash")
            .field("timeout", &self.timeout)
            .field("max_output", &self.max_output)
            .field("deny", &self.deny)
            .field("confirm", &self.confirm.is_some())
            .finish()
    }
}

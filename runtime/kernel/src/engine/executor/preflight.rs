//! Checks that the programs a tool needs are available.

use tokio_util::sync::CancellationToken;

use super::{ExecError, ExecOptions, Executor};

/// The programs that are available and missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The requested programs that are available, in the order of the request.
    pub found: Vec<String>,
    /// The requested programs that are not available.
    pub missing: Vec<String>,
}

impl Capabilities {
    /// Whether no program is missing.
    #[must_use]
    pub fn success(&self) -> bool {
        self.missing.is_empty()
    }

    /// Whether a program is available.
    #[must_use]
    pub fn has(&self, program: &str) -> bool {
        self.found.iter().any(|other| other == program)
    }

    /// Returns `validation passed`, or `missing required programs: git, gh`.
    #[must_use]
    pub fn message(&self) -> String {
        if self.success() {
            return String::from("validation passed");
        }
        format!("missing required programs: {}", self.missing.join(", "))
    }
}

/// A script that prints each argument that is not an available program. Names are arguments, not part of the script.
const SCRIPT: &str = r#"for name do command -v -- "$name" >/dev/null 2>&1 || printf '%s\n' "$name"; done"#;

/// Checks which programs are available to an executor, all with one command.
///
/// ```
/// use toolgen_runtime::CancellationToken;
/// use toolgen_runtime::engine::executor::{ExecOptions, ExecOutput, ScriptedExecutor, preflight};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toolgen_runtime::engine::executor::ExecError> {
/// let executor = ScriptedExecutor::new([Ok(ExecOutput::new(0, "gh\n", ""))]);
/// let options = ExecOptions::default();
/// let capabilities = preflight(&executor, &["git", "gh"], &options, &CancellationToken::new()).await?;
/// assert_eq!(capabilities.message(), "missing required programs: gh");
/// assert!(capabilities.has("git"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if the check cannot run.
pub async fn preflight(
    executor: &dyn Executor,
    programs: &[&str],
    options: &ExecOptions,
    cancel: &CancellationToken,
) -> Result<Capabilities, ExecError> {
    if programs.is_empty() {
        return Ok(Capabilities { found: Vec::new(), missing: Vec::new() });
    }
    let missing = executor.missing(programs, options, cancel).await?;
    let is_available = |program: &&&str| !missing.iter().any(|other| other == **program);
    let found = programs.iter().filter(is_available).map(|program| (*program).to_owned()).collect();
    Ok(Capabilities { found, missing })
}

/// Uses the shell of an executor to find which of these programs are missing.
pub(super) async fn missing_by_shell<E: Executor + ?Sized>(
    executor: &E,
    programs: &[&str],
    options: &ExecOptions,
    cancel: &CancellationToken,
) -> Result<Vec<String>, ExecError> {
    let argv: Vec<String> =
        ["sh", "-c", SCRIPT, "sh"].iter().chain(programs).map(|argument| (*argument).to_owned()).collect();
    let output = executor.run(&argv, options, cancel).await.map_err(|error| match error {
        ExecError::Start { program, message } => {
            let message = format!("{message}; without it, other programs cannot be checked");
            ExecError::Start { program, message }
        }
        error => error,
    })?;
    if !output.success() || output.is_truncated() {
        let message = format!("the check ended with code {}: {}", output.exit_code, output.stderr.trim());
        return Err(ExecError::Lost { message });
    }
    let missing: Vec<&str> = output.stdout.lines().collect();
    Ok(programs
        .iter()
        .filter(|program| missing.contains(program))
        .map(|program| (*program).to_owned())
        .collect())
}

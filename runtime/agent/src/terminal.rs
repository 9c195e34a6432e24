//! Approvals at the terminal.

use std::fmt;
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::Arc;

use tokio::sync::Mutex;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::base::printable::printable;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::layers::middleware::{Approval, ApprovalRequest, Approver};

/// Who approved a call, in its record.
const PERSON: &str = "the person at the terminal";

/// Asks the person at the terminal whether calls may run: on standard error, with the tool, its arguments (secrets are
/// masked) and the reasons. The person types `y`, or `n` with an optional reason for the model. Anything else, and the
/// end of the input, rejects the call too. If standard input is not a terminal, nobody is asked, and the call waits as
/// with [`Approval::Later`].
///
/// The calls of a turn run concurrently, but ask one after the other.
///
/// ```no_run
/// # use toolgen_runtime::{Registry, Toolbox, tool, toolset};
/// use toolgen_runtime::agent::TerminalApprover;
/// ///
/// /// Pays an invoice.
/// #[tool]
/// fn pay(id: u32) -> String {
///     format!("Invoice {id} is paid.")
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Toolbox::builder(&Registry::new(toolset![pay])?)
///     .approve_writes(TerminalApprover::new())
///     .build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TerminalApprover {
    terminal: Arc<dyn Terminal>,
    /// Held by the call that asks.
    turn: Arc<Mutex<()>>,
}

/// Where questions are written, and answers are read.
trait Terminal: Send + Sync {
    /// Writes a question and reads a line. `None` if nobody can answer.
    fn ask(&self, question: &str) -> io::Result<Option<String>>;
}

/// Standard error and standard input.
struct StandardStreams;

impl Terminal for StandardStreams {
    fn ask(&self, question: &str) -> io::Result<Option<String>> {
        if !io::stdin().is_terminal() {
            return Ok(None);
        }
        let mut output = io::stderr().lock();
        output.write_all(question.as_bytes())?;
        output.flush()?;
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        Ok(Some(line))
    }
}

impl TerminalApprover {
    /// Creates an approver that asks on standard error and reads standard input.
    #[must_use]
    pub fn new() -> TerminalApprover {
        TerminalApprover::at(StandardStreams)
    }

    fn at(terminal: impl Terminal + 'static) -> TerminalApprover {
        TerminalApprover { terminal: Arc::new(terminal), turn: Arc::default() }
    }
}

impl Default for TerminalApprover {
    fn default() -> TerminalApprover {
        TerminalApprover::new()
    }
}

impl fmt::Debug for TerminalApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TerminalApprover")
    }
}

impl Approver for TerminalApprover {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest, _: &'a ToolContext) -> BoxFuture<'a, Approval> {
        let (terminal, question) = (Arc::clone(&self.terminal), question(request));
        Box::pin(async move {
            let turn = Arc::clone(&self.turn).lock_owned().await;
            let asked = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                terminal.ask(&question)
            });
            match asked.await {
                Ok(Ok(Some(line))) => decision(&line),
                Ok(Ok(None) | Err(_)) | Err(_) => Approval::Later,
            }
        })
    }
}

/// Returns the question about a call. A model chose its arguments, so control characters are shown as escapes.
fn question(request: &ApprovalRequest) -> String {
    let reasons = request.reasons.join(" ");
    let arguments = request.redacted_arguments.to_string();
    printable(&format!("Run {} with {arguments}? {reasons} [y/N] ", request.name)).into_owned()
}

fn decision(line: &str) -> Approval {
    let (word, reason) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
    let is = |long: &str| word.eq_ignore_ascii_case(long) || word.eq_ignore_ascii_case(&long[..1]);
    if is("yes") {
        return Approval::ApprovedBy(PERSON.into());
    }
    let reason = if is("no") { reason.trim() } else { line.trim() };
    match reason {
        "" => Approval::Rejected("The person at the terminal rejected this call.".to_owned()),
        reason => Approval::Rejected(format!("The person at the terminal rejected this call: {reason}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_approves() {
        for yes in ["y", "Y", "yes\n", " YES ", "y please"] {
            assert_eq!(decision(yes), Approval::ApprovedBy(PERSON.into()), "{yes:?}");
        }
        for (no, reason) in [
            ("n", "."),
            ("", "."),
            ("no too much", ": too much"),
            ("yep", ": yep"),
            ("only 5 euros", ": only 5 euros"),
        ] {
            let rejected = format!("The person at the terminal rejected this call{reason}");
            assert_eq!(decision(no), Approval::Rejected(rejected), "{no:?}");
        }
    }
}

//! Approvals at the terminal.

use std::fmt;
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Mutex;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::base::printable::visible;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::layers::middleware::{Approval, ApprovalRequest, Approver};

/// Maximum length of the arguments in a question, in characters.
const MAX_ARGUMENT_CHARS: usize = 2000;

/// Who approved a call, in its record.
const PERSON: &str = "the person at the terminal";

/// Asks the person at the terminal whether calls may run: on standard error, with the tool, its arguments (secrets are
/// masked) and the reasons. The person types `y`, or `n` with an optional reason for the model. Anything else, and the
/// end of the input, rejects the call too. If standard input or standard error is not a terminal, no one is asked, and
/// the call waits as with [`Approval::Later`].
///
/// The calls of a turn run concurrently, but ask one after the other. A question whose call was cancelled stays until
/// someone presses Enter; the line is ignored.
///
/// ```no_run
/// # use toolgen_runtime::{Registry, Toolbox, tool, toolset};
/// use toolgen_runtime::agent::TerminalApprover;
/// use toolgen_runtime::layers::middleware::writes_need_approval;
/// ///
/// /// Pays an invoice.
/// #[tool(undocumented)]
/// fn pay(id: u32) -> String {
///     format!("Invoice {id} is paid.")
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Toolbox::builder(&Registry::new(toolset![pay])?)
///     .middleware(writes_need_approval)
///     .approver(TerminalApprover::new())
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
    /// Writes a question and reads a line. `None` if no one can answer.
    fn ask(&self, question: &str) -> io::Result<Option<String>>;
}

/// Standard error and standard input.
struct StandardStreams;

impl Terminal for StandardStreams {
    fn ask(&self, question: &str) -> io::Result<Option<String>> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Ok(None);
        }
        // Others may write while the person thinks.
        let mut output = io::stderr();
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
        let terminal = Arc::clone(&self.terminal);
        let question = question(&request.name, &request.redacted_arguments, &request.reasons);
        Box::pin(async move {
            let turn = Arc::clone(&self.turn).lock_owned().await;
            let (sender, answer) = tokio::sync::oneshot::channel();
            // Not a task: a runtime that shuts down would wait for the person.
            std::thread::spawn(move || {
                let _turn = turn;
                // No one waits for the answer about a call that was cancelled.
                let _ = sender.send(terminal.ask(&question));
            });
            match answer.await {
                Ok(Ok(Some(line))) => decision(&line),
                Ok(Ok(None) | Err(_)) | Err(_) => Approval::Later,
            }
        })
    }
}

/// Returns the question about a call, in one line. A model chose its arguments, so hidden characters are shown as escapes,
/// and the name of the tool is repeated at the end, where long arguments cannot push it off the screen.
fn question(name: &str, arguments: &Value, reasons: &[String]) -> String {
    let arguments = arguments.to_string();
    let hidden = arguments.chars().count().saturating_sub(MAX_ARGUMENT_CHARS);
    let rest = if hidden > 0 { format!(" … and {hidden} more characters") } else { String::new() };
    let arguments: String = arguments.chars().take(MAX_ARGUMENT_CHARS).collect();
    let question = format!("Run {name} with {arguments}{rest}? {} Run {name}? [y/N] ", reasons.join(" "));
    visible(&question).replace(['\n', '\t'], " ")
}

fn decision(line: &str) -> Approval {
    let (word, reason) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
    let is = |long: &str| word.eq_ignore_ascii_case(long) || word.eq_ignore_ascii_case(&long[..1]);
    // `yes, but…` is no consent to the call as it is.
    if is("yes") && reason.is_empty() {
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
    fn question_shows_what_would_run() {
        let arguments = serde_json::json!({ "to": "A\u{202e}B\u{1b}[2J", "note": "x".repeat(3000) });
        let question = question("pay", &arguments, &["It costs\nmoney.".to_owned()]);
        assert!(question.starts_with("Run pay with {\"to\":\"A\\u{202e}B\\u001b[2J\""), "{question}");
        assert!(question.ends_with(" more characters? It costs money. Run pay? [y/N] "), "{question}");
        assert!(!question.contains(char::is_control) && question.chars().count() < 2200);
    }

    #[test]
    fn only_yes_approves() {
        for yes in ["y", "Y", "yes\n", " YES "] {
            assert_eq!(decision(yes), Approval::ApprovedBy(PERSON.into()), "{yes:?}");
        }
        for (no, reason) in [
            ("n", "."),
            ("", "."),
            ("no too much", ": too much"),
            ("yep", ": yep"),
            ("only 5 euros", ": only 5 euros"),
            ("yes but only 5 euros", ": yes but only 5 euros"),
        ] {
            let rejected = format!("The person at the terminal rejected this call{reason}");
            assert_eq!(decision(no), Approval::Rejected(rejected), "{no:?}");
        }
    }
}

//! The events of a cell: calls that ran, requests shown to people, records, and results.

use std::fmt::Debug;
use std::sync::atomic::AtomicBool;

use toolgen_runtime::layers::approval::Approvals;
use toolgen_runtime::store::MemoryStore;

use crate::prelude::*;

/// Prefix of the secret argument of every call; the rest is specific to the cell.
pub(crate) const PIN: &str = "pin-4711-";

/// The panic message of the target.
pub(crate) const PANIC: &str = "the target of the matrix panics";

/// A run of the target, regardless of its outcome.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ran {
    pub(crate) path: String,
    pub(crate) note: String,
}

/// The result of a call of the script, and of its resumption if it had to wait.
pub(crate) struct Answer {
    /// The path of the call as the model sent it.
    pub(crate) path: &'static str,
    pub(crate) id: String,
    pub(crate) response: ToolResponse,
    /// The runs between the call and its result.
    pub(crate) ran: Vec<Ran>,
    pub(crate) resumed: Option<Resumed>,
    /// Whether it timed out: its request to a service may arrive during a later call.
    pub(crate) late: bool,
}

/// A call that waited was resumed twice.
pub(crate) struct Resumed {
    pub(crate) request: ApprovalRequest,
    /// The runs of the first resumption.
    pub(crate) first: Vec<Ran>,
    /// The runs of the second resumption.
    pub(crate) second: Vec<Ran>,
}

/// The evidence that is checked against the promises of the layers of a cell.
#[derive(Default)]
pub(crate) struct World {
    /// The secret argument of the calls.
    pub(crate) pin: String,
    pub(crate) ran: Mutex<Vec<Ran>>,
    pub(crate) events: Mutex<Vec<Event>>,
    /// IDs of calls that a hook saw start and end.
    pub(crate) begun: Mutex<Vec<String>>,
    pub(crate) ended: Mutex<Vec<String>>,
    /// The queue in which calls wait for an approval.
    pub(crate) queue: Mutex<Option<Approvals>>,
    /// The arguments that the approver approved.
    pub(crate) approved: Mutex<Vec<Value>>,
    /// The number of calls that the rate limit allowed.
    pub(crate) counted: AtomicUsize,
    /// The number of input requests.
    pub(crate) asked: AtomicUsize,
    /// Whether the requirement of the target holds.
    pub(crate) closed: AtomicBool,
    /// The state that other processes see.
    pub(crate) stored: MemoryStore,
    /// The sink of the auditor, if there is one.
    pub(crate) sink: Mutex<Option<(MemorySink, Auditor)>>,
}

impl World {
    /// The target's action, which is the same for every kind of tool.
    pub(crate) fn target(
        &self,
        path: &str,
        note: &str,
        pin: &str,
        ctx: &ToolContext,
    ) -> Result<ToolResult, ToolError> {
        self.ran.lock().unwrap().push(Ran { path: path.to_owned(), note: note.to_owned() });
        ctx.progress(format!("working with {note}{pin}"));
        ctx.update(ToolResult::text(format!("half of {note}{pin}")));
        match stem(path) {
            "/fail" => Err(ToolError::failed(format!("it broke at {note}{pin}"))),
            "/panic" => panic!("{PANIC}"),
            "/ask" if ctx.input().is_none() => {
                let sure = json!({"type": "object", "properties": {"sure": {"type": "boolean"}}});
                let question = InputRequest::new("Sure?", sure);
                Ok(ToolResult::empty().with_control(Control::NeedInput(question)))
            }
            path => Ok(ToolResult::text(said(path, &format!("{note}{pin}")))),
        }
    }

    pub(crate) fn runs(&self) -> Vec<Ran> {
        self.ran.lock().unwrap().clone()
    }
}

/// The target's result on success.
pub(crate) fn said(path: &str, given: &str) -> String {
    match path {
        "/large" => format!("{given} and more. ").repeat(200),
        _ => format!("did {path} with {given}"),
    }
}

/// A path without the prefix that middleware added.
pub(crate) fn stem(path: &str) -> &str {
    path.strip_prefix("/tenant").unwrap_or(path)
}

/// A cell after its calls.
pub(crate) struct Cell<'a> {
    /// The two layers, the kind, and how the calls were made.
    pub(crate) name: String,
    pub(crate) rows: [&'a str; 2],
    pub(crate) kind: &'a crate::matrix::kinds::Kind,
    pub(crate) world: Arc<World>,
    pub(crate) answers: Vec<Answer>,
    /// The broken promises.
    pub(crate) broken: Mutex<Vec<String>>,
}

impl Cell<'_> {
    pub(crate) fn has(&self, row: &str) -> bool {
        self.rows.contains(&row)
    }

    /// Records a broken promise, with the observed value.
    pub(crate) fn holds(&self, condition: bool, what: &str, seen: &dyn Debug) {
        if !condition {
            let seen: String = format!("{seen:?}").chars().take(1500).collect();
            self.broken.lock().unwrap().push(format!("{}: not so: {what}\n    {seen}", self.name));
        }
    }

    /// The runs for the calls with this path, without resumptions.
    pub(crate) fn ran(&self, path: &str) -> Vec<&Ran> {
        self.answers
            .iter()
            .filter(|response| response.path == path)
            .flat_map(|response| &response.ran)
            .collect()
    }

    pub(crate) fn nothing_ran(&self, reason: &str) {
        let runs = self.world.runs();
        self.holds(runs.is_empty(), reason, &runs);
    }
}

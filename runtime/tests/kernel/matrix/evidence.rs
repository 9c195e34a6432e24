//! What happened in a cell: what ran, what was shown to people, what was written down, what came back.

use std::fmt::Debug;
use std::sync::atomic::AtomicBool;

use toolgen_runtime::layers::approval::Approvals;
use toolgen_runtime::store::MemoryStore;

use crate::prelude::*;

/// How the secret argument of every call begins; the rest is the cell's own.
pub(crate) const PIN: &str = "pin-4711-";

/// What the target panics with.
pub(crate) const PANIC: &str = "the target of the matrix panics";

/// A run of the target, whatever became of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ran {
    pub(crate) path: String,
    pub(crate) note: String,
}

/// An answer to a call of the script, and to its resumption if it had to wait.
pub(crate) struct Answer {
    /// The path of the call as the model wrote it.
    pub(crate) path: &'static str,
    pub(crate) id: String,
    pub(crate) response: ToolResponse,
    /// What ran between the call and its answer.
    pub(crate) ran: Vec<Ran>,
    pub(crate) resumed: Option<Resumed>,
    /// Whether its time was up: what it asked of a service may happen during a later call.
    pub(crate) late: bool,
}

/// A call that waited was resumed twice.
pub(crate) struct Resumed {
    pub(crate) request: ApprovalRequest,
    /// What the first resumption ran.
    pub(crate) first: Vec<Ran>,
    /// What the second ran.
    pub(crate) second: Vec<Ran>,
}

/// Everything that can be held against the layers of a cell.
#[derive(Default)]
pub(crate) struct World {
    /// The secret argument of the calls.
    pub(crate) pin: String,
    pub(crate) ran: Mutex<Vec<Ran>>,
    pub(crate) events: Mutex<Vec<Event>>,
    /// Ids of calls that a hook saw begin, and end.
    pub(crate) begun: Mutex<Vec<String>>,
    pub(crate) ended: Mutex<Vec<String>>,
    /// Where calls wait for an approval.
    pub(crate) queue: Mutex<Option<Approvals>>,
    /// What the approver let pass.
    pub(crate) approved: Mutex<Vec<Value>>,
    /// How many calls the rate limit let pass.
    pub(crate) counted: AtomicUsize,
    /// How often somebody was asked for input.
    pub(crate) asked: AtomicUsize,
    /// Whether the requirement of the target holds.
    pub(crate) closed: AtomicBool,
    /// What other processes see.
    pub(crate) stored: MemoryStore,
    /// Where the auditor writes, if there is one.
    pub(crate) sink: Mutex<Option<(MemorySink, Auditor)>>,
}

impl World {
    /// What the target does, whatever kind of tool it is.
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

/// What the target says when all goes well.
pub(crate) fn said(path: &str, given: &str) -> String {
    match path {
        "/large" => format!("{given} and more. ").repeat(200),
        _ => format!("did {path} with {given}"),
    }
}

/// A path without what a middleware put before it.
pub(crate) fn stem(path: &str) -> &str {
    path.strip_prefix("/tenant").unwrap_or(path)
}

/// A cell after its calls.
pub(crate) struct Cell<'a> {
    /// The two layers, the kind, and how the calls came in.
    pub(crate) name: String,
    pub(crate) rows: [&'a str; 2],
    pub(crate) kind: &'a crate::matrix::kinds::Kind,
    pub(crate) world: Arc<World>,
    pub(crate) answers: Vec<Answer>,
    /// The promises that were not kept.
    pub(crate) broken: Mutex<Vec<String>>,
}

impl Cell<'_> {
    pub(crate) fn has(&self, row: &str) -> bool {
        self.rows.contains(&row)
    }

    /// Notes what does not hold, with what was seen instead.
    pub(crate) fn holds(&self, condition: bool, what: &str, seen: &dyn Debug) {
        if !condition {
            let seen: String = format!("{seen:?}").chars().take(1500).collect();
            self.broken.lock().unwrap().push(format!("{}: not so: {what}\n    {seen}", self.name));
        }
    }

    /// What ran for the calls with this path, not counting resumptions.
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

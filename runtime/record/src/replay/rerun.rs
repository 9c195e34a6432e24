//! Repeats the calls of a recorded run.

use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::session::Session;
use toolgen_kernel::call::{ToolCall, Turn};
use toolgen_kernel::toolbox::Toolbox;

use super::{DENIED, Difference, RecordedOutcome, Replay};

impl Replay {
    /// Makes the calls of a recorded run sequentially, and resumes those that were approved or denied, to test the
    /// layers around the tools. The toolbox must have this replay as a
    /// [layer](toolgen_kernel::toolbox::ToolboxBuilder::layer).
    ///
    /// Masked arguments are sent with their masks, so a tool whose schema does not allow such strings refuses them.
    ///
    /// # Errors
    ///
    /// Returns the first difference.
    pub async fn rerun(&self, toolbox: &Toolbox) -> Result<(), Box<Difference>> {
        let turn = Turn::new("replay").with_session(Session::new("replay"));
        self.rerun_in(toolbox, &turn).await
    }

    /// Like [`rerun`](Self::rerun), in a turn: with a principal, values and services of the test.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`rerun`](Self::rerun).
    pub async fn rerun_in(&self, toolbox: &Toolbox, turn: &Turn) -> Result<(), Box<Difference>> {
        let mut waiting_requests = Vec::new();
        for (index, recorded) in self.run().calls().iter().enumerate() {
            if recorded.inside.is_some() {
                continue;
            }
            // A call that waited was approved if it eventually ran, and otherwise denied.
            let denial = match &recorded.outcome {
                RecordedOutcome::Answered(_) => None,
                RecordedOutcome::Refused { code, message } => Some((code == DENIED, message)),
            };
            let is_same = |(tool, arguments, _): &(String, _, _)| {
                let is_decided = denial.is_none_or(|(by_approver, _)| by_approver);
                is_decided && *tool == recorded.tool && *arguments == recorded.arguments
            };
            let response = match waiting_requests
                .iter()
                .position(is_same)
                .map(|position| waiting_requests.swap_remove(position))
            {
                Some((_, _, request)) => match denial {
                    None => toolbox.resume(request, turn).await,
                    Some((_, note)) => toolbox.resume_denied(request, note.clone(), turn).await,
                },
                None => {
                    let id = format!("replay-{}", index + 1);
                    let call = ToolCall::new(id, recorded.tool.clone(), recorded.arguments.clone());
                    toolbox.run(call, turn).await
                }
            };
            if let Err(ToolError::ApprovalRequired(request)) = response.outcome {
                waiting_requests.push((recorded.tool.clone(), recorded.arguments.clone(), *request));
            }
        }
        self.finish()
    }
}

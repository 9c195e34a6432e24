//! Resuming calls that waited.

use serde_json::Value;

use super::control::fitted;
use crate::call::approval::ApprovalRequest;
use crate::call::context::ToolContext;
use crate::call::control::PendingInput;
use crate::call::error::ToolError;
use crate::call::resumption::Waited;
use crate::call::{ToolCall, ToolResponse};
use crate::provider::Provider;

impl Provider {
    /// Runs a call that was answered with `APPROVAL_REQUIRED` and has been approved since, with exactly the arguments
    /// in the request. All layers check it once more; see [`middleware`](crate::layers::middleware) for what it means
    /// to be approved.
    ///
    /// This never fails: a problem with the request is the answer, and then nothing has run. In addition to the usual
    /// codes, there are `APPROVAL_INVALID` for a request that was changed, of another provider or caller, or of a tool
    /// that has changed since; `APPROVAL_EXPIRED` and `APPROVAL_USED`; and `APPROVAL_UNKNOWN` if the
    /// [`ApprovalStore`](crate::layers::approval::ApprovalStore) does not say whether it was used.
    pub async fn resume(&self, request: ApprovalRequest, turn: &ToolContext) -> ToolResponse {
        self.call(ToolCall::resumed(Waited::Approval(Box::new(request)), None), turn).await
    }

    /// Resumes a call that was answered with `INPUT_REQUIRED`, with the input its tool needs. All layers check the
    /// call once more, and the tool runs from its beginning with all answers so far.
    ///
    /// # Errors
    ///
    /// [`ToolError::InvalidArgs`] with all problems, and nothing is run, if the answer does not fit the schema of the
    /// request. The outcome of the call is in the response, and so is an invalid request, with the codes
    /// `INPUT_REQUEST_INVALID`, `INPUT_REQUEST_EXPIRED`, `INPUT_REQUEST_USED` and `INPUT_REQUEST_UNKNOWN`, which
    /// correspond to those of [`resume`](Self::resume).
    pub async fn resume_with_input(
        &self,
        pending: PendingInput,
        answer: Value,
        turn: &ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let answer = fitted(&pending.request, answer).map_err(ToolError::from_problems)?;
        let call = ToolCall::resumed(Waited::Input(Box::new(pending)), Some(answer));
        Ok(self.call(call, turn).await)
    }
}

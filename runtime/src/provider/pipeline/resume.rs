//! Calls that go on after they waited.

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
    /// Runs a call that was answered with `APPROVAL_REQUIRED` and that somebody has approved of since, with the
    /// arguments in the request and no others. All layers look at it once more; see
    /// [`middleware`](crate::layers::middleware) for what it means to be approved.
    ///
    /// This never fails: what goes wrong is the answer, and then nothing has run. Beside those of every call its codes
    /// are `APPROVAL_INVALID` for a request that was changed, of another provider or caller, or of a tool that has
    /// changed since; `APPROVAL_EXPIRED` and `APPROVAL_USED`; and `APPROVAL_UNKNOWN` if the
    /// [`ApprovalStore`](crate::layers::approval::ApprovalStore) does not say whether it was used.
    pub async fn resume(&self, request: ApprovalRequest, turn: &ToolContext) -> ToolResponse {
        self.call(ToolCall::resumed(Waited::Approval(Box::new(request)), None), turn).await
    }

    /// Goes on with a call that was answered with `INPUT_REQUIRED`, now that what its tool must know is known. All
    /// layers look at the call once more, and the tool runs from its beginning with all answers so far.
    ///
    /// # Errors
    ///
    /// [`ToolError::InvalidArgs`] with all problems, and nothing is run, if the answer does not fit the schema of the
    /// request. What comes of the call is in the response; what is wrong with the request, too, with the codes
    /// `INPUT_REQUEST_INVALID`, `INPUT_REQUEST_EXPIRED`, `INPUT_REQUEST_USED` and `INPUT_REQUEST_UNKNOWN`, which mean
    /// what those of [`resume`](Self::resume) do.
    pub async fn resume_with_input(
        &self,
        pending: PendingInput,
        answer: Value,
        turn: &ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let answer = fitted(&pending.request, &answer).map_err(ToolError::from_problems)?;
        let call = ToolCall::resumed(Waited::Input(Box::new(pending)), Some(answer));
        Ok(self.call(call, turn).await)
    }
}

//! Resuming calls that waited.

use std::borrow::Cow;

use serde_json::Value;

use super::control::decode_input;
use crate::base::frozen::Text;
use crate::call::approval::ApprovalRequest;
use crate::call::callback;
use crate::call::control::PendingInputCall;
use crate::call::error::ToolError;
use crate::call::resumption::{Resumption, WaitingRequest};
use crate::call::{ToolCall, ToolResponse, Turn};
use crate::layers::approval::{ApprovalDecision, ApprovalError, Approvals, Claimed, is_refusal};
use crate::toolbox::Toolbox;

impl Toolbox {
    /// Runs a call that failed with `APPROVAL_REQUIRED` and has been approved since, with exactly the arguments in
    /// the request. All layers check it again; see [`middleware`](crate::layers::middleware) for the meaning of an
    /// approval.
    ///
    /// This never fails: a problem with the request is the response, and nothing has run. In addition to the usual
    /// codes, there are `APPROVAL_INVALID` for a request that was changed, of another toolbox or caller, or of a tool
    /// that has changed since; `APPROVAL_EXPIRED` and `APPROVAL_USED`; and `APPROVAL_UNKNOWN` if the
    /// [store](crate::toolbox::ToolboxBuilder::approval_store) cannot determine whether the request was used. With a
    /// [queue](crate::toolbox::ToolboxBuilder::approval_queue), `APPROVAL_USED` is also the code if the call was
    /// denied there, or if a worker has claimed it.
    pub async fn resume(&self, request: ApprovalRequest, turn: &Turn) -> ToolResponse {
        let call = ToolCall::resumed(WaitingRequest::Approval(Box::new(request)), None);
        let Some(approvals) = self.approvals() else { return self.run(call, turn).await };
        let ticket = call.brings().spends.first().cloned();
        let response = self.run(call, turn).await;
        if let Some((ticket, version)) =
            ticket.as_ref().and_then(|ticket| Some((ticket, *ticket.started.get()?)))
        {
            self.update_queue(approvals.finish(&ticket.name, version, code(&response))).await;
        }
        response
    }

    /// Returns the queue in which calls of this toolbox wait for an approval, if there is one.
    #[must_use]
    pub fn approvals(&self) -> Option<&Approvals> {
        self.inner().layers.seals.queue()
    }

    /// Completes a call in the [queue](Self::approvals) after the decision about it: runs it if it was granted, with
    /// exactly its arguments, as [`resume`](Self::resume) does, or responds with the rejection if it was denied. Of
    /// all workers that try, only one completes the call; for the others, and afterwards, this returns `None`.
    ///
    /// The turn must have the same caller: the principal, session and agent of
    /// [`caller`](crate::layers::approval::QueuedApproval::caller). A call that a layer refuses now, such as a rate
    /// limit, or that was sealed with another key, stays granted: any worker can try it again. If this future is
    /// dropped before the call starts, or the program ends, another worker can claim the call after
    /// [`DEFAULT_CLAIM_EXPIRY`](crate::layers::approval::DEFAULT_CLAIM_EXPIRY). After it has started, it is never
    /// started again. If its outcome cannot be recorded, it stays
    /// [`Started`](crate::layers::approval::ApprovalState::Started).
    ///
    /// # Errors
    ///
    /// [`ApprovalError::NoQueue`], [`NotFound`](ApprovalError::NotFound), [`Undecided`](ApprovalError::Undecided),
    /// [`Expired`](ApprovalError::Expired), [`OtherCaller`](ApprovalError::OtherCaller),
    /// [`Damaged`](ApprovalError::Damaged), and [`Queue`](ApprovalError::Queue) if the queue cannot be read or written.
    /// The outcome of the call is in the response, and so are the problems of [`resume`](Self::resume), such as
    /// `APPROVAL_INVALID` for a call that was changed in the queue.
    pub async fn resume_decided(&self, id: &str, turn: &Turn) -> Result<Option<ToolResponse>, ApprovalError> {
        let approvals = self.approvals().ok_or(ApprovalError::NoQueue)?;
        let caller =
            turn.base().child_in(self.turn_context(turn.base()), Text::EMPTY, Text::EMPTY).called_by();
        let Some(claimed) = approvals.claim(id, &caller).await? else { return Ok(None) };
        let Claimed { id, version, request, decision } = claimed;
        let ApprovalDecision { granted, by, note, .. } = decision;
        let denied = (!granted).then(|| match note.as_str() {
            "" => ToolError::denied("The call was not executed: its approval was denied."),
            _ => ToolError::denied(note),
        });
        let call = ToolCall::resumed(WaitingRequest::Approval(Box::new(request.approved_by(by))), None);
        let mut brings = Resumption { denied, ..call.brings().clone() };
        brings.spends.iter_mut().for_each(|ticket| ticket.claim = Some(version));
        let started = brings.spends.first().map(|ticket| ticket.started.clone()).unwrap_or_default();
        let is_denied = brings.denied.is_some();
        if is_denied {
            // The call never runs here again, whatever the queue contains later.
            self.inner().layers.seals.remember_used(&brings.spends);
        }
        let response = self.run(call.resuming(brings), turn).await;
        let code = code(&response);
        let recorded = match (started.get(), code) {
            (Some(version), code) => self.update_queue(approvals.finish(&id, *version, code)).await,
            (None, code @ Some("PERMISSION_DENIED")) if is_denied => {
                self.update_queue(approvals.finish(&id, version, code)).await
            }
            (None, code) => self.update_queue(approvals.give_back(&id, version, code)).await,
        };
        // Another worker has claimed the call meanwhile, and this worker has run nothing.
        let is_claimed_elsewhere = started.get().is_none() && recorded == Some(false);
        Ok((!is_claimed_elsewhere).then_some(response))
    }

    /// Responds to a waiting call with the rejection of the person who denied it.
    #[doc(hidden)]
    pub async fn resume_denied(&self, request: ApprovalRequest, note: String, turn: &Turn) -> ToolResponse {
        let call = ToolCall::resumed(WaitingRequest::Approval(Box::new(request)), None);
        let brings = Resumption { denied: Some(ToolError::denied(note)), ..call.brings().clone() };
        // A denied call never runs later.
        self.inner().layers.seals.remember_used(&brings.spends);
        self.run(call.resuming(brings), turn).await
    }

    /// Permanently ends a waiting call that a person rejected, with this error. The call can no longer be resumed, and
    /// is denied in its queue, if any.
    #[doc(hidden)]
    pub async fn decline(
        &self,
        waited: WaitingRequest,
        by: &'static str,
        error: ToolError,
        turn: &Turn,
    ) -> ToolResponse {
        let inner = self.inner();
        let queue_id = match &waited {
            WaitingRequest::Approval(request) => Some(request.queue_id().to_owned()),
            WaitingRequest::Input(_) => None,
        };
        let call = ToolCall::resumed(waited, None);
        let brings = Resumption { denied: Some(error.clone()), ..call.brings().clone() };
        let call = call.resuming(brings);
        let Some(index) = inner.registry.index(&call.name) else { return self.run(call, turn).await };
        let ctx = turn.base().child_in(self.turn_context(turn.base()), call.id.clone(), call.name.clone());
        let seals = &inner.layers.seals;
        // Only a call with a valid seal for this caller is used up.
        if seals.verify(&call, &**inner.registry.at(index), &inner.registry, &ctx).is_ok() {
            if let Err(use_error) =
                seals.use_up(&call.brings().spends, inner.layers.callback_timeouts.callbacks).await
            {
                return ToolResponse::new(&call, Err(use_error));
            }
            if let (Some(approvals), Some(id)) = (self.approvals(), queue_id) {
                self.update_queue(async { approvals.withdraw(&id, by.into(), &error).await.map(|()| true) })
                    .await;
            }
        }
        self.run(call, turn).await
    }

    /// Updates the queue after a call has its response, which a failure does not change. Returns `None` if it is
    /// unknown whether the queue was updated.
    async fn update_queue(&self, update: impl Future<Output = Result<bool, ApprovalError>>) -> Option<bool> {
        let limit = self.inner().layers.callback_timeouts.callbacks;
        callback::with_timeout(Some(limit), update).await.ok()?.ok()
    }

    /// Resumes a call that failed with `INPUT_REQUIRED`, with the input that its tool needs. All layers check the
    /// call again, and the tool runs from its beginning with all inputs so far.
    ///
    /// # Errors
    ///
    /// Returns [`ToolError::InvalidArgs`] with all problems, without running anything, if the input does not match
    /// the schema of the request. The outcome of the call is in the response, and so is the error for an invalid
    /// request, with the codes `INPUT_REQUEST_INVALID`, `INPUT_REQUEST_EXPIRED`, `INPUT_REQUEST_USED` and
    /// `INPUT_REQUEST_UNKNOWN`, which correspond to those of [`resume`](Self::resume).
    pub async fn resume_with_input(
        &self,
        pending: PendingInputCall,
        response: Value,
        turn: &Turn,
    ) -> Result<ToolResponse, ToolError> {
        let response = decode_input(&pending.request, response).map_err(ToolError::from_problems)?;
        let call = ToolCall::resumed(WaitingRequest::Input(Box::new(pending)), Some(response));
        Ok(self.run(call, turn).await)
    }
}

/// Returns the error code of a response for the queue. A code that a tool creates at run time may contain its
/// arguments, so it is replaced.
fn code(response: &ToolResponse) -> Option<&str> {
    const GENERIC: &str = "EXECUTION_ERROR";
    match &response.outcome {
        Ok(result) => result.is_error().then_some(GENERIC),
        Err(ToolError::Failed { code: Cow::Owned(code), .. }) if !is_refusal(code) => Some(GENERIC),
        Err(error) => Some(error.code()),
    }
}

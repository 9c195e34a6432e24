//! Calls that resume after waiting for an approval or for input.

use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use crate::base::frozen::Text;
use crate::base::redacted_debug::discreet_debug;
use crate::call::ToolCall;
use crate::call::approval::ApprovalRequest;
use crate::call::control::PendingInputCall;
use crate::call::error::ToolError;
use crate::call::waiting::{WaitingCall, seal_name};

/// The saved state of a call that waited. None of it can be trusted before its seal is checked.
#[derive(Clone, PartialEq)]
pub(crate) struct Resumption {
    /// The request that the call waited for, as the caller passed it back.
    pub(crate) waited: Option<WaitingRequest>,
    /// The reasons that were approved.
    pub(crate) approved: Vec<String>,
    /// The approver, if known.
    pub(crate) approver: Text,
    /// The inputs that the tool received, in order.
    pub(crate) inputs: Vec<Value>,
    /// The tickets that are used up when this call runs.
    pub(crate) spends: Vec<Ticket>,
    /// The response to the caller, if the call was denied.
    pub(crate) denied: Option<ToolError>,
}

discreet_debug!(Resumption: waited, approved, approver, spends, denied; inputs);

/// A ticket to resume a call once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticket {
    /// The name of the ticket's seal.
    pub(crate) name: Text,
    /// The prefix of the error codes with which the ticket is rejected.
    pub(crate) prefix: &'static str,
    pub(crate) expires_at: SystemTime,
    /// The approver, if known.
    pub(crate) approver: Text,
    /// The version of the queue entry with which a worker claimed the call, if a worker did.
    pub(crate) claim: Option<u64>,
    /// The version of the queue entry that records the start of the call, after the call has started.
    pub(crate) started: Arc<OnceLock<u64>>,
}

/// The prefix of the error codes of requests for approval.
pub(crate) const APPROVAL: &str = "APPROVAL";

/// The state of a call that never waited.
static NEVER_WAITED: Resumption = Resumption {
    waited: None,
    approved: Vec::new(),
    approver: Text::EMPTY,
    inputs: Vec::new(),
    spends: Vec::new(),
    denied: None,
};

impl ToolCall {
    /// Creates a call that resumes from unverified state, and adds an input to its earlier inputs.
    pub(crate) fn resumed(waited: WaitingRequest, input: Option<Value>) -> ToolCall {
        let WaitingCall { id, name, via, program, arguments, approved, inputs, .. } = waited.call().clone();
        let call = ToolCall { arguments, via, program, ..ToolCall::without_arguments(id, name) };
        let (mut approved, mut inputs, mut approver) = (approved, inputs, Text::EMPTY);
        if let WaitingRequest::Approval(request) = &waited {
            approved.extend(request.reasons.iter().cloned());
            approver.clone_from(&request.approver);
        }
        inputs.extend(input);
        let spends = vec![waited.ticket()];
        call.resuming(Resumption { waited: Some(waited), approved, approver, inputs, spends, denied: None })
    }

    /// Returns the call with saved state.
    pub(crate) fn resuming(self, resumption: Resumption) -> ToolCall {
        ToolCall { resumption: Some(Box::new(resumption)), ..self }
    }

    /// Returns the saved state of the call.
    pub(crate) fn brings(&self) -> &Resumption {
        self.resumption.as_deref().unwrap_or(&NEVER_WAITED)
    }

    /// Whether the call was approved, so that its arguments are final.
    #[doc(hidden)]
    pub fn is_approved(&self) -> bool {
        !self.brings().approved.is_empty()
    }
}

/// The request that a resumed call waited for, as the caller passed it back.
#[derive(Clone, Debug, PartialEq)]
#[doc(hidden)]
pub enum WaitingRequest {
    /// An approval.
    Approval(Box<ApprovalRequest>),
    /// Input.
    Input(Box<PendingInputCall>),
}

impl WaitingRequest {
    /// Returns the prefix of the error codes with which the request is rejected.
    pub(crate) fn prefix(&self) -> &'static str {
        match self {
            WaitingRequest::Approval(_) => APPROVAL,
            WaitingRequest::Input(_) => "INPUT_REQUEST",
        }
    }

    #[doc(hidden)]
    pub fn call(&self) -> &WaitingCall {
        match self {
            WaitingRequest::Approval(request) => &request.call,
            WaitingRequest::Input(pending) => &pending.call,
        }
    }

    pub(crate) fn ticket(&self) -> Ticket {
        let WaitingCall { seal, expires_at, .. } = self.call();
        let approver = match self {
            WaitingRequest::Approval(request) => request.approver.clone(),
            WaitingRequest::Input(_) => Text::EMPTY,
        };
        Ticket {
            name: Text::copy_of(seal_name(seal)),
            prefix: self.prefix(),
            expires_at: *expires_at,
            approver,
            claim: None,
            started: Arc::default(),
        }
    }

    /// Returns the data to seal, for a tool with this promise.
    pub(crate) fn sealed(&self, promise: &str) -> Value {
        let mut data = match self {
            WaitingRequest::Approval(request) => json!(request),
            WaitingRequest::Input(pending) => json!(pending),
        };
        data.as_object_mut().map(|fields| Map::shift_remove(fields, "seal"));
        json!({ "waits_for": self.prefix(), "promise": promise, "data": data })
    }

    pub(crate) fn sealed_with(mut self, seal: Text) -> WaitingRequest {
        match &mut self {
            WaitingRequest::Approval(request) => request.call.seal = seal,
            WaitingRequest::Input(pending) => pending.call.seal = seal,
        }
        self
    }

    /// Returns the error that the waiting call gets as its response.
    #[doc(hidden)]
    pub fn into_error(self) -> ToolError {
        match self {
            WaitingRequest::Approval(request) => ToolError::ApprovalRequired(request),
            WaitingRequest::Input(pending) => ToolError::InputRequired(pending),
        }
    }
}

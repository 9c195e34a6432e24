//! Calls that go on after they waited, for an approval or for input.

use std::time::SystemTime;

use serde_json::{Map, Value, json};

use crate::base::frozen::Text;
use crate::call::ToolCall;
use crate::call::approval::{ApprovalRequest, CalledBy};
use crate::call::control::PendingInput;
use crate::call::digest::seal_name;
use crate::call::error::ToolError;

/// What a call brings with it that waited. None of what came back may be believed before its seal is looked at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Resumption {
    /// What the call waited for, as it came back.
    pub(crate) waited: Option<Waited>,
    /// For which reasons somebody has approved of the call.
    pub(crate) approved: Vec<String>,
    /// Who approved, as far as it is said.
    pub(crate) approver: Text,
    /// What was answered to what the tool asked for, in order.
    pub(crate) inputs: Vec<Value>,
    /// What can be resumed once, and no more when this call runs.
    pub(crate) spends: Vec<Ticket>,
}

/// Something that can be resumed once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticket {
    /// The name of its seal.
    pub(crate) name: Text,
    /// What stands at the beginning of the codes of its refusals.
    pub(crate) prefix: &'static str,
    pub(crate) expires_at: SystemTime,
}

/// What a call brings that never waited.
static NOTHING: Resumption = Resumption {
    waited: None,
    approved: Vec::new(),
    approver: Text::EMPTY,
    inputs: Vec::new(),
    spends: Vec::new(),
};

impl ToolCall {
    /// A call that goes on, as far as what came back says so, with answers beside those it had.
    pub(crate) fn resumed(waited: Waited, answer: Option<Value>) -> ToolCall {
        let (id, name, arguments) = match &waited {
            Waited::Approval(request) => (&request.id, &request.name, &request.arguments),
            Waited::Input(pending) => (&pending.id, &pending.name, &pending.arguments),
        };
        let call = ToolCall { arguments: arguments.clone(), ..ToolCall::named(id.clone(), name.clone()) };
        let (approved, approver, mut inputs) = match &waited {
            Waited::Approval(request) => {
                let approved = [&request.approved[..], &request.reasons[..]].concat();
                (approved, request.approver.clone(), request.inputs.clone())
            }
            Waited::Input(pending) => (pending.approved.clone(), Text::EMPTY, pending.inputs.clone()),
        };
        inputs.extend(answer);
        let spends = vec![waited.ticket()];
        call.resuming(Resumption { waited: Some(waited), approved, approver, inputs, spends })
    }

    /// The same call with what it brings.
    pub(crate) fn resuming(self, resumption: Resumption) -> ToolCall {
        ToolCall { resumption: Some(Box::new(resumption)), ..self }
    }

    /// What the call brings with it that waited.
    pub(crate) fn brings(&self) -> &Resumption {
        self.resumption.as_deref().unwrap_or(&NOTHING)
    }

    /// Somebody has approved of the call, so its arguments are final.
    pub(crate) fn is_approved(&self) -> bool {
        !self.brings().approved.is_empty()
    }
}

/// What a call waited for that goes on, as it came back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Waited {
    /// For an approval.
    Approval(Box<ApprovalRequest>),
    /// For input.
    Input(Box<PendingInput>),
}

impl Waited {
    /// What stands at the beginning of the codes of its refusals.
    pub(crate) fn prefix(&self) -> &'static str {
        match self {
            Waited::Approval(_) => "APPROVAL",
            Waited::Input(_) => "INPUT_REQUEST",
        }
    }

    pub(crate) fn called_by(&self) -> &CalledBy {
        match self {
            Waited::Approval(request) => &request.called_by,
            Waited::Input(pending) => &pending.called_by,
        }
    }

    pub(crate) fn expires_at(&self) -> SystemTime {
        match self {
            Waited::Approval(request) => request.expires_at,
            Waited::Input(pending) => pending.expires_at,
        }
    }

    pub(crate) fn seal(&self) -> &str {
        match self {
            Waited::Approval(request) => &request.seal,
            Waited::Input(pending) => &pending.seal,
        }
    }

    pub(crate) fn ticket(&self) -> Ticket {
        let name = Text::copy_of(seal_name(self.seal()));
        Ticket { name, prefix: self.prefix(), expires_at: self.expires_at() }
    }

    /// What is sealed, for a tool that promises this.
    pub(crate) fn sealed(&self, promise: &str) -> Value {
        let mut data = match self {
            Waited::Approval(request) => json!(request),
            Waited::Input(pending) => json!(pending),
        };
        data.as_object_mut().map(|fields| Map::shift_remove(fields, "seal"));
        json!({ "waits_for": self.prefix(), "promise": promise, "data": data })
    }

    pub(crate) fn sealed_with(mut self, seal: Text) -> Waited {
        match &mut self {
            Waited::Approval(request) => request.seal = seal,
            Waited::Input(pending) => pending.seal = seal,
        }
        self
    }

    /// What the call is answered with.
    pub(crate) fn not_yet(self) -> ToolError {
        match self {
            Waited::Approval(request) => ToolError::ApprovalRequired(request),
            Waited::Input(pending) => ToolError::InputRequired(pending),
        }
    }
}

//! A call that waits for an approval.

use std::ops::Deref;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::base::data::Members;
use crate::base::frozen::Text;
use crate::base::redacted_debug::discreet_debug;
use crate::call::callee::Callee;
use crate::call::waiting::{WaitingCall, seal_name};

/// A call that waits for an approval. Plain data: keep it as long as needed, and pass it back unchanged to
/// [`Toolbox::resume`](crate::Toolbox::resume).
///
/// It is sealed: the call runs exactly as described here, once, for the same caller, before it expires. You may read
/// all fields, including those of the [`WaitingCall`]. A modified request is rejected.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The call.
    pub call: WaitingCall,
    /// The arguments with their secrets redacted, to show to people.
    pub redacted_arguments: Value,
    /// The tools that the call may call, directly or transitively, if they are known before the call: the tools of a
    /// composition or a sub-agent, but not those that a Rust function calls. Approving this call does not approve
    /// their calls: each passes through middleware itself.
    pub calls: Vec<Callee>,
    /// The reasons why the call needs an approval: those of all middleware, in order.
    pub reasons: Vec<String>,
    /// The approver, set when the call is resumed. Neither sealed nor stored.
    pub(crate) approver: Text,
}

discreet_debug!(ApprovalRequest: call, calls, reasons, approver; redacted_arguments);

impl Deref for ApprovalRequest {
    type Target = WaitingCall;

    fn deref(&self) -> &WaitingCall {
        &self.call
    }
}

impl ApprovalRequest {
    /// Sets the approver, for the audit record of the call. Your program guarantees that the name is right. The JSON
    /// does not contain the approver, so keep the name separately if the request is stored after its approval.
    #[must_use]
    pub fn approved_by(mut self, approver: impl Into<Text>) -> ApprovalRequest {
        self.approver = approver.into();
        self
    }

    /// Returns the ID of the waiting call, if the toolbox has a
    /// [queue](crate::toolbox::ToolboxBuilder::approval_queue).
    #[must_use]
    pub fn queue_id(&self) -> &str {
        seal_name(&self.seal)
    }
}

/// `{"id", "name", "arguments", "shown", "reasons", "approved", "expires_at", "inputs", "seal"}`, with the
/// time in milliseconds since 1970; and, if known, `principal`, `session_id`, `agent_id` and an array `calls`.
impl Serialize for ApprovalRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = json!({ "shown": self.redacted_arguments, "reasons": self.reasons });
        if !self.calls.is_empty() {
            members["calls"] = json!(self.calls);
        }
        self.call.write(members).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ApprovalRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "ApprovalRequest")?;
        Ok(ApprovalRequest {
            call: WaitingCall::read(&mut members)?,
            redacted_arguments: members.take("shown")?,
            calls: members.or_default("calls")?,
            reasons: members.take("reasons")?,
            approver: Text::EMPTY,
        })
    }
}

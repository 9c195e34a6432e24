//! Layers of a program's own between checked arguments and the tool.

use serde_json::Value;

use crate::base::frozen::Text;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::tool::BoxFuture;
use crate::spec::ToolSpec;

/// Decides about calls whose arguments are already checked. A middleware that panics has denied the call.
pub trait Middleware: Send + Sync {
    /// What to do with the call. A later middleware sees what an earlier one made of the arguments.
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, Decision>;
}

/// A call that a [`Middleware`] decides about.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolRequest<'a> {
    /// The tool.
    pub spec: &'a ToolSpec,
    /// The arguments as the model names them, checked.
    pub arguments: &'a Value,
    /// What surrounds the call.
    pub ctx: &'a ToolContext,
}

/// What a [`Middleware`] decides.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// Go on.
    Allow,
    /// Go on with these arguments, which are checked like those of a model.
    Modify(Value),
    /// Refuse, and tell the model why.
    Deny(String),
    /// Go on if somebody approves, and tell them why they are asked.
    NeedApproval(String),
}

/// Answers for a person, or a program, whether calls may run.
pub trait Approver: Send + Sync {
    /// Whether the call may run. The time this takes does not count as the tool's.
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval>;
}

/// What an [`Approver`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// Yes.
    Approved,
    /// No, and the model is told why.
    Rejected(String),
    /// Not now. The call is answered with the code `APPROVAL_REQUIRED` and without having run;
    /// [`Provider::resume`](crate::Provider::resume) runs it when somebody has approved.
    Later,
}

/// A call that waits for somebody to approve of it. Plain data: keep it as long as it takes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The model's name for the call.
    pub id: Text,
    /// The tool.
    pub name: Text,
    /// The arguments as the model names them.
    pub arguments: Value,
    /// Everything that somebody is asked for: the reasons of all middleware, in order.
    pub reasons: Vec<String>,
}

impl ApprovalRequest {
    /// `{"id", "name", "arguments", "reasons"}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::json!({
            "id": self.id.as_str(),
            "name": self.name.as_str(),
            "arguments": self.arguments,
            "reasons": self.reasons,
        })
    }

    /// Reads what [`to_json`](Self::to_json) wrote.
    #[must_use]
    pub fn from_json(value: &Value) -> Option<ApprovalRequest> {
        let text = |key: &str| Some(Text::from(value.get(key)?.as_str()?.to_owned()));
        let reasons = value.get("reasons")?.as_array()?;
        Some(ApprovalRequest {
            id: text("id")?,
            name: text("name")?,
            arguments: value.get("arguments")?.clone(),
            reasons: reasons
                .iter()
                .map(|reason| reason.as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
        })
    }
}

/// What a call is answered with that waits for an approval.
pub(crate) fn not_yet(request: ApprovalRequest) -> ToolError {
    ToolError::ApprovalRequired(Box::new(request))
}

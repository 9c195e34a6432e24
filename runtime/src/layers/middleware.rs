//! Layers of a program's own between checked arguments and the tool.

use serde_json::Value;

use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::spec::ToolSpec;

pub use crate::call::approval::ApprovalRequest;

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

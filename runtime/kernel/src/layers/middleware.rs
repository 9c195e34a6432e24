//! Checks of the program between the argument check and the tool.
//!
//! A [`Middleware`] lets a call pass, changes its arguments, refuses it, or requires approval. An [`Approver`]
//! approves it immediately. Otherwise the result of the call is `APPROVAL_REQUIRED`, and the call waits as a sealed
//! [`ApprovalRequest`], which [`Toolbox::resume`](crate::Toolbox::resume) runs later. With an
//! [`approval_queue`](crate::toolbox::ToolboxBuilder::approval_queue) the toolbox stores it, and any process may
//! decide about it and run it: see [`approval`](crate::layers::approval).
//!
//! All middleware runs before any approver is asked, so the approved arguments are those that run: as the last
//! middleware left them, with the defaults of the schema filled in. A request runs once, unchanged, for the same
//! principal in the same session, and only until it expires. All other layers check the call again when it is resumed:
//! scopes, rate limits, rules, circuit breakers. Middleware also runs again. It may refuse the call then, but cannot
//! change its arguments: middleware that modifies arguments should check [`ToolRequest::approved`] first. Reasons that
//! have not been approved yet cause a new request, which also holds those approved before.
//!
//! A sub-agent cannot wait. If one of its calls needs an approval and no approver decides immediately, the sub-agent
//! ends with the error `APPROVAL_REQUIRED`, which names the call. Set an approver if sub-agents have such tools.
//!
//! Nested calls, which a tool makes, are treated like any other call: middleware decides about them, and an approval of
//! the outer call does not approve them. So no call runs whose effects are wider than those that were approved. A
//! request for a composition or a sub-agent lists the tools that it may call, with their effects
//! ([`calls`](ApprovalRequest::calls)). It is refused on resumption if one of them has changed. For a Rust function,
//! the nested tools are not known in advance.
//!
//! A request contains its arguments in two forms: [`redacted_arguments`](ApprovalRequest::redacted_arguments) is for
//! people and holds no secrets, and the call runs with [`arguments`](WaitingCall::arguments). Secrets in reasons are
//! hidden.
//!
//! If middleware panics, or takes longer than [`callback_timeout`](crate::toolbox::ToolboxBuilder::callback_timeout),
//! the call is denied.
//!
//! # Closures
//!
//! A synchronous closure can be middleware or an approver; [`approver`] turns an asynchronous closure into an
//! approver.
//!
//! ```
//! use toolgen_runtime::layers::middleware::{Approval, ApprovalRequest, MiddlewareDecision, ToolRequest};
//! use toolgen_runtime::{Toolbox, Registry, ToolContext, Turn, tool, toolset};
//!
//! # /// Pays a person.
//! # #[tool(undocumented)]
//! # fn pay(to: &str, amount: u32) -> String { format!("paid {amount} to {to}") }
//! let toolbox = Toolbox::builder(&Registry::new(toolset![pay])?)
//!     .middleware(|request: &ToolRequest<'_>| match (request.name(), request.arguments["amount"].as_u64()) {
//!         ("pay", Some(amount)) if amount >= 50 => MiddlewareDecision::NeedApproval(format!("It costs {amount}.")),
//!         _ => MiddlewareDecision::Allow,
//!     })
//!     .approver(|request: &ApprovalRequest, _: &ToolContext| match request.arguments["amount"].as_u64() {
//!         Some(amount) if amount < 1_000 => Approval::Approved,
//!         _ => Approval::Rejected("That amount is too high.".to_owned()),
//!     })
//!     .build()?;
//! # let _ = toolbox;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Approvers
//!
//! Small payments pass, larger ones need a person. The approver in this example decides by the sum; a real one shows
//! the request and waits for a click, or returns [`Approval::Later`] and stores it.
//!
//! ```
//! # use serde_json::json;
//! use toolgen_runtime::layers::middleware::{Approval, ApprovalRequest, Approver, MiddlewareDecision, ToolRequest};
//! use toolgen_runtime::{BoxFuture, Toolbox, Registry, ToolCall, ToolContext, Turn, ToolError, tool, toolset};
//!
//! /// Pays a person.
//! #[tool(undocumented)]
//! fn pay(to: &str, #[arg(default = 100)] amount: u32) -> String {
//!     format!("paid {amount} to {to}")
//! }
//!
//! struct Treasurer;
//!
//! impl Approver for Treasurer {
//!     fn approve<'a>(
//!         &'a self,
//!         request: &'a ApprovalRequest,
//!         _ctx: &'a ToolContext,
//!     ) -> BoxFuture<'a, Approval> {
//!         Box::pin(async {
//!             match request.arguments["amount"].as_u64() {
//!                 Some(amount) if amount < 1_000 => Approval::ApprovedBy("treasurer".into()),
//!                 Some(amount) if amount < 10_000 => Approval::Later,
//!                 _ => Approval::Rejected("That amount is too high.".to_owned()),
//!             }
//!         })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A function that needs only the request is middleware, and can also be an approver.
//! let large_sums = |request: &ToolRequest<'_>| match request.arguments["amount"].as_u64() {
//!     Some(amount) if amount >= 50 => MiddlewareDecision::NeedApproval(format!("It costs {amount}.")),
//!     _ => MiddlewareDecision::Allow,
//! };
//!
//! let toolbox = Toolbox::builder(&Registry::new(toolset![pay])?)
//!     .middleware(large_sums)
//!     .approver(Treasurer)
//!     .build()?;
//! let turn = Turn::new("turn-1");
//! let pay = |arguments| toolbox.run(ToolCall::new("call-1", "pay", arguments), &turn);
//!
//! // The approver sees the default, and the call runs with it.
//! assert_eq!(pay(json!({"to": "Ada"})).await.text(), "paid 100 to Ada");
//! assert_eq!(pay(json!({"to": "Ada", "amount": 20_000})).await.text(), "That amount is too high.");
//!
//! // Later: the request is stored, shown to a board, and resumed.
//! let response = pay(json!({"to": "Ada", "amount": 5_000})).await;
//! let Err(ToolError::ApprovalRequired(request)) = response.outcome else { panic!("it waits") };
//! let stored = serde_json::to_string(&request)?;
//!
//! let request: ApprovalRequest = serde_json::from_str(&stored)?;
//! let response = toolbox.resume(request.clone().approved_by("board"), &turn).await;
//! assert_eq!(response.text(), "paid 5000 to Ada");
//! // A request can be resumed only once.
//! let second = toolbox.resume(request, &turn).await;
//! assert_eq!(second.outcome.unwrap_err().code(), "APPROVAL_USED");
//! # Ok(())
//! # }
//! ```

mod closures;

use std::fmt;

use serde_json::Value;

use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::base::redacted_debug::Redacted;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::layers::layer::{Layer, Stage};
use crate::spec::ToolSpec;

pub use crate::call::approval::ApprovalRequest;
pub use crate::call::callee::Callee;
pub use crate::call::waiting::{Caller, WaitingCall};
pub use closures::approver;

/// Decides about calls whose arguments are already checked. See the [module](self).
pub trait Middleware: Send + Sync {
    /// Decides about a call. Later middleware sees the arguments as earlier middleware left them.
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision>;
}

/// Middleware as a layer.
pub(crate) struct MiddlewareLayer(pub(crate) Box<dyn Middleware>);

impl Layer for MiddlewareLayer {
    fn stage(&self) -> Stage {
        Stage::Decide
    }

    fn decide<'a>(&'a self, request: &'a ToolRequest<'a>) -> Option<BoxFuture<'a, MiddlewareDecision>> {
        Some(self.0.before(request))
    }
}

/// A call that a [`Middleware`] decides about.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ToolRequest<'a> {
    /// The tool.
    pub spec: &'a ToolSpec,
    /// The arguments under the names that the model uses, checked, with the defaults of the schema filled in. Defaults
    /// that the schema does not state are absent.
    pub arguments: &'a Value,
    /// The context of the call.
    pub ctx: &'a ToolContext,
    pub(crate) approved: &'a [String],
}

impl<'a> ToolRequest<'a> {
    /// Returns the name of the tool, for middleware that applies only to some tools.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.spec.name.as_str()
    }

    /// Returns whether this call was approved before, with these arguments, and is now resumed. The arguments are
    /// final: if [`MiddlewareDecision::Modify`] changes them, the call is refused.
    #[must_use]
    pub fn approved(&self) -> bool {
        !self.approved.is_empty()
    }
}

impl fmt::Debug for ToolRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRequest")
            .field("tool", &self.spec.name)
            .field("arguments", &Redacted(self.arguments))
            .field("ctx", self.ctx)
            .field("approved", &self.approved)
            .finish()
    }
}

/// The decision of a [`Middleware`].
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum MiddlewareDecision {
    /// Let the call pass.
    Allow,
    /// Let the call pass with these arguments, which are checked like those of a model.
    Modify(Value),
    /// Refuse the call, with this reason for the model.
    Deny(String),
    /// Refuse the call with this error, which may have its own code and a detail for engineers.
    Fail(Box<ToolError>),
    /// Let the call pass if it is approved, with this reason for the approver. A reason that was approved before is
    /// not asked for again, so use the same string for the same reason.
    NeedApproval(String),
}

impl fmt::Debug for MiddlewareDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MiddlewareDecision::Allow => f.write_str("Allow"),
            MiddlewareDecision::Modify(arguments) => {
                f.debug_tuple("Modify").field(&Redacted(arguments)).finish()
            }
            MiddlewareDecision::Deny(reason) => f.debug_tuple("Deny").field(reason).finish(),
            MiddlewareDecision::Fail(error) => f.debug_tuple("Fail").field(error).finish(),
            MiddlewareDecision::NeedApproval(reason) => f.debug_tuple("NeedApproval").field(reason).finish(),
        }
    }
}

/// Middleware that requires an approval for every call of a tool that does not declare itself read-only:
/// `Toolbox::builder(&registry).middleware(writes_need_approval).approver(…)`.
#[must_use]
pub fn writes_need_approval(request: &ToolRequest<'_>) -> MiddlewareDecision {
    if request.spec.effects.read_only {
        MiddlewareDecision::Allow
    } else {
        MiddlewareDecision::NeedApproval("The tool may change something.".to_owned())
    }
}

/// Decides, on behalf of a person or a program, whether calls may run. See the [module](self) for an example.
pub trait Approver: Send + Sync {
    /// Decides whether the call may run. The time that this takes does not count towards the tool's timeout. It is
    /// limited by [`approval_timeout`](crate::toolbox::ToolboxBuilder::approval_timeout); after that, the call waits as
    /// with [`Approval::Later`]. If an approver panics, the call is rejected.
    ///
    /// The context is that of the call: the caller, the session, and the cancellation token.
    fn approve<'a>(&'a self, request: &'a ApprovalRequest, ctx: &'a ToolContext) -> BoxFuture<'a, Approval>;
}

/// The decision of an [`Approver`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// Approved.
    Approved,
    /// Approved, and the record of the call names the approver.
    ApprovedBy(Text),
    /// Rejected, with this reason for the model.
    Rejected(String),
    /// Not decided yet. The result of the call is the error `APPROVAL_REQUIRED`, and the call has not run.
    /// [`Toolbox::resume`](crate::Toolbox::resume) runs it after it is approved; if it waits in a
    /// [queue](crate::toolbox::ToolboxBuilder::approval_queue),
    /// [`Toolbox::resume_decided`](crate::Toolbox::resume_decided) does.
    Later,
}

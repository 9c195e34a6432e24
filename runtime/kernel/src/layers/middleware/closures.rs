//! Closures as middleware and approvers, most of which make a single decision.

use super::{Approval, ApprovalRequest, Approver, Middleware, MiddlewareDecision, ToolRequest};
use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;

/// A function that decides without waiting. Name the type of its argument: `|request: &ToolRequest<'_>| …`.
impl<F> Middleware for F
where
    F: for<'r, 'c> Fn(&'r ToolRequest<'c>) -> MiddlewareDecision + Send + Sync,
{
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        // Called inside the future, so that a panic is caught and the time is limited.
        Box::pin(async move { self(request) })
    }
}

/// A synchronous function: `|request: &ApprovalRequest, ctx: &ToolContext| …`. [`approver`] accepts an asynchronous
/// function, for example to wait for a click.
impl<F> Approver for F
where
    F: for<'r, 'c> Fn(&'r ApprovalRequest, &'c ToolContext) -> Approval + Send + Sync,
{
    fn approve<'a>(&'a self, request: &'a ApprovalRequest, ctx: &'a ToolContext) -> BoxFuture<'a, Approval> {
        Box::pin(async move { self(request, ctx) })
    }
}

/// Returns an approver for an asynchronous closure, which gets a copy of the request and of the context.
///
/// ```
/// use toolgen_runtime::layers::middleware::{Approval, approver};
/// # async fn ask(question: String) -> bool { question.is_empty() }
///
/// let by_chat = approver(|request, _ctx| async move {
///     match ask(format!("May {} run with {}?", request.name, request.redacted_arguments)).await {
///         true => Approval::ApprovedBy("the team".into()),
///         false => Approval::Rejected("The team said no.".to_owned()),
///     }
/// });
/// # let _ = by_chat;
/// ```
pub fn approver<F, R>(decide: F) -> impl Approver
where
    F: Fn(ApprovalRequest, ToolContext) -> R + Send + Sync,
    R: Future<Output = Approval> + Send + 'static,
{
    AsyncApprover(decide)
}

/// An asynchronous closure that approves.
struct AsyncApprover<F>(F);

impl<F, R> Approver for AsyncApprover<F>
where
    F: Fn(ApprovalRequest, ToolContext) -> R + Send + Sync,
    R: Future<Output = Approval> + Send + 'static,
{
    fn approve<'a>(&'a self, request: &'a ApprovalRequest, ctx: &'a ToolContext) -> BoxFuture<'a, Approval> {
        Box::pin((self.0)(request.clone(), ctx.clone()))
    }
}

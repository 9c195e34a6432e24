//! Records and runs a call that every layer has admitted. An exclusive call runs alone.

use std::time::Duration;

use super::{Layers, Record};
use crate::base::exclusive_lock::Exclusion;
use crate::call::callback;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::resumption::Ticket;
use crate::call::tool::{AgentTool, Projects, execute, time_limit};
use crate::layers::layer::{self, Invocation, Next, Outcome};
use toolgen_core::internal::BorrowedValue;

impl Layers {
    /// Runs a tool within the layers around it, unless the request that the call resumes was resumed before. An
    /// exclusive tool runs alone, and other tools never run concurrently with it.
    pub(super) async fn execute<'a>(
        &self,
        (tool, invocation): (&'a dyn AgentTool, &Invocation<'_>),
        arguments: BorrowedValue<'a>,
        ctx: &'a ToolContext,
        record: &mut Record,
        spends: &[Ticket],
    ) -> Outcome {
        let spec = invocation.spec();
        let permit;
        let ctx = match &self.exclusion {
            None => ctx,
            Some(exclusion) => {
                let guard = Exclusion::enter(exclusion, ctx.seat(), spec.exclusive);
                if guard.must_wait() {
                    let ready = ctx.caller_token().run_until_cancelled(guard.ready()).await;
                    ready.ok_or(ToolError::Cancelled)?;
                }
                permit = (ctx.seated(guard.seat()), guard);
                &permit.0
            }
        };
        let pending = PendingRun { layers: self, tool, invocation, arguments, ctx, record, spends };
        let around_layers = &invocation.layers().around[..];
        if around_layers.is_empty() {
            return pending.run().await;
        }
        // On the heap: few tools have such layers, and all others would reserve the space for it.
        let run =
            Box::pin(
                async move { Next::new(around_layers, invocation, || Box::pin(pending.run())).run().await },
            );
        Box::pin(layer::pass(around_layers, invocation, run)).await
    }
}

/// A call that is ready to run its tool.
struct PendingRun<'a, 'r> {
    layers: &'r Layers,
    tool: &'a dyn AgentTool,
    invocation: &'r Invocation<'r>,
    arguments: BorrowedValue<'a>,
    ctx: &'a ToolContext,
    record: &'r mut Record,
    spends: &'r [Ticket],
}

impl PendingRun<'_, '_> {
    /// Records that the tool is about to run, and runs it.
    async fn run(self) -> Outcome {
        let callback_timeout = self.layers.callback_timeouts.callbacks;
        record_intent(self.record, self.ctx, callback_timeout).await?;
        // This is the last step before the tool: an approved call that cannot be recorded stays approved.
        if !self.spends.is_empty() {
            Box::pin(self.layers.seals.spend(self.spends, callback_timeout)).await?;
        }
        let limit = time_limit(self.invocation.spec(), self.layers.default_timeout, self.ctx.timeout());
        if let Some(span) = self.ctx.span() {
            span.runs();
        }
        // No `match`: otherwise the future of every call would contain the outcome of a replay while its tool runs.
        if let Some(outcome) = self.record.replayed_outcome() {
            self.invocation.start(true);
            return outcome;
        }
        self.invocation.start(false);
        execute(self.tool, self.arguments, self.ctx, limit, Projects::Fields).await
    }
}

/// Records the intent of a call. Returns an error, so that the call does not run, if the caller cancels it meanwhile
/// or the limit is reached.
async fn record_intent(record: &mut Record, ctx: &ToolContext, limit: Duration) -> Result<(), ToolError> {
    let Some(intent) = record.intent()? else { return Ok(()) };
    // On the heap: otherwise the future of every call would reserve space that few calls need.
    let intent = Box::pin(callback::with_timeout(Some(limit), intent));
    match ctx.caller_token().run_until_cancelled(intent).await {
        None => Err(ToolError::Cancelled),
        Some(Ok(outcome)) => outcome,
        Some(Err(_)) => {
            let text = "The call could not be recorded in time, so it was not executed";
            Err(ToolError::failed_with("AUDIT_FAILED", text))
        }
    }
}

//! Runs a call that every layer has admitted: alone if it is exclusive, and recorded.

use std::time::Duration;

use super::{Layers, Record};
use crate::base::exclusive_lock::Exclusion;
use crate::call::callback;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::resumption::Ticket;
use crate::call::tool::{AgentTool, execute, time_limit};
use crate::layers::layer::{self, Invocation, Next, Outcome};
use toolgen_core::internal::BorrowedValue;

impl Layers {
    /// Runs a tool within the layers around it, alone if it is exclusive and otherwise never concurrently with an
    /// exclusive one, unless the request that the call resumes was resumed before.
    pub(super) async fn execute<'a>(
        &self,
        (tool, seen): (&'a dyn AgentTool, &Invocation<'_>),
        arguments: BorrowedValue<'a>,
        ctx: &'a ToolContext,
        record: &mut Record,
        spends: &[Ticket],
    ) -> Outcome {
        let spec = seen.spec();
        let alone;
        let ctx = match &self.exclusion {
            None => ctx,
            Some(exclusion) => {
                let seated = Exclusion::enter(exclusion, ctx.seat(), spec.exclusive);
                if seated.must_wait() {
                    let ready = ctx.caller_token().run_until_cancelled(seated.ready()).await;
                    ready.ok_or(ToolError::Cancelled)?;
                }
                alone = (ctx.seated(seated.seat()), seated);
                &alone.0
            }
        };
        let start = Start { layers: self, tool, seen, arguments, ctx, record, spends };
        let around = &seen.layers().around[..];
        if around.is_empty() {
            return start.run().await;
        }
        // On the heap: few tools have such layers, and all others would reserve the space for it.
        let run = Box::pin(async move { Next::new(around, seen, || Box::pin(start.run())).run().await });
        Box::pin(layer::pass(around, seen, run)).await
    }
}

/// The start of a call that continues to its tool.
struct Start<'a, 'r> {
    layers: &'r Layers,
    tool: &'a dyn AgentTool,
    seen: &'r Invocation<'r>,
    arguments: BorrowedValue<'a>,
    ctx: &'a ToolContext,
    record: &'r mut Record,
    spends: &'r [Ticket],
}

impl Start<'_, '_> {
    /// Records that the tool is about to run, and runs it.
    async fn run(self) -> Outcome {
        let patience = self.layers.callback_timeouts.callbacks;
        recorded(self.record, self.ctx, patience).await?;
        // This is the last step before the tool: an approved call that cannot be recorded stays approved.
        if !self.spends.is_empty() {
            Box::pin(self.layers.seals.spend(self.spends, patience)).await?;
        }
        let limit = time_limit(self.seen.spec(), self.layers.default_timeout, self.ctx.timeout());
        if let Some(span) = self.ctx.span() {
            span.runs();
        }
        // No `match`: otherwise the future of every call would contain the outcome of a replay while its tool runs.
        if let Some(outcome) = self.record.answer() {
            self.seen.start(true);
            return outcome;
        }
        self.seen.start(false);
        execute(self.tool, self.arguments, self.ctx, limit).await
    }
}

/// Records the intent of a call. If that takes time, the call does not run if the caller cancels or the time limit of
/// callbacks is reached.
async fn recorded(record: &mut Record, ctx: &ToolContext, limit: Duration) -> Result<(), ToolError> {
    let Some(written) = record.intent()? else { return Ok(()) };
    // On the heap: otherwise the future of every call would contain what few calls need.
    let written = Box::pin(callback::with_timeout(Some(limit), written));
    match ctx.caller_token().run_until_cancelled(written).await {
        None => Err(ToolError::Cancelled),
        Some(Ok(written)) => written,
        Some(Err(_)) => {
            let text = "The call could not be recorded in time, so it was not executed";
            Err(ToolError::failed_with("AUDIT_FAILED", text))
        }
    }
}

//! Runs a call that every layer has let pass: alone if it has to be, and recorded.

use std::time::Duration;

use super::{Layers, Record};
use crate::base::exclusion::Exclusion;
use crate::call::callback;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::resumption::Ticket;
use crate::call::tool::{AgentTool, execute, time_limit};
use crate::function::input::BorrowedValue;
use crate::spec::ToolSpec;

impl Layers {
    /// Runs a tool, alone if it is exclusive and never at the same time as one that is, unless its service is down, or
    /// the request that the call resumes was resumed before.
    pub(super) async fn execute<'a>(
        &self,
        tool: &'a dyn AgentTool,
        spec: &ToolSpec,
        arguments: BorrowedValue<'a>,
        ctx: &'a ToolContext,
        record: &mut Record,
        spends: &[Ticket],
    ) -> Result<ToolResult, ToolError> {
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
        let permit = match spec.service.as_str() {
            "" => None,
            service => Some(self.breaker.admit(service)?),
        };
        recorded(record, ctx, self.patience.callbacks).await?;
        // Nothing comes between this and the tool: what was approved and cannot be recorded stays approved.
        if !spends.is_empty() {
            Box::pin(self.seals.spend(spends, self.patience.callbacks)).await?;
        }
        let limit = time_limit(spec, self.default_timeout, ctx.timeout());
        #[cfg(feature = "otel")]
        ctx.runs();
        // No `match`: every call would hold the room for an answer of a replay while its tool runs.
        let outcome = 'outcome: {
            if let Some(outcome) = record.answer() {
                break 'outcome outcome;
            }
            execute(tool, arguments, ctx, limit).await
        };
        if let Some(permit) = permit {
            permit.settle(&outcome);
        }
        outcome
    }
}

/// Records the intent of a call. If that takes time, the call does not run once the caller gives up or the time limit
/// of callbacks is reached.
async fn recorded(record: &mut Record, ctx: &ToolContext, limit: Duration) -> Result<(), ToolError> {
    if !record.waits() {
        return record.intent().await;
    }
    // On the heap: every call would hold the room for what few do.
    let written = Box::pin(callback::answer(Some(limit), record.intent()));
    match ctx.caller_token().run_until_cancelled(written).await {
        None => Err(ToolError::Cancelled),
        Some(Ok(written)) => written,
        Some(Err(_)) => {
            let text = "The call could not be recorded in time, so it was not executed";
            Err(ToolError::failed_with("AUDIT_FAILED", text))
        }
    }
}

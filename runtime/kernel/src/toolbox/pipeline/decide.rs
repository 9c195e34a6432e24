//! The decisions of middleware and approvers about a call.

use std::sync::Arc;

use serde_json::Value;
use toolgen_core::internal::{completed, under_wire_names};

use super::Layers;
use super::recording::Record;
use crate::base::frozen::Text;
use crate::call::ToolCall;
use crate::call::approval::ApprovalRequest;
use crate::call::callback::{CallbackFailure, with_timeout};
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::resumption::{Resumption, Waited};
use crate::call::span::Attribute;
use crate::call::tool::{AgentTool, decoded_for, parsed, read};
use crate::layers::approval::{callees, not_shown};
use crate::layers::layer::Layer;
use crate::layers::middleware::{Approval, MiddlewareDecision, ToolRequest};
use crate::layers::redact::ToolRedactor;
use crate::registry::Registry;
use crate::spec::ToolSpec;

/// The message for a model if middleware would change approved arguments.
const CHANGED: &str = "The call was not executed: a person approved these exact arguments, and middleware would \
                       have changed them.";

/// Valid arguments in both forms.
struct Arguments {
    /// As middleware and approvers see them.
    redacted: Value,
    /// As the tool gets them.
    wire: Value,
}

impl Arguments {
    fn checked(spec: &ToolSpec, sent: &Value, ctx: &ToolContext) -> Result<Arguments, ToolError> {
        let read = read(spec, sent);
        let sent = read.as_ref().unwrap_or(sent);
        let wire = decoded_for(spec, sent.clone(), ctx)?;
        let visible = completed(sent, &spec.input, &spec.defs, ctx.dialect());
        Ok(Arguments { redacted: visible.map_err(ToolError::from_problems)?, wire })
    }

    /// Returns the arguments of an approved call.
    fn approved(spec: &ToolSpec, visible: Value) -> Result<Arguments, ToolError> {
        let wire = under_wire_names(&visible, &spec.input, &spec.defs).map_err(ToolError::from_problems)?;
        Ok(Arguments { redacted: visible, wire })
    }

    fn of(spec: &ToolSpec, call: &ToolCall, sent: Value, ctx: &ToolContext) -> Result<Arguments, ToolError> {
        if call.is_approved() {
            Arguments::approved(spec, sent)
        } else {
            Arguments::checked(spec, &sent, ctx)
        }
    }
}

/// Returns the arguments as approvers see them, if they can be shown completely.
fn seen(redactor: Option<&ToolRedactor>, arguments: &Value) -> Result<Value, ToolError> {
    redactor
        .map_or(Ok(Value::Null), |redactor| redactor.for_approval(arguments))
        .map_err(|error| not_shown(&error))
}

impl Layers {
    /// Returns the arguments, checked and changed by all middleware, and the approved call if it was just approved.
    /// The tool is the registered one, with its registry.
    pub(super) async fn decide(
        &self,
        (tool, registry, layers): (&dyn AgentTool, &Registry, &[Arc<dyn Layer>]),
        redactor: Option<&ToolRedactor>,
        sent: Value,
        call: &ToolCall,
        (ctx, record): (&ToolContext, &mut Record),
    ) -> Result<(Value, Option<Box<ToolCall>>), ToolError> {
        let spec = tool.spec();
        if layers.is_empty() && !call.is_approved() {
            return Ok((decoded_for(spec, sent, ctx)?, None));
        }
        let mut arguments = Arguments::of(spec, call, sent, ctx)?;
        record
            .set_completed(&|| Arguments::approved(spec, arguments.redacted.clone()).map(|whole| whole.wire));
        let approved = &call.brings().approved;
        let mut reasons = Vec::new();
        for layer in layers {
            let request = ToolRequest { spec, arguments: &arguments.redacted, ctx, approved };
            match self.ask(&**layer, &request).await? {
                MiddlewareDecision::Allow => {}
                MiddlewareDecision::Modify(modified) if call.is_approved() => {
                    if modified != arguments.redacted {
                        return Err(ToolError::denied(CHANGED));
                    }
                }
                MiddlewareDecision::Modify(modified) => {
                    arguments = Arguments::checked(spec, &parsed(modified)?, ctx)?;
                    let whole = || Arguments::approved(spec, arguments.redacted.clone());
                    record.set_completed(&|| whole().map(|whole| whole.wire));
                    if let Some(redactor) = redactor {
                        redactor.hide_secrets(&arguments.redacted, ctx);
                    }
                }
                MiddlewareDecision::Deny(cause) => return Err(ToolError::denied(cause)),
                MiddlewareDecision::NeedApproval(reason) => {
                    let reason = self.reason(&reason, redactor, &arguments.redacted, ctx)?;
                    if !approved.contains(&reason) && !reasons.contains(&reason) {
                        reasons.push(reason);
                    }
                }
            }
        }
        if reasons.is_empty() {
            return Ok((arguments.wire, None));
        }
        // Boxed: few calls get here, and all others would reserve the space for it.
        let visible = seen(redactor, &arguments.redacted)?;
        let decision = record.decision();
        let asked =
            self.approve((tool, registry), (arguments.redacted, visible, decision), reasons, call, ctx);
        let approved = Box::pin(asked).await?;
        let wire = Arguments::approved(spec, approved.arguments.clone())?.wire;
        Ok((wire, Some(approved)))
    }

    /// Returns a reason for an approval as people see it.
    fn reason(
        &self,
        reason: &str,
        redactor: Option<&ToolRedactor>,
        arguments: &Value,
        ctx: &ToolContext,
    ) -> Result<String, ToolError> {
        let (seen, secrets) = (seen(redactor, arguments)?, ctx.secrets().unwrap_or_default());
        self.redactor.reason(reason, &seen, &secrets).map_err(|error| not_shown(&error))
    }

    async fn ask(
        &self,
        layer: &dyn Layer,
        request: &ToolRequest<'_>,
    ) -> Result<MiddlewareDecision, ToolError> {
        let asked = with_timeout(Some(self.callback_timeouts.callbacks), async {
            match layer.decide(request) {
                None => MiddlewareDecision::Allow,
                Some(decided) => decided.await,
            }
        });
        let decided = request.ctx.caller_token().run_until_cancelled(asked).await;
        decided.ok_or(ToolError::Cancelled)?.map_err(|silence| {
            ToolError::denied(match silence {
                CallbackFailure::Panicked => "tool middleware panicked",
                CallbackFailure::TimedOut => "tool middleware did not respond in time",
            })
        })
    }

    /// Returns the call as approved. The request is sealed before the approver sees it: it can be stored and resumed,
    /// unless the call runs first.
    async fn approve(
        &self,
        (tool, registry): (&dyn AgentTool, &Registry),
        (arguments, visible, decision): (Value, Value, Option<Approval>),
        reasons: Vec<String>,
        call: &ToolCall,
        ctx: &ToolContext,
    ) -> Result<Box<ToolCall>, ToolError> {
        let before = call.brings();
        let name = tool.spec().name.to_text();
        let call = self.seals.waiting(call, name, arguments, before.inputs.clone(), ctx);
        let calls = callees(tool, registry);
        let request =
            ApprovalRequest { call, redacted_arguments: visible, calls, reasons, approver: Text::EMPTY };
        let waited = self.seals.seal(Waited::Approval(Box::new(request)), tool, registry)?;
        let Waited::Approval(request) = &waited else { return Err(waited.not_yet()) };
        let text = match (decision, &self.approver) {
            // The decision in the replayed run; the approver is not called.
            (Some(text), _) => text,
            (None, None) => Approval::Later,
            (None, Some(approver)) => {
                let asked = with_timeout(self.callback_timeouts.people, async {
                    approver.approve(request, ctx).await
                });
                match ctx.caller_token().run_until_cancelled(asked).await.ok_or(ToolError::Cancelled)? {
                    Ok(text) => text,
                    Err(CallbackFailure::TimedOut) => Approval::Later,
                    Err(CallbackFailure::Panicked) => return Err(ToolError::denied("the approval failed")),
                }
            }
        };
        let decision = match &text {
            Approval::Approved | Approval::ApprovedBy(_) => "approved",
            Approval::Rejected(_) => "rejected",
            Approval::Later => "later",
        };
        ctx.add_event(
            "toolgen.approval.decided",
            &[("toolgen.approval.decision", Attribute::Text(decision))],
        );
        let by = match text {
            Approval::Approved => Text::EMPTY,
            Approval::ApprovedBy(who) => who,
            Approval::Rejected(reason) => return Err(ToolError::denied(reason)),
            Approval::Later => {
                // The new request replaces the old one.
                self.seals.spend(&before.spends, self.callback_timeouts.callbacks).await?;
                self.seals.put(request, ctx, self.callback_timeouts.callbacks).await?;
                return Err(waited.not_yet());
            }
        };
        let approved = ToolCall::resumed(waited, None);
        let brings = approved.brings().clone();
        let spends = [&brings.spends[..], &before.spends[..]].concat();
        Ok(Box::new(approved.resuming(Resumption { approver: by, spends, ..brings })))
    }
}

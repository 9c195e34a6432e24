//! The decisions of middleware and approvers about a call.

use std::sync::Arc;

use serde_json::Value;
use toolgen_core::internal::{completed, to_wire_names};

use super::Layers;
use super::recording::Record;
use crate::base::frozen::Text;
use crate::call::ToolCall;
use crate::call::approval::ApprovalRequest;
use crate::call::callback::{CallbackFailure, with_timeout};
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::resumption::{Resumption, WaitingRequest};
use crate::call::span::Attribute;
use crate::call::tool::{AgentTool, decoded_for, parsed, read};
use crate::layers::approval::{callees, not_shown_error};
use crate::layers::layer::Layer;
use crate::layers::middleware::{Approval, MiddlewareDecision, ToolRequest};
use crate::layers::redact::ToolRedactor;
use crate::registry::Registry;
use crate::spec::ToolSpec;

/// The message for a model if middleware would change approved arguments.
const CHANGED: &str = "The call was not executed: a person approved these exact arguments, and middleware would \
                       have changed them.";

/// Valid arguments, under the names of the schema and under the wire names.
struct Arguments {
    /// The arguments for middleware and approvers, under the names of the schema.
    visible: Value,
    /// The arguments for the tool, under the wire names.
    wire: Value,
}

impl Arguments {
    fn checked(spec: &ToolSpec, sent: &Value, ctx: &ToolContext) -> Result<Arguments, ToolError> {
        let converted = read(spec, sent);
        let sent = converted.as_ref().unwrap_or(sent);
        let wire = decoded_for(spec, sent.clone(), ctx)?;
        let completed = completed(sent, &spec.input, &spec.defs, ctx.dialect());
        Ok(Arguments { visible: completed.map_err(ToolError::from_problems)?, wire })
    }

    /// Returns the arguments of an approved call.
    fn approved(spec: &ToolSpec, visible: Value) -> Result<Arguments, ToolError> {
        let wire = to_wire_names(&visible, &spec.input, &spec.defs).map_err(ToolError::from_problems)?;
        Ok(Arguments { visible, wire })
    }

    fn new(spec: &ToolSpec, call: &ToolCall, sent: Value, ctx: &ToolContext) -> Result<Arguments, ToolError> {
        if call.is_approved() {
            Arguments::approved(spec, sent)
        } else {
            Arguments::checked(spec, &sent, ctx)
        }
    }
}

/// Returns the redacted arguments for approvers, if they can be shown completely.
fn redacted(redactor: Option<&ToolRedactor>, arguments: &Value) -> Result<Value, ToolError> {
    redactor
        .map_or(Ok(Value::Null), |redactor| redactor.for_approval(arguments))
        .map_err(|error| not_shown_error(&error))
}

impl Layers {
    /// Lets all middleware check and change the arguments. Returns the arguments, and the approved call if it was just
    /// approved.
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
        let mut arguments = Arguments::new(spec, call, sent, ctx)?;
        record.set_completed(&|| {
            Arguments::approved(spec, arguments.visible.clone()).map(|arguments| arguments.wire)
        });
        let approved = &call.brings().approved;
        let mut reasons = Vec::new();
        for layer in layers {
            let request = ToolRequest { spec, arguments: &arguments.visible, ctx, approved };
            match self.ask_layer(&**layer, &request).await? {
                MiddlewareDecision::Allow => {}
                MiddlewareDecision::Modify(modified) if call.is_approved() => {
                    if modified != arguments.visible {
                        return Err(ToolError::denied(CHANGED));
                    }
                }
                MiddlewareDecision::Modify(modified) => {
                    arguments = Arguments::checked(spec, &parsed(modified)?, ctx)?;
                    let approved = || Arguments::approved(spec, arguments.visible.clone());
                    record.set_completed(&|| approved().map(|arguments| arguments.wire));
                    if let Some(redactor) = redactor {
                        redactor.hide_secrets(&arguments.visible, ctx);
                    }
                }
                MiddlewareDecision::Deny(reason) => return Err(ToolError::denied(reason)),
                MiddlewareDecision::Fail(error) => return Err(*error),
                MiddlewareDecision::NeedApproval(reason) => {
                    let reason = self.redacted_reason(&reason, redactor, &arguments.visible, ctx)?;
                    if !approved.contains(&reason) && !reasons.contains(&reason) {
                        reasons.push(reason);
                    }
                }
            }
        }
        if reasons.is_empty() {
            return Ok((arguments.wire, None));
        }
        // Boxed: few calls need an approval, and all others would reserve the space for it.
        let redacted = redacted(redactor, &arguments.visible)?;
        let decision = record.decision();
        let approval =
            self.approve((tool, registry), (arguments.visible, redacted, decision), reasons, call, ctx);
        let approved = Box::pin(approval).await?;
        let wire = Arguments::approved(spec, approved.arguments.clone())?.wire;
        Ok((wire, Some(approved)))
    }

    /// Redacts a reason for an approval, for people.
    fn redacted_reason(
        &self,
        reason: &str,
        redactor: Option<&ToolRedactor>,
        arguments: &Value,
        ctx: &ToolContext,
    ) -> Result<String, ToolError> {
        let (redacted, secrets) = (redacted(redactor, arguments)?, ctx.secrets().unwrap_or_default());
        self.redactor.reason(reason, &redacted, &secrets).map_err(|error| not_shown_error(&error))
    }

    async fn ask_layer(
        &self,
        layer: &dyn Layer,
        request: &ToolRequest<'_>,
    ) -> Result<MiddlewareDecision, ToolError> {
        let decide = with_timeout(Some(self.callback_timeouts.callbacks), async {
            match layer.decide(request) {
                None => MiddlewareDecision::Allow,
                Some(decision) => decision.await,
            }
        });
        let decision = request.ctx.caller_token().run_until_cancelled(decide).await;
        decision.ok_or(ToolError::Cancelled)?.map_err(|failure| {
            ToolError::denied(match failure {
                CallbackFailure::Panicked => "tool middleware panicked",
                CallbackFailure::TimedOut => "tool middleware did not respond in time",
            })
        })
    }

    /// Asks for an approval, and returns the approved call. The request is sealed before the approver sees it, so that
    /// it can be stored and resumed, unless the call runs first.
    async fn approve(
        &self,
        (tool, registry): (&dyn AgentTool, &Registry),
        (arguments, redacted_arguments, decision): (Value, Value, Option<Approval>),
        reasons: Vec<String>,
        call: &ToolCall,
        ctx: &ToolContext,
    ) -> Result<Box<ToolCall>, ToolError> {
        let previous = call.brings();
        let name = tool.spec().name.to_text();
        let call = self.seals.waiting(call, name, arguments, previous.inputs.clone(), ctx);
        let calls = callees(tool, registry);
        let request = ApprovalRequest { call, redacted_arguments, calls, reasons, approver: Text::EMPTY };
        let waited = self.seals.seal(WaitingRequest::Approval(Box::new(request)), tool, registry)?;
        let WaitingRequest::Approval(request) = &waited else { return Err(waited.into_error()) };
        let approval = match (decision, &self.approver) {
            // A replay has the recorded decision, so the approver is not called.
            (Some(approval), _) => approval,
            (None, None) => Approval::Later,
            (None, Some(approver)) => {
                let approve = with_timeout(self.callback_timeouts.people, async {
                    approver.approve(request, ctx).await
                });
                match ctx.caller_token().run_until_cancelled(approve).await.ok_or(ToolError::Cancelled)? {
                    Ok(approval) => approval,
                    Err(CallbackFailure::TimedOut) => Approval::Later,
                    Err(CallbackFailure::Panicked) => return Err(ToolError::denied("the approval failed")),
                }
            }
        };
        let decision = match &approval {
            Approval::Approved | Approval::ApprovedBy(_) => "approved",
            Approval::Rejected(_) => "rejected",
            Approval::Later => "later",
        };
        ctx.add_event(
            "toolgen.approval.decided",
            &[("toolgen.approval.decision", Attribute::Text(decision))],
        );
        let approver = match approval {
            Approval::Approved => Text::EMPTY,
            Approval::ApprovedBy(name) => name,
            Approval::Rejected(reason) => return Err(ToolError::denied(reason)),
            Approval::Later => {
                // The new request replaces the old one.
                self.seals.spend(&previous.spends, self.callback_timeouts.callbacks).await?;
                self.seals.put(request, ctx, self.callback_timeouts.callbacks).await?;
                return Err(waited.into_error());
            }
        };
        let approved = ToolCall::resumed(waited, None);
        let resumption = approved.brings().clone();
        let spends = [&resumption.spends[..], &previous.spends[..]].concat();
        Ok(Box::new(approved.resuming(Resumption { approver, spends, ..resumption })))
    }
}

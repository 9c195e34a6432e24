//! The decisions of middleware and approvers about a call.

use std::sync::Arc;

use serde_json::Value;
use toolgen_core::internal::{completed, under_wire_names};

use super::Layers;
use super::recording::Record;
use crate::base::frozen::Text;
use crate::call::ToolCall;
use crate::call::approval::ApprovalRequest;
use crate::call::callback::{Silence, answer};
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::resumption::{Resumption, Waited};
use crate::call::span::Attribute;
use crate::call::tool::{AgentTool, decoded_for, parsed, read};
use crate::layers::approval::{not_shown, told_below};
use crate::layers::layer::Layer;
use crate::layers::middleware::{Approval, Decision, ToolRequest};
use crate::layers::redact::ToolRedactor;
use crate::registry::Registry;
use crate::spec::ToolSpec;

/// The answer to a model when middleware would change what was approved.
const CHANGED: &str =
    "The call was not executed: it was approved as it is, and tool middleware wants to change it.";

/// Valid arguments in both forms.
struct Arguments {
    /// As middleware and approvers see them.
    shown: Value,
    /// As the tool gets them.
    wire: Value,
}

impl Arguments {
    fn checked(spec: &ToolSpec, sent: &Value, ctx: &ToolContext) -> Result<Arguments, ToolError> {
        let read = read(spec, sent);
        let sent = read.as_ref().unwrap_or(sent);
        let wire = decoded_for(spec, sent.clone(), ctx)?;
        let shown = completed(sent, &spec.input, &spec.defs, ctx.dialect());
        Ok(Arguments { shown: shown.map_err(ToolError::from_problems)?, wire })
    }

    /// Returns the arguments of an approved call.
    fn approved(spec: &ToolSpec, shown: Value) -> Result<Arguments, ToolError> {
        let wire = under_wire_names(&shown, &spec.input, &spec.defs).map_err(ToolError::from_problems)?;
        Ok(Arguments { shown, wire })
    }

    fn of(spec: &ToolSpec, call: &ToolCall, sent: Value, ctx: &ToolContext) -> Result<Arguments, ToolError> {
        if call.is_approved() {
            Arguments::approved(spec, sent)
        } else {
            Arguments::checked(spec, &sent, ctx)
        }
    }
}

/// Returns the arguments as those who approve the call see them, if they can be shown whole.
fn seen(redactor: Option<&ToolRedactor>, arguments: &Value) -> Result<Value, ToolError> {
    redactor
        .map_or(Ok(Value::Null), |redactor| redactor.for_approval(arguments))
        .map_err(|why| not_shown(&why))
}

impl Layers {
    /// Returns the arguments, checked and as all middleware left them, and the approved call if it was just approved.
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
        record.set_completed(&|| Arguments::approved(spec, arguments.shown.clone()).map(|whole| whole.wire));
        let approved = &call.brings().approved;
        let mut reasons = Vec::new();
        for layer in layers {
            let request = ToolRequest { spec, arguments: &arguments.shown, ctx, approved };
            match self.ask(&**layer, &request).await? {
                Decision::Allow => {}
                Decision::Modify(modified) if call.is_approved() => {
                    if modified != arguments.shown {
                        return Err(ToolError::denied(CHANGED));
                    }
                }
                Decision::Modify(modified) => {
                    arguments = Arguments::checked(spec, &parsed(modified)?, ctx)?;
                    let whole = || Arguments::approved(spec, arguments.shown.clone());
                    record.set_completed(&|| whole().map(|whole| whole.wire));
                    if let Some(redactor) = redactor {
                        redactor.hide_secrets(&arguments.shown, ctx);
                    }
                }
                Decision::Deny(why) => return Err(ToolError::denied(why)),
                Decision::NeedApproval(reason) => {
                    let reason = self.reason(&reason, redactor, &arguments.shown, ctx)?;
                    if !approved.contains(&reason) && !reasons.contains(&reason) {
                        reasons.push(reason);
                    }
                }
            }
        }
        if reasons.is_empty() {
            return Ok((arguments.wire, None));
        }
        // Boxed: few calls come here, and all would reserve the space for it.
        let shown = seen(redactor, &arguments.shown)?;
        let decision = record.decision();
        let asked = self.approve((tool, registry), (arguments.shown, shown, decision), reasons, call, ctx);
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
        self.redactor.reason(reason, &seen, &secrets).map_err(|why| not_shown(&why))
    }

    async fn ask(&self, layer: &dyn Layer, request: &ToolRequest<'_>) -> Result<Decision, ToolError> {
        let asked = answer(Some(self.patience.callbacks), async {
            match layer.decide(request) {
                None => Decision::Allow,
                Some(decided) => decided.await,
            }
        });
        let decided = request.ctx.caller_token().run_until_cancelled(asked).await;
        decided.ok_or(ToolError::Cancelled)?.map_err(|silence| {
            ToolError::denied(match silence {
                Silence::Panicked => "tool middleware panicked",
                Silence::Late => "tool middleware did not answer in time",
            })
        })
    }

    /// Returns the call as approved. The request is sealed before the approver sees it: it can be stored and resumed,
    /// unless the call runs before.
    async fn approve(
        &self,
        (tool, registry): (&dyn AgentTool, &Registry),
        (arguments, shown, decision): (Value, Value, Option<Approval>),
        reasons: Vec<String>,
        call: &ToolCall,
        ctx: &ToolContext,
    ) -> Result<Box<ToolCall>, ToolError> {
        let before = call.brings();
        let name = tool.spec().name.to_text();
        let call = self.seals.waiting(call, name, arguments, before.inputs.clone(), ctx);
        let calls = told_below(tool, registry);
        let request = ApprovalRequest { call, shown, calls, reasons, approver: Text::EMPTY };
        let waited = self.seals.seal(Waited::Approval(Box::new(request)), tool, registry)?;
        let Waited::Approval(request) = &waited else { return Err(waited.not_yet()) };
        let said = match (decision, &self.approver) {
            // What was decided in the run that is replayed; the approver is not asked.
            (Some(said), _) => said,
            (None, None) => Approval::Later,
            (None, Some(approver)) => {
                let asked = answer(self.patience.people, async { approver.approve(request, ctx).await });
                match ctx.caller_token().run_until_cancelled(asked).await.ok_or(ToolError::Cancelled)? {
                    Ok(said) => said,
                    Err(Silence::Late) => Approval::Later,
                    Err(Silence::Panicked) => return Err(ToolError::denied("the approval failed")),
                }
            }
        };
        let decision = match &said {
            Approval::Approved | Approval::ApprovedBy(_) => "approved",
            Approval::Rejected(_) => "rejected",
            Approval::Later => "later",
        };
        ctx.add_event(
            "toolgen.approval.decided",
            &[("toolgen.approval.decision", Attribute::Text(decision))],
        );
        let by = match said {
            Approval::Approved => Text::EMPTY,
            Approval::ApprovedBy(who) => who,
            Approval::Rejected(why) => return Err(ToolError::denied(why)),
            Approval::Later => {
                // The new request replaces the old one.
                self.seals.spend(&before.spends, self.patience.callbacks).await?;
                self.seals.put(request, ctx, self.patience.callbacks).await?;
                return Err(waited.not_yet());
            }
        };
        let approved = ToolCall::resumed(waited, None);
        let brings = approved.brings().clone();
        let spends = [&brings.spends[..], &before.spends[..]].concat();
        Ok(Box::new(approved.resuming(Resumption { approver: by, spends, ..brings })))
    }
}

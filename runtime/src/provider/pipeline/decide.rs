//! What middleware and those who approve say of a call.

use serde_json::Value;

use super::Layers;
use crate::base::future::caught;
use crate::call::ToolCall;
use crate::call::approval::{ApprovalRequest, not_yet};
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::tool::{decoded, parsed};
use crate::layers::middleware::{Approval, Decision, ToolRequest};
use crate::spec::ToolSpec;

impl Layers {
    /// Arguments, checked and as all middleware lets them pass.
    pub(super) async fn decide(
        &self,
        spec: &ToolSpec,
        mut arguments: Value,
        call: &ToolCall,
        ctx: &ToolContext,
    ) -> Result<Value, ToolError> {
        if self.middleware.is_empty() {
            return decoded(spec, arguments, ctx.dialect());
        }
        // Middleware sees what the model wrote, under the names the model knows.
        let mut checked = decoded(spec, arguments.clone(), ctx.dialect())?;
        let mut reasons = Vec::new();
        for middleware in &self.middleware {
            let request = ToolRequest { spec, arguments: &arguments, ctx };
            let asked = caught(async { middleware.before(&request).await });
            let decided = ctx.caller_token().run_until_cancelled(asked).await;
            match decided.ok_or(ToolError::Cancelled)? {
                Some(Decision::Allow) => {}
                Some(Decision::Modify(modified)) => {
                    arguments = parsed(modified)?;
                    checked = decoded(spec, arguments.clone(), ctx.dialect())?;
                }
                Some(Decision::Deny(why)) => return Err(ToolError::denied(why)),
                Some(Decision::NeedApproval(reason)) => reasons.push(reason),
                None => return Err(ToolError::denied("tool middleware panicked")),
            }
        }
        reasons.retain(|reason| !call.approved.contains(reason));
        if !reasons.is_empty() {
            let (id, name) = (call.id.clone(), spec.name.to_text());
            self.approve(ApprovalRequest { id, name, arguments, reasons }, ctx).await?;
        }
        Ok(checked)
    }

    async fn approve(&self, request: ApprovalRequest, ctx: &ToolContext) -> Result<(), ToolError> {
        let Some(approver) = &self.approver else { return Err(not_yet(request)) };
        let asked = caught(async { approver.approve(&request).await });
        match ctx.caller_token().run_until_cancelled(asked).await {
            None => Err(ToolError::Cancelled),
            Some(Some(Approval::Approved)) => Ok(()),
            Some(Some(Approval::Rejected(why))) => Err(ToolError::denied(why)),
            Some(Some(Approval::Later)) => Err(not_yet(request)),
            Some(None) => Err(ToolError::denied("the approval failed")),
        }
    }
}

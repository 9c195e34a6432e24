//! The arguments of a call before the tool gets them: the shortcut for valid text, and what requirements read of them.

use serde_json::Value;

use super::{Controls, Layers};
use crate::call::ToolCall;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::provider_context::FactoryError;
use crate::call::result::ToolResult;
use crate::call::tool::{decoded, exact_text, parsed};
use crate::function::input::BorrowedValue;
use crate::layers::depends::{self, Unmet};
use crate::layers::repeat::Guard;
use crate::provider::{Provider, ProviderError};
use crate::registry::Registry;
use crate::spec::ToolSpec;

impl Layers {
    /// Returns the arguments as they are in the text of the model, if they are valid as they are and no layer reads
    /// them before the tool does. Most calls are like that and need no [`Value`].
    pub(super) fn exact_arguments<'a>(
        &self,
        spec: &ToolSpec,
        call: &'a ToolCall,
        guard: Option<&Guard<'_>>,
        ctx: &ToolContext,
    ) -> Option<BorrowedValue<'a>> {
        // Every layer is named, so that a new one does not compile before it says here whether it reads arguments.
        let Layers {
            middleware,
            // An input handler may run the tool again with the same arguments.
            controls: Controls { input, effects: _ },
            // Both read the call as it was sent; what they show is not what the tool gets.
            hooks: _,
            on_event: _,
            // Hides secrets in what other layers show of the call as it was sent.
            redactor: _,
            #[cfg(feature = "audit")]
                auditor: _,
            // Compares the call as it was sent, as a record has it.
            #[cfg(feature = "audit")]
                replay: _,
            trace: _,
            // Reads the arguments of a call that was refused.
            voice: _,
            #[cfg(feature = "otel")]
                otel: _,
            // Asked only if a middleware requires approval.
            approver: _,
            seals: _,
            patience: _,
            // Reads arguments only after failures, which `guard` reports.
            repeats: _,
            // Reads arguments only of tools with requirements.
            dependencies: _,
            default_timeout: _,
            nested_calls: _,
            exclusion: _,
            rate: _,
            breaker: _,
            // Those of the program see no arguments.
            added: _,
            pages: _,
        } = self;
        let read_by_a_layer = !middleware.is_empty()
            || input.is_some()
            || !spec.requires.is_empty()
            || !guard.is_none_or(Guard::remembers_nothing);
        match &call.arguments {
            Value::String(text) if !read_by_a_layer => exact_text(spec, text, ctx.dialect()),
            _ => None,
        }
    }

    /// Checks the requirements of the tool before a call, and returns the optional ones that do not hold. The look-ups
    /// use what the tool would see; invalid arguments are reported once all requirements hold.
    pub(super) async fn require(
        &self,
        spec: &ToolSpec,
        arguments: Option<&Value>,
        ctx: &ToolContext,
        registry: &Registry,
    ) -> Result<Vec<Unmet>, ToolError> {
        if spec.requires.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(why) = FactoryError::lacking(spec, ctx.services()) {
            return Err(unbuilt(spec, why));
        }
        let sent = arguments.unwrap_or(&Value::Null);
        let checked =
            depends::asks_of_arguments(spec).then(|| decoded(spec, sent.clone(), ctx.dialect()).ok());
        self.dependencies.check(spec, checked.flatten().as_ref().unwrap_or(sent), ctx, registry).await
    }
}

impl Provider {
    /// Tells what is wrong with the arguments of a call in the words of the provider.
    pub(super) fn voice(
        &self,
        outcome: &mut Result<ToolResult, ToolError>,
        call: &ToolCall,
        index: Option<usize>,
    ) {
        let inner = self.inner();
        if let (Err(error @ ToolError::InvalidArgs { .. }), Some(voice), Some(index)) =
            (outcome, &inner.layers.voice, index)
        {
            let sent = parsed(call.arguments.clone()).unwrap_or_default();
            *error = voice.tell(error.clone(), inner.registry.at(index).spec(), &sent);
        }
    }
}

/// The answer to a call of a tool that lacks a service: a model can only report it.
fn unbuilt(spec: &ToolSpec, why: FactoryError) -> ToolError {
    let remedy = format!(
        "{why}: give the provider's context one of that type (`ProviderContext::with_service`), or by that name \
         (`with_named_service`)"
    );
    let why = ProviderError::Create { name: spec.name.to_string(), why };
    ToolError::failed_with("SERVICE_UNAVAILABLE", why.to_string()).with_operator_detail(remedy)
}

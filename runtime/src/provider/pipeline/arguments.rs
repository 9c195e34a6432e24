//! The arguments of a call before the tool gets them: the shortcut for valid text, and what requirements read of them.

use serde_json::Value;

use super::Layers;
use crate::call::ToolCall;
use crate::call::error::ToolError;
use crate::call::provider_context::FactoryError;
use crate::call::result::ToolResult;
use crate::call::tool::{exact_text, parsed};
use crate::function::input::BorrowedValue;
use crate::layers::layer::Invocation;
use crate::provider::{Provider, ProviderError};
use crate::spec::ToolSpec;

impl Layers {
    /// Returns the arguments as they are in the text of the model, if they are valid as they are and nothing reads them
    /// before the tool does. Most calls are like that and need no [`Value`].
    pub(super) fn exact_arguments<'a>(
        &self,
        call: &'a ToolCall,
        seen: &Invocation<'_>,
    ) -> Option<BorrowedValue<'a>> {
        let Value::String(text) = &call.arguments else { return None };
        // An input handler may run the tool again with the same arguments.
        let are_read = !self.middleware.is_empty()
            || self.controls.input.is_some()
            || seen.layers().arguments.iter().any(|layer| layer.reads_arguments(seen));
        if are_read { None } else { exact_text(seen.spec(), text, seen.ctx().dialect()) }
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
pub(super) fn unbuilt(spec: &ToolSpec, why: FactoryError) -> ToolError {
    let remedy = format!(
        "{why}: give the provider's context one of that type (`ProviderContext::with_service`), or by that name \
         (`with_named_service`)"
    );
    let why = ProviderError::Create { name: spec.name.to_string(), why };
    ToolError::failed_with("SERVICE_UNAVAILABLE", why.to_string()).with_operator_detail(remedy)
}

//! Who does what tools ask to be done.

use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::control::Effect;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;

/// The code of a call whose effect nobody handles.
pub const EFFECT_UNHANDLED: &str = "EFFECT_UNHANDLED";

/// The code of a call whose effect was handled badly: the handler panicked, or asked for something itself.
pub const EFFECT_FAILED: &str = "EFFECT_FAILED";

/// Does what tools ask to be done outside of them, and gives what came of it: that is the result of the call.
///
/// Set with [`ProviderBuilder::effect`](crate::provider::ProviderBuilder::effect). It may take as long as it must,
/// the time of the tool does not run; when the call is given up it is dropped. Functions are handlers:
///
/// ```
/// # use serde_json::json;
/// use toolgen_runtime::call::control::Effect;
/// use toolgen_runtime::{Provider, Registry, ToolCall, ToolContext, ToolResult, tool, toolset};
///
/// /// Pages whoever is on duty.
/// #[tool]
/// fn page_duty() -> Effect {
///     Effect::new("page", json!({"team": "storage"}))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let provider = Provider::builder(&Registry::new(toolset![page_duty])?)
///     .effect("page", |effect: Effect, _ctx: ToolContext| async move {
///         Ok(ToolResult::text(format!("paged {}", effect.data["team"])))
///     })
///     .build()?;
/// let call = ToolCall::new("call-1", "page_duty", json!({}));
/// assert_eq!(provider.call(call, &ToolContext::new("turn-1", "")).await.text(), "paged \"storage\"");
/// # Ok(())
/// # }
/// ```
pub trait EffectHandler: Send + Sync {
    /// Does it. The context is that of the call.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from being done; the call is answered with it.
    fn handle<'a>(
        &'a self,
        effect: &'a Effect,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>>;
}

impl<F, Done> EffectHandler for F
where
    F: Fn(Effect, ToolContext) -> Done + Send + Sync,
    Done: Future<Output = Result<ToolResult, ToolError>> + Send,
{
    fn handle<'a>(
        &'a self,
        effect: &'a Effect,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        // Called when it is polled: what panics then is caught.
        Box::pin(async move { self(effect.clone(), ctx.clone()).await })
    }
}

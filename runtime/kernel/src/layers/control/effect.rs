//! Handlers of effects.

use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::control::Effect;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;

/// The code of a call whose effect has no handler.
pub const EFFECT_UNHANDLED: &str = "EFFECT_UNHANDLED";

/// The code of a call whose effect handler panicked, timed out, or requested an effect or input itself.
pub const EFFECT_FAILED: &str = "EFFECT_FAILED";

/// Performs an effect that a tool requests, outside of the tool. The handler's result is the result of the call.
///
/// Set it with [`ToolboxBuilder::effect`](crate::toolbox::ToolboxBuilder::effect). The handler has no timeout, because
/// that of the tool does not apply; its future is dropped when the call is abandoned. Functions are also handlers:
///
/// ```
/// # use serde_json::json;
/// use toolgen_runtime::call::control::Effect;
/// use toolgen_runtime::{Toolbox, Registry, ToolCall, ToolContext, Turn, ToolResult, tool, toolset};
///
/// /// Pages whoever is on duty.
/// #[tool]
/// fn page_duty() -> Effect {
///     Effect::new("page", json!({"team": "storage"}))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let toolbox = Toolbox::builder(&Registry::new(toolset![page_duty])?)
///     .effect("page", |effect: Effect, _ctx: ToolContext| async move {
///         Ok(ToolResult::text(format!("paged {}", effect.data["team"])))
///     })
///     .build()?;
/// let call = ToolCall::new("call-1", "page_duty", json!({}));
/// assert_eq!(toolbox.run(call, &Turn::new("turn-1")).await.text(), "paged \"storage\"");
/// # Ok(())
/// # }
/// ```
pub trait EffectHandler: Send + Sync {
    /// Performs the effect. The context is that of the call.
    ///
    /// # Errors
    ///
    /// Returns the reason why the effect could not be performed, which becomes the error of the call.
    fn handle<'a>(
        &'a self,
        effect: &'a Effect,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>>;
}

impl<F, Fut> EffectHandler for F
where
    F: Fn(Effect, ToolContext) -> Fut + Send + Sync,
    Fut: Future<Output = Result<ToolResult, ToolError>> + Send,
{
    fn handle<'a>(
        &'a self,
        effect: &'a Effect,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        // Called inside the future, so that a panic is caught.
        Box::pin(async move { self(effect.clone(), ctx.clone()).await })
    }
}

//! Tools that are built on first use.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::{FactoryError, ToolboxContext};
use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::tool::AgentTool;
use crate::spec::{Effects, ToolSpec};

/// Builds a tool from the context of a toolbox.
type Create = dyn Fn(&ToolboxContext) -> Result<Arc<dyn AgentTool>, FactoryError> + Send + Sync;

/// A tool that is built for each [`Toolbox`](super::Toolbox) on first use.
///
/// ```
/// use std::sync::Arc;
/// use toolgen_runtime::toolbox::{FactoryError, ToolboxContext, ToolFactory};
/// # use toolgen_runtime::{AgentTool, BoxFuture, Registry, ToolContext, ToolError, ToolName, ToolResult, ToolSpec};
/// # use serde_json::Value;
/// # struct Chat;
/// # struct Post(Arc<Chat>);
/// # static POST: ToolSpec = ToolSpec { name: ToolName::new("chat_post"), ..ToolSpec::EMPTY };
/// # impl AgentTool for Post {
/// #     fn spec(&self) -> &ToolSpec { &POST }
/// #     fn execute<'a>(&'a self, _: Value, _: &'a ToolContext) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
/// #         Box::pin(async { Ok(ToolResult::empty()) })
/// #     }
/// # }
/// let post = ToolFactory::new(POST.clone(), |ctx: &ToolboxContext| {
///     let chat = ctx.service::<Chat>().ok_or_else(|| FactoryError::requires("chat_post", "a chat service"))?;
///     Ok(Post(chat))
/// });
/// let toolbox = Registry::builder().add(post).seal()?.toolbox(ToolboxContext::new());
/// let missing = toolbox.get("chat_post").err().map(|error| error.to_string());
/// assert_eq!(
///     missing.as_deref(),
///     Some("failed to create tool 'chat_post': chat_post tool requires a chat service")
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ToolFactory {
    spec: ToolSpec,
    confined: bool,
    create: Arc<Create>,
}

impl ToolFactory {
    /// Creates a factory for a tool with this specification.
    pub fn new<T: AgentTool + 'static>(
        spec: ToolSpec,
        create: impl Fn(&ToolboxContext) -> Result<T, FactoryError> + Send + Sync + 'static,
    ) -> ToolFactory {
        let create = move |ctx: &ToolboxContext| Ok(Arc::new(create(ctx)?) as Arc<dyn AgentTool>);
        ToolFactory { spec, confined: false, create: Arc::new(create) }
    }

    /// Declares that the tools do all their work through the executor of the context, which enforces the limits of the
    /// context, see [`EffectLimits::confine`](crate::call::limits::EffectLimits::confine). A tool that runs arbitrary
    /// commands is then allowed even if changes and network access are forbidden, because the executor prevents both.
    #[must_use]
    pub fn confined(mut self) -> ToolFactory {
        self.confined = true;
        self
    }
}

impl AgentTool for ToolFactory {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(
        &'a self,
        _params: Value,
        _ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        let error = ToolError::failed(format!("{} is only available through a toolbox", self.spec.name));
        Box::pin(std::future::ready(Err(error)))
    }

    fn bind(&self, ctx: &ToolboxContext) -> Option<Result<Arc<dyn AgentTool>, FactoryError>> {
        Some((self.create)(ctx))
    }

    fn effects_in_context(&self, ctx: &ToolboxContext) -> Effects {
        if self.confined { ctx.limits.confine(&self.spec.effects) } else { self.spec.effects.clone() }
    }
}

impl fmt::Debug for ToolFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolFactory").field(&self.spec.name.as_str()).finish()
    }
}

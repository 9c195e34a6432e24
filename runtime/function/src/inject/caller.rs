//! Parameters that come from the caller of a tool: context values, session and principal.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;

use super::Inject;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::context_values::{ContextValues, is_given};
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::principal::Principal;
use toolgen_kernel::call::session::Session;
use toolgen_kernel::call::unmet_requirements;

/// A type that is read from a value of a call's context, for [`FromContext`].
///
/// ```
/// use serde_json::Value;
/// use toolgen_runtime::function::inject::ContextValue;
///
/// struct WorkspaceId(i64);
///
/// impl ContextValue for WorkspaceId {
///     const KEY: &'static str = "workspace_id";
///
///     fn read(value: &Value) -> Option<Self> {
///         value.as_i64().map(WorkspaceId)
///     }
/// }
/// ```
pub trait ContextValue: Sized {
    /// The key of the value.
    const KEY: &'static str;

    /// Whether only a trusted value is accepted. Set this to `false` for values that clients may choose, such as a
    /// session ID.
    const TRUSTED: bool = true;

    /// Reads a value that is neither `null` nor empty. Returns `None` if it has the wrong type.
    fn read(value: &Value) -> Option<Self>;
}

/// A required value of the call's context. Without the value, the tool cannot run.
///
/// ```
/// # use serde_json::{Value, json};
/// # use toolgen_runtime::function::inject::ContextValue;
/// # use toolgen_runtime::{ContextValues, ToolError, Turn, testing};
/// use toolgen_runtime::{function::inject::FromContext, tool};
///
/// # struct WorkspaceId(i64);
/// # impl ContextValue for WorkspaceId {
/// #     const KEY: &'static str = "workspace_id";
/// #     fn read(value: &Value) -> Option<Self> {
/// #         value.as_i64().map(WorkspaceId)
/// #     }
/// # }
/// /// Creates a plan.
/// #[tool(undocumented)]
/// fn plan_create(#[inject] workspace: FromContext<WorkspaceId>, title: String) -> String {
///     format!("{title} in {}", workspace.0)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tool = plan_create::tool();
/// let error = testing::call(&tool, json!({"title": "Launch"})).await.unwrap_err();
/// let text = "workspace_id is required. Ensure you have authenticated with a valid API key.";
/// assert_eq!(error.to_string(), text);
///
/// let values = ContextValues::default().with_trusted("workspace_id", 7);
/// let ctx = Turn::default().with_values(values).call_context("1", "plan_create");
/// let result = testing::call_in(&tool, json!({"title": "Launch"}), &ctx).await?;
/// assert_eq!(result.to_text(), "Launch in 7");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FromContext<T>(T);

impl<T> FromContext<T> {
    /// Returns the value.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    #[must_use]
    pub fn into_inner(this: FromContext<T>) -> T {
        this.0
    }
}

impl<T> Deref for FromContext<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ContextValue> Inject<'_> for FromContext<T> {
    fn inject(ctx: &ToolContext) -> Result<Self, ToolError> {
        let values = ctx.values();
        let value = if T::TRUSTED { values.trusted(T::KEY) } else { values.get(T::KEY) };
        let Some(value) = value.filter(|value| is_given(value)) else {
            return Err(missing_value(T::KEY, ctx));
        };
        let type_name = std::any::type_name::<T>();
        T::read(value).map(FromContext).ok_or_else(|| {
            ToolError::failed_with(unmet_requirements::CODE, format!("{} is not valid.", T::KEY))
                .with_operator_detail(format!(
                    "the value of `{}` in the context is not a `{type_name}`",
                    T::KEY
                ))
        })
    }
}

/// The URL of the instructions for authentication. If it is provided as a service, authentication errors contain it.
///
/// ```
/// # use std::sync::Arc;
/// # use toolgen_runtime::{function::inject::HelpUrl, toolbox::ToolboxContext};
/// let context = ToolboxContext::new().with_service(Arc::new(HelpUrl::new("https://example.com/keys")));
/// # let _ = context;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelpUrl(Text);

impl HelpUrl {
    /// Creates the help URL.
    pub fn new(url: impl Into<Text>) -> HelpUrl {
        HelpUrl(url.into())
    }
}

fn missing_value(key: &str, ctx: &ToolContext) -> ToolError {
    let mut text = format!("{key} is required. Ensure you have authenticated with a valid API key.");
    if let Some(help) = ctx.service::<HelpUrl>() {
        text.push_str(&format!(" See: {}", help.0));
    }
    ToolError::failed_with(unmet_requirements::CODE, text)
}

/// State of type `T` in the session of the call, see [`Session::state`].
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use toolgen_runtime::{function::inject::SessionState, tool};
///
/// /// Counts.
/// #[tool(undocumented)]
/// fn count(#[inject] counter: SessionState<AtomicU32>) -> u32 {
///     counter.fetch_add(1, Ordering::Relaxed) + 1
/// }
/// ```
pub struct SessionState<T>(Arc<T>);

impl<T> SessionState<T> {
    /// Returns the state, to keep it.
    ///
    /// This is an associated function, so that it does not hide a method of the state.
    #[must_use]
    pub fn into_inner(this: SessionState<T>) -> Arc<T> {
        this.0
    }
}

impl<T> Clone for SessionState<T> {
    fn clone(&self) -> Self {
        SessionState(Arc::clone(&self.0))
    }
}

impl<T> Deref for SessionState<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for SessionState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionState<{}>", std::any::type_name::<T>())
    }
}

impl<T: Default + Send + Sync + 'static> Inject<'_> for SessionState<T> {
    fn inject(ctx: &ToolContext) -> Result<Self, ToolError> {
        <&Session>::inject(ctx).map(|session| SessionState(session.state()))
    }
}

impl<'a> Inject<'a> for &'a Session {
    fn inject(ctx: &'a ToolContext) -> Result<Self, ToolError> {
        ctx.session()
            .ok_or_else(|| ToolError::failed_with(unmet_requirements::CODE, "Active session required."))
    }
}

impl Inject<'_> for Session {
    fn inject(ctx: &ToolContext) -> Result<Self, ToolError> {
        <&Session>::inject(ctx).cloned()
    }
}

impl<'a> Inject<'a> for &'a ContextValues {
    fn inject(ctx: &'a ToolContext) -> Result<Self, ToolError> {
        Ok(ctx.values())
    }
}

impl<'a> Inject<'a> for &'a Principal {
    fn inject(ctx: &'a ToolContext) -> Result<Self, ToolError> {
        ctx.principal()
            .ok_or_else(|| ToolError::denied("Ensure you have authenticated with a valid API key."))
    }
}

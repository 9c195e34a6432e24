//! Parameters that the program supplies, not the model.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;

mod caller;

pub use caller::{ContextValue, FromContext, HelpUrl, SessionState};

/// A parameter of a `#[tool]` function that comes from the context of the call and does not appear in the schema.
///
/// `&ToolContext`, [`CancellationToken`], [`Progress`] and [`Service`] are recognized by name. A parameter of another
/// type that implements this trait is marked `#[inject]`: [`FromContext`], [`SessionState`],
/// [`Session`](toolgen_kernel::Session), [`&Principal`](toolgen_kernel::Principal), and types of your program.
///
/// ```
/// use toolgen_runtime::function::inject::Inject;
/// use toolgen_runtime::{Text, ToolContext, ToolError};
///
/// struct CallId(Text);
///
/// impl Inject<'_> for CallId {
///     fn inject(ctx: &ToolContext) -> Result<Self, ToolError> {
///         Ok(CallId(ctx.tool_call_id.clone()))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected into a tool",
    label = "the context of a call does not contain it",
    note = "`&ToolContext`, `CancellationToken`, `Progress` and `Service<T>` can be; implement `Inject` for your own types",
    note = "if the model passes it, mark the parameter with `#[arg]`"
)]
pub trait Inject<'a>: Sized {
    /// Takes the value from the context.
    ///
    /// # Errors
    ///
    /// Returns an error if the context does not contain the value.
    fn inject(ctx: &'a ToolContext) -> Result<Self, ToolError>;
}

impl<'a> Inject<'a> for &'a ToolContext {
    fn inject(ctx: &'a ToolContext) -> Result<Self, ToolError> {
        Ok(ctx)
    }
}

impl Inject<'_> for ToolContext {
    fn inject(ctx: &ToolContext) -> Result<Self, ToolError> {
        Ok(ctx.clone())
    }
}

impl Inject<'_> for CancellationToken {
    fn inject(ctx: &ToolContext) -> Result<Self, ToolError> {
        Ok(ctx.cancel().clone())
    }
}

impl<'a> Inject<'a> for &'a CancellationToken {
    fn inject(ctx: &'a ToolContext) -> Result<Self, ToolError> {
        Ok(ctx.cancel())
    }
}

/// Reports the progress of a call to people.
#[derive(Clone, Debug)]
pub struct Progress(ToolContext);

impl Progress {
    /// Reports a line of progress.
    pub fn report(&self, line: impl Into<String>) {
        self.0.progress(line);
    }

    /// Reports a partial result.
    pub fn update(&self, result: ToolResult) {
        self.0.update(result);
    }
}

impl Inject<'_> for Progress {
    fn inject(ctx: &ToolContext) -> Result<Self, ToolError> {
        Ok(Progress(ctx.clone()))
    }
}

/// A service of the program, provided by [`Turn::with_service`](toolgen_kernel::Turn::with_service). It dereferences to the object.
///
/// ```
/// use std::sync::Mutex;
/// use toolgen_runtime::{Service, tool};
///
/// struct Notes(Mutex<Vec<String>>);
///
/// /// Adds a note.
/// #[tool(undocumented)]
/// fn add_note(notes: Service<Notes>, text: String) {
///     notes.0.lock().unwrap().push(text);
/// }
/// ```
pub struct Service<T: ?Sized>(Arc<T>);

impl<T: ?Sized> Service<T> {
    /// Returns the shared object, to keep it.
    ///
    /// This is an associated function, so that it does not hide a method of the object.
    #[must_use]
    pub fn into_inner(this: Service<T>) -> Arc<T> {
        this.0
    }
}

impl<T: ?Sized> Clone for Service<T> {
    fn clone(&self) -> Self {
        Service(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> Deref for Service<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> fmt::Debug for Service<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Service<{}>", std::any::type_name::<T>())
    }
}

impl<T: Send + Sync + ?Sized + 'static> Inject<'_> for Service<T> {
    fn inject(ctx: &ToolContext) -> Result<Self, ToolError> {
        ctx.service::<T>().map(Service).ok_or_else(|| {
            let detail =
                format!("no service of type `{}` in the context of the call", std::any::type_name::<T>());
            ToolError::failed_with("SERVICE_UNAVAILABLE", "a service this tool needs is not available")
                .with_operator_detail(detail)
        })
    }
}

impl<'a, T: Inject<'a>> Inject<'a> for Option<T> {
    fn inject(ctx: &'a ToolContext) -> Result<Self, ToolError> {
        Ok(T::inject(ctx).ok())
    }
}

/// Takes a parameter from the context.
#[doc(hidden)]
pub fn inject<'a, T: Inject<'a>>(ctx: &'a ToolContext) -> Result<T, ToolError> {
    T::inject(ctx)
}

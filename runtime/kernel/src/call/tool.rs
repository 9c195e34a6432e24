//! The tool trait, and calls of a tool that bypass all layers.

mod execute;
mod forward;
mod projection;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgen_core::internal::{BorrowedValue, coerce_strings, is_exact, rounded_integers};

use crate::base::depth::{MAX_DEPTH, shallow};
use crate::base::future::BoxFuture;
use crate::base::json::type_name;
use crate::call::context::{Ending, ToolContext};
use crate::call::error::ToolError;
use crate::call::result::ToolResult;

use crate::call::toolbox_context::{FactoryError, ToolboxContext};
use crate::schema::dialect::{Dialect, JSON_SCHEMA};
use crate::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind, decode_owned};
use crate::schema::shape::render::render_input;
use crate::spec::projection::path_problems;
use crate::spec::{Effects, Timeout, ToolSpec};

pub(crate) use execute::{Projects, execute, guarded};
pub use forward::IntoTool;

/// A call that has started.
#[doc(hidden)]
#[expect(clippy::large_enum_variant, reason = "moved once; a box would cost the allocation that it saves")]
pub enum Execution<'a> {
    /// The call has finished.
    Finished(Result<ToolResult, ToolError>),
    /// The call is still running.
    Running(BoxFuture<'a, Result<ToolResult, ToolError>>),
}

impl std::fmt::Debug for Execution<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Execution::Finished(_) => "Finished",
            Execution::Running(_) => "Running",
        })
    }
}

/// A tool that a model can call.
///
/// Generated code and the macros implement it; a manual implementation needs two functions:
///
/// ```
/// use serde_json::Value;
/// use toolgen_runtime::{
///     AgentTool, BoxFuture, Effects, Text, ToolContext, ToolError, ToolName, ToolResult, ToolSpec,
/// };
///
/// struct Clock;
///
/// static SPEC: ToolSpec = ToolSpec {
///     name: ToolName::new("clock"),
///     description: Text::Static("Tells the time."),
///     effects: Effects::NONE,
///     ..ToolSpec::EMPTY
/// };
///
/// impl AgentTool for Clock {
///     fn spec(&self) -> &ToolSpec {
///         &SPEC
///     }
///
///     fn execute<'a>(
///         &'a self,
///         _params: Value,
///         _ctx: &'a ToolContext,
///     ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
///         Box::pin(async { Ok(ToolResult::text("noon")) })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    note = "a function with `#[tool]` is listed by its name in `toolset![…]`, and is `NAME::tool()` elsewhere",
    note = "other types implement `AgentTool`: `spec` and `execute` are enough"
)]
pub trait AgentTool: Send + Sync {
    /// The specification of the tool.
    fn spec(&self) -> &ToolSpec;

    /// Runs the tool. Only a [`Toolbox`](crate::Toolbox) and [`call_without_layers`] call this function. They check
    /// `params` first and pass them decoded: an object with the fields of the specification under their wire names.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool cannot produce a result.
    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>>;

    /// Builds the tool for a toolbox, if each toolbox has its own instance. Returns `None` if the tool itself serves
    /// every toolbox. See [`ToolFactory`](crate::toolbox::ToolFactory).
    fn bind(&self, ctx: &ToolboxContext) -> Option<Result<Arc<dyn AgentTool>, FactoryError>> {
        let _ = ctx;
        None
    }

    /// The effects of the tool in a toolbox: the declared effects, unless the tool knows that the context restricts
    /// it further. A toolbox refuses a tool whose effects exceed what its context allows.
    fn effects_in_context(&self, ctx: &ToolboxContext) -> Effects {
        let _ = ctx;
        self.spec().effects.clone()
    }

    /// The action of the tool beyond what its specification declares, as any stable string without secrets: for an
    /// HTTP request, a digest of its method, URL and encoding. A call that waits for an approval cannot be resumed
    /// after this has changed.
    fn action(&self) -> Option<String> {
        None
    }

    /// The specifications of the tools that only this tool uses: the tools of a sub-agent. Lists and rules of a toolbox
    /// may name these tools, and apply to them.
    fn own_tools(&self) -> Vec<&ToolSpec> {
        Vec::new()
    }

    /// The names of the tools of the same toolbox that the tool calls, if they are known before a call: the steps of
    /// a composition. The approver of a call sees them; the call cannot be resumed after one of them has changed.
    fn called_tools(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Additional search terms besides those of its specification: the path of an HTTP request.
    fn search_terms(&self) -> &str {
        ""
    }

    /// Like [`execute`](Self::execute), for arguments that were read without building a [`Value`].
    ///
    /// # Errors
    ///
    /// The errors of [`execute`](Self::execute).
    #[doc(hidden)]
    fn execute_borrowed<'a>(&'a self, arguments: BorrowedValue<'a>, ctx: &'a ToolContext) -> Execution<'a> {
        Execution::Running(self.execute(arguments.into_value(), ctx))
    }

    /// The name that a model calls.
    fn name(&self) -> &str {
        self.spec().name.as_str()
    }

    /// A short title for people; the name if there is none.
    fn label(&self) -> &str {
        let spec = self.spec();
        if spec.label.is_empty() { spec.name.as_str() } else { &spec.label }
    }

    /// The description of the tool.
    fn description(&self) -> &str {
        &self.spec().description
    }

    /// The schema of the arguments, as plain JSON Schema 2020-12.
    fn parameters_schema(&self) -> Value {
        let spec = self.spec();
        // Plain JSON Schema can express everything; the fallback is valid for any tool.
        render_input(&spec.input, &spec.defs, &JSON_SCHEMA)
            .map_or_else(|_| json!({ "type": "object" }), |rendered| rendered.schema)
    }

    /// The documentation of the tool, for a system prompt.
    fn prompt_documentation(&self) -> String {
        crate::spec::docs::detail(self.spec())
    }
}

/// The timeout of a tool that sets none: 30 seconds.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Returns the time limit of a call: the tool's own timeout or the default, but at most the time that the caller
/// grants. `None` means no limit.
#[doc(hidden)]
#[must_use]
pub fn time_limit(spec: &ToolSpec, default: Duration, granted: Option<Duration>) -> Option<Duration> {
    let timeout = match spec.timeout {
        Timeout::Default => Some(default),
        Timeout::Millis(millis) => Some(Duration::from_millis(millis)),
        Timeout::Never => None,
    };
    match (timeout, granted) {
        (Some(timeout), Some(granted)) => Some(timeout.min(granted)),
        (timeout, granted) => timeout.or(granted),
    }
}

/// Calls a tool without any layers: for tests, and for calls that your program makes itself and is responsible for.
/// Calls of a model must go through [`Toolbox::call`](crate::Toolbox::call).
///
/// Checks the arguments, enforces the timeout and cancellation regardless of the tool, and catches a panic of the
/// tool. Skips everything else: lists of tools, rules and limits, scopes, rate limits, requirements, guards,
/// middleware and approval, hooks, events and audit records. The call is not reported anywhere, and its principal is
/// not checked.
///
/// `params` is what a model sent: an object, a string that contains an object (some vendors send arguments as a
/// string), or `null` for no arguments.
///
/// # Errors
///
/// Returns [`ToolError::InvalidArgs`] with all problems; [`ToolError::Cancelled`] or [`ToolError::Timeout`], in which
/// case the tool is dropped and the token of its context fires; `tool panicked`, without the details, which a model
/// must not see; or any error of the tool.
pub async fn call_without_layers(
    tool: &dyn AgentTool,
    params: Value,
    ctx: &ToolContext,
    default_timeout: Duration,
) -> Result<ToolResult, ToolError> {
    let spec = tool.spec();
    let text;
    let arguments = match params {
        Value::String(string) => {
            text = string;
            match exact_text(spec, &text, ctx.dialect()) {
                Some(arguments) => arguments,
                None => decoded_for(spec, parsed(Value::from(text.as_str()))?, ctx)?.into(),
            }
        }
        params => decoded_for(spec, parsed(params)?, ctx)?.into(),
    };
    let inner = ctx.child(ctx.tool_call_id.clone(), spec.name.to_text());
    let _ending = Ending(&inner);
    let limit = time_limit(spec, default_timeout, ctx.timeout());
    execute(tool, arguments, &inner, limit, Projects::Fields).await
}

/// Returns the arguments in a string, if they are valid without changes.
pub(crate) fn exact_text<'t>(spec: &ToolSpec, text: &'t str, dialect: &Dialect) -> Option<BorrowedValue<'t>> {
    // The paths of a projection are checked against the result.
    if !spec.projection.is_empty() {
        return None;
    }
    BorrowedValue::read(text).filter(|arguments| is_exact(arguments, &spec.input, &spec.defs, dialect))
}

/// Checks and decodes the arguments a model sent.
///
/// # Errors
///
/// Returns [`ToolError::InvalidArgs`] with all problems.
#[doc(hidden)]
pub fn arguments(spec: &ToolSpec, params: Value, dialect: &Dialect) -> Result<Value, ToolError> {
    decoded(spec, parsed(params)?, dialect)
}

/// Returns the object that a model sent, directly or as a string. Missing arguments become an empty object.
#[doc(hidden)]
pub fn parsed(params: Value) -> Result<Value, ToolError> {
    let invalid = |message: String| {
        let kind = ArgumentProblemKind::Type;
        ToolError::from_problems(vec![ArgumentProblem { pointer: String::new(), kind, message }])
    };
    let Some(params) = shallow(params) else {
        return Err(invalid(format!("the arguments are nested more than {MAX_DEPTH} levels deep")));
    };
    let params = match params {
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::String(text) => {
            let params = serde_json::from_str(&text)
                .map_err(|error| invalid(format!("the arguments are not JSON: {error}")))?;
            let rounded = rounded_integers(&text, &params);
            if !rounded.is_empty() {
                return Err(ToolError::from_problems(rounded));
            }
            params
        }
        params => params,
    };
    match params {
        Value::Object(_) => Ok(params),
        Value::Null => Ok(json!({})),
        _ => Err(invalid(format!("Expected object parameters, got {}", type_name(&params)))),
    }
}

/// Reads parsed arguments that are sent as [strings](ToolSpec::texts) but have another type in JSON. Returns
/// `None` if there are none.
pub(crate) fn read(spec: &ToolSpec, params: &Value) -> Option<Value> {
    match coerce_strings(params, &spec.input, &spec.defs, &spec.string_arguments) {
        Cow::Owned(params) => Some(params),
        Cow::Borrowed(_) => None,
    }
}

/// Reads and checks parsed arguments and renames them to their wire names.
#[doc(hidden)]
pub fn decoded(spec: &ToolSpec, params: Value, dialect: &Dialect) -> Result<Value, ToolError> {
    decode_with_notes(spec, params, dialect, &mut Vec::new())
}

/// Like [`decoded`], for the call that passes the arguments to the tool: warns operators of rules that were not
/// checked.
pub(crate) fn decoded_for(spec: &ToolSpec, params: Value, ctx: &ToolContext) -> Result<Value, ToolError> {
    let mut unchecked = Vec::new();
    let decoded = decode_with_notes(spec, params, ctx.dialect(), &mut unchecked);
    for problem in &unchecked {
        let location = if problem.pointer.is_empty() { "the arguments" } else { problem.pointer.as_str() };
        ctx.warn(format!("{location} of `{}`: {}", spec.name.as_str(), problem.message));
    }
    decoded
}

fn decode_with_notes(
    spec: &ToolSpec,
    params: Value,
    dialect: &Dialect,
    unchecked: &mut Vec<ArgumentProblem>,
) -> Result<Value, ToolError> {
    let params = read(spec, &params).unwrap_or(params);
    let paths = path_problems(spec, &params);
    match decode_owned(params, &spec.input, &spec.defs, dialect, unchecked) {
        Ok(decoded) if paths.is_empty() => Ok(decoded),
        Ok(_) => Err(invalid_arguments(spec, paths)),
        Err(problems) => Err(invalid_arguments(spec, problems.into_iter().chain(paths).collect())),
    }
}

/// The error message of a sub-agent that was called without a task.
#[doc(hidden)]
pub const MISSING_TASK: &str = "Missing required 'task' parameter";

/// Returns the error for invalid arguments. A sub-agent without a task has its own message.
fn invalid_arguments(spec: &ToolSpec, mut problems: Vec<ArgumentProblem>) -> ToolError {
    if spec.sub_agent
        && let [problem] = &mut problems[..]
        && problem.kind == ArgumentProblemKind::Missing
        && problem.pointer == "/task"
    {
        MISSING_TASK.clone_into(&mut problem.message);
        return ToolError::InvalidArgs { message: MISSING_TASK.to_owned(), problems };
    }
    ToolError::from_problems(problems)
}

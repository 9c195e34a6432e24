//! Tools that are Rust functions: what `#[tool]` and `#[tools]` write.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use crate::context::ToolContext;
use crate::error::ToolError;
use crate::input::{Defs, ToolInput, link, missing, within};
use crate::result::ToolResult;
use crate::spec::ToolSpec;
use crate::tool::{AgentTool, BoxFuture};

/// What a function gives.
pub type Outcome = Result<ToolResult, ToolError>;

/// A function as a tool: its specification and how to run it with `S`, which is `()` for a free function and the
/// type of `self` for a method.
///
/// The macros write one `static` of this type a function.
pub struct Function<S: 'static = ()> {
    spec: ToolSpec,
    defs: fn(&mut Defs),
    run: Run<S>,
    linked: OnceLock<Option<Box<ToolSpec>>>,
}

/// How a function is run.
pub enum Run<S: 'static = ()> {
    /// At once, on the thread of the caller.
    Inline(fn(&S, Arguments, &ToolContext) -> Outcome),
    /// As a future.
    Async(for<'a> fn(&'a S, Arguments, &'a ToolContext) -> BoxFuture<'a, Outcome>),
    /// On a thread where it may block.
    Blocking(fn(&S, Arguments, &ToolContext) -> Outcome),
}

impl<S> Clone for Run<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Run<S> {}

impl<S> fmt::Debug for Run<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Run::Inline(_) => "Inline",
            Run::Async(_) => "Async",
            Run::Blocking(_) => "Blocking",
        })
    }
}

impl<S: Send + Sync + 'static> Function<S> {
    /// A function of this specification.
    #[must_use]
    pub const fn new(spec: ToolSpec, defs: fn(&mut Defs), run: Run<S>) -> Function<S> {
        Function { spec, defs, run, linked: OnceLock::new() }
    }

    /// What the tool is. The named shapes of its types are collected the first time.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        let linked = self.linked.get_or_init(|| {
            let mut defs = Defs::default();
            (self.defs)(&mut defs);
            (!defs.is_empty()).then(|| Box::new(link(&self.spec, &defs)))
        });
        linked.as_deref().unwrap_or(&self.spec)
    }

    fn run<'a>(
        &'static self,
        state: &'a Arc<S>,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Outcome> {
        let arguments = match Arguments::new(params) {
            Ok(arguments) => arguments,
            Err(problem) => return Box::pin(std::future::ready(Err(problem))),
        };
        match self.run {
            Run::Inline(run) => Box::pin(std::future::ready(run(state, arguments, ctx))),
            Run::Async(run) => run(state, arguments, ctx),
            Run::Blocking(run) => {
                let (state, ctx) = (Arc::clone(state), ctx.clone());
                let handle = tokio::task::spawn_blocking(move || run(&state, arguments, &ctx));
                Box::pin(async { handle.await.unwrap_or_else(|_| Err(ToolError::failed("tool panicked"))) })
            }
        }
    }
}

impl<S> fmt::Debug for Function<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Function").field(&self.spec.name.as_str()).finish()
    }
}

/// A function that `#[tool]` made a tool, or a method together with its object.
///
/// `add::tool()` gives the one of a function `add`; `Calculator::tools(&calculator)` those of the methods.
pub struct FunctionTool<S: 'static = ()> {
    function: &'static Function<S>,
    state: Arc<S>,
}

impl<S: Send + Sync + 'static> FunctionTool<S> {
    /// A function together with the object it is a method of.
    #[must_use]
    pub fn new(function: &'static Function<S>, state: Arc<S>) -> FunctionTool<S> {
        FunctionTool { function, state }
    }
}

impl<S> Clone for FunctionTool<S> {
    fn clone(&self) -> Self {
        FunctionTool { function: self.function, state: Arc::clone(&self.state) }
    }
}

impl<S> fmt::Debug for FunctionTool<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.function.fmt(f)
    }
}

impl<S: Send + Sync + 'static> AgentTool for FunctionTool<S> {
    fn spec(&self) -> &ToolSpec {
        self.function.spec()
    }

    fn execute<'a>(&'a self, params: Value, ctx: &'a ToolContext) -> BoxFuture<'a, Outcome> {
        self.function.run(&self.state, params, ctx)
    }
}

/// The type that stands for a function with `#[tool]`, under the name of the function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    note = "put `#[tool]` on the function; give other tools as an expression in parentheses: `toolset![(my_tool)]`"
)]
pub trait ToolFunction {
    /// The name of the tool.
    const NAME: &'static str;

    /// The tool.
    fn tool() -> FunctionTool;
}

/// Checked arguments, by name.
#[derive(Debug)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    fn new(params: Value) -> Result<Arguments, ToolError> {
        match params {
            Value::Object(map) => Ok(Arguments(map)),
            Value::Null => Ok(Arguments(Map::new())),
            other => {
                let problem = crate::input::problem("an object", &other);
                Err(ToolError::from_problems(vec![problem]))
            }
        }
    }

    /// Takes an argument out.
    ///
    /// # Errors
    ///
    /// If it does not fit its type, or is missing and may not be.
    pub fn take<T: ToolInput>(&mut self, name: &str) -> Result<T, ToolError> {
        let taken = match self.0.swap_remove(name) {
            Some(value) => T::decode(value).map_err(|problem| within(name, problem)),
            None => missing(name),
        };
        taken.map_err(|problem| ToolError::from_problems(vec![problem]))
    }

    /// Takes an argument out, or what is meant when it is not given.
    ///
    /// # Errors
    ///
    /// If it does not fit its type.
    pub fn take_or<T: ToolInput>(&mut self, name: &str, default: impl FnOnce() -> T) -> Result<T, ToolError> {
        if self.0.contains_key(name) { self.take(name) } else { Ok(default()) }
    }
}

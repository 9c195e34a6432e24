//! Tools written as Rust functions.
//!
//! `#[tool]` leaves a function unchanged and adds a type of the same name, whose `tool()` returns the tool:
//!
//! ```
//! # use serde_json::json;
//! use toolgen_runtime::{Registry, ToolCall, Turn, tool};
//!
//! /// Finds words that sound alike.
//! ///
//! /// # Use for
//! ///
//! /// Poems.
//! ///
//! /// # Examples
//! ///
//! /// - A common one: `{"word": "light", "limit": 3}`
//! #[tool(read_only, open_world = false)]
//! async fn rhymes(
//!     /// The word to find rhymes for.
//!     #[arg(non_empty, len = ..=40)]
//!     word: &str,
//!     /// Maximum number of rhymes.
//!     #[arg(default = 10, range = 1..=100)]
//!     limit: usize,
//! ) -> Vec<String> {
//!     ["night", "bright", "sight"].iter().filter(|rhyme| **rhyme != word).take(limit).map(|r| r.to_string()).collect()
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let toolbox = Registry::builder().add(rhymes::tool()).seal()?.toolbox(Default::default());
//! let turn = Turn::new("turn-1");
//! let call = |arguments| toolbox.run(ToolCall::new("call-1", "rhymes", arguments), &turn);
//! assert_eq!(call(json!({"word": "light", "limit": 1})).await.text(), r#"["night"]"#);
//! assert!(call(json!({"word": "", "limit": 1})).await.text().contains("/word"));
//! # Ok(())
//! # }
//! ```
//!
//! # The function
//!
//! A function may be plain or `async` and have any visibility. A plain function runs inline, that is, on the thread
//! that makes the call. Nothing else runs there until it returns, and neither a timeout nor a cancellation can stop
//! it. This is the fastest way for work that takes microseconds. A function that waits or computes for longer should be
//! `async` or `blocking`: a `blocking` function runs on a separate thread, and the call does not wait for it after its
//! timeout. For the same reason, `timeout` is an error for an inline function.
//!
//! The doc comment describes the tool. The sections `# Returns`, `# Use for`, `# Examples` and `# Arguments` become
//! parts of the specification; `# Errors`, `# Panics`, `# Safety` and Rust code are only for people. A tool or an
//! argument without a description is a compile error unless `#[tool(undocumented)]` is set.
//!
//! `#[tool(…)]` accepts `name`, `label`, `description`, `doc_override` (the documentation for a prompt), `category`,
//! `scopes("a", "b")`, `timeout = "30s"` (or `"none"`), `deprecated`, `complete` and `complete(next_state = "…")`,
//! `service = "db"` (watched by a [circuit breaker](toolgen_kernel::layers::breaker)), `blocking` (runs on a thread
//! that may block), `undocumented`, `dialects(openai_strict, …)`, `exact` (a dialect that cannot express the whole
//! schema rejects the tool), `ignore_unknown` (the schema has no `additionalProperties: false`, and unknown arguments
//! are ignored, not rejected) and `crate = path`. `exclusive`, `reads("file:{path}")` and `writes("file:{path}")`
//! control which calls of a turn may overlap; see [dispatch](toolgen_kernel::toolbox::dispatch). A result larger than
//! `result_limit = "64KiB"` is split into [pages](toolgen_kernel::layers::pages), unless paging is disabled in the
//! toolbox. With `fields`, a model may [choose the fields](toolgen_kernel::ToolSpec::with_projection) of the result.
//! `example = r#"{"path": "a.txt"}"#` is an example call without a summary, checked as those of the
//! documentation are.
//!
//! `hints(…)` sets [properties](toolgen_kernel::spec::hints::Hints) for the tool interfaces of vendors and of MCP:
//! `callers = "programs"` (or `"both"`), `eager_input`, `text`, `lark = "…"` or `regex = "…"` (the only argument,
//! `input`, is a text of this form), `icon = "https://…"`, and `meta = "{…}"`.
//!
//! An undeclared effect is assumed to be the most dangerous one. Declare effects with `read_only`, `destructive`,
//! `idempotent`, `open_world`, `spawns` (flags, also `= false`), `files = "none" | "read" | "write"`, `network("host",
//! …)` or `network = "none"`, and `pure` for no effects at all. `open_world = false` and `network = "none"` imply each
//! other.
//!
//! Rules between arguments are `exactly_one(a, b)`, `at_most_one(a, b)` and `requires(a => b)`. Requirements on the
//! context are `requires(context("…"), session("…"), entity("…", argument = "…"), tool("…"), service("…"),
//! custom("…"))`, each with `message = "…"` and `optional`.
//!
//! # Arguments
//!
//! An argument has a type that implements [`ToolInput`], or is a `&str`, `&[T]`, `&Path`, `&T` or `Option<&T>` of such
//! types. `#[arg(…)]` adds rules. They are part of the schema, are enforced when a call is decoded, and are described
//! in prose where a vendor's schemas cannot express them:
//!
//! * `default = value` or `default`, where the value is a literal, a list of literals (`["a", "b"]`) or an expression;
//!   `rename = "name"`, `alias("name", …)`; `description = EXPR`;
//! * `range = 1..=100`; `len = 1..=80`, `non_empty`; `pattern = "…"`; `one_of("a", "b")`;
//! * `deny_pattern = "rm +-rf"` rejects a string with a match anywhere, with the message `deny_message = "…"`. It
//!   prevents accidents, not attacks. A string that is too long to check is rejected: more than 16 KiB, or less if the
//!   pattern repeats without limit (`+`, `*`);
//! * `items(…)` with the same rules for the items of a list; `example = …`; `deprecated`;
//! * `secret`: the value is redacted in records, events, spans and updates, also in those of the calls that the tool
//!   makes, and for people who approve the call; see [`redact`](toolgen_kernel::layers::redact). The model sees the
//!   result of the tool, so a tool must not reveal a secret that the model does not know;
//! * `path` (no `..`) and `path(within = "workdir")`: the function gets the path inside the directory that
//!   [`Turn::with_root`](toolgen_kernel::Turn::with_root) named, with symbolic links resolved. A path outside that directory is rejected.
//!
//! # Injected parameters
//!
//! Parameters of the types `&ToolContext`, [`CancellationToken`](toolgen_kernel::CancellationToken),
//! [`Progress`](crate::inject::Progress) and [`Service<T>`](crate::inject::Service), in any order and number, do not appear in the
//! schema; nor does a parameter marked `#[inject]` whose type implements [`Inject`](crate::inject::Inject). A
//! service may be a trait object: `Service<dyn Store>`.
//!
//! # Methods
//!
//! `#[tools]` on an `impl` block turns its `#[tool]` methods into tools that share one object; they take `&self` or no
//! receiver. The block gets a function `tools`, or the name given in `#[tools(list = name)]`.
//! `toolset!` combines all kinds of tools in one list:
//!
//! ```
//! # use std::sync::Arc;
//! # use serde_json::json;
//! use toolgen_runtime::{Registry, ToolCall, Turn, tool, tools, toolset};
//!
//! struct Counter(std::sync::atomic::AtomicU64);
//!
//! #[tools]
//! impl Counter {
//!     /// Increases the counter.
//!     #[tool]
//!     fn count(
//!         &self,
//!         /// The increment.
//!         by: u64,
//!     ) -> u64 {
//!         self.0.fetch_add(by, std::sync::atomic::Ordering::SeqCst) + by
//!     }
//! }
//!
//! /// Says hello.
//! #[tool]
//! fn hello() -> &'static str {
//!     "hello"
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let counter = Arc::new(Counter(Default::default()));
//! let toolbox = Registry::new(toolset![hello, Counter::tools(&counter)])?.toolbox(Default::default());
//! let call = ToolCall::new("call-1", "count", json!({"by": 2}));
//! assert_eq!(toolbox.run(call, &Turn::new("turn-1")).await.text(), "2");
//! # Ok(())
//! # }
//! ```
//!
//! # Results
//!
//! A function returns text, [`Content`](toolgen_kernel::Content), [`ToolResult`], `()`, anything `serde::Serialize`, or a
//! `Result` of these with any error (see [`output`](crate::return_value)). A model sees the error's own text;
//! its causes are [for operators](ToolError::operator_text).

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::input::derive::{Fields, of};
use crate::input::{ArgumentProblem, BorrowedValue, Defs, ToolInput, with_named_shapes};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::call::tool::{AgentTool, Execution};
use toolgen_kernel::spec::ToolSpec;

/// The outcome of a function.
pub type Outcome = Result<ToolResult, ToolError>;

/// A function as a tool: its specification and how to run it with `S`. `S` is `()` for a free function and the type of
/// `self` for a method.
///
/// The macros generate one `static` of this type per function.
#[doc(hidden)]
pub struct Function<S: 'static = ()> {
    spec: ToolSpec,
    defs: fn(&mut Defs),
    run: Run<S>,
    complete_spec: OnceLock<Option<Box<ToolSpec>>>,
}

/// How a function is run.
#[doc(hidden)]
pub enum Run<S: 'static = ()> {
    /// Immediately, on the caller's thread.
    Inline(fn(&S, Arguments<'_>, &ToolContext) -> Outcome),
    /// As a future.
    Async(for<'a> fn(&'a S, Arguments<'a>, &'a ToolContext) -> BoxFuture<'a, Outcome>),
    /// On a thread that may block.
    Blocking(fn(&S, Arguments<'_>, &ToolContext) -> Outcome),
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
    /// Creates a function with this specification.
    #[must_use]
    pub const fn new(spec: ToolSpec, defs: fn(&mut Defs), run: Run<S>) -> Function<S> {
        Function { spec, defs, run, complete_spec: OnceLock::new() }
    }

    /// Returns the specification of the tool. The first use collects the named shapes of its types.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        let complete_spec = self.complete_spec.get_or_init(|| {
            let mut defs = Defs::default();
            (self.defs)(&mut defs);
            let mut complete_spec = with_named_shapes(&self.spec, &defs);
            if !complete_spec.projection.is_empty() {
                // The attribute only asks for the argument; one of the function may have the same name.
                complete_spec.projection = Text::EMPTY;
                complete_spec = complete_spec.with_projection();
            }
            (complete_spec != self.spec).then(|| Box::new(complete_spec))
        });
        complete_spec.as_deref().unwrap_or(&self.spec)
    }

    fn run<'a>(
        &'static self,
        state: &'a Arc<S>,
        value: BorrowedValue<'a>,
        ctx: &'a ToolContext,
    ) -> Execution<'a> {
        match self.run {
            Run::Inline(run) => {
                Execution::Finished(Arguments::new(value).and_then(|arguments| run(state, arguments, ctx)))
            }
            Run::Async(run) => match Arguments::new(value) {
                Ok(arguments) => Execution::Running(run(state, arguments, ctx)),
                Err(problem) => Execution::Finished(Err(problem)),
            },
            Run::Blocking(run) => {
                let (state, ctx, params) = (Arc::clone(state), ctx.clone(), value.into_value());
                let handle = tokio::task::spawn_blocking(move || {
                    let run =
                        || Arguments::new(params.into()).and_then(|arguments| run(&state, arguments, &ctx));
                    // Panics are caught in their own thread, which knows their location.
                    catch_unwind(AssertUnwindSafe(run))
                        .unwrap_or_else(|reason| Err(ToolError::panicked(reason)))
                });
                Execution::Running(Box::pin(async {
                    handle.await.unwrap_or_else(|error| {
                        // The task is never aborted, so the only possible error is a panic.
                        let payload = error.try_into_panic().unwrap_or_else(|_| Box::new(()));
                        Err(ToolError::panicked(payload))
                    })
                }))
            }
        }
    }
}

impl<S> fmt::Debug for Function<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Function").field(&self.spec.name.as_str()).finish()
    }
}

/// A tool made from a `#[tool]` function, or from a method together with its object.
///
/// `add::tool()` returns the tool of a function `add`; `Calculator::tools(&calculator)` returns those of the methods.
pub struct FunctionTool<S: 'static = ()> {
    function: &'static Function<S>,
    state: Arc<S>,
}

impl<S: Send + Sync + 'static> FunctionTool<S> {
    /// Combines a method with its object.
    #[must_use]
    pub fn new(function: &'static Function<S>, state: Arc<S>) -> FunctionTool<S> {
        FunctionTool { function, state }
    }

    /// Combines a method with its object, which remains shared.
    #[doc(hidden)]
    #[must_use]
    pub fn shared(function: &'static Function<S>, state: &Arc<S>) -> FunctionTool<S> {
        FunctionTool::new(function, Arc::clone(state))
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
        match self.function.run(&self.state, params.into(), ctx) {
            Execution::Finished(outcome) => Box::pin(std::future::ready(outcome)),
            Execution::Running(run) => run,
        }
    }

    fn execute_borrowed<'a>(&'a self, value: BorrowedValue<'a>, ctx: &'a ToolContext) -> Execution<'a> {
        self.function.run(&self.state, value, ctx)
    }
}

/// The type that represents a `#[tool]` function, with the function's name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    note = "put `#[tool]` on the function; methods are listed together, by `#[tools]` on their `impl` block: `toolset![Notes::tools(&notes)]`; give other tools as an expression in parentheses: `toolset![(my_tool)]`"
)]
pub trait ToolFunction {
    /// The name of the tool.
    const NAME: &'static str;

    /// The names of the tools that must have been called successfully before.
    const REQUIRES: &'static [&'static str] = &[];

    /// Returns the tool.
    fn tool() -> FunctionTool;
}

/// Checked arguments, by name.
#[doc(hidden)]
#[derive(Debug)]
pub struct Arguments<'a>(Fields<'a>);

impl<'a> Arguments<'a> {
    fn new(value: BorrowedValue<'a>) -> Result<Arguments<'a>, ToolError> {
        let value = if value == BorrowedValue::Null { BorrowedValue::Object(Vec::new()) } else { value };
        Fields::new(value).map(Arguments).map_err(to_tool_error)
    }

    /// Removes and decodes an argument.
    ///
    /// # Errors
    ///
    /// Returns an error if the argument does not fit its type, or is required and missing.
    pub fn take<T: ToolInput>(&mut self, name: &str) -> Result<T, ToolError> {
        self.0.take(of::<T>(), name).map_err(to_tool_error)
    }

    /// Removes and decodes an argument, or returns the default if it is missing.
    ///
    /// # Errors
    ///
    /// Returns an error if the argument does not fit its type.
    pub fn take_or<T: ToolInput>(&mut self, name: &str, default: impl FnOnce() -> T) -> Result<T, ToolError> {
        self.0.take_or(of::<T>(), name, default).map_err(to_tool_error)
    }
}

fn to_tool_error(problem: ArgumentProblem) -> ToolError {
    ToolError::from_problems(vec![problem])
}

/// Boxes a future as a trait object.
#[doc(hidden)]
pub fn boxed<'a>(future: impl Future<Output = Outcome> + Send + 'a) -> BoxFuture<'a, Outcome> {
    Box::pin(future)
}

//! The trait of layers: code that every call of a toolbox passes on its way to the tool and back.
//!
//! A [`Layer`] declares its [stage](Stage) on that way, and can act at three points: [before](Layer::before) the call
//! continues, [around](Layer::around) the inner layers and the tool, and [after](Layer::after) there is an outcome.
//! Layers of one stage run in the order in which they were added; the first is the outermost.
//!
//! ```
//! use std::time::Instant;
//!
//! use toolgen_runtime::layers::{Invocation, Layer, Next, Outcome, Stage};
//! use toolgen_runtime::{BoxFuture, Toolbox, Registry, tool, toolset};
//!
//! # /// Adds two numbers.
//! # #[tool(undocumented)]
//! # fn add(a: i64, b: i64) -> i64 { a + b }
//! /// Prints how long each tool takes.
//! struct Stopwatch;
//!
//! impl Layer for Stopwatch {
//!     fn stage(&self) -> Stage {
//!         Stage::Around
//!     }
//!
//!     fn around<'a>(&'a self, call: &'a Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, Outcome> {
//!         Box::pin(async move {
//!             let started = Instant::now();
//!             let outcome = next.run().await;
//!             println!("{} took {:?}", call.name(), started.elapsed());
//!             outcome
//!         })
//!     }
//! }
//!
//! let toolbox = Toolbox::builder(&Registry::new(toolset![add])?).layer(Stopwatch).build()?;
//! # let _ = toolbox;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The toolbox adds default layers first: those that [check requirements](super::dependencies), [count
//! failures](super::repeat), [cut results](super::pages) and [break circuits](super::breaker). A layer of the same
//! type that you add replaces the default.
//!
//! No layer can break three rules: a call has one result, the call that runs is the call that was approved, and the
//! stages run in this order. A layer that panics fails the call.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::middleware::{MiddlewareDecision, ToolRequest};
use super::observer::{Called, Observer};
use crate::base::future::BoxFuture;
use crate::base::sync::{Mutex, unpoisoned};
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::tool::AgentTool;
use crate::registry::Registry;
use crate::spec::ToolSpec;

/// The outcome of a call.
pub type Outcome = Result<ToolResult, ToolError>;

/// The stage at which a layer runs on the way of a call, from the outside in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Stage {
    /// Around everything, from the name of a call to its result. Such a layer only [observes](Layer::observe).
    Record,
    /// Around everything except [`Record`](Self::Record) and hooks. Such a layer only [observes](Layer::observe). Its
    /// observers only provide the span [within](Observer::within) which the call continues, and are notified when it
    /// [finishes](Observer::finish).
    Trace,
    /// After the tool is found and allowed, before anything reads the arguments: limits, quotas.
    Admit,
    /// Around everything that reads arguments: changes to the result before its reader gets it.
    Result,
    /// After the arguments are read, before they are checked, and before middleware and approvers decide: requirements
    /// of tools, repeated calls.
    Arguments,
    /// After the arguments are checked. Such a layer only [decides](Layer::decide), and all layers decide before an
    /// approver is asked. See [`middleware`](super::middleware).
    Decide,
    /// Around the tool, and around the record that it is about to run. Arguments are valid and final, and the call is
    /// approved.
    Around,
}

impl Stage {
    /// All stages, from the outside in.
    pub const ALL: [Stage; 7] = [
        Stage::Record,
        Stage::Trace,
        Stage::Admit,
        Stage::Result,
        Stage::Arguments,
        Stage::Decide,
        Stage::Around,
    ];
}

/// A call, as a layer sees it.
pub struct Invocation<'a> {
    tool: &'a dyn AgentTool,
    ctx: &'a ToolContext,
    /// The arguments as sent.
    sent: &'a Value,
    /// The arguments at the stage that reads them.
    arguments: Option<&'a Value>,
    provided: Provided<'a>,
    is_for_model: bool,
    course: &'a Course,
}

/// What a toolbox provides for a call.
#[derive(Clone, Copy)]
pub(crate) struct Provided<'a> {
    pub(crate) registry: &'a Registry,
    /// The layers that the call passes.
    pub(crate) layers: &'a Passed,
}

/// The state of a running call.
#[derive(Default)]
pub(crate) struct Course {
    has_started: AtomicBool,
    is_replayed: AtomicBool,
    /// Values that layers store, each with the address of its layer.
    values: Mutex<Vec<(usize, Box<dyn Any + Send>)>>,
}

impl<'a> Invocation<'a> {
    pub(crate) fn new(
        (tool, sent): (&'a dyn AgentTool, &'a Value),
        ctx: &'a ToolContext,
        provided: Provided<'a>,
        is_for_model: bool,
        course: &'a Course,
    ) -> Invocation<'a> {
        Invocation { tool, ctx, sent, arguments: None, provided, is_for_model, course }
    }

    /// Returns the call at the stage that reads its arguments: `None` if they are not JSON.
    pub(crate) fn with_arguments(&self, arguments: Option<&'a Value>) -> Invocation<'a> {
        Invocation { arguments, ..*self }
    }

    /// Returns the layers that the call passes.
    pub(crate) fn layers(&self) -> &'a Passed {
        self.provided.layers
    }

    /// Returns the tools of the toolbox.
    pub(crate) fn registry(&self) -> &'a Registry {
        self.provided.registry
    }

    /// Records that the tool runs now, or that a replay supplies its result.
    pub(crate) fn start(&self, is_replayed: bool) {
        self.course.has_started.store(true, Ordering::Relaxed);
        self.course.is_replayed.store(is_replayed, Ordering::Relaxed);
    }

    /// Whether the result was already shown to a model, in the run that is replayed.
    pub(crate) fn is_replayed(&self) -> bool {
        self.course.is_replayed.load(Ordering::Relaxed)
    }

    /// The name of the tool.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.tool.name()
    }

    /// The specification of the tool.
    #[must_use]
    pub fn spec(&self) -> &'a ToolSpec {
        self.tool.spec()
    }

    /// The context of the call: its caller, session and deadline.
    #[must_use]
    pub fn ctx(&self) -> &'a ToolContext {
        self.ctx
    }

    /// The arguments as sent: JSON, or a string of a model that is parsed as JSON.
    #[must_use]
    pub fn sent(&self) -> &'a Value {
        self.sent
    }

    /// The decoded arguments, not checked yet. Available only to [`before`](Layer::before)
    /// at [`Stage::Arguments`], and only if they are JSON and a layer [reads](Layer::reads_arguments) them.
    #[must_use]
    pub fn arguments(&self) -> Option<&'a Value> {
        self.arguments
    }

    /// Stores a value until the layer [takes](Self::take) it. [`before`](Layer::before) uses this to pass values to
    /// [`after`](Layer::after).
    pub fn keep<T: Any + Send>(&self, layer: &impl Layer, value: T) {
        unpoisoned(self.course.values.lock()).push((std::ptr::from_ref(layer).addr(), Box::new(value)));
    }

    /// Takes the value of this type that the layer stored last.
    #[must_use]
    pub fn take<T: Any + Send>(&self, layer: &impl Layer) -> Option<T> {
        let layer = std::ptr::from_ref(layer).addr();
        let mut values = unpoisoned(self.course.values.lock());
        let index = values.iter().rposition(|(owner, value)| *owner == layer && value.is::<T>())?;
        values.remove(index).1.downcast().ok().map(|value| *value)
    }

    /// Whether a model reads the result; otherwise another tool reads it.
    #[must_use]
    pub fn is_for_model(&self) -> bool {
        self.is_for_model
    }

    /// Whether the tool was started. If not, the outcome comes from a layer or from the toolbox.
    #[must_use]
    pub fn has_started(&self) -> bool {
        self.course.has_started.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Invocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// Code that calls pass on their way to the tool and back. See the [module](self).
///
/// A layer is shared between all calls of a toolbox, and of the toolboxes that are built from it.
pub trait Layer: Any + Send + Sync {
    /// The stage of the layer.
    fn stage(&self) -> Stage;

    /// Whether calls of a tool pass the layer at all. A toolbox calls this once for each tool, so calls of other tools
    /// cost nothing.
    fn applies_to(&self, spec: &ToolSpec) -> bool {
        let _ = spec;
        true
    }

    /// Whether a toolbox has at most one layer of this type: the last that was added, in the position of the first.
    fn is_single(&self) -> bool {
        false
    }

    /// Checks the layer against the tools of a toolbox that is built with it.
    ///
    /// # Errors
    ///
    /// Returns why the toolbox cannot be built: [`ToolboxError::Layer`](crate::toolbox::ToolboxError::Layer).
    fn check(&self, tools: &[&ToolSpec]) -> Result<(), String> {
        let _ = tools;
        Ok(())
    }

    /// Starts to observe a call, at [`Stage::Record`] or [`Stage::Trace`]. The context is that of the call.
    fn observe(&self, call: &Called<'_>, ctx: &mut ToolContext) -> Option<Box<dyn Observer>> {
        let _ = (call, ctx);
        None
    }

    /// Whether the layer, at [`Stage::Arguments`], reads the arguments of this call. If no layer does,
    /// [`before`](Self::before) is not called at this stage, and the tool may decode the model's string directly,
    /// without an intermediate JSON value.
    fn reads_arguments(&self, call: &Invocation<'_>) -> bool {
        let _ = call;
        true
    }

    /// Lets a call continue, or returns its error. `None`, which allocates nothing, lets it continue immediately.
    fn before<'a>(&'a self, call: &'a Invocation<'a>) -> Option<BoxFuture<'a, Result<(), ToolError>>> {
        let _ = call;
        None
    }

    /// Decides about a call whose arguments are checked, at [`Stage::Decide`]. `None` lets it pass. After a call is
    /// approved, its arguments are final.
    fn decide<'a>(&'a self, request: &'a ToolRequest<'a>) -> Option<BoxFuture<'a, MiddlewareDecision>> {
        let _ = request;
        None
    }

    /// Runs the inner layers and the tool, or returns another outcome. Called only for layers at [`Stage::Around`].
    fn around<'a>(&'a self, call: &'a Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, Outcome> {
        let _ = call;
        next.run()
    }

    /// Reads or changes the outcome of a call that [`before`](Self::before) let continue. `None` if there is nothing
    /// to wait for.
    fn after<'a>(&'a self, call: &'a Invocation<'a>, outcome: &'a mut Outcome) -> Option<BoxFuture<'a, ()>> {
        let _ = (call, outcome);
        None
    }
}

/// Returns the type of a layer.
pub(crate) fn of_type(layer: &dyn Layer) -> TypeId {
    let layer: &dyn Any = layer;
    layer.type_id()
}

/// The rest of the way of a call: the inner layers, and then the tool.
pub struct Next<'a> {
    layers: &'a [Arc<dyn Layer>],
    call: &'a Invocation<'a>,
    tool: Box<dyn FnOnce() -> BoxFuture<'a, Outcome> + Send + 'a>,
}

impl<'a> Next<'a> {
    pub(crate) fn new(
        layers: &'a [Arc<dyn Layer>],
        call: &'a Invocation<'a>,
        tool: impl FnOnce() -> BoxFuture<'a, Outcome> + Send + 'a,
    ) -> Next<'a> {
        Next { layers, call, tool: Box::new(tool) }
    }

    /// Runs the inner layers and the tool, once. The layer returns this outcome or another one.
    #[must_use]
    pub fn run(self) -> BoxFuture<'a, Outcome> {
        match self.layers.split_first() {
            None => (self.tool)(),
            Some((layer, layers)) => layer.around(self.call, Next { layers, ..self }),
        }
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("layers", &self.layers.len()).finish_non_exhaustive()
    }
}

/// The layers that calls of one tool pass, each stage from the outside in.
#[derive(Default)]
pub(crate) struct Passed {
    pub(crate) admit: Vec<Arc<dyn Layer>>,
    pub(crate) result: Vec<Arc<dyn Layer>>,
    pub(crate) arguments: Vec<Arc<dyn Layer>>,
    pub(crate) decide: Vec<Arc<dyn Layer>>,
    pub(crate) around: Vec<Arc<dyn Layer>>,
}

/// No layers.
pub(crate) static NO_LAYERS: Passed = Passed {
    admit: Vec::new(),
    result: Vec::new(),
    arguments: Vec::new(),
    decide: Vec::new(),
    around: Vec::new(),
};

impl Passed {
    /// Chooses from all layers of a toolbox those that concern a tool.
    pub(crate) fn of(all: &[Arc<dyn Layer>], spec: &ToolSpec) -> Passed {
        let mut passed = Passed::default();
        for layer in all.iter().filter(|layer| layer.applies_to(spec)).cloned() {
            match layer.stage() {
                // These layers also see calls of tools that do not exist, so they are not chosen by tool.
                Stage::Record | Stage::Trace => {}
                Stage::Admit => passed.admit.push(layer),
                Stage::Result => passed.result.push(layer),
                Stage::Arguments => passed.arguments.push(layer),
                Stage::Decide => passed.decide.push(layer),
                Stage::Around => passed.around.push(layer),
            }
        }
        passed
    }
}

/// The layers that have let a call continue, and the error of the layer that has not. Boxed, because most futures of
/// calls would otherwise reserve space for an error that never occurs.
pub(crate) type BeforeOutcome<'l> = (&'l [Arc<dyn Layer>], Result<(), Box<ToolError>>);

/// Runs the layers of one stage around `run`.
pub(crate) async fn pass(
    layers: &[Arc<dyn Layer>],
    call: &Invocation<'_>,
    run: impl Future<Output = Outcome> + Unpin,
) -> Outcome {
    let (passed, admission) = match before(layers, call) {
        None => (layers, Ok(())),
        Some(checks) => checks.await,
    };
    let mut outcome = match admission {
        Ok(()) => run.await,
        Err(error) => Err(*error),
    };
    after(passed, call, &mut outcome).await;
    outcome
}

/// Runs [`Layer::before`] of layers. `None` lets the call continue immediately. Otherwise the future returns the layers
/// that let it continue, and the error of the layer that did not.
pub(crate) fn before<'l: 'c, 'c>(
    layers: &'l [Arc<dyn Layer>],
    call: &'c Invocation<'c>,
) -> Option<BoxFuture<'c, BeforeOutcome<'l>>> {
    let (first_index, mut check) =
        layers.iter().enumerate().find_map(|(index, layer)| Some((index, layer.before(call)?)))?;
    Some(Box::pin(async move {
        let mut index = first_index;
        loop {
            let result = call.ctx.caller_token().run_until_cancelled(check).await;
            if let Err(error) = result.unwrap_or(Err(ToolError::Cancelled)) {
                return (layers.get(..index).unwrap_or_default(), Err(Box::new(error)));
            }
            let mut later_layers = layers.iter().enumerate().skip(index + 1);
            match later_layers.find_map(|(index, layer)| Some((index, layer.before(call)?))) {
                None => return (layers, Ok(())),
                Some(next) => (index, check) = next,
            }
        }
    }))
}

/// Passes the outcome to the layers that have let the call continue, the innermost first.
pub(crate) async fn after(layers: &[Arc<dyn Layer>], call: &Invocation<'_>, outcome: &mut Outcome) {
    for layer in layers.iter().rev() {
        if let Some(future) = layer.after(call, outcome) {
            future.await;
        }
    }
}

//! Tools that are known only at run time: from a configuration, a plug-in or a user's script.
//!
//! ```
//! # use serde_json::json;
//! use toolgen_runtime::engine::dynamic::DynamicTool;
//! use toolgen_runtime::{Effects, Registry, ToolCall, Turn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // All of this may come from a file.
//! let (name, description) = ("greet", "Greets a person.");
//! let schema = json!({
//!     "type": "object",
//!     "properties": { "name": { "type": "string", "minLength": 1 } },
//!     "required": ["name"],
//! });
//! let greet = DynamicTool::builder(name, description)
//!     .schema(&schema)
//!     .effects(Effects::NONE)
//!     .run(|params, _ctx| async move { Ok(format!("Hello, {}!", params["name"].as_str().unwrap_or("you"))) })?;
//!
//! let toolbox = Registry::builder().add(greet).seal()?.toolbox(Default::default());
//! let turn = Turn::new("turn-1");
//! let call = |arguments| toolbox.run(ToolCall::new("call-1", "greet", arguments), &turn);
//! assert_eq!(call(json!({"name": "Ada"})).await.text(), "Hello, Ada!");
//! assert!(call(json!({"name": ""})).await.is_error());
//! # Ok(())
//! # }
//! ```
//!
//! A tool that is an HTTP request, a command or a composition needs no closure: its
//! [`ExecutionPlan`](crate::ExecutionPlan) is data, and `Engines::tools_from` accepts tools built at run time.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use toolgen_core::internal::pointer;

use crate::base::frozen::{List, Text};
use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::tool::AgentTool;
use crate::schema::dialect::JSON_SCHEMA;
use crate::schema::shape::read::{ReadProblem, read_document};
use crate::schema::shape::render::render_input;
use crate::schema::shape::{Def, Kind, Shape, find_def};
use crate::spec::{Effects, NameError, Timeout, ToolName, ToolSpec};

/// The closure of a tool.
pub(super) type Run =
    dyn Fn(Value, ToolContext) -> BoxFuture<'static, Result<ToolResult, ToolError>> + Send + Sync;

/// Returns a closure that boxes its future and converts its outcome.
pub(super) fn box_closure<F, R, T>(run: F) -> Arc<Run>
where
    F: Fn(Value, ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<T, ToolError>> + Send + 'static,
    T: Into<ToolResult>,
{
    Arc::new(move |params, ctx| -> BoxFuture<'static, Result<ToolResult, ToolError>> {
        let future = run(params, ctx);
        Box::pin(async move { future.await.map(Into::into) })
    })
}

/// A tool built at run time from a specification and a closure. Clones share the closure.
///
/// It runs like every other tool: arguments are checked before the closure gets them, time limits and cancellation
/// apply regardless of the closure, and panics are caught.
#[derive(Clone)]
pub struct DynamicTool {
    spec: ToolSpec,
    run: Arc<Run>,
}

impl fmt::Debug for DynamicTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DynamicTool").field(&self.spec.name.as_str()).finish()
    }
}

impl DynamicTool {
    /// Creates a tool from a specification. The closure gets the checked arguments under their wire names, with the
    /// schema's defaults for omitted arguments, and the context of the call. It returns a string, a JSON value, `()` or
    /// a [`ToolResult`].
    pub fn new<F, R, T>(spec: ToolSpec, run: F) -> DynamicTool
    where
        F: Fn(Value, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, ToolError>> + Send + 'static,
        T: Into<ToolResult>,
    {
        DynamicTool::from_boxed(spec, box_closure(run))
    }

    pub(super) fn from_boxed(spec: ToolSpec, run: Arc<Run>) -> DynamicTool {
        DynamicTool { spec, run }
    }

    /// Creates a builder with this name and description, which are checked when the tool is built. By default the tool
    /// takes no arguments and may have any effect.
    pub fn builder(name: impl Into<Text>, description: impl Into<Text>) -> DynamicToolBuilder {
        let spec = ToolSpec { description: description.into(), ..ToolSpec::EMPTY };
        DynamicToolBuilder { name: name.into(), spec, problems: Vec::new() }
    }
}

impl AgentTool for DynamicTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        (self.run)(self.spec.with_defaults(params), ctx.clone())
    }
}

/// Builds a [`DynamicTool`].
#[derive(Clone, Debug)]
pub struct DynamicToolBuilder {
    name: Text,
    spec: ToolSpec,
    problems: Vec<DynamicToolProblem>,
}

/// Why a tool could not be built at run time, with all problems.
#[derive(Clone, PartialEq, Eq)]
pub struct DynamicToolError {
    /// The name, verbatim.
    pub name: String,
    /// The problems of the tool.
    pub problems: Vec<DynamicToolProblem>,
}

/// A problem of a tool built at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DynamicToolProblem {
    /// The name breaks the rules for tool names.
    Name(NameError),
    /// The description is missing. Without it, a model does not know when to call the tool.
    NoDescription,
    /// A part of the schema is malformed, so a rule would be lost.
    Schema(ReadProblem),
    /// The schema refers to a definition that it does not contain.
    Reference(String),
    /// The schema does not describe an object, which arguments always are.
    NoObject,
}

impl fmt::Display for DynamicToolProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DynamicToolProblem::Name(error) => error.fmt(f),
            DynamicToolProblem::NoDescription => f.write_str("there is no description"),
            DynamicToolProblem::Schema(ReadProblem { pointer, message, .. }) => {
                write!(f, "the schema at `{pointer}`: {message}")
            }
            DynamicToolProblem::Reference(name) => write!(f, "the schema has no definition `{name}`"),
            DynamicToolProblem::NoObject => f.write_str("the schema must describe an object"),
        }
    }
}

impl fmt::Display for DynamicToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let line_break = if index == 0 { "" } else { "\n" };
            write!(f, "{line_break}tool `{}`: {problem}", self.name)?;
        }
        Ok(())
    }
}

toolgen_core::__readable_debug!(DynamicToolError);

impl std::error::Error for DynamicToolError {}

impl DynamicToolBuilder {
    /// Sets the arguments, as JSON Schema 2020-12 with references to its own `$defs`.
    #[must_use]
    pub fn schema(mut self, schema: &Value) -> DynamicToolBuilder {
        let mut problems = Vec::new();
        let (input, defs) = read_document(schema, &mut problems);
        self.problems.extend(problems.into_iter().map(DynamicToolProblem::Schema));
        let missing = dangling(&input, &defs);
        if missing.is_empty() && !is_object(&input, &defs, 0) {
            self.problems.push(DynamicToolProblem::NoObject);
        }
        self.problems.extend(missing.into_iter().map(DynamicToolProblem::Reference));
        self.spec.input = input.into();
        self.spec.defs = defs;
        self
    }

    /// Sets the effects of running the tool. The default is every effect, which a strict context refuses.
    #[must_use]
    pub fn effects(mut self, effects: Effects) -> DynamicToolBuilder {
        self.spec.effects = effects;
        self
    }

    /// Sets the time limit of a call.
    #[must_use]
    pub fn timeout(mut self, timeout: Timeout) -> DynamicToolBuilder {
        self.spec.timeout = timeout;
        self
    }

    /// Changes any other part of the specification, such as scopes and requirements.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut ToolSpec)) -> DynamicToolBuilder {
        change(&mut self.spec);
        self
    }

    /// Builds the specification, for another kind of tool.
    ///
    /// # Errors
    ///
    /// Returns all problems together.
    pub fn spec(self) -> Result<ToolSpec, DynamicToolError> {
        let DynamicToolBuilder { name, mut spec, mut problems } = self;
        if spec.description.trim().is_empty() {
            problems.insert(0, DynamicToolProblem::NoDescription);
        }
        match ToolName::parse(name.clone()) {
            Ok(name) => spec.name = name,
            Err(error) => problems.insert(0, DynamicToolProblem::Name(error)),
        }
        if problems.is_empty() {
            Ok(spec)
        } else {
            Err(DynamicToolError { name: name.as_str().to_owned(), problems })
        }
    }

    /// Builds the tool that runs this closure, see [`DynamicTool::new`].
    ///
    /// # Errors
    ///
    /// Returns all problems together.
    pub fn run<F, R, T>(self, run: F) -> Result<DynamicTool, DynamicToolError>
    where
        F: Fn(Value, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, ToolError>> + Send + 'static,
        T: Into<ToolResult>,
    {
        Ok(DynamicTool::new(self.spec()?, run))
    }
}

/// Returns the names that a schema references but does not define.
fn dangling(input: &Shape, defs: &List<Def>) -> Vec<String> {
    let losses = render_input(input, defs, &JSON_SCHEMA).map(|rendered| rendered.losses).unwrap_or_default();
    // Plain JSON Schema can express everything but these references.
    let dangling = losses.into_iter().filter(|loss| loss.keyword == "$ref");
    let name = |pointer: &str| pointer::token_of(pointer.rsplit('/').next().unwrap_or_default());
    dangling.map(|loss| name(&loss.pointer)).collect()
}

/// The maximum depth to which references and nested schemas are followed: they may be cyclic.
const MAX_DEPTH: usize = 16;

/// Whether only objects match a shape.
fn is_object(shape: &Shape, defs: &List<Def>, depth: usize) -> bool {
    let nested = |shape: &Shape| depth < MAX_DEPTH && is_object(shape, defs, depth + 1);
    !shape.nullable
        && match &shape.kind {
            Kind::Object(_) => true,
            Kind::Ref(name) => find_def(defs, name).is_some_and(nested),
            Kind::Union(rules) => !rules.variants.is_empty() && rules.variants.iter().all(nested),
            Kind::All(parts) => parts.iter().any(nested),
            _ => false,
        }
}

#[cfg(test)]
mod tests;

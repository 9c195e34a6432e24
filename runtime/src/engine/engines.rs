//! All engines of a program, and the tools they run.

use std::fmt;
use std::sync::Arc;

use toolgen_core::internal::{CallKind, kind_of_call};

use toolgen_kernel::base::frozen::{Frozen, Text};
use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::engine::Engine;
use toolgen_kernel::engine::local::LocalEngine;
use toolgen_kernel::spec::plan::{ExecutionPlan, Tool};

/// The engines of a program, which make compiled tools of any kind callable. Clones share them.
///
/// Commands (with the feature `executor`; to start programs on this machine, also `process`), compositions, completions
/// and effects need no setup. HTTP requests need an `HttpEngine`, tools of MCP servers an `McpEngine`, functions a
/// [`FunctionTable`](super::FunctionTable), and agents an `AgentEngine`:
///
/// ```no_run
/// # static TOOLS: &[&toolgen_runtime::Tool] = &[];
/// # #[cfg(all(feature = "agent", feature = "http"))]
/// # fn tools(runner: impl toolgen_runtime::agent::sub_agent::AgentRunner + 'static)
/// #     -> Result<(), Box<dyn std::error::Error>> {
/// use toolgen_runtime::Registry;
/// use toolgen_runtime::agent::sub_agent::AgentEngine;
/// use toolgen_runtime::engine::Engines;
/// use toolgen_runtime::engine::http::HttpEngine;
///
/// let engines = Engines::new().with(HttpEngine::builder().build()?).with(AgentEngine::new(runner));
/// let registry = Registry::new(engines.tools(TOOLS)?)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Engines(Vec<Arc<dyn Engine>>);

impl fmt::Debug for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Engines({})", self.0.len())
    }
}

impl Default for Engines {
    fn default() -> Engines {
        Engines::new()
    }
}

impl Engines {
    /// Returns the engines that need no setup.
    #[must_use]
    pub fn new() -> Engines {
        let engines = Engines(vec![Arc::new(LocalEngine)]);
        #[cfg(feature = "executor")]
        let engines = engines.with(toolgen_exec::command::CommandEngine::new());
        engines
    }

    /// Adds an engine. If several can run a tool, the last one does.
    #[must_use]
    pub fn with(mut self, engine: impl Engine + 'static) -> Engines {
        self.0.push(Arc::new(engine));
        self
    }

    /// Makes generated tools callable.
    ///
    /// # Errors
    ///
    /// Returns every tool that no engine can run or that lacks something, with what to add.
    pub fn tools(&self, tools: &'static [&'static Tool]) -> Result<Vec<Arc<dyn AgentTool>>, EnginesError> {
        self.all(tools.iter().map(|tool| Frozen::Static(*tool)))
    }

    /// Makes tools callable that were built at run time.
    ///
    /// # Errors
    ///
    /// The errors of [`tools`](Self::tools).
    pub fn tools_from(
        &self,
        tools: impl IntoIterator<Item = Tool>,
    ) -> Result<Vec<Arc<dyn AgentTool>>, EnginesError> {
        self.all(tools.into_iter().map(Frozen::from))
    }

    fn all(
        &self,
        tools: impl Iterator<Item = Frozen<Tool>>,
    ) -> Result<Vec<Arc<dyn AgentTool>>, EnginesError> {
        let (agents, others): (Vec<_>, Vec<_>) =
            tools.partition(|tool| matches!(tool.call, ExecutionPlan::Agent(_)));
        let mut problems = Vec::new();
        let mut made = Vec::with_capacity(others.len() + agents.len());
        for tool in others {
            self.one(tool, &[], &mut made, &mut problems);
        }
        let (others, whole) = (made.clone(), problems.is_empty());
        for tool in agents {
            // If other tools are missing, the problems of an agent are a consequence.
            if whole || self.engine(&tool).is_none() {
                self.one(tool, &others, &mut made, &mut problems);
            }
        }
        if problems.is_empty() { Ok(made) } else { Err(EnginesError { problems }) }
    }

    fn engine(&self, tool: &Tool) -> Option<&dyn Engine> {
        self.0.iter().rev().map(|engine| &**engine).find(|engine| engine.runs(tool))
    }

    fn one(
        &self,
        tool: Frozen<Tool>,
        others: &[Arc<dyn AgentTool>],
        made: &mut Vec<Arc<dyn AgentTool>>,
        problems: &mut Vec<EngineProblem>,
    ) {
        let name = tool.spec.name.to_text();
        let message = match self.engine(&tool) {
            None => lacking(&tool.call).into(),
            Some(engine) => match engine.make(tool, others) {
                Ok(tool) => return made.push(tool),
                Err(error) => Text::from(error.to_string()),
            },
        };
        match problems.iter_mut().find(|problem| problem.message == message) {
            Some(same) => same.tools.push(name),
            None => problems.push(EngineProblem { tools: vec![name], message }),
        }
    }
}

/// Returns which engine is missing, and how to add it.
fn lacking(call: &ExecutionPlan) -> &'static str {
    match kind_of_call(call) {
        CallKind::Http(_) => "an HTTP request needs `.with(HttpEngine::builder().build()?)` (feature `http`)",
        CallKind::Command(_) => {
            "a command needs the feature `executor` of toolgen-runtime, or `process` to run it here"
        }
        CallKind::Mcp(_) => "a tool of an MCP server needs `.with(McpEngine::new())` (feature `mcp`)",
        CallKind::Agent(_) => "an agent needs `.with(AgentEngine::new(runner))` (feature `agent`)",
        CallKind::Function => {
            "no table has a function of this name: implement the trait of the generated module, or add it with \
             `.with(FunctionTable::new().with(name, function))`"
        }
        CallKind::Compose(_) | CallKind::Complete(_) | CallKind::Effect(_) => {
            "this kind of call needs no engine of its own"
        }
    }
}

/// Why tools are not callable, with all problems.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnginesError {
    /// The problems, at least one.
    pub problems: Vec<EngineProblem>,
}

/// A problem of one or several tools.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineProblem {
    /// The names of the tools.
    pub tools: Vec<Text>,
    /// What is missing, and how to add it.
    pub message: Text,
}

impl fmt::Display for EnginesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("these tools cannot run:")?;
        for EngineProblem { tools, message } in &self.problems {
            let names: Vec<String> = tools.iter().map(|name| format!("`{name}`")).collect();
            write!(f, "\n{}: {message}", names.join(", "))?;
        }
        Ok(())
    }
}

toolgen_core::__readable_debug!(EnginesError);

impl std::error::Error for EnginesError {}

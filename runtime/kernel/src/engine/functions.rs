//! Functions of the program that run compiled tools.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::Engine;
use super::dynamic::{DynamicTool, Run, box_closure};
use crate::base::frozen::Frozen;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::tool::AgentTool;
use crate::call::toolbox_context::FactoryError;
use crate::spec::plan::{ExecutionPlan, Tool};

/// The functions that run tools with [`ExecutionPlan::Function`], by the names of the tools. Generated code fills the
/// table from an implementation of its trait. To fill it yourself:
///
/// ```
/// # use serde_json::{Value, json};
/// use toolgen_runtime::engine::{Engines, FunctionTable};
/// use toolgen_runtime::{ExecutionPlan, Registry, Text, Tool, ToolCall, ToolContext, Turn, ToolName, ToolSpec};
///
/// // As in generated code.
/// static TOOLS: &[&Tool] = &[&Tool {
///     spec: ToolSpec { name: ToolName::new("clock"), description: Text::Static("Tells the time."), ..ToolSpec::EMPTY },
///     call: ExecutionPlan::Function,
/// }];
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let functions = FunctionTable::new().with("clock", |_: Value, _: ToolContext| async { Ok("noon") });
/// let tools = Engines::new().with(functions).tools(TOOLS)?;
/// let toolbox = Registry::new(tools)?.toolbox(Default::default());
/// let answer = toolbox.run(ToolCall::new("1", "clock", json!({})), &Turn::new("turn-1")).await;
/// assert_eq!(answer.text(), "noon");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct FunctionTable(BTreeMap<String, Arc<Run>>);

impl FunctionTable {
    /// Creates a table without functions.
    #[must_use]
    pub fn new() -> FunctionTable {
        FunctionTable::default()
    }

    /// Adds the function that runs the tool of this name, replacing any other. It gets the checked arguments under
    /// their wire names, with the schema's defaults for omitted arguments, and the context of the call. It returns
    /// a string, a JSON value, `()` or a [`ToolResult`].
    #[must_use]
    pub fn with<F, R, T>(mut self, name: impl Into<String>, function: F) -> FunctionTable
    where
        F: Fn(Value, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, ToolError>> + Send + 'static,
        T: Into<ToolResult>,
    {
        self.0.insert(name.into(), box_closure(function));
        self
    }
}

/// Runs the tools that are functions and have an entry in the table.
impl Engine for FunctionTable {
    fn runs(&self, tool: &Tool) -> bool {
        tool.call == ExecutionPlan::Function && self.0.contains_key(tool.spec.name.as_str())
    }

    fn make(&self, tool: Frozen<Tool>, _: &[Arc<dyn AgentTool>]) -> Result<Arc<dyn AgentTool>, FactoryError> {
        let name = tool.spec.name.as_str();
        let function = self.0.get(name).ok_or_else(|| FactoryError::requires(name, "a function"))?;
        Ok(Arc::new(DynamicTool::from_boxed(tool.spec.clone(), Arc::clone(function))))
    }
}

impl fmt::Debug for FunctionTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

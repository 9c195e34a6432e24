//! Engine for compiled tools that are agents.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolgen_core::internal::closest_match;
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::call::tool::{AgentTool, IntoTool};
use toolgen_kernel::call::toolbox_context::FactoryError;
use toolgen_kernel::engine::Engine;
use toolgen_kernel::spec::plan::{AgentPlan, ExecutionPlan, Tool};
use toolgen_kernel::spec::{Timeout, ToolSpec};

use super::{AgentRunner, SubAgentBuilder};

/// Runs compiled tools that are agents with a runner.
///
/// An agent finds its tools by name in its compiled list, and among the tools of this engine.
#[derive(Clone)]
pub struct AgentEngine {
    runner: Arc<dyn AgentRunner>,
    tools: Vec<Arc<dyn AgentTool>>,
}

impl AgentEngine {
    /// Creates an engine with a runner.
    pub fn new(runner: impl AgentRunner + 'static) -> AgentEngine {
        AgentEngine { runner: Arc::new(runner), tools: Vec::new() }
    }

    /// Adds tools that agents may name in addition to their compiled list, such as functions with `#[tool]`.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = impl IntoTool>) -> AgentEngine {
        self.tools.extend(tools.into_iter().map(IntoTool::into_tool));
        self
    }

    /// Resolves the tools of an agent.
    fn tools_of(
        &self,
        plan: &AgentPlan,
        others: &[Arc<dyn AgentTool>],
    ) -> Result<Vec<Arc<dyn AgentTool>>, FactoryError> {
        let known = || others.iter().chain(&self.tools);
        let mut unknown = Vec::new();
        let mut found = Vec::new();
        for name in &plan.tools {
            match known().find(|tool| tool.name() == name.as_str()) {
                Some(tool) => found.push(Arc::clone(tool)),
                None => {
                    let suggestion = closest_match(name, known().map(|tool| tool.name()));
                    let suggestion = suggestion
                        .map_or(String::new(), |suggestion| format!(" (did you mean `{suggestion}`?)"));
                    unknown.push(format!("`{name}`{suggestion}"));
                }
            }
        }
        if unknown.is_empty() {
            return Ok(found);
        }
        let unknown = unknown.join(", ");
        Err(FactoryError::new(format!(
            "the agent has no tool {unknown}: it may name tools of its list that are not agents, and tools added with \
             `AgentEngine::tools`"
        )))
    }
}

impl Engine for AgentEngine {
    fn runs(&self, tool: &Tool) -> bool {
        matches!(tool.call, ExecutionPlan::Agent(_))
    }

    fn make(
        &self,
        tool: Frozen<Tool>,
        others: &[Arc<dyn AgentTool>],
    ) -> Result<Arc<dyn AgentTool>, FactoryError> {
        let ExecutionPlan::Agent(plan) = &tool.call else {
            return Err(FactoryError::requires(tool.spec.name.as_str(), "another engine"));
        };
        let model = serde_json::from_str(&plan.model)
            .map_err(|error| FactoryError::new(format!("the agent's model is not JSON: {error}")))?;
        let mut builder = SubAgentBuilder::new(tool.spec.name.to_text(), Arc::clone(&self.runner))
            .system_prompt(plan.system_prompt.clone())
            .model_config(model)
            .thinking_level(plan.thinking_level.clone())
            .tools(self.tools_of(plan, others)?);
        if plan.max_turns > 0 {
            builder = builder.max_turns(plan.max_turns);
        }
        if plan.max_tokens > 0 {
            builder = builder.max_tokens(plan.max_tokens);
        }
        if plan.max_time > 0 {
            builder = builder.max_time(Duration::from_millis(plan.max_time));
        }
        let mut agent = builder.build().map_err(|error| FactoryError::new(Text::from(error.to_string())))?;
        let timeout = match tool.spec.timeout {
            Timeout::Default => agent.spec.timeout,
            own => own,
        };
        agent.spec = ToolSpec { timeout, sub_agent: true, ..tool.spec.clone() };
        agent.action = Some(format!("{plan:?}").into());
        Ok(Arc::new(agent))
    }
}

impl fmt::Debug for AgentEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name()).collect();
        f.debug_struct("AgentEngine").field("tools", &names).finish_non_exhaustive()
    }
}

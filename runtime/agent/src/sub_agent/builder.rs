//! The builder of sub-agents.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::call::tool::{AgentTool, IntoTool};
use toolgen_kernel::registry::{Registry, RegistryError};
use toolgen_kernel::schema::shape::Schema;
use toolgen_kernel::spec::{Effects, NameError, Timeout, ToolName, ToolSpec};

use super::{AgentLimits, AgentRunner, SubAgentTool};

/// Builds a [`SubAgentTool`].
#[must_use = "a builder does nothing until it builds"]
pub struct SubAgentBuilder {
    name: Text,
    runner: Arc<dyn AgentRunner>,
    description: Option<Text>,
    system_prompt: Text,
    model_config: Value,
    thinking_level: Text,
    tools: Vec<Arc<dyn AgentTool>>,
    limits: AgentLimits,
    effects: Effects,
}

impl SubAgentBuilder {
    pub(super) fn new(name: Text, runner: Arc<dyn AgentRunner>) -> SubAgentBuilder {
        SubAgentBuilder {
            name,
            runner,
            description: None,
            system_prompt: Text::EMPTY,
            model_config: Value::Null,
            thinking_level: Text::EMPTY,
            tools: Vec::new(),
            limits: AgentLimits::DEFAULT,
            effects: Effects::UNDECLARED,
        }
    }

    /// Sets the description, which tells the model when to delegate. Default: `Delegate a task to the '{name}'
    /// sub-agent`.
    pub fn description(mut self, description: impl Into<Text>) -> SubAgentBuilder {
        self.description = Some(description.into());
        self
    }

    /// Sets the system prompt of its model.
    pub fn system_prompt(mut self, prompt: impl Into<Text>) -> SubAgentBuilder {
        self.system_prompt = prompt.into();
        self
    }

    /// Sets the model and its settings, in a format that the runner defines.
    pub fn model_config(mut self, config: Value) -> SubAgentBuilder {
        self.model_config = config;
        self
    }

    /// Sets the thinking level of its model, in a format that the runner defines.
    pub fn thinking_level(mut self, level: impl Into<Text>) -> SubAgentBuilder {
        self.thinking_level = level.into();
        self
    }

    /// Adds tools. None of them can be a sub-agent.
    pub fn tools(mut self, tools: impl IntoIterator<Item = impl IntoTool>) -> SubAgentBuilder {
        self.tools.extend(tools.into_iter().map(IntoTool::into_tool));
        self
    }

    /// Sets the maximum number of turns. Default: 10.
    pub fn max_turns(mut self, turns: u32) -> SubAgentBuilder {
        self.limits.max_turns = turns;
        self
    }

    /// Sets the maximum cost in tokens. Default: 1,000,000.
    pub fn max_tokens(mut self, tokens: u64) -> SubAgentBuilder {
        self.limits.max_tokens = tokens;
        self
    }

    /// Sets the maximum run time. Default: 300 seconds.
    pub fn max_time(mut self, time: Duration) -> SubAgentBuilder {
        self.limits.max_time = time;
        self
    }

    /// Sets the declared effects, for policies. Default: undeclared.
    pub fn effects(mut self, effects: Effects) -> SubAgentBuilder {
        self.effects = effects;
        self
    }

    /// Builds the tool.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool name is invalid, if tools are sub-agents, or if the tools cannot form a registry.
    pub fn build(self) -> Result<SubAgentTool, SubAgentError> {
        let name = ToolName::parse(self.name.clone()).map_err(SubAgentError::Name)?;
        let nested = self.tools.iter().map(|tool| tool.spec()).filter(|spec| spec.sub_agent);
        let nested: Vec<Text> = nested.map(|spec| spec.name.to_text()).collect();
        if !nested.is_empty() {
            return Err(SubAgentError::Nested(nested));
        }
        let tools = Registry::new(self.tools).map_err(SubAgentError::Tools)?;
        let described = || format!("Delegate a task to the '{name}' sub-agent").into();
        let spec = ToolSpec {
            description: self.description.unwrap_or_else(described),
            returns: Text::Static("The final text of the sub-agent."),
            input: Schema::text(
                r#"{"type":"object","properties":{"task":{"type":"string","description":"The task, with everything the sub-agent must know: it sees nothing else."}},"required":["task"]}"#,
            ),
            effects: self.effects,
            timeout: Timeout::Millis(toolgen_kernel::base::time::whole_millis(self.limits.max_time)),
            sub_agent: true,
            name,
            ..ToolSpec::EMPTY
        };
        Ok(SubAgentTool {
            spec,
            runner: self.runner,
            system_prompt: self.system_prompt,
            model_config: self.model_config,
            thinking_level: self.thinking_level,
            tools,
            limits: self.limits,
            action: None,
        })
    }
}

impl fmt::Debug for SubAgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubAgentBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Reason why a sub-agent could not be built.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubAgentError {
    /// The name is not a valid tool name.
    Name(NameError),
    /// Some of its tools are sub-agents: `a sub-agent cannot have sub-agents: {names}`
    Nested(Vec<Text>),
    /// Its tools cannot form a registry.
    Tools(RegistryError),
}

impl fmt::Display for SubAgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubAgentError::Name(error) => error.fmt(f),
            SubAgentError::Nested(names) => {
                let names: Vec<&str> = names.iter().map(Text::as_str).collect();
                write!(f, "a sub-agent cannot have sub-agents: {}", names.join(", "))
            }
            SubAgentError::Tools(error) => error.fmt(f),
        }
    }
}

toolgen_core::__readable_debug!(SubAgentError);

impl std::error::Error for SubAgentError {}

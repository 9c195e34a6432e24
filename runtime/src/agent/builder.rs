//! Putting a sub-agent together.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::{AgentLimits, AgentRunner, SubAgentTool};
use crate::base::frozen::Text;
use crate::call::tool::AgentTool;
use crate::registry::{Registry, RegistryError};
use crate::schema::shape::Schema;
use crate::spec::{Effects, NameError, Timeout, ToolName, ToolSpec};

/// Puts a [`SubAgentTool`] together.
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

    /// Sets when to delegate to it. Unless set: `Delegate a task to the '{name}' sub-agent`.
    pub fn description(mut self, description: impl Into<Text>) -> SubAgentBuilder {
        self.description = Some(description.into());
        self
    }

    /// Sets what its model is told first.
    pub fn system_prompt(mut self, prompt: impl Into<Text>) -> SubAgentBuilder {
        self.system_prompt = prompt.into();
        self
    }

    /// Sets which model it has and how that is set up, in words that only the runner understands.
    pub fn model_config(mut self, config: Value) -> SubAgentBuilder {
        self.model_config = config;
        self
    }

    /// Sets how hard its model should think, in words that only the runner understands.
    pub fn thinking_level(mut self, level: impl Into<Text>) -> SubAgentBuilder {
        self.thinking_level = level.into();
        self
    }

    /// Gives it tools, beside those it has. None of them may be a sub-agent.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn AgentTool>>) -> SubAgentBuilder {
        self.tools.extend(tools);
        self
    }

    /// Sets how many turns it may take: 10 unless set.
    pub fn max_turns(mut self, turns: u32) -> SubAgentBuilder {
        self.limits.max_turns = turns;
        self
    }

    /// Sets how many tokens it may cost: 1,000,000 unless set.
    pub fn max_tokens(mut self, tokens: u64) -> SubAgentBuilder {
        self.limits.max_tokens = tokens;
        self
    }

    /// Sets how long it may take: 300 seconds unless set.
    pub fn max_time(mut self, time: Duration) -> SubAgentBuilder {
        self.limits.max_time = time;
        self
    }

    /// Sets what it may do to the world, for policies. Nothing is known of it unless set.
    pub fn effects(mut self, effects: Effects) -> SubAgentBuilder {
        self.effects = effects;
        self
    }

    /// Builds the tool.
    ///
    /// # Errors
    ///
    /// A name that no tool may have, tools that are sub-agents, or tools that do not go together.
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
            returns: Text::Static("What the sub-agent says when it is done."),
            input: Schema::text(
                r#"{"type":"object","properties":{"task":{"type":"string","description":"The task, with everything the sub-agent must know: it sees nothing else."}},"required":["task"]}"#,
            ),
            effects: self.effects,
            timeout: Timeout::Millis(crate::base::time::whole_millis(self.limits.max_time)),
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
        })
    }
}

impl fmt::Debug for SubAgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubAgentBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why there is no sub-agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubAgentError {
    /// No tool may have the name.
    Name(NameError),
    /// Some of its tools are sub-agents: `a sub-agent may not have sub-agents: {names}`
    Nested(Vec<Text>),
    /// Its tools do not go together.
    Tools(RegistryError),
}

impl fmt::Display for SubAgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubAgentError::Name(why) => why.fmt(f),
            SubAgentError::Nested(names) => {
                let names: Vec<&str> = names.iter().map(Text::as_str).collect();
                write!(f, "a sub-agent may not have sub-agents: {}", names.join(", "))
            }
            SubAgentError::Tools(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for SubAgentError {}

//! Calls that consist of other calls, or that need no external engine, as data.

use crate::base::frozen::{List, Text};
use crate::spec::template::{Condition, Reference, Template};

/// Calls of other tools, in sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct ComposePlan {
    /// The steps, in order.
    pub steps: List<Step>,
    /// The result; `None` for that of the last step that ran.
    pub result: Option<Template>,
}

/// A step: calls of one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The name of the step, which later steps use to refer to its result. With `for_each`, the result is a list.
    pub id: Text,
    /// The name of the tool.
    pub tool: Text,
    /// The arguments: an object.
    pub arguments: Template,
    /// The condition of the step. If it does not hold, the step is skipped and has no result.
    pub condition: Option<Condition>,
    /// If set, the tool is called once for each item.
    pub for_each: Option<ForEach>,
    /// Whether the next steps run even if a call fails. A failed call has no result; in a list, its result is `null`.
    pub optional: bool,
}

/// The repetition of a step for each item of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ForEach {
    /// The list.
    pub list: Reference,
    /// Maximum number of concurrent calls, at least 1.
    pub parallel: u32,
    /// Maximum number of items; a longer list fails the call before its first item.
    pub max_items: u32,
}

/// Ends the agent loop. The next state is that of the tool's [`Completion`](crate::spec::Completion).
#[derive(Clone, Debug, PartialEq)]
pub struct CompletePlan {
    /// The text of the result. Without it, the model reads the data.
    pub message: Option<Template>,
    /// The data for the next state: an object. `None` uses the arguments of the call.
    pub data: Option<Template>,
}

/// Requests an effect, which a handler of the program executes.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectPlan {
    /// The name of the effect; its handler is registered under this name.
    pub name: Text,
    /// The data of the effect. `None` uses the arguments of the call.
    pub data: Option<Template>,
}

/// Delegates a task to another agent, which a runner of the program executes.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentPlan {
    /// The system prompt of its model. May be empty.
    pub system_prompt: Text,
    /// The model and its settings, as JSON that the runner understands; `null` for none.
    pub model: Text,
    /// The thinking level of its model, in a form that the runner understands. May be empty.
    pub thinking_level: Text,
    /// The names of its tools. None of them may be an agent.
    pub tools: List<Text>,
    /// Maximum number of turns of its model; 0 for the default.
    pub max_turns: u32,
    /// Maximum number of tokens; 0 for the default.
    pub max_tokens: u64,
    /// Time limit, in milliseconds; 0 for the default.
    pub max_time: u64,
}

impl AgentPlan {
    /// An agent without prompt and tools: the base of every literal.
    pub const EMPTY: AgentPlan = AgentPlan {
        system_prompt: Text::EMPTY,
        model: Text::Static("null"),
        thinking_level: Text::EMPTY,
        tools: List::EMPTY,
        max_turns: 0,
        max_tokens: 0,
        max_time: 0,
    };
}

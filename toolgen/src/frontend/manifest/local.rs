//! Compiles tools that need no separate engine: completions, effects, agents and functions.

use serde_json::{Value, json};
use toolgen_core::schema::shape::read::read;
use toolgen_core::spec::plan::{AgentPlan, CompletePlan, EffectPlan};
use toolgen_core::spec::template::Template;
use toolgen_core::spec::{Completion, Effects, Timeout};
use toolgen_core::{ExecutionPlan, Schema, Text};

use super::calls::Lowered;
use super::codes;
use super::context::{Context, suggest_name};
use super::keys;
use super::node::Node;
use super::template::{PlaceholderTarget, Scope};
use super::tools::Draft;
use crate::source::Pointer;

impl<'a> Context<'a> {
    /// Compiles a plan that ends the loop of the agent.
    pub(super) fn complete(&mut self, draft: &mut Draft<'a>, scope: &mut Scope) -> Lowered {
        let node = &draft.plan_node;
        let has_no_settings = matches!(node.value, Value::Null | Value::Bool(true));
        if !has_no_settings {
            self.object(node, &keys::COMPLETE);
        }
        let next_state = self.text(node, "next_state").unwrap_or_default();
        draft.spec.completion = Some(Completion { next_state: Text::from(next_state.to_owned()) });
        let message = node.get("message").and_then(|node| {
            let text = self.text_of(&node)?;
            self.text_template(text, &node.pointer, PlaceholderTarget::Text, scope)
        });
        let data = self.data(node, scope);
        let uses_all_arguments = data.is_none();
        let call = ExecutionPlan::Complete(CompletePlan { message, data });
        Lowered { call: Some(call), effects: Effects::NONE, uses_all_arguments }
    }

    /// Compiles a plan that requests an effect. The tool itself changes nothing, but the handler of the effect may do
    /// anything.
    pub(super) fn effect(&mut self, draft: &Draft<'a>, scope: &mut Scope) -> Lowered {
        let node = &draft.plan_node;
        if !self.object(node, &keys::EFFECT) {
            return Lowered { call: None, effects: Effects::UNDECLARED, uses_all_arguments: true };
        }
        let help = "name the effect; the program registers its handler under this name";
        let name = self.required(node, "name", "an effect", help).and_then(|name| self.text_of(&name));
        let data = self.data(node, scope);
        let uses_all_arguments = data.is_none();
        let call = name.map(|name| ExecutionPlan::Effect(EffectPlan { name: name.to_owned().into(), data }));
        Lowered { call, effects: Effects::UNDECLARED, uses_all_arguments }
    }

    /// Reads `data`, an object with placeholders.
    fn data(&mut self, node: &Node<'a>, scope: &mut Scope) -> Option<Template> {
        let data = node.get("data")?;
        if !data.value.is_object() {
            self.report_wrong_type(
                &data,
                "an object",
                "write `data: {name: \"{argument}\"}`; without `data`, all arguments are used",
            );
            return None;
        }
        self.template(&data, PlaceholderTarget::Json, scope)
    }

    /// Compiles a plan that calls a function of the program.
    pub(super) fn function(&mut self, draft: &Draft<'a>) -> Lowered {
        if !draft.plan_node.value.is_null() {
            self.object(&draft.plan_node, &keys::FUNCTION);
        }
        Lowered {
            call: Some(ExecutionPlan::Function),
            effects: Effects::UNDECLARED,
            uses_all_arguments: true,
        }
    }

    /// Returns the schema of an agent's arguments, which is the same for all agents.
    pub(super) fn agent_input(&mut self, node: &Node<'a>) -> Schema {
        for key in ["parameters", "input"] {
            if let Some(member) = node.get(key) {
                let message = format!("an agent has only the argument `task`, so it cannot have `{key}`");
                self.report(codes::AGENT, &member.pointer, message, "leave it out");
            }
        }
        let schema = json!({
            "type": "object",
            "properties": {"task": {
                "type": "string",
                "description": "The task, with everything the sub-agent must know: it sees nothing else."
            }},
            "required": ["task"]
        });
        read(&schema, &mut Vec::new()).into()
    }

    /// Compiles a plan that a sub-agent executes.
    pub(super) fn agent(&mut self, draft: &mut Draft<'a>) -> Lowered {
        let node = draft.plan_node.clone();
        self.object(&node, &keys::AGENT);
        let to_text = |text: Option<&str>| Text::from(text.unwrap_or_default().to_owned());
        let model = node.get("model").map(|model| model.value.to_string());
        let max_turns = self.count(&node, "max_turns").unwrap_or_default();
        let max_time = node.get("max_time").and_then(|node| self.duration(&node)).unwrap_or_default();
        let plan = AgentPlan {
            system_prompt: to_text(self.text(&node, "system_prompt")),
            model: model.map_or(AgentPlan::EMPTY.model, Text::from),
            thinking_level: to_text(self.text(&node, "thinking_level")),
            tools: self
                .texts(&node, "tools")
                .unwrap_or_default()
                .into_iter()
                .map(|(name, _)| to_text(Some(name)))
                .collect(),
            max_turns: u32::try_from(max_turns).unwrap_or(u32::MAX),
            max_tokens: self.count(&node, "max_tokens").unwrap_or_default(),
            max_time,
        };
        draft.spec.sub_agent = true;
        if draft.spec.description.is_empty() {
            draft.spec.description = format!("Delegate a task to the '{}' sub-agent", draft.spec.name).into();
        }
        if draft.spec.returns.is_empty() {
            draft.spec.returns = Text::Static("The final text of the sub-agent.");
        }
        if draft.spec.timeout == Timeout::Default && max_time > 0 {
            draft.spec.timeout = Timeout::Millis(max_time);
        }
        let call = Some(ExecutionPlan::Agent(plan));
        Lowered { call, effects: Effects::UNDECLARED, uses_all_arguments: true }
    }

    /// Replaces the names of agents' tools by their full names, after all tools are compiled. Tools of this manifest
    /// may be named without the namespace.
    pub(super) fn link_agents(&mut self, drafts: &mut [Draft<'a>]) {
        let own_tools = drafts.iter().map(|draft| AgentToolCandidate {
            id: Some(draft.id.clone()),
            name: draft.spec.name.to_text(),
            is_agent: draft.kind == "agent",
            is_broken: draft.broken,
        });
        let imported = self.imported.tools().into_iter().map(|tool| AgentToolCandidate {
            id: None,
            name: tool.spec.name.to_text(),
            is_agent: tool.spec.sub_agent,
            is_broken: false,
        });
        let candidates: Vec<AgentToolCandidate> = own_tools.chain(imported).collect();
        for draft in drafts {
            let Some(ExecutionPlan::Agent(plan)) = &mut draft.call else { continue };
            let errors = self.errors;
            let mut tools: Vec<Text> = Vec::new();
            for (name, pointer) in self.texts(&draft.plan_node, "tools").unwrap_or_default() {
                match self.resolve_agent_tool(name, &pointer, &candidates) {
                    Some(tool) if tools.contains(&tool) => {
                        let message = format!("the tool `{name}` is listed twice");
                        self.report(codes::AGENT, &pointer, message, "name it once");
                    }
                    Some(tool) => tools.push(tool),
                    // Already reported, or part of a failed import.
                    None => draft.broken = true,
                }
            }
            plan.tools = tools.into();
            draft.broken |= self.errors > errors;
        }
    }

    /// Returns the full name of a tool that an agent can use.
    fn resolve_agent_tool(
        &mut self,
        name: &str,
        pointer: &Pointer,
        candidates: &[AgentToolCandidate],
    ) -> Option<Text> {
        let by_name = candidates.iter().find(|candidate| *candidate.name == *name);
        let candidate =
            by_name.or_else(|| candidates.iter().find(|candidate| candidate.id.as_deref() == Some(name)));
        let (message, help) = match candidate {
            Some(candidate) if candidate.is_agent => (
                format!("the tool `{name}` is an agent, and an agent cannot have agents"),
                "leave it out".to_owned(),
            ),
            Some(candidate) if candidate.is_broken => {
                let message = format!("the tool `{name}` has errors, so no agent can use it");
                (message, "correct that tool first".to_owned())
            }
            Some(candidate) => return Some(candidate.name.clone()),
            None if self.imported.incomplete => return None,
            None => {
                let names: Vec<&str> = candidates
                    .iter()
                    .map(|candidate| candidate.id.as_deref().unwrap_or(&candidate.name))
                    .collect();
                (format!("there is no tool `{name}`"), suggest_name(name, &names))
            }
        };
        self.report(codes::AGENT, pointer, message, help);
        None
    }
}

/// A tool that an agent can use.
#[derive(Debug)]
struct AgentToolCandidate {
    /// The name without a namespace, if the tool belongs to this manifest.
    id: Option<String>,
    name: Text,
    is_agent: bool,
    is_broken: bool,
}

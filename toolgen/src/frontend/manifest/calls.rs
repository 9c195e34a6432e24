//! Compiles the execution plan of a tool by its kind.

use serde_json::Value;
use toolgen_core::spec::{Completion, Effects};
use toolgen_core::{ExecutionPlan, RequestPlan, Text};

use super::attributes::argument_names;
use super::codes;
use super::compose::union;
use super::context::Context;
use super::keys;
use super::template::Scope;
use super::tools::Draft;

/// Returns the effect attributes that the kind of a tool and its plan determine, each with the reason.
pub(super) fn fixed_effects(
    kind: &str,
    call: Option<&ExecutionPlan>,
) -> &'static [(&'static str, &'static str)] {
    const FIXED_NETWORK: (&str, &str) = ("network", "the request goes to the host of its `url`");
    const NOT_PURE: (&str, &str) = ("pure", "the request leaves the program");
    // A POST request may be a search.
    const NOT_READ_ONLY: (&str, &str) = ("read_only", "a PUT, PATCH or DELETE request changes something");
    let method = call.and_then(ExecutionPlan::http).map_or("", |plan| plan.method.as_str());
    match (kind, method) {
        ("command", _) => &[("spawns", "a command starts a program"), ("pure", "a command starts a program")],
        ("http", "PUT" | "PATCH" | "DELETE") => &[FIXED_NETWORK, NOT_PURE, NOT_READ_ONLY],
        ("http", _) => &[FIXED_NETWORK, NOT_PURE],
        ("compose", _) => &union::FIXED,
        _ => &[],
    }
}

/// A plan, and the properties that follow from its kind.
#[derive(Debug)]
pub(super) struct Lowered {
    /// `None` after a problem.
    pub(super) call: Option<ExecutionPlan>,
    /// The default effects of the tool.
    pub(super) effects: Effects,
    /// Whether the plan uses every argument, even without a placeholder.
    pub(super) uses_all_arguments: bool,
}

impl<'a> Context<'a> {
    /// Compiles the plans of all drafts except for composed tools, whose plans depend on other tools.
    pub(super) fn lower_calls(&mut self, drafts: &mut [Draft<'a>]) {
        for draft in drafts.iter_mut().filter(|draft| !draft.kind.is_empty()) {
            let errors = self.errors;
            if draft.kind != "complete" {
                self.completion(draft);
            }
            if draft.kind != "compose" {
                self.lower_call(draft);
            }
            draft.broken |= self.errors > errors;
        }
    }

    fn lower_call(&mut self, draft: &mut Draft<'a>) {
        let errors = self.errors;
        let mut scope = Scope::of(&draft.spec);
        let lowered = match draft.kind {
            "command" => self.command(draft, &mut scope),
            "http" => self.request(draft, &mut scope),
            "complete" => self.complete(draft, &mut scope),
            "effect" => self.effect(draft, &mut scope),
            "agent" => self.agent(draft),
            _ => self.function(draft),
        };
        let Lowered { call, effects, uses_all_arguments } = lowered;
        let fixed = fixed_effects(draft.kind, call.as_ref());
        draft.spec.effects = self.effects(&draft.attributes, effects, fixed);
        if draft.kind == "command" {
            self.check_network(&draft.attributes, &draft.spec.effects);
        }
        draft.broken |= self.errors > errors;
        if !draft.broken && !uses_all_arguments {
            self.report_unused_arguments(draft, &scope);
        }
        draft.spec.output_may_differ =
            draft.spec.output.is_some() && matches!(call, Some(ExecutionPlan::Http(_)));
        draft.spec.string_arguments =
            call.as_ref().and_then(ExecutionPlan::http).map(RequestPlan::texts).unwrap_or_default();
        draft.call = call;
    }

    /// Reports arguments without a placeholder, whose values have no effect.
    pub(super) fn report_unused_arguments(&mut self, draft: &Draft<'a>, scope: &Scope) {
        for name in argument_names(&draft.spec).iter().filter(|name| !scope.used.contains(name.as_str())) {
            let pointer = draft.node.pointer.child("parameters").child(name);
            let message = format!("the argument `{name}` of the tool `{}` is never used", draft.id);
            let help = match in_double_braces(draft.plan_node.value, name) {
                Some(text) => format!("`{text}` is a string in braces; write `{{{name}}}`"),
                None => {
                    format!("write `{{{name}}}` where its value goes, or remove it: it would have no effect")
                }
            };
            self.report(codes::UNUSED_ARGUMENT, &pointer, message, help);
        }
    }

    /// Reads `complete` next to another kind: a successful call ends the loop of the agent.
    fn completion(&mut self, draft: &mut Draft<'a>) {
        let Some(node) = draft.node.get("complete") else { return };
        let next_state = match node.value {
            Value::Bool(true) | Value::Null => "",
            Value::Object(_) => {
                self.object(&node, &keys::COMPLETION);
                self.text(&node, "next_state").unwrap_or_default()
            }
            _ => {
                let help = "write `complete: true` or `complete: {next_state: …}`";
                return self.report_wrong_type(&node, "`true`, or an object", help);
            }
        };
        draft.spec.completion = Some(Completion { next_state: Text::from(next_state.to_owned()) });
    }
}

/// Finds the name of an argument in double braces, which is a placeholder in other formats.
fn in_double_braces(value: &Value, name: &str) -> Option<String> {
    let text = value.to_string();
    text.split("{{").skip(1).find_map(|after| {
        let (content, _) = after.split_once("}}")?;
        (content.trim() == name).then(|| format!("{{{{{content}}}}}"))
    })
}

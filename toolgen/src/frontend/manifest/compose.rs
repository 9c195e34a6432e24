//! Tools that call other tools.
//!
//! A composed tool is checked against the tools that it calls: its steps pass the arguments that they need, and refer
//! to the results of earlier steps. Its effects follow from those of the called tools, so a tool is compiled before the
//! tools that call it.

mod check;
mod parts;
pub(super) mod union;

use std::collections::{BTreeMap, BTreeSet};

use toolgen_core::schema::shape::{ArrayRules, Kind, StringRules};
use toolgen_core::spec::plan::{ComposePlan, ForEach, Step};
use toolgen_core::spec::template::Template;
use toolgen_core::{ExecutionPlan, Schema, Shape, ToolSpec};

use super::calls::fixed_effects;
use super::codes;
use super::context::{Context, suggest_name};
use super::keys;
use super::node::Node;
use super::template::{PlaceholderTarget, Scope};
use super::tools::Draft;
use super::typed_value::{Class, TypedValue};
use crate::selector::suggestion;

/// Default maximum number of items for which a step is repeated.
const MAX_ITEMS: u32 = 100;

/// A tool that a step can call.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    /// The name without a namespace, if the tool belongs to this manifest.
    id: Option<String>,
    spec: ToolSpec,
    /// Whether the tool has errors, so that it does not exist.
    broken: bool,
    /// Whether the tool sends a request. Without an `output`, its result is a string.
    sends_request: bool,
}

/// The tools that steps can call: those of the manifest in order, then all others.
type Callees = [Callee];

impl<'a> Context<'a> {
    /// Compiles the plans and effects of the composed tools. All other drafts are already compiled.
    pub(super) fn lower_composes(&mut self, drafts: &mut [Draft<'a>]) {
        let own_callees = drafts.iter().map(|draft| Callee {
            id: Some(draft.id.clone()),
            spec: draft.spec.clone(),
            broken: draft.broken,
            sends_request: draft.kind == "http",
        });
        let imported = self.imported.tools().into_iter();
        let imported = imported.map(|tool| Callee {
            id: None,
            sends_request: tool.call.http().is_some(),
            spec: tool.spec,
            broken: false,
        });
        let mut callees: Vec<Callee> = own_callees.chain(imported).collect();
        for index in self.order(drafts, &mut callees) {
            let Some(draft) = drafts.get_mut(index) else { continue };
            let errors = self.errors;
            self.compose(draft, &callees);
            draft.broken |= self.errors > errors;
            if let Some(callee) = callees.get_mut(index) {
                callee.spec = draft.spec.clone();
                callee.broken = draft.broken;
            }
        }
    }

    /// Returns the composed tools in an order in which each follows the tools that it calls. Tools that call
    /// themselves are reported and omitted.
    fn order(&mut self, drafts: &mut [Draft<'a>], callees: &mut Callees) -> Vec<usize> {
        let is_composed = |index: &usize| drafts.get(*index).is_some_and(|draft| draft.kind == "compose");
        let callees_of = |index: usize| {
            let names = drafts.get(index).map(|draft| called_tools(&draft.plan_node)).unwrap_or_default();
            (index, names.iter().filter_map(|name| callee_index(name, callees)).filter(is_composed).collect())
        };
        let calls: BTreeMap<usize, Vec<usize>> =
            (0..drafts.len()).filter(is_composed).map(callees_of).collect();
        let mut order: Vec<usize> = Vec::new();
        let mut processed: BTreeSet<usize> = BTreeSet::new();
        while processed.len() < calls.len() {
            let remaining = calls.iter().filter(|(index, _)| !processed.contains(index));
            let ready = remaining.filter(|(_, called)| called.iter().all(|other| processed.contains(other)));
            let ready: Vec<usize> = ready.map(|(index, _)| *index).collect();
            if !ready.is_empty() {
                processed.extend(&ready);
                order.extend(ready);
                continue;
            }
            let cycle = find_cycle(&calls, &processed);
            self.report_cycle(&cycle, drafts);
            for index in cycle {
                processed.insert(index);
                if let (Some(draft), Some(callee)) = (drafts.get_mut(index), callees.get_mut(index)) {
                    (draft.broken, callee.broken) = (true, true);
                }
            }
        }
        order
    }

    fn report_cycle(&mut self, cycle: &[usize], drafts: &[Draft<'a>]) {
        let mut names: Vec<String> = cycle
            .iter()
            .filter_map(|index| drafts.get(*index))
            .map(|draft| format!("`{}`", draft.id))
            .collect();
        let Some(first) = cycle.first().and_then(|index| drafts.get(*index)) else { return };
        names.extend(names.first().cloned());
        let message = format!("the tool `{}` would call itself: {}", first.id, names.join(" calls "));
        let help = "a composed tool runs its steps once; remove the step that calls back";
        self.report(codes::CALL_CYCLE, &first.plan_node.pointer, message, help);
    }

    /// Compiles a composed tool.
    fn compose(&mut self, draft: &mut Draft<'a>, callees: &Callees) {
        let node = draft.plan_node.clone();
        let mut scope = Scope { steps: Some(Vec::new()), ..Scope::of(&draft.spec) };
        if !self.object(&node, &keys::COMPOSE) {
            return;
        }
        let help =
            "write an array, such as `steps: [{id: find, call: find_files, with: {pattern: \"{pattern}\"}}]`";
        let has_steps = self.required(&node, "steps", "a composed tool", help).is_some();
        let items = if has_steps { self.list(&node, "steps").unwrap_or_default() } else { Vec::new() };
        if has_steps && items.is_empty() && node.get("steps").is_some_and(|steps| steps.value.is_array()) {
            self.report(codes::MISSING, &node.pointer.child("steps"), "a composed tool needs a step", help);
        }
        let mut steps = Vec::new();
        let mut called_specs: Vec<&ToolSpec> = Vec::new();
        scope.later =
            items.iter().filter_map(|item| item.value.get("id")?.as_str()).map(str::to_owned).collect();
        for item in &items {
            let callee = self.callee(item, callees, &draft.id);
            called_specs.extend(callee.map(|callee| &callee.spec));
            let step = self.step(item, callee, &mut scope);
            // Later steps may refer to a step with an error.
            let id = item.value.get("id").and_then(|id| id.as_str()).unwrap_or_default().to_owned();
            let result_type = callee.filter(|callee| !callee.broken).map(|callee| result_of(callee, item));
            if let Some(steps) = &mut scope.steps {
                scope.later.retain(|later| *later != id);
                steps.push((id, result_type));
            }
            steps.extend(step);
        }
        let result =
            node.get("result").map(|result| self.template(&result, PlaceholderTarget::Json, &mut scope));
        self.report_unused_arguments(draft, &scope);
        union::scopes(&mut draft.spec, &called_specs);
        draft.spec.effects =
            self.effects(&draft.attributes, union::effects(&called_specs), fixed_effects("compose", None));
        let result = match result {
            None => None,
            Some(None) => return,
            some => some.flatten(),
        };
        if steps.len() < items.len() {
            return;
        }
        draft.call = Some(ExecutionPlan::Compose(ComposePlan { steps: steps.into(), result }));
    }

    /// Returns the tool that a step calls.
    fn callee<'c>(&mut self, node: &Node<'a>, callees: &'c Callees, caller: &str) -> Option<&'c Callee> {
        if !self.object(node, &keys::STEP) {
            return None;
        }
        let call = self.required(node, "call", "a step", "name the tool that the step calls")?;
        let name = self.text_of(&call)?;
        let Some(callee) = callee_index(name, callees).and_then(|index| callees.get(index)) else {
            if self.imported.incomplete {
                return None;
            }
            // A tool does not call itself.
            let others = || callees.iter().filter(|callee| callee.id.as_deref() != Some(caller));
            let names: Vec<&str> = others().map(|callee| callee.spec.name.as_str()).collect();
            let ids: Vec<&str> = others().filter_map(|callee| callee.id.as_deref()).collect();
            let help = suggest_tool(name, &names, &ids);
            self.report(codes::STEP, &call.pointer, format!("there is no tool `{name}`"), help);
            return None;
        };
        if callee.broken {
            let message = format!("the tool `{name}` has errors, so no step can call it");
            self.report(codes::STEP, &call.pointer, message, "correct that tool first");
        }
        Some(callee)
    }

    fn step(&mut self, node: &Node<'a>, callee: Option<&Callee>, scope: &mut Scope) -> Option<Step> {
        let id = self.step_id(node, scope);
        let condition = node.get("if").map(|condition| self.condition(&condition, scope));
        let for_each = self.for_each(node, scope);
        let arguments = match node.get("with") {
            None => Some(Template::Object(toolgen_core::List::EMPTY)),
            Some(with) if with.value.is_object() => self.template(&with, PlaceholderTarget::Json, scope),
            Some(with) => {
                self.report_wrong_type(&with, "an object", "write `with: {argument: value}`");
                None
            }
        };
        // The arguments of a tool with errors are unknown.
        if let (Some(arguments), Some(Callee { spec, broken: false, .. })) = (&arguments, callee) {
            let pointer =
                if node.get("with").is_some() { node.pointer.child("with") } else { node.pointer.clone() };
            self.check_arguments(arguments, spec, scope, &pointer);
        }
        scope.item = None;
        let choices = [("stop", false), ("continue", true)];
        let optional = self.choice(node, "on_error", &choices).unwrap_or(false);
        let condition = match condition {
            None => None,
            Some(condition) => Some(condition?),
        };
        let for_each = match for_each {
            None => None,
            Some(for_each) => Some(for_each?),
        };
        let tool = callee?.spec.name.to_text();
        Some(Step { id: id?.to_owned().into(), tool, arguments: arguments?, condition, for_each, optional })
    }

    /// Returns the name of a step, which must differ from the names of earlier steps.
    fn step_id(&mut self, node: &Node<'a>, scope: &Scope) -> Option<&'a str> {
        let help = "give the step a name, which later steps use to refer to its result";
        let id_node = self.required(node, "id", "a step", help)?;
        let id = self.text_of(&id_node)?;
        let is_valid =
            !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        if !is_valid {
            let message = format!("`{id}` cannot be the name of a step");
            self.report(codes::STEP, &id_node.pointer, message, "use ASCII letters, digits, `_` and `-`");
            return None;
        }
        if scope.steps.iter().flatten().any(|(other, _)| other == id) {
            let message = format!("there are two steps `{id}`");
            self.report(codes::STEP, &id_node.pointer, message, "rename one of them");
            return None;
        }
        Some(id)
    }

    /// Reads the `for_each` of a step, and sets the current item in the scope. Returns `Some(None)` after a problem.
    fn for_each(&mut self, node: &Node<'a>, scope: &mut Scope) -> Option<Option<ForEach>> {
        let Some(list) = node.get("for_each") else {
            for key in ["parallel", "max_items"] {
                if let Some(member) = node.get(key) {
                    let message = format!("`{key}` has no effect without `for_each`");
                    self.report(codes::STEP, &member.pointer, message, "add `for_each`, or remove it");
                }
            }
            return None;
        };
        let reference = self.reference(&list, scope);
        let array = reference.as_ref().and_then(|(_, array)| array.clone());
        let class = array.as_ref().map_or(Class::Mixed, TypedValue::class);
        scope.item = Some(array.as_ref().and_then(TypedValue::item));
        if !matches!(class, Class::List | Class::Mixed) {
            let message = format!("`for_each` needs an array, and this is {}", class.name());
            self.report(codes::STEP, &list.pointer, message, "name an array");
            return Some(None);
        }
        let parallel =
            self.count(node, "parallel").map_or(1, |count| u32::try_from(count).unwrap_or(u32::MAX));
        let max_items = self.count(node, "max_items");
        let max_items = max_items.map_or(MAX_ITEMS, |count| u32::try_from(count).unwrap_or(u32::MAX));
        Some(reference.map(|(list, _)| ForEach { list, parallel, max_items }))
    }
}

/// Returns the names of the tools that the steps of a composed tool call.
fn called_tools<'a>(compose: &Node<'a>) -> Vec<&'a str> {
    let steps = compose.get("steps").map(|steps| steps.items()).unwrap_or_default();
    steps.iter().filter_map(|step| step.value.get("call")?.as_str()).collect()
}

/// Returns the index of the tool with a full name, or else with a name in the manifest.
fn callee_index(name: &str, callees: &Callees) -> Option<usize> {
    let index = callees.iter().position(|callee| callee.spec.name.as_str() == name);
    index.or_else(|| callees.iter().position(|callee| callee.id.as_deref() == Some(name)))
}

/// Suggests the most similar name for an unknown name: a full name, or a short name. A program may have hundreds
/// of tools, so only a few are listed.
pub(super) fn suggest_tool(name: &str, names: &[&str], short: &[&str]) -> String {
    match suggestion(name, names.iter().chain(short).copied()) {
        Some(suggested) => format!("did you mean `{suggested}`?"),
        None if names.len() > 8 => "`cargo toolgen list` shows the tools".to_owned(),
        None => suggest_name(name, names),
    }
}

/// Returns the type of the result of a step: an array of results if the step is repeated. The result may be missing
/// if the step may be skipped or fail.
fn result_of(callee: &Callee, step: &Node<'_>) -> TypedValue {
    let Callee { spec: callee, sends_request, .. } = callee;
    let continues = step.value.get("on_error").is_some_and(|on_error| on_error == "continue");
    let any_result = if *sends_request { Shape::of(Kind::String(StringRules::ANY)) } else { Shape::ANY };
    let schema = callee.output.clone().unwrap_or(Schema::from(any_result));
    let is_repeated = step.value.get("for_each").is_some();
    let schema = if is_repeated {
        let items = Shape { nullable: continues, ..schema.shape().clone() };
        Shape::of(Kind::Array(ArrayRules { items: items.into(), ..ArrayRules::ANY })).into()
    } else {
        schema
    };
    let may_be_absent = step.value.get("if").is_some() || (continues && !is_repeated);
    TypedValue { schema, defs: callee.defs.clone(), may_be_absent, from_model: false }
}

/// Returns tools that call each other in a cycle. Each unprocessed tool calls another unprocessed tool.
fn find_cycle(calls: &BTreeMap<usize, Vec<usize>>, processed: &BTreeSet<usize>) -> Vec<usize> {
    let mut path: Vec<usize> =
        calls.keys().copied().filter(|index| !processed.contains(index)).take(1).collect();
    while let Some(callees) = path.last().and_then(|last| calls.get(last)) {
        let Some(next) = callees.iter().copied().find(|next| !processed.contains(next)) else { break };
        if let Some(start) = path.iter().position(|index| *index == next) {
            return path.split_off(start);
        }
        path.push(next);
    }
    path
}

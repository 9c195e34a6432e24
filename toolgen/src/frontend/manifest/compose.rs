//! Tools that call other tools.
//!
//! A composed tool is checked against the tools that it calls: its steps pass the arguments that they need, and refer
//! to the results of earlier steps. Its effects follow from theirs, so a tool is compiled before the tools that call
//! it.

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
use super::context::{Context, nearest};
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
    /// The name without a namespace, for a tool of this manifest.
    id: Option<String>,
    spec: ToolSpec,
    /// Whether it has an error, in which case there is no such tool.
    broken: bool,
    /// Whether it sends a request. Without an `output`, its result is a string.
    sends: bool,
}

/// The tools that steps can call: those of the manifest in order, then all others.
type Callees = [Callee];

impl<'a> Context<'a> {
    /// Compiles the plans and effects of the composed tools among the drafts. All other drafts already have theirs.
    pub(super) fn lower_composes(&mut self, drafts: &mut [Draft<'a>]) {
        let own = drafts.iter().map(|draft| Callee {
            id: Some(draft.id.clone()),
            spec: draft.spec.clone(),
            broken: draft.broken,
            sends: draft.kind == "http",
        });
        let imported = self.imported.tools().into_iter();
        let imported = imported.map(|tool| Callee {
            id: None,
            sends: tool.call.http().is_some(),
            spec: tool.spec,
            broken: false,
        });
        let mut callees: Vec<Callee> = own.chain(imported).collect();
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

    /// Returns the composed tools in an order in which each comes after the tools that it calls. Tools that call
    /// themselves are reported and omitted.
    fn order(&mut self, drafts: &mut [Draft<'a>], callees: &mut Callees) -> Vec<usize> {
        let composed = |index: &usize| drafts.get(*index).is_some_and(|draft| draft.kind == "compose");
        let calls = |index: usize| {
            let names = drafts.get(index).map(|draft| called(&draft.of_kind)).unwrap_or_default();
            (index, names.iter().filter_map(|name| position(name, callees)).filter(composed).collect())
        };
        let calls: BTreeMap<usize, Vec<usize>> = (0..drafts.len()).filter(composed).map(calls).collect();
        let mut order: Vec<usize> = Vec::new();
        let mut done: BTreeSet<usize> = BTreeSet::new();
        while done.len() < calls.len() {
            let open = calls.iter().filter(|(index, _)| !done.contains(index));
            let ready = open.filter(|(_, called)| called.iter().all(|other| done.contains(other)));
            let ready: Vec<usize> = ready.map(|(index, _)| *index).collect();
            if !ready.is_empty() {
                done.extend(&ready);
                order.extend(ready);
                continue;
            }
            let circle = circle(&calls, &done);
            self.report_circle(&circle, drafts);
            for index in circle {
                done.insert(index);
                if let (Some(draft), Some(callee)) = (drafts.get_mut(index), callees.get_mut(index)) {
                    (draft.broken, callee.broken) = (true, true);
                }
            }
        }
        order
    }

    fn report_circle(&mut self, circle: &[usize], drafts: &[Draft<'a>]) {
        let mut names: Vec<String> = circle
            .iter()
            .filter_map(|index| drafts.get(*index))
            .map(|draft| format!("`{}`", draft.id))
            .collect();
        let Some(first) = circle.first().and_then(|index| drafts.get(*index)) else { return };
        names.extend(names.first().cloned());
        let message = format!("the tool `{}` would call itself: {}", first.id, names.join(" calls "));
        let help = "a composed tool runs its steps once; remove the step that calls back";
        self.report(codes::CALL_CYCLE, &first.of_kind.pointer, message, help);
    }

    /// Compiles a composed tool.
    fn compose(&mut self, draft: &mut Draft<'a>, callees: &Callees) {
        let node = draft.of_kind.clone();
        let mut scope = Scope { steps: Some(Vec::new()), ..Scope::of(&draft.spec) };
        if !self.object(&node, &keys::COMPOSE) {
            return;
        }
        let help =
            "write an array, such as `steps: [{id: find, call: find_files, with: {pattern: \"{pattern}\"}}]`";
        let given = self.required(&node, "steps", "a composed tool", help).is_some();
        let items = if given { self.list(&node, "steps").unwrap_or_default() } else { Vec::new() };
        if given && items.is_empty() && node.get("steps").is_some_and(|steps| steps.value.is_array()) {
            self.report(codes::MISSING, &node.pointer.child("steps"), "a composed tool needs a step", help);
        }
        let mut steps = Vec::new();
        let mut called: Vec<&ToolSpec> = Vec::new();
        scope.later =
            items.iter().filter_map(|item| item.value.get("id")?.as_str()).map(str::to_owned).collect();
        for item in &items {
            let callee = self.callee(item, callees, &draft.id);
            called.extend(callee.map(|callee| &callee.spec));
            let step = self.step(item, callee, &mut scope);
            // Later steps may refer to a step with an error.
            let id = item.value.get("id").and_then(|id| id.as_str()).unwrap_or_default().to_owned();
            let known = callee.filter(|callee| !callee.broken).map(|callee| result_of(callee, item));
            if let Some(steps) = &mut scope.steps {
                scope.later.retain(|later| *later != id);
                steps.push((id, known));
            }
            steps.extend(step);
        }
        let result =
            node.get("result").map(|result| self.template(&result, PlaceholderTarget::Json, &mut scope));
        self.check_used(draft, &scope);
        union::scopes(&mut draft.spec, &called);
        draft.spec.effects =
            self.effects(&draft.attributes, union::effects(&called), fixed_effects("compose", None));
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
    fn callee<'c>(&mut self, node: &Node<'a>, callees: &'c Callees, own: &str) -> Option<&'c Callee> {
        if !self.object(node, &keys::STEP) {
            return None;
        }
        let call = self.required(node, "call", "a step", "name the tool that the step calls")?;
        let name = self.text_of(&call)?;
        let Some(callee) = position(name, callees).and_then(|index| callees.get(index)) else {
            if self.imported.incomplete {
                return None;
            }
            // No tool calls itself.
            let others = || callees.iter().filter(|callee| callee.id.as_deref() != Some(own));
            let full: Vec<&str> = others().map(|callee| callee.spec.name.as_str()).collect();
            let ids: Vec<&str> = others().filter_map(|callee| callee.id.as_deref()).collect();
            let help = near(name, &full, &ids);
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
                self.wrong_kind(&with, "an object", "write `with: {argument: value}`");
                None
            }
        };
        // The arguments of a tool with errors are unknown.
        if let (Some(arguments), Some(Callee { spec, broken: false, .. })) = (&arguments, callee) {
            let at =
                if node.get("with").is_some() { node.pointer.child("with") } else { node.pointer.clone() };
            self.check_arguments(arguments, spec, scope, &at);
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

    /// Returns the name of a step, which must differ from those of earlier steps.
    fn step_id(&mut self, node: &Node<'a>, scope: &Scope) -> Option<&'a str> {
        let help = "give the step a name, which later steps use to refer to its result";
        let given = self.required(node, "id", "a step", help)?;
        let id = self.text_of(&given)?;
        let fine = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        if !fine {
            let message = format!("`{id}` cannot be the name of a step");
            self.report(codes::STEP, &given.pointer, message, "use ASCII letters, digits, `_` and `-`");
            return None;
        }
        if scope.steps.iter().flatten().any(|(known, _)| known == id) {
            let message = format!("there are two steps `{id}`");
            self.report(codes::STEP, &given.pointer, message, "rename one of them");
            return None;
        }
        Some(id)
    }

    /// Reads the repetition of a step, and sets the current item in the scope. `Some(None)` after a problem.
    fn for_each(&mut self, node: &Node<'a>, scope: &mut Scope) -> Option<Option<ForEach>> {
        let Some(list) = node.get("for_each") else {
            for key in ["parallel", "max_items"] {
                if let Some(given) = node.get(key) {
                    let message = format!("`{key}` has no effect without `for_each`");
                    self.report(codes::STEP, &given.pointer, message, "add `for_each`, or remove it");
                }
            }
            return None;
        };
        let found = self.reference(&list, scope);
        let known = found.as_ref().and_then(|(_, known)| known.clone());
        let class = known.as_ref().map_or(Class::Mixed, TypedValue::class);
        scope.item = Some(known.as_ref().and_then(TypedValue::item));
        if !matches!(class, Class::List | Class::Mixed) {
            let message = format!("`for_each` needs an array, and this is {}", class.name());
            self.report(codes::STEP, &list.pointer, message, "name an array");
            return Some(None);
        }
        let parallel =
            self.count(node, "parallel").map_or(1, |count| u32::try_from(count).unwrap_or(u32::MAX));
        let max_items = self.count(node, "max_items");
        let max_items = max_items.map_or(MAX_ITEMS, |count| u32::try_from(count).unwrap_or(u32::MAX));
        Some(found.map(|(list, _)| ForEach { list, parallel, max_items }))
    }
}

/// Returns the names of the tools that the steps of a composed tool call.
fn called<'a>(compose: &Node<'a>) -> Vec<&'a str> {
    let steps = compose.get("steps").map(|steps| steps.items()).unwrap_or_default();
    steps.iter().filter_map(|step| step.value.get("call")?.as_str()).collect()
}

/// Returns the tool with a name: its full name, or its name in the manifest.
fn position(name: &str, callees: &Callees) -> Option<usize> {
    let full = callees.iter().position(|callee| callee.spec.name.as_str() == name);
    full.or_else(|| callees.iter().position(|callee| callee.id.as_deref() == Some(name)))
}

/// Suggests what an unknown name was probably meant to be: a full name, or a short one. A program may have hundreds
/// of tools, so only a few are listed.
pub(super) fn near(name: &str, full: &[&str], short: &[&str]) -> String {
    match suggestion(name, full.iter().chain(short).copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if full.len() > 8 => "`cargo toolgen list` shows the tools".to_owned(),
        None => nearest(name, full),
    }
}

/// Returns what is known about the result of a step: an array of results if it is repeated. The result may be missing
/// if the step may be skipped or fail.
fn result_of(callee: &Callee, step: &Node<'_>) -> TypedValue {
    let Callee { spec: callee, sends, .. } = callee;
    let continues = step.value.get("on_error").is_some_and(|on_error| on_error == "continue");
    let any = if *sends { Shape::of(Kind::String(StringRules::ANY)) } else { Shape::ANY };
    let schema = callee.output.clone().unwrap_or(Schema::from(any));
    let repeated = step.value.get("for_each").is_some();
    let schema = if repeated {
        let items = Shape { nullable: continues, ..schema.shape().clone() };
        Shape::of(Kind::Array(ArrayRules { items: items.into(), ..ArrayRules::ANY })).into()
    } else {
        schema
    };
    let may_miss = step.value.get("if").is_some() || (continues && !repeated);
    TypedValue { schema, defs: callee.defs.clone(), may_miss, of_model: false }
}

/// Returns tools that call each other in a cycle. Each tool that is not done calls another one that is not done.
fn circle(calls: &BTreeMap<usize, Vec<usize>>, done: &BTreeSet<usize>) -> Vec<usize> {
    let mut path: Vec<usize> = calls.keys().copied().filter(|index| !done.contains(index)).take(1).collect();
    while let Some(called) = path.last().and_then(|last| calls.get(last)) {
        let Some(next) = called.iter().copied().find(|next| !done.contains(next)) else { break };
        if let Some(start) = path.iter().position(|index| *index == next) {
            return path.split_off(start);
        }
        path.push(next);
    }
    path
}

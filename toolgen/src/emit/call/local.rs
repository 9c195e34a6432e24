//! The plans of calls that need no external engine, as constant expressions.

use toolgen_core::spec::plan::{AgentPlan, CompletePlan, ComposePlan, EffectPlan, ForEach, Step};
use toolgen_core::spec::template::Template;

use super::super::expr::Expr;
use super::super::fields::{Fields, list_of, some, texts};
use super::template::{condition, reference, template};

pub(super) fn compose(plan: &ComposePlan) -> Expr {
    let ComposePlan { steps, result } = plan;
    let fields = vec![("steps", list_of(steps, step)), ("result", optional(result.as_ref()))];
    Expr::Struct { head: "ComposePlan", fields, base: None }
}

fn step(step: &Step) -> Expr {
    let Step { id, tool, arguments, condition, for_each, optional } = step;
    let fields = vec![
        ("id", Expr::text(id)),
        ("tool", Expr::text(tool)),
        ("arguments", template(arguments)),
        ("condition", or_none(condition.as_ref().map(self::condition))),
        ("for_each", or_none(for_each.as_ref().map(self::for_each))),
        ("optional", Expr::atom(optional.to_string())),
    ];
    Expr::Struct { head: "Step", fields, base: None }
}

fn for_each(for_each: &ForEach) -> Expr {
    let ForEach { list, parallel, max_items } = for_each;
    let fields = vec![
        ("list", reference(list)),
        ("parallel", Expr::atom(parallel.to_string())),
        ("max_items", Expr::atom(max_items.to_string())),
    ];
    Expr::Struct { head: "ForEach", fields, base: None }
}

pub(super) fn complete(plan: &CompletePlan) -> Expr {
    let CompletePlan { message, data } = plan;
    let fields = vec![("message", optional(message.as_ref())), ("data", optional(data.as_ref()))];
    Expr::Struct { head: "CompletePlan", fields, base: None }
}

pub(super) fn effect(plan: &EffectPlan) -> Expr {
    let EffectPlan { name, data } = plan;
    let fields = vec![("name", Expr::text(name)), ("data", optional(data.as_ref()))];
    Expr::Struct { head: "EffectPlan", fields, base: None }
}

pub(super) fn agent(plan: &AgentPlan) -> Expr {
    let AgentPlan { system_prompt, model, thinking_level, tools, max_turns, max_tokens, max_time } = plan;
    let base = &AgentPlan::EMPTY;
    let mut fields = Fields::default();
    fields.text("system_prompt", system_prompt, &base.system_prompt);
    fields.text("model", model, &base.model);
    fields.text("thinking_level", thinking_level, &base.thinking_level);
    fields.put("tools", tools, &base.tools, texts);
    fields.put("max_turns", max_turns, &base.max_turns, |max| Expr::atom(max.to_string()));
    fields.put("max_tokens", max_tokens, &base.max_tokens, |max| Expr::atom(max.to_string()));
    fields.put("max_time", max_time, &base.max_time, |max| Expr::atom(max.to_string()));
    fields.literal("AgentPlan", "AgentPlan::EMPTY")
}

fn optional(value: Option<&Template>) -> Expr {
    or_none(value.map(template))
}

fn or_none(value: Option<Expr>) -> Expr {
    value.map_or_else(|| Expr::atom("None"), some)
}

//! `policy`: explains and compares the rules of documents on calls.

use std::io;

use serde_json::{Value, json};
use toolgen::rules::{Action, CallView, Explained, Matched, Part, Rule, RuleChange, RuleChangeKind, Rules};
use toolgen::{Program, Tool};
use toolgen_core::Text;
use toolgen_runtime::spec::drift::ChangeClass;

use super::Outcome;
use super::args::{Policy, PolicyDiff, PolicyExplain, PolicyTask};
use super::call;
use super::compile::{Compiled, compile_all, compile_each, find_tools_or_report};
use super::output::Output;

pub(super) fn run(task: &Policy, output: &mut Output) -> io::Result<Outcome> {
    match &task.task {
        PolicyTask::Explain(task) => explain(task, output),
        PolicyTask::Diff(task) => diff(task, output),
    }
}

fn explain(task: &PolicyExplain, output: &mut Output) -> io::Result<Outcome> {
    let names = std::slice::from_ref(&task.tool);
    let (compiled, _) = compile_all(&task.selection, names, output);
    let [Compiled { program: Some(program), .. }] = compiled.as_slice() else { return Ok(Outcome::Problems) };
    let Some(tools) = find_tools_or_report(&compiled, names, output) else { return Ok(Outcome::Problems) };
    let Some(&tool) = tools.first() else { return Ok(Outcome::Problems) };
    let arguments = match call::visible_arguments(tool, &task.arguments) {
        Ok(arguments) => arguments,
        Err(message) => {
            output.error(&message);
            return Ok(Outcome::Problems);
        }
    };
    let scopes: Vec<Text> = task.scopes.iter().map(|scope| Text::copy_of(scope)).collect();
    let (session, agent) = (task.session.as_deref(), task.agent.as_deref());
    let mut view = CallView::new(&arguments)
        .with_session(session.unwrap_or_default())
        .with_agent(agent.unwrap_or_default());
    if let Some(id) = &task.principal {
        view = view.with_principal(id, &scopes);
    }
    let rules = program.all_rules();
    let explained = rules.explain(&tool.spec, &view);
    let compiled = rules.for_tool(&tool.spec);
    let deciding = compiled.deciding(&view);
    if task.format.json {
        let rules: Vec<Value> =
            rules.as_slice().iter().zip(&explained).map(|(rule, said)| rule_json(rule, said)).collect();
        output.json(&json!({
            "tool": task.tool, "arguments": arguments,
            "decision": deciding.map_or("allow", |(_, rule)| rule.action().name()),
            "rule": deciding.map(|(index, _)| index + 1),
            "rules": rules,
        }))?;
        output.line("")?;
    } else {
        output.line(&verdict(tool, deciding))?;
        for (rule, said) in rules.as_slice().iter().zip(&explained) {
            output.line("")?;
            output.line(&rule_text(rule, said))?;
        }
    }
    Ok(Outcome::Fine)
}

fn verdict(tool: &Tool, deciding: Option<(usize, &Rule)>) -> String {
    let name = tool.spec.name.as_str();
    let Some((index, rule)) = deciding else { return format!("{name} is allowed: no rule applies") };
    let decision = match rule.action() {
        Action::Deny => "is denied",
        Action::Ask => "needs an approval",
        _ => "is allowed within a rate",
    };
    let reason = if rule.reason().is_empty() { String::new() } else { format!(": {}", rule.reason()) };
    format!("{name} {decision}, by rule {}{reason}", index + 1)
}

fn title(rule: &Rule, index: usize) -> String {
    let place = if rule.place().is_empty() { String::new() } else { format!(" ({})", rule.place()) };
    format!("rule {}{place}: {rule}", index + 1)
}

fn rule_text(rule: &Rule, said: &Explained) -> String {
    let mut lines = vec![title(rule, said.rule)];
    lines.push(match &said.matched {
        _ if !said.selected => "  is not about this tool".to_owned(),
        Matched::No => "  does not match".to_owned(),
        Matched::Failed(reason) => {
            format!("  counts as matched, because its condition has no value: {reason}")
        }
        _ => "  matches".to_owned(),
    });
    for Part { text, value, .. } in &said.parts {
        lines.push(match value {
            Ok(value) => format!("    {text} is {value}"),
            Err(reason) => format!("    {text} has no value: {reason}"),
        });
    }
    lines.join("\n")
}

fn rule_json(rule: &Rule, said: &Explained) -> Value {
    let part = |Part { text, value, .. }: &Part| match value {
        Ok(value) => json!({"text": text, "value": value}),
        Err(reason) => json!({"text": text, "failure": reason}),
    };
    let parts: Vec<Value> = said.parts.iter().map(part).collect();
    let mut out = json!({
        "rule": said.rule + 1, "text": rule.to_string(), "place": rule.place(), "reason": rule.reason(),
        "selected": said.selected, "matched": said.matched.applies(), "parts": parts,
    });
    if let Matched::Failed(reason) = &said.matched {
        out["failure"] = reason.as_str().into();
    }
    out
}

fn diff(task: &PolicyDiff, output: &mut Output) -> io::Result<Outcome> {
    let compiled = compile_each(&task.selection, output);
    for Compiled { path, program, problems } in &compiled {
        if program.is_none() || problems.has_own_errors() {
            output.problems(problems, |_| true);
            output.error(&format!("{} cannot be compiled", path.display()));
            return Ok(Outcome::Problems);
        }
    }
    let programs: Vec<&Program> = compiled.iter().filter_map(|compiled| compiled.program.as_ref()).collect();
    let [old, new] = programs.as_slice() else { return Ok(Outcome::Problems) };
    let (old_tools, new_tools) = (old.all_tools(), new.all_tools());
    let both = old_tools.iter().filter_map(|tool| {
        let newer = new_tools.iter().find(|newer| newer.spec.name == tool.spec.name)?;
        Some((&tool.spec, &newer.spec))
    });
    let (old_rules, new_rules): (Rules, Rules) = (old.all_rules(), new.all_rules());
    let changes = old_rules.changes(&new_rules, both);
    if task.format.json {
        let changes: Vec<Value> = changes.iter().map(change_json).collect();
        output.json(&json!({"changes": changes}))?;
        output.line("")?;
    } else {
        for change in &changes {
            let RuleChange { rule, message, tools, .. } = change;
            let tools = if tools.is_empty() { String::new() } else { format!(" ({})", tools.join(", ")) };
            output.line(&format!("{}: `{rule}` {message}{tools}", class(change.kind)))?;
        }
        if changes.is_empty() {
            output.line("no change")?;
        }
    }
    let fails = changes.iter().any(|change| class(change.kind) >= task.fail_on());
    Ok(if fails { Outcome::Problems } else { Outcome::Fine })
}

/// Returns the class of a change: more calls may do harm, or a model can do less.
fn class(kind: RuleChangeKind) -> ChangeClass {
    match kind {
        RuleChangeKind::Looser => ChangeClass::Security,
        RuleChangeKind::Tighter => ChangeClass::Model,
        _ => ChangeClass::Compatible,
    }
}

fn change_json(change: &RuleChange) -> Value {
    let RuleChange { kind, rule, message, tools, .. } = change;
    json!({"class": class(*kind).name(), "rule": rule, "message": message, "tools": tools})
}

//! `schema`: prints the arguments of tools in the dialect of an LLM provider, or the tools as they go into a request.

use std::io;

use serde_json::{Value, json};
use toolgen::Tool;
use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::spec::ToolSchema;
use toolgen_runtime::wire::{Decision, PlanError, PlanOptions, Reason, WireFormat};

use super::Outcome;
use super::args::Schema;
use super::compile::{choose, compile_all};
use super::output::Output;

/// Prints every tool with its schema and what the dialect cannot express, or its envelope. "Problems found" means that the dialect
/// refuses a tool.
pub(super) fn run(task: &Schema, output: &mut Output) -> io::Result<Outcome> {
    let Some(dialect) = Dialect::by_name(&task.dialect) else {
        let known: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name).collect();
        output.complain(&format!("there is no dialect `{}`; there are {}", task.dialect, known.join(", ")));
        return Ok(Outcome::Usage);
    };
    let (compiled, complete) = compile_all(&task.selection, &task.tools, output);
    let tools = match choose(&compiled, &task.tools) {
        Ok(tools) => tools,
        Err(message) => {
            output.complain(&message);
            return Ok(Outcome::Problems);
        }
    };
    let mut outcome = if complete { Outcome::Fine } else { Outcome::Problems };
    if task.plan {
        let done = planned(task, dialect, &tools, output)?;
        return Ok(if complete { done } else { Outcome::Problems });
    }
    if task.envelope {
        let done = envelope(dialect, &tools, output)?;
        return Ok(if complete { done } else { Outcome::Problems });
    }
    output.write(&format!("{{\"dialect\":\"{}\",\"tools\":[", dialect.name))?;
    for (index, tool) in tools.into_iter().enumerate() {
        let (value, accepted) = describe(tool, dialect);
        output.write(if index == 0 { "\n" } else { ",\n" })?;
        output.json(&value)?;
        if !accepted {
            outcome = Outcome::Problems;
        }
    }
    output.line("\n]}")?;
    Ok(outcome)
}

/// Prints the tools as they go into a request to the provider of a dialect.
fn envelope(dialect: &Dialect, tools: &[&Tool], output: &mut Output) -> io::Result<Outcome> {
    match format_of(dialect).tools_in(dialect, tools.iter().map(|tool| &tool.spec)) {
        Ok(value) => {
            output.json(&value)?;
            output.line("")?;
            Ok(Outcome::Fine)
        }
        Err(refused) => {
            output.complain(&refused.to_string());
            Ok(Outcome::Problems)
        }
    }
}

/// The format in which a dialect is used: that of the provider; for those that follow OpenAI, OpenAI's.
fn format_of(dialect: &Dialect) -> WireFormat {
    let own = |format: &WireFormat| [Some(dialect), dialect.lax].contains(&Some(format.dialect()));
    WireFormat::ALL.into_iter().find(own).unwrap_or(WireFormat::OpenAiChat)
}

/// Prints how each tool is shown in one request to the provider, and why.
fn planned(
    task: &Schema,
    dialect: &'static Dialect,
    tools: &[&Tool],
    output: &mut Output,
) -> io::Result<Outcome> {
    let options = if task.cut { PlanOptions::default().cut() } else { PlanOptions::default() };
    let format = format_of(dialect);
    let plan = match format.plan_with(dialect, tools.iter().map(|tool| &tool.spec), options) {
        Ok(plan) => plan,
        Err(PlanError::TooMany { provider, given, most }) => {
            output.complain(&format!(
                "{given} tools are too many for a request to {provider}, which takes {most}: select fewer by `--tag`, \
                 `--operation` or `--tool`, or leave out the last ones by `--cut`"
            ));
            return Ok(Outcome::Problems);
        }
        Err(refused) => {
            output.complain(&refused.to_string());
            return Ok(Outcome::Problems);
        }
    };
    if task.selection.json {
        let decisions: Vec<Value> = plan.decisions().iter().map(decided).collect();
        output.json(&json!({"format": format.name(), "dialect": dialect.name, "decisions": decisions, "tools": plan.tools()}))?;
        output.line("")?;
        return Ok(Outcome::Fine);
    }
    for decision in plan.decisions() {
        output.line(&decision.to_string())?;
    }
    let wanted = plan.decisions().iter().filter(|it| it.dialect == Some(dialect)).count();
    output.line(&format!("{wanted} of {} tools are shown in {}", tools.len(), dialect.name))?;
    Ok(Outcome::Fine)
}

fn decided(decision: &Decision) -> Value {
    let mut told = json!({
        "tool": decision.tool.as_str(), "dialect": decision.dialect.map(|dialect| dialect.name), "losses": decision.losses.len(),
    });
    if decision.reason != Reason::Wanted {
        told["because"] = decision.reason.to_string().into();
    }
    told
}

fn describe(tool: &Tool, dialect: &Dialect) -> (Value, bool) {
    let spec = &tool.spec;
    let name = spec.name.as_str();
    match spec.schema(dialect) {
        Ok(ToolSchema { description, schema, losses }) => {
            let losses: Vec<Value> = losses
                .iter()
                .map(|loss| json!({"pointer": loss.pointer, "keyword": loss.keyword, "in_prose": loss.in_prose}))
                .collect();
            (json!({"name": name, "description": description, "schema": schema, "losses": losses}), true)
        }
        Err(refusals) => {
            let refusals: Vec<Value> = refusals
                .iter()
                .map(|refusal| json!({"pointer": refusal.pointer, "reason": refusal.reason}))
                .collect();
            let description = spec.description.as_str();
            (json!({"name": name, "description": description, "schema": null, "refusals": refusals}), false)
        }
    }
}

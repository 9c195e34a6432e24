//! `schema`: prints tool schemas in the dialect of an LLM vendor, the tools as in a request to the vendor, or the plan
//! of that request.

use std::io;

use serde_json::{Value, json};
use toolgen_runtime::ToolSpec;
use toolgen_runtime::schema::dialect::{Dialect, JSON_SCHEMA};
use toolgen_runtime::schema::shape::slim::Trim;
use toolgen_runtime::spec::ToolSchema;
use toolgen_runtime::wire::{DecisionReason, PlanError, PlanOptions, WireFormat};

use super::Outcome;
use super::args::Schema;
use super::compile::{compile_all, find_tools_or_report};
use super::discovery;
use super::output::Output;

/// Prints every tool with its schema and the rules that the dialect cannot express, or its envelope. Returns `Problems`
/// if the dialect rejects a tool.
pub(super) fn run(task: &Schema, output: &mut Output) -> io::Result<Outcome> {
    let default_dialect = || task.wire.map_or(&JSON_SCHEMA, WireFormat::dialect);
    let Some(dialect) = task.dialect.as_deref().map_or_else(|| Some(default_dialect()), Dialect::by_name)
    else {
        let names: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name).collect();
        let name = task.dialect.as_deref().unwrap_or_default();
        output.error(&format!("unknown dialect `{name}`; dialects: {}", names.join(", ")));
        return Ok(Outcome::Usage);
    };
    let (compiled, complete) = compile_all(&task.selection, &task.filter.tools, output);
    let Some(tools) = find_tools_or_report(&compiled, &task.filter.tools, output) else {
        return Ok(Outcome::Problems);
    };
    let specs = discovery::visible_specs(task.discovery.discovery, &tools);
    let mut outcome = if complete { Outcome::Fine } else { Outcome::Problems };
    let format = task.wire.unwrap_or_else(|| format_of(dialect));
    if task.envelope {
        let outcome = envelope(task, format, dialect, &specs, output)?;
        return Ok(if complete { outcome } else { Outcome::Problems });
    }
    if task.plan {
        let outcome = plan(task, format, dialect, &specs, output)?;
        return Ok(if complete { outcome } else { Outcome::Problems });
    }
    output.write(&format!("{{\"dialect\":\"{}\",\"tools\":[", dialect.name))?;
    for (index, spec) in specs.iter().enumerate() {
        let (value, accepted) = describe(spec, dialect);
        output.write(if index == 0 { "\n" } else { ",\n" })?;
        output.json(&value)?;
        if !accepted {
            outcome = Outcome::Problems;
        }
    }
    output.line("\n]}")?;
    Ok(outcome)
}

/// Prints the tools as in a request to the vendor of a dialect.
fn envelope(
    task: &Schema,
    format: WireFormat,
    dialect: &Dialect,
    specs: &[ToolSpec],
    output: &mut Output,
) -> io::Result<Outcome> {
    match format.tools_with(dialect, specs, &options(task)) {
        Ok(value) => {
            output.json(&value)?;
            output.line("")?;
            Ok(Outcome::Fine)
        }
        Err(error) => {
            output.error(&error.to_string());
            Ok(Outcome::Problems)
        }
    }
}

fn options(task: &Schema) -> PlanOptions {
    let mut options = PlanOptions::default().with_examples(task.examples);
    if task.cut {
        options = options.drop_excess();
    }
    if task.programs {
        options = options.with_programs();
    }
    if task.output_schemas {
        options = options.with_output_schemas();
    }
    options
}

/// Returns the request format of a dialect: its own, or that of its lax counterpart.
fn format_of(dialect: &Dialect) -> WireFormat {
    let by_dialect = |name: &str| WireFormat::ALL.into_iter().find(|format| format.dialect().name == name);
    by_dialect(dialect.name).or_else(|| by_dialect(dialect.fallback?.name)).unwrap_or(WireFormat::OpenAiChat)
}

/// Prints how one request to the vendor of a dialect represents each tool, and why. The JSON output also contains the
/// tools of the request.
fn plan(
    task: &Schema,
    format: WireFormat,
    dialect: &'static Dialect,
    specs: &[ToolSpec],
    output: &mut Output,
) -> io::Result<Outcome> {
    let plan = match format.plan_with(dialect, specs, &options(task)) {
        Ok(plan) => plan,
        Err(PlanError::TooMany { provider, count, max }) => {
            output.error(&format!(
                "{count} tools are too many for a request to {provider}, which allows {max}: select some (`--tag`, \
                 `--operation`), show the discovery tools (`--discovery`), or drop the last ones (`--cut`)"
            ));
            return Ok(Outcome::Problems);
        }
        Err(error) => {
            output.error(&error.to_string());
            return Ok(Outcome::Problems);
        }
    };
    if !task.format.json {
        plan.decisions().iter().try_for_each(|decision| output.line(&decision.to_string()))?;
        return Ok(Outcome::Fine);
    }
    let decisions: Vec<Value> = plan
        .decisions()
        .iter()
        .map(|decision| {
            let reason = (decision.reason != DecisionReason::Wanted).then(|| decision.reason.to_string());
            let dialect_name = decision.dialect.map(|dialect| dialect.name);
            let lost: Vec<&str> = decision.lost.iter().map(|property| property.as_str()).collect();
            let mut line = json!({"tool": decision.tool.as_str(), "dialect": dialect_name, "reason": reason});
            if !lost.is_empty() {
                line["lost"] = lost.into();
            }
            line
        })
        .collect();
    output.json(&json!({"dialect": dialect.name, "decisions": decisions, "tools": plan.tools()}))?;
    output.line("").map(|()| Outcome::Fine)
}

fn describe(spec: &ToolSpec, dialect: &Dialect) -> (Value, bool) {
    let name = spec.name.as_str();
    match spec.schema(dialect) {
        Ok(ToolSchema { description, schema, losses, trims }) => {
            let losses: Vec<Value> = losses
                .iter()
                .map(|loss| json!({"pointer": loss.pointer, "keyword": loss.keyword, "in_prose": loss.in_prose, "reason": loss.reason}))
                .collect();
            let mut line =
                json!({"name": name, "description": description, "schema": schema, "losses": losses});
            if !trims.is_empty() {
                let trim = |trim: &Trim| json!({"pointer": trim.pointer, "lever": trim.lever.name(), "what": trim.what});
                line["trims"] = trims.iter().map(trim).collect();
            }
            (line, true)
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

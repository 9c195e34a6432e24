//! `list`: lists the tools of documents.

use std::io;

use serde_json::{Value, json};
use toolgen::Tool;
use toolgen_runtime::ToolSpec;
use toolgen_runtime::schema::dialect;
use toolgen_runtime::schema::shape::render;

use super::Outcome;
use super::args::List;
use super::compile::{Compiled, compile_all};
use super::discovery;
use super::output::Output;

/// Lists the tools of all documents, in the order of the documents.
pub(super) fn run(task: &List, output: &mut Output) -> io::Result<Outcome> {
    let (compiled, complete) = compile_all(&task.selection, &[], output);
    if task.discovery.discovery {
        list_discovery_tools(task.format.json, output)?;
    } else if task.format.json {
        print_json(&compiled, output)?;
    } else {
        print_table(&compiled, output)?;
    }
    Ok(if complete { Outcome::Fine } else { Outcome::Problems })
}

/// Lists the three discovery tools, which are in no document.
fn list_discovery_tools(json: bool, output: &mut Output) -> io::Result<()> {
    let specs = discovery::visible_specs(true, &[]);
    if json {
        let tools: Vec<Value> = specs.iter().map(spec_json).collect();
        output.json(&json!({ "tools": tools }))?;
        return output.line("");
    }
    let width = specs.iter().map(|spec| spec.name.as_str().len()).max().unwrap_or(0);
    specs
        .iter()
        .try_for_each(|spec| output.line(&format!("{:width$}  {}", spec.name.as_str(), spec.description)))
}

fn print_json(compiled: &[Compiled], output: &mut Output) -> io::Result<()> {
    output.write("{\"tools\":[")?;
    for (index, tool) in compiled.iter().flat_map(Compiled::tools).enumerate() {
        output.write(if index == 0 { "\n" } else { ",\n" })?;
        output.json(&tool_json(tool))?;
    }
    output.line("\n]}")
}

fn tool_json(tool: &Tool) -> Value {
    let origin = &tool.origin;
    let id = (!origin.id.is_empty()).then_some(origin.id.as_str());
    let (method, path) = origin.verb_and_subject();
    let mut out = spec_json(&tool.spec);
    out["operation"] = json!({ "id": id, "method": method, "path": path });
    out
}

fn spec_json(spec: &ToolSpec) -> Value {
    // Plain JSON Schema rejects nothing.
    let schema = render::render_input(spec.input.shape(), &spec.defs, &dialect::JSON_SCHEMA);
    json!({
        "name": spec.name.as_str(),
        "description": spec.description.as_str(),
        "input_schema": schema.map_or(Value::Null, |rendered| rendered.schema),
    })
}

fn print_table(compiled: &[Compiled], output: &mut Output) -> io::Result<()> {
    let tools: Vec<&Tool> = compiled.iter().flat_map(Compiled::tools).collect();
    let width = |length: fn(&Tool) -> usize| tools.iter().map(|tool| length(tool)).max().unwrap_or(0);
    let name_width = width(|tool| tool.spec.name.as_str().len());
    let verb_width = width(|tool| tool.origin.verb_and_subject().0.map_or(0, |verb| verb.len() + 1));
    for tool in &tools {
        let (name, (verb, subject)) = (tool.spec.name.as_str(), tool.origin.verb_and_subject());
        // The title of an operation is informative; the title of another tool is its name.
        let row = match verb {
            Some(verb) => format!("{name:name_width$}  {verb:verb_width$}{subject}"),
            None => {
                format!("{name:name_width$}  {}", tool.spec.description.lines().next().unwrap_or_default())
            }
        };
        output.line(row.trim_end())?;
    }
    Ok(())
}

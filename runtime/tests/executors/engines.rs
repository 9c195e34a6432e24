//! Tests of compiled tools of every kind, called through a toolbox.
#![cfg(unix)]
#![allow(clippy::needless_pass_by_value, reason = "literals are passed")]

mod approval;
mod command;
mod compose;
mod derived;
mod hostile_requests;
mod injection;
mod list;
mod output;
mod signal;

use toolgen_runtime::engine::dynamic::DynamicTool;
use toolgen_runtime::spec::template::{Reference, Root, Segment, Template};

use crate::prelude::*;

/// A specification with arguments of any type. Names with `?` are optional.
fn spec(name: &str, arguments: &[&str]) -> ToolSpec {
    let properties: serde_json::Map<String, Value> =
        arguments.iter().map(|name| (name.trim_end_matches('?').to_owned(), json!({}))).collect();
    let required: Vec<&&str> = arguments.iter().filter(|name| !name.ends_with('?')).collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    DynamicTool::builder(name.to_owned(), "Does something.").schema(&schema).spec().unwrap()
}

/// A reference in the syntax of manifests: `path`, `steps.find.files.0`, `item.name`, each with `?` if it is
/// optional.
fn reference(text: &str) -> Reference {
    let optional = text.ends_with('?');
    let mut keys = text.trim_end_matches('?').split('.').map(|key| Text::from(key.to_owned()));
    let root = match keys.next().unwrap().as_str() {
        "steps" => Root::Step(keys.next().unwrap()),
        "item" => Root::Item,
        name => Root::Argument(name.to_owned().into()),
    };
    Reference { root, path: keys.collect(), optional }
}

/// A template in the syntax of manifests.
fn template(value: &Value) -> Template {
    match value {
        Value::String(text) if text.contains('{') => {
            let mut segments = Vec::new();
            for (index, piece) in text.split(['{', '}']).enumerate() {
                match index % 2 {
                    0 if piece.is_empty() => {}
                    0 => segments.push(Segment::Literal(piece.to_owned().into())),
                    _ => segments.push(Segment::Value(reference(piece))),
                }
            }
            match segments.as_slice() {
                [Segment::Value(only)] => Template::Value(only.clone()),
                _ => Template::Text(segments.into()),
            }
        }
        Value::Array(items) => Template::List(items.iter().map(template).collect()),
        Value::Object(members) => {
            let members = members.iter().map(|(name, member)| (name.clone().into(), template(member)));
            Template::Object(members.collect::<Vec<_>>().into())
        }
        constant => Template::Constant(constant.to_string().into()),
    }
}

fn text(text: &str) -> Template {
    template(&json!(text))
}

/// One argument of a program.
fn one(argument: &str) -> ArgvTemplate {
    ArgvTemplate::One { text: text(argument), allow_leading_dash: false }
}

/// A command with these arguments.
fn command(argv: &[&str]) -> CommandPlan {
    CommandPlan { argv: argv.iter().map(|argument| one(argument)).collect(), ..CommandPlan::EMPTY }
}

fn toolbox_in(tools: Vec<Arc<dyn AgentTool>>, context: ToolboxContext) -> Toolbox {
    Registry::new(tools).unwrap().toolbox(context)
}

/// Calls a tool with the default engines, and returns the response.
async fn answer(
    spec: ToolSpec,
    call: ExecutionPlan,
    arguments: Value,
    context: ToolboxContext,
) -> ToolResponse {
    let name = spec.name.to_string();
    let tools = Engines::new().tools_from([Tool { spec, call }]).unwrap();
    let call = ToolCall::new("1", name, arguments);
    toolbox_in(tools, context).run(call, &Turn::new("turn")).await
}

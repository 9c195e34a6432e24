//! How a tool is executed, as recorded in a surface: the parts that a person must review, not everything that an engine
//! needs.

use serde_json::{Map, Value, json};

use crate::base::frozen::{List, Text};
use crate::spec::mcp;
use crate::spec::plan::{
    AgentPlan, ArgvTemplate, CommandOutput, CommandPlan, CompletePlan, ComposePlan, EffectPlan,
    ExecutionPlan, McpPlan, Placement, RequestPlan, SecurityScheme, Stdin, Step,
};
use crate::spec::template::{Condition, Segment, Template};

/// The kinds of calls, as the keys of a recorded call.
pub(super) const KINDS: [&str; 8] =
    ["http", "command", "mcp", "compose", "complete", "effect", "agent", "function"];

/// Returns the record of a call in a surface: an object with one member, whose name is the kind of call. The values of
/// credentials are not included, only the names of their variables.
#[must_use]
pub fn recorded(call: &ExecutionPlan) -> Value {
    match call {
        ExecutionPlan::Http(plan) => json!({ "http": request_json(plan) }),
        ExecutionPlan::Command(plan) => json!({ "command": command_json(plan) }),
        ExecutionPlan::Mcp(McpPlan { server, tool, descriptor: _ }) => {
            json!({ "mcp": {"server": mcp::transport(&server.transport), "tool": tool.as_str()} })
        }
        ExecutionPlan::Compose(ComposePlan { steps, result }) => {
            let mut out = Map::new();
            out.insert("steps".into(), steps.iter().map(step_json).collect());
            insert_some(&mut out, "result", result.as_ref().map(template_json));
            json!({ "compose": out })
        }
        ExecutionPlan::Complete(CompletePlan { message, data }) => {
            let mut out = Map::new();
            insert_some(&mut out, "message", message.as_ref().map(template_json));
            insert_some(&mut out, "data", data.as_ref().map(template_json));
            json!({ "complete": out })
        }
        ExecutionPlan::Effect(EffectPlan { name, data }) => {
            let mut out = Map::new();
            out.insert("name".into(), name.as_str().into());
            insert_some(&mut out, "data", data.as_ref().map(template_json));
            json!({ "effect": out })
        }
        ExecutionPlan::Agent(plan) => json!({ "agent": agent_json(plan) }),
        ExecutionPlan::Function => json!({ "function": {} }),
    }
}

fn insert_some(out: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    out.extend(value.map(|value| (key.to_owned(), value)));
}

fn texts_json(texts: &List<Text>) -> Option<Value> {
    (!texts.is_empty()).then(|| texts.iter().map(|text| Value::from(text.as_str())).collect())
}

fn text_json(text: &Text) -> Option<Value> {
    (!text.is_empty()).then(|| text.as_str().into())
}

/// Returns the target of a request and its authentication. The encoding of arguments is not recorded.
fn request_json(plan: &RequestPlan) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("method".into(), plan.method.as_str().into());
    out.insert("path".into(), plan.path.as_str().into());
    if !plan.query.is_empty() {
        let pairs = plan.query.iter().map(|(name, value)| Value::from(format!("{name}={value}")));
        out.insert("query".into(), pairs.collect());
    }
    if !plan.servers.is_empty() {
        let servers = plan.servers.iter().map(|server| Value::from(server.url.as_str()));
        out.insert("servers".into(), servers.collect());
    }
    if !plan.security.is_empty() {
        let alternatives = plan.security.iter().map(|requirement| {
            let schemes: Vec<String> = requirement.schemes.iter().map(describe_scheme).collect();
            Value::from(if schemes.is_empty() { "none".to_owned() } else { schemes.join(" and ") })
        });
        out.insert("auth".into(), alternatives.collect());
    }
    insert_some(&mut out, "idempotency_key", text_json(&plan.idempotency_key));
    insert_some(&mut out, "pages", plan.pagination.as_ref().map(|pages| pages.to_string().into()));
    out
}

fn describe_scheme(scheme: &SecurityScheme) -> String {
    let SecurityScheme { id, placement, scopes, env } = scheme;
    let location = match placement {
        Placement::Header(name) => format!("header {name}"),
        Placement::Query(name) => format!("query {name}"),
        Placement::Cookie(name) => format!("cookie {name}"),
        Placement::Basic => "basic".to_owned(),
        Placement::Bearer => "bearer".to_owned(),
        Placement::MutualTls => "mutual TLS".to_owned(),
        Placement::Other(name) => name.to_string(),
    };
    let mut text = format!("{id}: {location}");
    if !env.is_empty() {
        text.push_str(&format!(" from {env}"));
    }
    if !scopes.is_empty() {
        text.push_str(&format!(" with {}", scopes.iter().map(Text::as_str).collect::<Vec<_>>().join(", ")));
    }
    text
}

fn command_json(plan: &CommandPlan) -> Map<String, Value> {
    let CommandPlan {
        argv,
        script,
        stdin,
        env,
        inherit,
        work_dir,
        output,
        exit_codes,
        stream,
        max_output,
        cpus,
        memory,
        pids,
        programs,
    } = plan;
    let mut out = Map::new();
    out.insert("argv".into(), argv.iter().map(argument_json).collect());
    insert_some(&mut out, "script", text_json(script));
    insert_some(
        &mut out,
        "stdin",
        match stdin {
            Stdin::Nothing => None,
            Stdin::Text(template) => Some(json!({ "text": template_json(template) })),
            Stdin::Arguments => Some("arguments".into()),
        },
    );
    let env: Map<String, Value> =
        env.iter().map(|(name, value)| (name.to_string(), template_json(value))).collect();
    insert_some(&mut out, "env", (!env.is_empty()).then(|| env.into()));
    insert_some(&mut out, "inherit", texts_json(inherit));
    insert_some(&mut out, "work_dir", work_dir.as_ref().map(template_json));
    insert_some(
        &mut out,
        "output",
        match output {
            CommandOutput::Text => None,
            CommandOutput::Json => Some("json".into()),
            CommandOutput::JsonLines => Some("json_lines".into()),
            CommandOutput::Envelope => Some("envelope".into()),
        },
    );
    let codes: Map<String, Value> = exit_codes
        .iter()
        .map(|code| {
            let meaning = json!({"success": code.success, "message": code.message.as_str()});
            (code.code.to_string(), meaning)
        })
        .collect();
    insert_some(&mut out, "exit_codes", (!codes.is_empty()).then(|| codes.into()));
    insert_some(&mut out, "stream", stream.then_some(true.into()));
    insert_some(&mut out, "max_output", (*max_output > 0).then(|| (*max_output).into()));
    insert_some(&mut out, "cpus", cpus.map(Value::from));
    insert_some(&mut out, "memory", memory.map(Value::from));
    insert_some(&mut out, "pids", pids.map(Value::from));
    insert_some(&mut out, "programs", texts_json(programs));
    out
}

fn argument_json(template: &ArgvTemplate) -> Value {
    let with_dash = |mut value: Map<String, Value>, dash: bool| {
        insert_some(&mut value, "dash", dash.then_some(true.into()));
        Value::Object(value)
    };
    match template {
        ArgvTemplate::One { text, allow_leading_dash: false } => template_json(text),
        ArgvTemplate::One { text, allow_leading_dash: dash } => {
            with_dash(Map::from_iter([("text".to_owned(), template_json(text))]), *dash)
        }
        ArgvTemplate::Each { list, allow_leading_dash: dash } => {
            with_dash(Map::from_iter([("each".to_owned(), template_json(list))]), *dash)
        }
        ArgvTemplate::Group { condition, words } => {
            let mut out = Map::new();
            insert_some(&mut out, "if", condition.as_ref().map(condition_json));
            out.insert("words".into(), words.iter().map(argument_json).collect());
            Value::Object(out)
        }
    }
}

fn step_json(step: &Step) -> Value {
    let Step { id, tool, arguments, condition, for_each, optional } = step;
    let mut out = Map::new();
    out.insert("id".into(), id.as_str().into());
    out.insert("tool".into(), tool.as_str().into());
    out.insert("arguments".into(), template_json(arguments));
    insert_some(&mut out, "if", condition.as_ref().map(condition_json));
    let each = for_each.as_ref().map(|each| {
        let list = format!("{{{}}}", each.list);
        json!({"list": list, "parallel": each.parallel, "max_items": each.max_items})
    });
    insert_some(&mut out, "for_each", each);
    insert_some(&mut out, "optional", optional.then_some(true.into()));
    Value::Object(out)
}

fn agent_json(plan: &AgentPlan) -> Map<String, Value> {
    let AgentPlan { system_prompt, model, thinking_level, tools, max_turns, max_tokens, max_time } = plan;
    let mut out = Map::new();
    insert_some(&mut out, "system_prompt", text_json(system_prompt));
    out.insert("model".into(), serde_json::from_str(model).unwrap_or_else(|_| model.as_str().into()));
    insert_some(&mut out, "thinking_level", text_json(thinking_level));
    insert_some(&mut out, "tools", texts_json(tools));
    out.insert("max_turns".into(), (*max_turns).into());
    out.insert("max_tokens".into(), (*max_tokens).into());
    out.insert("max_time".into(), (*max_time).into());
    out
}

/// Returns a template in the syntax of a manifest.
fn template_json(template: &Template) -> Value {
    match template {
        Template::Constant(text) => match serde_json::from_str(text) {
            Ok(Value::String(text)) => escape(&text).into(),
            Ok(value) => value,
            Err(_) => escape(text).into(),
        },
        Template::Value(reference) => format!("{{{reference}}}").into(),
        Template::Text(segments) => segments
            .iter()
            .map(|segment| match segment {
                Segment::Literal(text) => escape(text),
                Segment::Value(reference) => format!("{{{reference}}}"),
            })
            .collect::<String>()
            .into(),
        Template::List(items) => items.iter().map(template_json).collect(),
        Template::Object(members) => {
            members.iter().map(|(key, value)| (key.to_string(), template_json(value))).collect()
        }
        Template::With(reference, members) => {
            let value = |json: &Option<Text>| {
                json.as_ref().map(|json| template_json(&Template::Constant(json.clone())))
            };
            let members =
                members.iter().map(|(key, json)| (key.to_string(), value(json).unwrap_or_default()));
            [("with".to_owned(), format!("{{{reference}}}").into())].into_iter().chain(members).collect()
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

fn condition_json(condition: &Condition) -> Value {
    match condition {
        Condition::Given(reference) => json!({ "given": format!("{{{reference}}}") }),
        Condition::True(reference) => json!({ "true": format!("{{{reference}}}") }),
        Condition::Equal(left, right) => json!({ "equal": [template_json(left), template_json(right)] }),
        Condition::Not(inner) => json!({ "not": condition_json(inner) }),
        Condition::All(conditions) => {
            json!({ "all": conditions.iter().map(condition_json).collect::<Vec<_>>() })
        }
        Condition::Any(conditions) => {
            json!({ "any": conditions.iter().map(condition_json).collect::<Vec<_>>() })
        }
    }
}

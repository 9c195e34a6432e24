//! One folder a rule: `openapi/CASE/input.yaml` compiles to what `expected.json` says.
//!
//! `TOOLGEN_UPDATE=1` writes the files anew; read the difference before you keep it. Options stand in the first line
//! of an input, as `# options: namespace=NS include=SELECTOR; exclude=SELECTOR; rename=FROM=TO; env=SCHEME=VAR`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use toolgen::{Options, Program, Tool};
use toolgen_runtime::spec::plan::{
    Body, BodySource, Codec, Encoding, Parameter, Part, RequestPlan, SecurityScheme, Server, Xml, XmlContent,
    XmlKind, XmlNode,
};
use toolgen_runtime::spec::{Effects, Network};

use toolgen_test_support::golden;

use crate::support::{compiled, of_shape, set};

#[test]
fn openapi_documents_snapshot() {
    let mut cases = golden::cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openapi"));
    cases.retain(|path| path.is_dir());
    golden::assert_cases(&cases, "expected.json", |case| {
        let text = fs::read_to_string(case.join("input.yaml")).unwrap();
        format!("{:#}\n", told(&text))
    });
}

fn told(text: &str) -> Value {
    let (program, problems) = compiled(text, &options(text));
    let problems = problems.as_slice().iter();
    let problems: Vec<Value> = problems
        .map(|problem| json!(format!("{} {} {}", problem.code, problem.pointer.as_str(), problem.message)))
        .collect();
    let mut out = program.as_ref().map_or_else(|| json!({}), of_program);
    if !problems.is_empty() {
        out["problems"] = json!(problems);
    } else if program.is_none() {
        out = Value::Null;
    }
    out
}

fn options(text: &str) -> Options {
    let mut options = Options::default();
    for option in set(text, "options").split(';').map(str::trim).filter(|option| !option.is_empty()) {
        let (key, value) = option.split_once('=').unwrap();
        let pair = || value.split_once('=').unwrap();
        options = match key {
            "namespace" => options.namespace(value),
            "include" => options.include(value),
            "exclude" => options.exclude(value),
            "deprecated" => options.deprecated(value == "true"),
            "rename" => options.rename(pair().0, pair().1),
            "env" => options.credential(pair().0, pair().1),
            _ => panic!("{key}"),
        };
    }
    options
}

fn of_program(program: &Program) -> Value {
    let mut out = json!({ "tools": program.tools.iter().map(of_tool).collect::<Vec<_>>() });
    if !program.defs.is_empty() {
        let defs = program.defs.iter().map(|def| (def.name.to_string(), of_shape(def.schema.shape())));
        out["defs"] = Value::Object(defs.collect());
    }
    if !program.toolsets.is_empty() {
        let sets = program.toolsets.iter().map(|set| {
            let members: Vec<&str> = set.members.iter().map(|name| name.as_str()).collect();
            (set.name.to_string(), json!([set.description.as_str(), members]))
        });
        out["toolsets"] = Value::Object(sets.collect());
    }
    out
}

fn of_tool(tool: &Tool) -> Value {
    let Some(plan) = tool.call.http() else { panic!() };
    let mut out = json!({ "name": tool.spec.name.as_str(), "input": of_shape(tool.spec.input.shape()) });
    if let Some(output) = &tool.spec.output {
        out["output"] = of_shape(output.shape());
    }
    for (key, text) in [
        ("label", &tool.spec.label),
        ("description", &tool.spec.description),
        ("returns", &tool.spec.returns),
        ("category", &tool.spec.category),
    ] {
        if !text.is_empty() && *text != "general" {
            out[key] = json!(text.as_str());
        }
    }
    if !tool.spec.examples.is_empty() {
        let examples = tool.spec.examples.iter();
        out["examples"] =
            examples.map(|example| serde_json::from_str::<Value>(&example.arguments).unwrap()).collect();
    }
    if tool.spec.deprecated.is_some() {
        out["deprecated"] = json!(true);
    }
    out["effects"] = json!(of_effects(&tool.spec.effects));
    out["plan"] = of_plan(plan);
    out
}

fn of_effects(effects: &Effects) -> String {
    let mut words = Vec::new();
    for (set, word) in [
        (effects.read_only, "read-only"),
        (effects.destructive, "destructive"),
        (effects.idempotent, "idempotent"),
        (effects.spawns, "spawns"),
    ] {
        words.extend(set.then(|| word.to_owned()));
    }
    words.push(match &effects.network {
        Network::Hosts(hosts) => hosts.iter().map(|host| host.as_str()).collect::<Vec<_>>().join(","),
        other => format!("{other:?}"),
    });
    words.push(format!("files {:?}", effects.files));
    words.join(" ")
}

fn of_plan(plan: &RequestPlan) -> Value {
    let mut out = json!({ "request": format!("{} {}", plan.method, plan.path) });
    let mut add = |key: &str, values: Vec<String>| {
        if !values.is_empty() {
            out[key] = json!(values);
        }
    };
    add("query", plan.query.iter().map(|(key, value)| format!("{key}={value}")).collect());
    add("servers", plan.servers.iter().filter(|server| server.url != "/").map(of_server).collect());
    add("parameters", plan.parameters.iter().map(of_parameter).collect());
    add("body", plan.body.iter().flat_map(of_body).collect());
    let all = |schemes: &[SecurityScheme]| schemes.iter().map(of_scheme).collect::<Vec<_>>().join(" and ");
    add("security", plan.security.iter().map(|requirement| all(&requirement.schemes)).collect());
    add("headers", plan.headers.iter().map(ToString::to_string).collect());
    add("accept", Some(plan.accept.to_string()).filter(|accept| !accept.is_empty()).into_iter().collect());
    add("redirects", plan.redirects.iter().map(ToString::to_string).collect());
    add("answer", plan.xml_response.iter().map(of_xml).collect());
    out
}

fn of_server(server: &Server) -> String {
    let variables = server.variables.iter().map(|variable| {
        let allowed: Vec<&str> = variable.allowed.iter().map(|value| value.as_str()).collect();
        format!(" {}={} of {allowed:?}", variable.name, variable.default)
    });
    format!("{}{}", server.url, variables.collect::<String>())
}

fn of_encoding(encoding: &Encoding) -> String {
    match encoding {
        Encoding::Style { style, explode, allow_reserved } => {
            let explode = if *explode { " explode" } else { "" };
            let reserved = if *allow_reserved { " reserved" } else { "" };
            format!("{style:?}{explode}{reserved}")
        }
        Encoding::Content(media_type) => format!("content {media_type}"),
        Encoding::Xml(xml) => of_xml(xml),
    }
}

fn of_parameter(parameter: &Parameter) -> String {
    let Parameter { argument, name, location, encoding } = parameter;
    format!("{argument}: {location:?} {name} {}", of_encoding(encoding))
}

fn of_body(body: &Body) -> Vec<String> {
    let required = if body.required { "required" } else { "optional" };
    let codec = match &body.codec {
        Codec::Form(_) => "Form".to_owned(),
        Codec::Multipart(_) => "Multipart".to_owned(),
        Codec::Xml(xml) => of_xml(xml),
        other => format!("{other:?}"),
    };
    let mut lines = vec![format!("{required} {} {codec}", body.media_type)];
    match &body.source {
        BodySource::Argument(argument) => lines.push(format!("from {argument}")),
        BodySource::Fields(fields) => {
            lines.extend(fields.iter().map(|field| format!("{}: {}", field.argument, field.name)));
        }
    }
    if let Codec::Form(parts) | Codec::Multipart(parts) = &body.codec {
        lines.extend(parts.iter().map(of_part));
    }
    lines
}

/// How a value is XML: `@` marks attributes, `*` lists, `=` what is called otherwise than its key.
fn of_xml(xml: &Xml) -> String {
    let by_name = xml.named.iter().map(|(name, content)| format!("; {name} {}", of_content(content)));
    format!("XML {}{}", of_node(&xml.root), by_name.collect::<String>())
}

fn of_node(node: &XmlNode) -> String {
    let kind = match node.kind {
        XmlKind::Element => "",
        XmlKind::Attribute => "@",
        XmlKind::Text => "text",
        XmlKind::Cdata => "cdata",
        XmlKind::None => "-",
    };
    let colon = if node.prefix.is_empty() { "" } else { ":" };
    let namespace = if node.namespace.is_empty() { String::new() } else { format!("<{}>", node.namespace) };
    format!("{kind}{}{colon}{}{namespace} {}", node.prefix, node.name, of_content(&node.content))
}

fn of_content(content: &XmlContent) -> String {
    match content {
        XmlContent::List(nodes) => nodes.iter().map(|node| format!("*{}", of_node(node))).collect(),
        XmlContent::Object(fields) => {
            let fields = fields.iter().map(|field| format!("{} = {}", field.key, of_node(&field.node)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        XmlContent::Named(name) => format!("${name}"),
        other => format!("{other:?}"),
    }
}

fn of_part(part: &Part) -> String {
    let file = if part.file { " file" } else { "" };
    let encoding = part.encoding.as_ref().map(|encoding| format!(" {}", of_encoding(encoding)));
    format!("part {}{file} {}{}", part.name, part.content_type, encoding.unwrap_or_default())
}

fn of_scheme(scheme: &SecurityScheme) -> String {
    let scopes: Vec<&str> = scheme.scopes.iter().map(|scope| scope.as_str()).collect();
    let env = if scheme.env.is_empty() { String::new() } else { format!(" ${}", scheme.env) };
    format!("{} {:?} {scopes:?}{env}", scheme.id, scheme.placement)
}

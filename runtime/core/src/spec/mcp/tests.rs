//! Tests of descriptors as tools, with the cases of `tests/descriptors.txt`.
//!
//! `program`, `remote` and `unpinned` make a tool of a descriptor, `input` of its schema of arguments alone, and
//! `list` all tools of a list. `seen` prints the arguments as a vendor sees them, `takes` the decoded form of some,
//! and `documented` the documentation for a model.

use std::path::Path;

use serde_json::json;
use toolgen_test_support::script;

use super::*;
use crate::base::frozen::List;
use crate::schema::dialect::{Dialect, JSON_SCHEMA};
use crate::schema::shape::decode::decode_owned;
use crate::schema::shape::render::render_input;

fn server(transport: McpTransport) -> Frozen<McpServer> {
    McpServer { alias: "shop".into(), transport, ..McpServer::EMPTY }.into()
}

fn program() -> Frozen<McpServer> {
    let argv = vec![Text::from("shop-server")].into();
    server(McpTransport::Stdio { argv, env: List::EMPTY, inherit: List::EMPTY, work_dir: Text::EMPTY })
}

fn remote() -> Frozen<McpServer> {
    let url = Text::from("https://Shop.example.com:8443/mcp");
    server(McpTransport::Http { url, headers: List::EMPTY, bearer: Text::EMPTY })
}

/// Returns all parts of a tool, and the name that its server knows.
fn describe_tool(tool: &Tool) -> Vec<String> {
    let ExecutionPlan::Mcp(plan) = &tool.call else { panic!("{:?}", tool.call) };
    let calls = format!("calls {} {}", plan.tool, plan.descriptor);
    vec![format!("{} {}", tool.spec.name, tool.spec.to_json()), calls]
}

#[test]
fn descriptors_match_the_script() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/spec/mcp/tests/descriptors.txt");
    script::replay(&file, || {
        let mut last = ToolSpec::EMPTY;
        move |word, rest| {
            let value = || script::values(rest).remove(0);
            let messages = |result: Result<Tool, _>| match result {
                Ok(tool) => describe_tool(&tool),
                Err(error) => vec![format!("refused: {error}")],
            };
            match word {
                "program" => messages(tool(&program(), &value(), true)),
                "remote" => messages(tool(&remote(), &value(), true)),
                "unpinned" => messages(tool(&program(), &value(), false)),
                "input" => {
                    let list = [json!({"name": "x", "inputSchema": value()})];
                    let adapted = tools(&program(), &list, true).remove(0).unwrap();
                    last = adapted.tool.spec;
                    let json = last.to_json();
                    let defs = json.get("$defs").map(|defs| format!("with {defs}"));
                    let problems = adapted
                        .problems
                        .iter()
                        .map(|problem| format!("{}: {}", problem.pointer, problem.message));
                    std::iter::once(json["input"].to_string()).chain(defs).chain(problems).collect()
                }
                "list" => tools(&program(), value().as_array().unwrap(), true)
                    .into_iter()
                    .flat_map(|result| match result {
                        Ok(adapted) => {
                            let name = adapted.tool.spec.name.to_string();
                            let describe = |problem: &ReadProblem| {
                                format!("{name} {}: {}", problem.pointer, problem.message)
                            };
                            let problems: Vec<String> = adapted.problems.iter().map(describe).collect();
                            if problems.is_empty() { vec![name] } else { problems }
                        }
                        Err(error) => vec![format!("refused: {error}")],
                    })
                    .collect(),
                "seen" => {
                    let rendered =
                        render_input(&last.input, &last.defs, Dialect::by_name(rest).unwrap()).unwrap();
                    let losses = rendered.losses.iter().map(ToString::to_string);
                    std::iter::once(rendered.schema.to_string()).chain(losses).collect()
                }
                "takes" => {
                    let decoded =
                        decode_owned(value(), &last.input, &last.defs, &JSON_SCHEMA, &mut Vec::new());
                    match decoded {
                        Ok(decoded) => vec![decoded.to_string()],
                        Err(problems) => problems
                            .iter()
                            .map(|problem| format!("{}: {}", problem.pointer, problem.message))
                            .collect(),
                    }
                }
                "documented" => vec![crate::spec::docs::detail(&last)],
                other => panic!("unknown command `{other}`"),
            }
        }
    });
}

#[test]
fn oversized_descriptor_or_invalid_alias_is_rejected() {
    let huge = json!({"name": "x", "inputSchema": {}, "_meta": {"x": "y".repeat(MAX_DESCRIPTOR)}});
    let reason = tool(&program(), &huge, true).unwrap_err().to_string();
    assert!(reason.contains("larger than 512 KiB"), "{reason}");
    let nameless: Frozen<McpServer> = McpServer { alias: "No_Alias".into(), ..McpServer::EMPTY }.into();
    let reason = tool(&nameless, &json!({"name": "x", "inputSchema": {}}), true).unwrap_err();
    assert!(reason.to_string().contains("`No_Alias` is not a valid alias of a server"), "{reason}");
}

#[test]
fn equal_schemas_are_shared_between_tools() {
    let descriptor = |name: &str, size: i32| {
        let schema = json!({"type": "object", "properties": {"page": {"$ref": "#/$defs/Page"}},
            "$defs": {"Page": {"type": "integer", "maximum": size}, "Same": {"type": "string"}}});
        json!({"name": name, "inputSchema": schema})
    };
    let names = |list: &[Value]| {
        let tools = tools(&program(), list, true);
        let defs = &tools[0].as_ref().unwrap().tool.spec.defs;
        defs.iter().map(|def| def.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&[descriptor("a", 1), descriptor("b", 1)]), ["Page", "Same"]);
    let separate = names(&[descriptor("a", 1), descriptor("b", 2)]);
    assert_eq!(separate.len(), 3, "{separate:?}");
    let mut reversed = names(&[descriptor("b", 2), descriptor("a", 1)]);
    reversed.sort();
    assert_eq!(separate, reversed);
}

#[test]
fn equal_duplicate_descriptors_are_merged() {
    let find = json!({"name": "find.orders", "inputSchema": {"type": "object"}, "description": "Finds."});
    let mut other = find.clone();
    other["description"] = json!("Something else.");
    let duplicate: Value = serde_json::from_str(&canonical(&find)).unwrap();
    let list = [find, json!({"name": "x"}), duplicate, other.clone(), other, json!({"name": "x"})];
    let indexes: Vec<usize> = distinct(&list).into_iter().map(|(index, _)| index).collect();
    assert_eq!(indexes, [0, 1, 3]);
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(distinct(&[deep.clone(), deep]).len(), 2);
}

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
fn whole(tool: &Tool) -> Vec<String> {
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
            let messages = |made: Result<Tool, _>| match made {
                Ok(tool) => whole(&tool),
                Err(error) => vec![format!("refused: {error}")],
            };
            match word {
                "program" => messages(tool(&program(), &value(), true)),
                "remote" => messages(tool(&remote(), &value(), true)),
                "unpinned" => messages(tool(&program(), &value(), false)),
                "input" => {
                    let list = [json!({"name": "x", "inputSchema": value()})];
                    let one = tools(&program(), &list, true).remove(0).unwrap();
                    last = one.tool.spec;
                    let json = last.to_json();
                    let defs = json.get("$defs").map(|defs| format!("with {defs}"));
                    let problems = one.problems.iter().map(|one| format!("{}: {}", one.pointer, one.message));
                    std::iter::once(json["input"].to_string()).chain(defs).chain(problems).collect()
                }
                "list" => tools(&program(), value().as_array().unwrap(), true)
                    .into_iter()
                    .flat_map(|one| match one {
                        Ok(one) => {
                            let name = one.tool.spec.name.to_string();
                            let described =
                                |one: &ReadProblem| format!("{name} {}: {}", one.pointer, one.message);
                            let problems: Vec<String> = one.problems.iter().map(described).collect();
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
                    let read = decode_owned(value(), &last.input, &last.defs, &JSON_SCHEMA, &mut Vec::new());
                    match read {
                        Ok(read) => vec![read.to_string()],
                        Err(problems) => {
                            problems.iter().map(|one| format!("{}: {}", one.pointer, one.message)).collect()
                        }
                    }
                }
                "documented" => vec![crate::spec::docs::detail(&last)],
                other => panic!("there is no word `{other}`"),
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
    let of = |name: &str, size: i32| {
        let schema = json!({"type": "object", "properties": {"page": {"$ref": "#/$defs/Page"}},
            "$defs": {"Page": {"type": "integer", "maximum": size}, "Same": {"type": "string"}}});
        json!({"name": name, "inputSchema": schema})
    };
    let names = |list: &[Value]| {
        let all = tools(&program(), list, true);
        let defs = &all[0].as_ref().unwrap().tool.spec.defs;
        defs.iter().map(|def| def.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&[of("a", 1), of("b", 1)]), ["Page", "Same"]);
    let apart = names(&[of("a", 1), of("b", 2)]);
    assert_eq!(apart.len(), 3, "{apart:?}");
    let mut turned = names(&[of("b", 2), of("a", 1)]);
    turned.sort();
    assert_eq!(apart, turned);
}

#[test]
fn equal_duplicate_descriptors_are_merged() {
    let find = json!({"name": "find.orders", "inputSchema": {"type": "object"}, "description": "Finds."});
    let mut other = find.clone();
    other["description"] = json!("Something else.");
    let again: Value = serde_json::from_str(&canonical(&find)).unwrap();
    let list = [find, json!({"name": "x"}), again, other.clone(), other, json!({"name": "x"})];
    let places: Vec<usize> = distinct(&list).into_iter().map(|(at, _)| at).collect();
    assert_eq!(places, [0, 1, 3]);
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(distinct(&[deep.clone(), deep]).len(), 2);
}

//! Results of which a call selects some fields.

use toolgen_runtime::engine::dynamic::DynamicTool;
use toolgen_runtime::layers::pages::{Pages, ResultLimit};
use toolgen_runtime::schema::shape::read::read_document;
use toolgen_runtime::spec::Projection;

use crate::prelude::*;
use crate::wire::helpers::spec;

/// The items of a list with many members.
fn items(count: usize) -> Value {
    let item =
        |id: usize| json!({"id": id, "owner": {"login": "ada", "url": "https://ada.example"}, "note": "n"});
    json!({"total": count, "items": (0..count).map(item).collect::<Vec<_>>()})
}

fn output() -> Value {
    json!({
        "type": "object", "required": ["total", "items"], "additionalProperties": false,
        "properties": {
            "total": {"type": "integer"},
            "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
        },
        "$defs": {"Item": {
            "type": "object", "required": ["id", "owner"], "additionalProperties": false,
            "properties": {
                "id": {"type": "integer"}, "note": {"type": "string"},
                "owner": {"type": "object", "required": ["login"], "additionalProperties": false,
                          "properties": {"login": {"type": "string"}, "url": {"type": "string"}}},
            },
        }},
    })
}

/// A tool that returns the items, with the output schema or without.
fn list(declares: bool, give: fn() -> ToolResult) -> DynamicTool {
    let mut spec =
        spec("list", "Lists items.", &json!({"type": "object", "additionalProperties": false}), None);
    if declares {
        let (shape, defs) = read_document(&output(), &mut Vec::new());
        (spec.output, spec.defs) = (Some(shape.into()), defs);
    }
    DynamicTool::new(spec, move |arguments, _| {
        // The tool does not get the argument.
        assert_eq!(arguments, json!({}));
        ready(Ok(give()))
    })
}

fn registry(declares: bool, give: fn() -> ToolResult) -> Registry {
    Registry::builder().add(list(declares, give)).projection(Projection::Always).seal().unwrap()
}

async fn call(declares: bool, give: fn() -> ToolResult, fields: Value) -> ToolResponse {
    let toolbox = registry(declares, give).toolbox(ToolboxContext::new());
    toolbox.call("list", json!({ "fields": fields })).await
}

#[tokio::test]
async fn call_selects_fields_of_the_result() {
    let response = call(true, || ToolResult::json(items(2)), json!(["items.id", "items.owner.login"])).await;
    let item = |id: usize| json!({"id": id, "owner": {"login": "ada"}});
    let expected = json!({"items": [item(0), item(1)]});
    assert_eq!(response.text(), expected.to_string());
    let result = response.outcome.as_ref().unwrap();
    assert_eq!((&*result.structured().unwrap(), result.content.len()), (&expected, 1));
    // MCP clients get the same value, and the schema of the tool accepts it.
    let reply = WireFormat::Mcp.tool_results(std::slice::from_ref(&response)).remove(0);
    assert_eq!(reply["result"]["structuredContent"], expected);
    let registry = registry(true, || ToolResult::json(items(2)));
    let tools = WireFormat::Mcp.tools(registry.iter().map(|tool| tool.spec())).unwrap();
    let schema = &tools["tools"][0]["outputSchema"];
    for content in [&expected, &json!({}), &items(2)] {
        assert!(jsonschema::is_valid(schema, content), "{schema}");
    }
    // Without paths, the result is whole.
    let toolbox = registry.toolbox(ToolboxContext::new());
    for arguments in [json!({}), json!({"fields": []})] {
        assert_eq!(toolbox.call("list", arguments).await.text(), items(2).to_string());
    }
}

#[tokio::test]
async fn paths_are_checked_before_the_tool_runs() {
    let response = call(true, || unreachable!(), json!(["items.naem", "itms", "total.x", "items.id"])).await;
    let Err(ToolError::InvalidArgs { problems, .. }) = &response.outcome else { panic!("{response:?}") };
    let problems: Vec<(&str, &str)> =
        problems.iter().map(|problem| (problem.pointer.as_str(), problem.message.as_str())).collect();
    assert_eq!(
        problems,
        [
            ("/fields/0", "`items` has no field `naem`; it has `id`, `note`, `owner`"),
            ("/fields/1", "the result has no field `itms` (did you mean `items`?)"),
            ("/fields/2", "`total` is an integer, without fields"),
        ]
    );
    // An invalid type is reported as for every argument.
    for fields in [json!("items.id"), json!([1])] {
        let response = call(true, || unreachable!(), fields).await;
        assert!(matches!(response.outcome, Err(ToolError::InvalidArgs { .. })), "{response:?}");
    }
}

#[tokio::test]
async fn unknown_result_is_projected_with_a_note() {
    let text = || ToolResult::text(format!("HTTP 200 OK\n\n{}", items(1)));
    let response = call(false, text, json!(["items.id", "naem"])).await;
    assert_eq!(response.text(), "HTTP 200 OK\n\n{\"items\":[{\"id\":0}]}\n[Not in the result: `naem`.]");
    // What is not JSON is unchanged.
    for (give, reason) in [
        (|| ToolResult::text("no JSON\n\nat all"), "it is not JSON"),
        (|| ToolResult::text("[100000000000000000001]"), "it has an integer outside the 64-bit range"),
        (ToolResult::empty, "it is not JSON"),
    ] as [(fn() -> ToolResult, &str); 3]
    {
        let response = call(false, give, json!(["id"])).await;
        let note = format!("[The result is whole, because `fields` could not be applied: {reason}.]");
        let content = &response.outcome.as_ref().unwrap().content;
        assert_eq!(content.last(), Some(&Content::Text(note)));
        assert!(content.len() == 1 || content[0] == give().content[0]);
    }
    // A failure is not projected.
    let failed = || ToolResult::text("{\"id\": 1, \"x\": 2}").with_details(json!({"success": false}));
    assert_eq!(call(false, failed, json!(["id"])).await.text(), "{\"id\": 1, \"x\": 2}");
}

/// Calls without a toolbox and calls of other tools pass the same place.
#[tokio::test]
async fn calls_without_layers_and_nested_calls_select_fields() {
    let registry = registry(true, || ToolResult::json(items(1)));
    let ctx = Turn::default().call_context("1", "list");
    let direct = registry.call_without_layers("list", json!({"fields": ["total"]}), &ctx).await.unwrap();
    assert_eq!(direct.to_text(), "{\"total\":1}");
    let outer = spec("outer", "Calls.", &json!({"type": "object"}), None);
    let outer = DynamicTool::new(outer, |_, ctx: ToolContext| async move {
        let result = ctx.call("list", json!({"fields": ["items.note"]})).await?;
        Ok(ToolResult::text(result.to_text()))
    });
    let toolbox = registry.extend([Arc::new(outer)]).unwrap().toolbox(ToolboxContext::new());
    assert_eq!(toolbox.call("outer", json!({})).await.text(), "{\"items\":[{\"note\":\"n\"}]}");
}

#[tokio::test]
async fn selected_fields_are_paginated_afterwards() {
    let registry = registry(true, || ToolResult::json(items(300)));
    let pages = Pages::new(ResultLimit::bytes(5_000));
    let toolbox = Toolbox::builder(&registry).paging(pages).build().unwrap();
    let whole = toolbox.call("list", json!({})).await.text();
    assert!(whole.contains("read_result"), "{whole}");
    let selected = toolbox.call("list", json!({"fields": ["items.id"]})).await.text();
    assert!(
        !selected.contains("read_result") && selected.starts_with("{\"items\":[{\"id\":0},"),
        "{selected}"
    );
}

#[test]
fn projection_is_chosen_by_the_size_of_the_schema() {
    let specs = |projection| {
        let registry = Registry::builder().add(list(true, ToolResult::empty)).projection(projection).seal();
        registry.unwrap().iter().next().unwrap().spec().clone()
    };
    let (off, always) = (specs(Projection::Off), specs(Projection::Always));
    assert_eq!(off, *list(true, ToolResult::empty).spec());
    assert_eq!(always.projection, "fields");
    assert_eq!(
        (specs(Projection::Above(300)), specs(Projection::Above(3_000))),
        (always.clone(), off.clone())
    );
    // A tool is changed once, and back.
    assert_eq!(always.clone().with_projection(), always);
    assert_eq!(always.without_projection().to_json(), off.to_json());
    // An argument `fields` is not replaced.
    let used = json!({"type": "object", "properties": {"fields": {"type": "string"}}});
    assert_eq!(spec("a", "A.", &used, None).with_projection().projection, "result_fields");
    let both = json!({"type": "object", "properties": {"fields": {}, "result_fields": {}}});
    let both = spec("a", "A.", &both, None);
    assert_eq!(both.clone().with_projection(), both);
    for (text, projection) in [
        ("off", Projection::Off),
        ("always", Projection::Always),
        ("4096", Projection::Above(4096)),
        ("4KiB", Projection::Above(4096)),
    ] {
        assert_eq!(text.parse(), Ok(projection));
        assert_eq!(projection.to_string().parse(), Ok(projection));
    }
    for wrong in ["", "on", "-1", "4 KB", "1GiB"] {
        assert!(wrong.parse::<Projection>().is_err(), "{wrong}");
    }
}

/// A model reads names of fields, of which it chooses.
#[test]
fn description_of_the_argument_names_fields() {
    let spec = registry(true, ToolResult::empty).iter().next().unwrap().spec().clone();
    let tools = WireFormat::OpenAiChat.tools([&spec]).unwrap();
    let argument = &tools[0]["function"]["parameters"]["properties"]["fields"];
    assert_eq!(
        argument["description"],
        "Return only these fields of the result, as dotted paths; lists are mapped. Fields: total, items, items.id, \
         items.note, items.owner"
    );
    assert!(argument.to_string().len() < 300, "{argument}");
}

#[tokio::test]
async fn result_without_the_fields_stays_whole() {
    let failed = || ToolResult::json(json!({"data": null, "errors": ["no such item"]}));
    let text = call(false, failed, json!(["data.items.id"])).await.text();
    assert!(text.contains("no such item") && text.contains("it has none of the fields"), "{text}");
    let created = || ToolResult::json(json!({"id": 17}));
    let text = call(false, created, json!(["order_id"])).await.text();
    assert!(text.starts_with(r#"{"id":17}"#) && text.contains("Not in the result: `order_id`"), "{text}");
}

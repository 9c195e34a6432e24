//! `#[derive(ToolInput)]`: the schema says what serde takes, and decoding gives what serde gives.

#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgen_runtime::dialect::JSON_SCHEMA;
use toolgen_runtime::shape::render::render_input;
use toolgen_runtime::tool::{DEFAULT_TIMEOUT, call};
use toolgen_runtime::{AgentTool, FunctionTool, ToolContext, ToolInput, tool};

/// How warm it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToolInput)]
#[serde(rename_all = "kebab-case")]
enum Unit {
    /// Water freezes at 0.
    DegreesCelsius,
    /// Water freezes at 32.
    DegreesFahrenheit,
    #[serde(rename = "K", alias = "kelvin")]
    Kelvin,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolInput)]
struct Id(u32);

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolInput)]
struct Node {
    /// Its name.
    #[arg(len = 1..=5)]
    name: String,
    #[serde(default)]
    children: Vec<Node>,
    #[serde(default)]
    link: Option<Box<Link>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolInput)]
struct Link {
    to: Box<Node>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolInput)]
struct Paging {
    #[serde(default = "ten")]
    limit: u32,
    #[serde(alias = "from")]
    offset: u32,
}

fn ten() -> u32 {
    10
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolInput)]
#[serde(rename_all = "camelCase")]
struct Query {
    id: Id,
    search_text: Option<String>,
    unit: Option<Unit>,
    #[serde(flatten)]
    paging: Paging,
    #[serde(flatten)]
    rest: BTreeMap<String, i32>,
    #[serde(skip)]
    cached: bool,
    pair: (u8, String),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolInput)]
enum External {
    Nothing,
    One(u8),
    Two(u8, u8),
    Named { a: Option<bool> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolInput)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Internal {
    Empty,
    /// A page.
    Page(Paging),
    Circle {
        radius: f64,
    },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolInput)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Empty,
    Many(Vec<Id>),
    Named { x: i8 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolInput)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Text(String),
    Object { key: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolInput)]
struct Page<T> {
    items: Vec<T>,
}

macro_rules! echoes {
    ($($name:ident: $type:ty;)*) => {$(
        #[tool(undocumented)]
        fn $name(value: $type) -> $type {
            value
        }
    )*};
}

echoes! {
    unit: Unit;
    id: Id;
    node: Node;
    query: Query;
    external: External;
    internal: Internal;
    adjacent: Adjacent;
    untagged: Untagged;
    page: Page<Unit>;
}

fn schema(tool: &FunctionTool) -> Value {
    render_input(&tool.spec().input, &tool.spec().defs, &JSON_SCHEMA).unwrap().schema
}

/// serde, the schema and the tool agree about a value.
async fn agree<T: Serialize + for<'a> Deserialize<'a>>(tool: FunctionTool, value: Value) {
    let schema = schema(&tool);
    let params = json!({ "value": value });
    let by_serde =
        serde_json::from_value::<T>(value.clone()).map(|value| serde_json::to_value(value).unwrap());
    let by_schema = jsonschema::is_valid(&schema, &params);
    let by_tool = call(&tool, params, &ToolContext::new("1", "t"), DEFAULT_TIMEOUT).await;
    assert_eq!(by_schema, by_tool.is_ok(), "{value}: {by_tool:?} against {schema:#}");
    if let Ok(result) = by_tool {
        assert_eq!(result.details, by_serde.unwrap(), "{value}");
    }
}

macro_rules! agree {
    ($tool:ident: $type:ty, $($value:tt)*) => {
        for value in json!([$($value)*]).as_array().unwrap() {
            agree::<$type>($tool::tool(), value.clone()).await;
        }
    };
}

#[tokio::test]
async fn serde_and_schema_and_tool_agree() {
    agree!(unit: Unit, "degrees-celsius", "K", "kelvin", "DegreesCelsius", 1, null);
    agree!(id: Id, 1, -1, "1", [1]);
    agree!(node: Node, {"name": "a", "children": [{"name": "b", "link": {"to": {"name": "c"}}}]}, {"name": ""}, {"name": "a", "x": 1},
        {"name": "a", "children": [{"name": "toolong"}]}, {"name": "a", "link": null}, {});
    agree!(query: Query, {"id": 1, "offset": 2, "pair": [1, "x"]}, {"id": 1, "searchText": "s", "unit": "K", "offset": 2, "limit": 3, "more": 4, "pair": [1, "x"]},
        {"id": 1, "offset": 2, "pair": [1, "x"], "more": "no"}, {"id": 1, "pair": [1, "x"]}, {"id": 1, "offset": 2, "pair": [1]});
    agree!(external: External, "Nothing", {"One": 1}, {"Two": [1, 2]}, {"Named": {"a": true}}, {"Named": {}}, {"Two": [1]}, "One", {"One": 1, "Two": [1, 2]}, {"Other": 1});
    agree!(internal: Internal, {"type": "empty"}, {"type": "page", "limit": 1, "offset": 1}, {"type": "page", "offset": 1}, {"type": "circle", "radius": 0.5},
        {"type": "circle"}, {"type": "Circle", "radius": 1}, {}, "empty", {"type": "circle", "radius": 1, "offset": 1});
    agree!(adjacent: Adjacent, {"t": "Empty"}, {"t": "Many", "c": [1]}, {"t": "Named", "c": {"x": 1}}, {"t": "Named", "c": {"x": 300}}, {"t": "Many"}, {"c": []});
    agree!(untagged: Untagged, 1, "x", {"key": "k"}, {"other": "k"}, null, 1.5);
    agree!(page: Page<Unit>, {"items": ["K"]}, {"items": ["x"]}, {});
}

#[test]
fn documenting_a_variant_does_not_change_the_form() {
    let schema = schema(&unit::tool());
    assert_eq!(
        schema["properties"]["value"],
        json!({
            "type": "string",
            "enum": ["degrees-celsius", "degrees-fahrenheit", "K", "kelvin"],
            "description": "How warm it is.\n- `degrees-celsius`: Water freezes at 0.\n- `degrees-fahrenheit`: Water freezes at 32.",
        })
    );
}

#[test]
fn types_that_contain_themselves_stand_under_their_short_names() {
    let schema = schema(&node::tool());
    assert_eq!(schema["properties"]["value"]["$ref"], "#/$defs/Node");
    let names: Vec<&String> = schema["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["Link", "Node"]);
    assert!(node::tool().spec().output.is_some());
    assert!(query::tool().spec().output.is_none(), "a skipped field is not written as it is read");
}

/// A type that another crate could have made.
mod foreign {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub(crate) struct Point {
        pub(crate) x: u8,
        pub(crate) title: Option<Name>,
    }

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    pub(crate) struct Name {
        pub(crate) text: String,
    }
}

/// Moves.
#[tool(undocumented)]
fn move_to(#[arg(schemars)] to: foreign::Point, #[arg(schemars)] via: Vec<foreign::Point>) -> String {
    format!("{} {}", to.x, via.len())
}

#[tokio::test]
async fn types_of_other_crates_come_over_a_bridge() {
    let tool = move_to::tool();
    let schema = schema(&tool);
    let text = schema.to_string();
    assert!(!text.contains("\"uint8\"") && !text.contains("$schema"), "{text}");
    assert_eq!(schema["properties"]["via"]["$ref"], "#/$defs/Vec_foreign__Point");
    let name = schema["properties"]["to"]["$ref"].as_str().unwrap().trim_start_matches("#/$defs/");
    let point = &schema["$defs"][name];
    assert!(
        point["properties"]["title"].is_object() && point["properties"]["x"]["maximum"] == 255,
        "{schema:#}"
    );
    let params = json!({"to": {"x": 1, "title": {"text": "t"}}, "via": [{"x": 2}]});
    assert!(jsonschema::is_valid(&schema, &params));
    let ctx = ToolContext::new("1", "t");
    assert_eq!(call(&tool, params, &ctx, DEFAULT_TIMEOUT).await.unwrap().to_text(), "1 1");
    assert!(call(&tool, json!({"to": {"x": 300}, "via": []}), &ctx, DEFAULT_TIMEOUT).await.is_err());
}

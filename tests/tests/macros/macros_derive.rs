//! Tests of `#[derive(ToolInput)]`: the schema and decoding agree with serde.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgen_runtime::call::tool::{DEFAULT_TIMEOUT, call_without_layers as call};
use toolgen_runtime::schema::dialect::JSON_SCHEMA;
use toolgen_runtime::schema::shape::read::read_canonical;
use toolgen_runtime::schema::shape::render::{canonical, render_input};
use toolgen_runtime::schema::shape::{Def, Shape};
use toolgen_runtime::{AgentTool, FunctionTool, ToolInput, Turn, tool};
use toolgen_tests::sampler::Sampler;

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
    /// None of them.
    Nothing,
    One(u8),
    Two(u8, u8),
    Named {
        a: Option<bool>,
    },
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

/// Returns the schema of all enforced rules, including bounds of types that are not rendered for a model.
fn schema(tool: &FunctionTool) -> Value {
    let message = |shape: &Shape| {
        let mut text = canonical(shape);
        for format in ["int16", "int32", "int64", "uint16", "uint32", "uint64", "float"] {
            text = text.replace(&format!("\"format\":\"{format}\","), "");
        }
        read_canonical(&serde_json::from_str(&text).unwrap())
    };
    let def = |def: &Def| Def { name: def.name.clone(), schema: message(&def.schema).into() };
    let spec = tool.spec();
    render_input(&message(&spec.input), &spec.defs.iter().map(def).collect(), &JSON_SCHEMA).unwrap().schema
}

/// Asserts that serde, the schema and the tool agree about a value.
async fn agree<T: Serialize + for<'a> Deserialize<'a>>(tool: FunctionTool, value: Value) {
    let schema = schema(&tool);
    let params = json!({ "value": value });
    let by_serde =
        serde_json::from_value::<T>(value.clone()).map(|value| serde_json::to_value(value).unwrap());
    let by_schema = jsonschema::is_valid(&schema, &params);
    let by_tool = call(&tool, params, &Turn::default().call_context("1", "t"), DEFAULT_TIMEOUT).await;
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
async fn serde_schema_and_tool_agree() {
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
fn documenting_a_variant_does_not_change_its_format() {
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
fn unit_variants_keep_their_docs_in_mixed_enums() {
    let schema = schema(&external::tool());
    assert_eq!(
        schema["$defs"]["External"]["anyOf"][0],
        json!({"type": "string", "const": "Nothing", "description": "- `Nothing`: None of them."})
    );
}

#[test]
fn recursive_types_have_short_definition_names() {
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
async fn third_party_types_use_schemars_schemas() {
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
    let ctx = Turn::default().call_context("1", "t");
    assert_eq!(call(&tool, params, &ctx, DEFAULT_TIMEOUT).await.unwrap().to_text(), "1 1");
    assert!(call(&tool, json!({"to": {"x": 300}, "via": []}), &ctx, DEFAULT_TIMEOUT).await.is_err());
}

/// Names what to move.
#[allow(dead_code, reason = "the test reads its debug output")]
#[derive(Debug, toolgen_runtime::ToolInput)]
#[serde(rename_all = "camelCase")]
struct Target {
    /// Where it is.
    #[arg(schemars)]
    near_to: Option<foreign::Point>,
    #[arg(schemars)]
    #[serde(rename = "label")]
    name: foreign::Name,
    #[arg(schemars, default = foreign::Point { x: 7, title: None })]
    home: foreign::Point,
    way: Way,
}

#[allow(dead_code, reason = "the test reads its debug output")]
#[derive(Debug, toolgen_runtime::ToolInput)]
enum Way {
    Over(#[arg(schemars)] foreign::Name),
    Along {
        #[arg(schemars)]
        points: Vec<foreign::Point>,
    },
}

/// Moves.
#[tool(undocumented)]
fn move_on(#[arg(schemars)] to: Option<foreign::Point>, target: Option<Target>) -> String {
    format!("{to:?} {target:?}")
}

#[tokio::test]
async fn third_party_types_may_be_optional_and_nested() {
    let tool = move_on::tool();
    let schema = schema(&tool);
    assert_eq!(schema.get("required"), None, "{schema:#}");
    let ctx = Turn::default().call_context("1", "t");
    let message = call(&tool, json!({}), &ctx, DEFAULT_TIMEOUT).await.unwrap().to_text();
    assert_eq!(message, "None None");
    let params = json!({
        "to": {"x": 1},
        "target": {"label": {"text": "t"}, "way": {"Along": {"points": [{"x": 2}]}}},
    });
    assert!(jsonschema::is_valid(&schema, &params), "{schema:#}");
    let message = call(&tool, params, &ctx, DEFAULT_TIMEOUT).await.unwrap().to_text();
    assert!(
        message.starts_with("Some(Point { x: 1, title: None }) Some(Target { near_to: None, name: Name"),
        "{message}"
    );
    assert!(
        message.contains("home: Point { x: 7, ") && message.contains("points: [Point { x: 2, "),
        "{message}"
    );
    let over =
        json!({"target": {"nearTo": {"x": 3}, "label": {"text": "t"}, "way": {"Over": {"text": "o"}}}});
    let message = call(&tool, over, &ctx, DEFAULT_TIMEOUT).await.unwrap().to_text();
    assert!(message.contains("near_to: Some(Point { x: 3") && message.contains("Over(Name"), "{message}");
    let wrong =
        json!({"target": {"nearTo": {"x": 300}, "label": {"text": "t"}, "way": {"Over": {"text": "o"}}}});
    assert!(call(&tool, wrong, &ctx, DEFAULT_TIMEOUT).await.is_err());
}

macro_rules! takers {
    ($($name:ident: $(#[$rule:meta])* $type:ty;)*) => {
        $(
            #[tool(undocumented)]
            #[allow(clippy::boxed_local, reason = "a boxed argument is one of the types")]
            fn $name($(#[$rule])* value: $type) {
                let _ = value;
            }
        )*

        fn takers() -> Vec<FunctionTool> {
            vec![$($name::tool()),*]
        }
    };
}

takers! {
    take_u8: u8;
    take_i64: i64;
    take_u64: u64;
    take_f32: f32;
    take_f64: f64;
    take_bool: bool;
    take_char: char;
    take_unit: ();
    take_text: &str;
    take_path: &std::path::Path;
    take_above_zero: std::num::NonZeroU16;
    take_option: Option<i8>;
    take_options: Option<Vec<Option<String>>>;
    take_slice: &[bool];
    take_array: [u8; 2];
    take_set: std::collections::HashSet<String>;
    take_map: BTreeMap<String, Option<u8>>;
    take_tuple: (u8, Option<String>, Vec<i8>);
    take_any: Value;
    take_object: serde_json::Map<String, Value>;
    take_boxed: Box<[Box<str>]>;
    take_enum: Unit;
    take_newtype: Vec<Id>;
    take_recursive: Node;
    take_flat: Query;
    take_external: External;
    take_internal: Internal;
    take_adjacent: Option<Adjacent>;
    take_untagged: Vec<Untagged>;
    take_generic: Page<Id>;
    take_ranged: #[arg(range = -3..=300, default = 7)] i16;
    take_below: #[arg(range = 0.5..2.5)] f64;
    take_sized: #[arg(len = 1..=2, items(pattern = "^[a-c]+$", len = 2))] Vec<String>;
    take_one_of: #[arg(one_of(1, 2, 300))] u16;
    take_keys: #[arg(non_empty, len = ..=2)] BTreeMap<String, bool>;
}

#[tokio::test]
async fn tool_accepts_exactly_what_its_schema_allows() {
    let (mut taken, mut refused) = (0, 0);
    for (index, tool) in takers().into_iter().enumerate() {
        let schema = schema(&tool);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let mut sampler =
            Sampler::new(&schema, index as u64, &[json!(1e30), json!(u64::MAX), json!(i64::MIN)]);
        let ctx = Turn::default().call_context("1", "t");
        for _ in 0..400 {
            let params = sampler.object(&schema);
            let allowed = validator.is_valid(&params);
            let outcome = call(&tool, params.clone(), &ctx, DEFAULT_TIMEOUT).await;
            assert_eq!(allowed, outcome.is_ok(), "{params} against {schema}: {outcome:?}");
            *(if allowed { &mut taken } else { &mut refused }) += 1;
        }
    }
    assert!(taken > 3_000 && refused > 3_000, "{taken} taken, {refused} refused");
}

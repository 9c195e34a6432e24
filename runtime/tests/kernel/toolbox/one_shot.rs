//! Responses in the format of one-shot programs.

use serde::Serialize;
use toolgen_runtime::toolbox::one_shot;

use crate::prelude::*;

/// Adds two numbers.
#[tool(read_only, undocumented)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Greets.
#[tool(undocumented)]
fn greet(name: &str) -> Result<String, ToolError> {
    match name {
        "nobody" => Err(ToolError::failed("nobody to greet")),
        "king" => Err(ToolError::failed_with("TOO_HIGH", "not without a bow")),
        name => Ok(format!("Hello, {name}.")),
    }
}

#[derive(Serialize)]
struct Point {
    x: i64,
    y: i64,
}

/// A line of points.
#[tool(read_only, undocumented)]
fn line(#[arg(range = 0..=3)] length: i64) -> Vec<Point> {
    (0..length).map(|x| Point { x, y: 0 }).collect()
}

/// A point.
#[tool(read_only)]
fn point() -> Point {
    Point { x: 1, y: 2 }
}

/// A report that failed, and says so.
#[tool(read_only)]
fn report() -> ToolResult {
    ToolResult::text("half of it").with_details(json!({"success": false, "code": "HALF"}))
}

/// A service that answered with a status.
#[tool(read_only)]
fn status() -> ToolResult {
    ToolResult::text("no pets").with_details(json!({"status": 404, "ok": false}))
}

/// A text, with notes for the program.
#[tool(read_only)]
fn noted() -> ToolResult {
    ToolResult::text("seen").with_details(json!({"exit_code": 0}))
}

/// A picture.
#[tool(read_only)]
fn picture() -> Content {
    Content::Image { data: "AQ==".to_owned(), mime_type: "image/png".to_owned() }
}

/// Needs the other.
#[tool(requires(tool("point")))]
fn after() -> String {
    String::new()
}

#[test]
fn one_shot_responses_have_the_documented_format() {
    let cases = [
        ("greet", r#"{"name": "Ada"}"#, 0, json!({"result": "Hello, Ada."})),
        ("add", r#"{"a": 1, "b": 2}"#, 0, json!({"result": 3})),
        ("point", "", 0, json!({"result": {"x": 1, "y": 2}})),
        ("point", "{}", 0, json!({"result": {"x": 1, "y": 2}})),
        ("line", r#"{"length": 2}"#, 0, json!({"results": [{"x": 0, "y": 0}, {"x": 1, "y": 0}]})),
        ("line", r#"{"length": 0}"#, 0, json!({"results": []})),
        ("noted", "{}", 0, json!({"result": "seen"})),
        ("greet", r#"{"name": "nobody"}"#, 1, json!({"error": "nobody to greet", "code": "EXECUTION_ERROR"})),
        ("greet", r#"{"name": "king"}"#, 1, json!({"error": "not without a bow", "code": "TOO_HIGH"})),
        ("report", "{}", 1, json!({"error": "half of it", "code": "HALF"})),
        ("status", "{}", 1, json!({"error": "no pets", "code": "EXECUTION_ERROR"})),
    ];
    for (tool, input, status, wanted) in cases {
        let (code, json) = answered(tool, input.as_bytes());
        assert_eq!((code, json), (status, wanted), "{tool} {input}");
    }
    let (_, json) = answered("picture", b"{}");
    assert_eq!(json["content"][0]["mimeType"], "image/png");
}

#[test]
fn one_shot_errors_have_a_message_and_a_code() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let problems = [
        ("greet", &b"{}"[..], "name is required", "MISSING_PARAMETER"),
        ("add", b"{}", "a is required; b is required", "MISSING_PARAMETER"),
        ("greet", b"", "name is required", "MISSING_PARAMETER"),
        ("add", b"{", "Failed to parse input: the arguments are not JSON", "INVALID_INPUT"),
        ("add", b"[1]", "Failed to parse input: Expected object parameters, got", "INVALID_INPUT"),
        ("add", b"\xff", "Failed to parse input: it is not UTF-8", "INVALID_INPUT"),
        ("add", deep.as_bytes(), "Failed to parse input: ", "INVALID_INPUT"),
        ("line", br#"{"length": 9}"#, "Invalid arguments: /length", "INVALID_PARAMS"),
        ("ad", b"{}", "Tool not found: ad", "TOOL_NOT_FOUND"),
        ("after", b"{}", "Cannot execute 'after': prerequisites not met: ", "DEPENDENCY_NOT_MET"),
    ];
    for (tool, input, error, code) in problems {
        let (status, json) = answered(tool, input);
        let text = json["error"].as_str().unwrap();
        assert_eq!((status, &json["code"]), (1, &json!(code)), "{json}");
        assert!(text.starts_with(error) && json.get("result").is_none(), "{json}");
    }
    assert_eq!(answered("after", b"{}").1["suggested_order"], json!(["point"]));
}

fn answered(tool: &str, input: &[u8]) -> (i32, Value) {
    let tools = toolset![add, greet, line, point, report, status, noted, picture, after];
    let toolbox = Registry::new(tools).unwrap().toolbox(ToolboxContext::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let response = runtime.block_on(one_shot::run_call(&toolbox, tool, input, &Turn::new("t")));
    (response.status().into(), response.json().clone())
}

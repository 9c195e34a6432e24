//! Tools created at run time are called like every other tool.

use crate::call::Turn;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::toolbox::ToolboxContext;
use crate::{Effects, Registry, ToolCall};

fn ctx() -> ToolContext {
    ToolContext::new("call-1", "t")
}

fn times_tool() -> DynamicTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "n": { "$ref": "#/$defs/Number" },
            "by": { "type": "integer", "default": 2 },
        },
        "required": ["n"],
        "additionalProperties": false,
        "$defs": { "Number": { "type": "integer", "maximum": 10 } },
    });
    DynamicTool::builder("times", "Multiplies.")
        .schema(&schema)
        .effects(Effects::NONE)
        .with(|spec| spec.returns = "The product.".into())
        .run(|params, ctx| async move {
            assert_eq!(ctx.tool_name, "times");
            let number =
                |key: &str| params[key].as_i64().ok_or_else(|| ToolError::failed(format!("no {key}")));
            Ok(json!({ "product": number("n")? * number("by")? }))
        })
        .unwrap()
}

#[tokio::test]
async fn closure_tool_behaves_like_any_other_tool() {
    let registry = Registry::builder().add(times_tool()).seal().unwrap();
    let toolbox = registry.toolbox(ToolboxContext::new());
    let call = async |arguments| toolbox.run(ToolCall::new("1", "times", arguments), &Turn::default()).await;
    // The default is filled in before the closure runs.
    assert_eq!(call(json!({"n": 4})).await.text(), r#"{"product":8}"#);
    let response = call(json!({"n": 11, "b": 3})).await;
    assert!(response.is_error());
    assert!(
        response.text().contains("/n") && response.text().contains("unknown argument `b`"),
        "{}",
        response.text()
    );
    let tool = registry.get("times").unwrap();
    assert_eq!(tool.parameters_schema()["$defs"]["Number"]["maximum"], 10);
    assert!(tool.prompt_documentation().contains("  - Parameters: n (required), by (optional, default 2)"));
    assert!(tool.prompt_documentation().contains("  - Returns: The product."));
    assert_eq!(format!("{:?}", times_tool()), "DynamicTool(\"times\")");
}

#[tokio::test]
async fn closure_tool_has_a_timeout_and_contains_panics() {
    let slow = DynamicTool::builder("slow", "Sleeps.")
        .timeout(Timeout::Millis(20))
        .run(|_, _| async {
            tokio::time::sleep(Duration::from_secs(60)).await;
            Ok(())
        })
        .unwrap();
    let wild = DynamicTool::builder("wild", "Panics.");
    let wild = wild.run(|_, _| async { if true { panic!("secret") } else { Ok(()) } }).unwrap();
    let eager = DynamicTool::builder("eager", "Panics at once.");
    let eager = eager
        .run(|params, _| {
            assert!(params.is_null(), "secret");
            async { Ok(()) }
        })
        .unwrap();
    let registry = Registry::builder().add(slow).add(wild).add(eager).seal().unwrap();
    let error = registry.call_without_layers("slow", json!({}), &ctx()).await.unwrap_err();
    assert_eq!(error, ToolError::Timeout { duration: Duration::from_millis(20) });
    for name in ["wild", "eager"] {
        assert_eq!(
            registry.call_without_layers(name, json!({}), &ctx()).await.unwrap_err().to_string(),
            "tool panicked"
        );
    }
}

#[test]
fn definition_reports_all_errors_together() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "integer", "minimum": "1" }, "b": { "$ref": "#/$defs/Nobody" } },
    });
    let message = DynamicTool::builder("call weather", " ").schema(&schema).spec().unwrap_err().to_string();
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines.len(), 4, "{message}");
    assert!(lines.iter().all(|line| line.starts_with("tool `call weather`: ")), "{message}");
    for (line, part) in lines.iter().zip(["may contain only", "no description", "/properties/a", "`Nobody`"])
    {
        assert!(line.contains(part), "{line}");
    }
    for (schema, is_valid) in [
        (json!({"type": "object"}), true),
        (json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}}), true),
        (json!({"anyOf": [{"type": "object"}, {"properties": {"a": true}}]}), true),
        (json!({}), false),
        (json!({"type": ["object", "null"]}), false),
        (json!({"type": "array", "items": {"type": "object"}}), false),
        (json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}), false),
        (json!("object"), false),
    ] {
        let spec = DynamicTool::builder("t", "T.").schema(&schema).spec();
        assert_eq!(spec.is_ok(), is_valid, "{schema}: {spec:?}");
    }
}

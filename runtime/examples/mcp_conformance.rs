//! The server for the conformance suite of the Model Context Protocol: `mcp_conformance 127.0.0.1:8080`.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolgen_runtime::serve::mcp::{Server, Tools};
use toolgen_runtime::{
    Content, Control, InputRequest, Registry, ResourceData, Service, ToolContext, ToolError, ToolResult,
    Toolbox, ToolboxContext, tool, toolset,
};

/// A red pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// Silence.
const WAVE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

fn pixel() -> Content {
    Content::Image { data: PIXEL.to_owned(), mime_type: "image/png".to_owned() }
}

fn resource(uri: &str, mime_type: &str, text: &str) -> Content {
    let data = ResourceData::Text(text.to_owned());
    Content::Resource { uri: uri.to_owned(), mime_type: mime_type.to_owned(), data }
}

/// Returns a text.
#[tool(read_only)]
fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Returns an image.
#[tool(read_only)]
fn test_image_content() -> Content {
    pixel()
}

/// Returns a sound.
#[tool(read_only)]
fn test_audio_content() -> Content {
    Content::Audio { data: WAVE.to_owned(), mime_type: "audio/wav".to_owned() }
}

/// Returns an embedded resource.
#[tool(read_only)]
fn test_embedded_resource() -> Content {
    resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
}

/// Returns content of several types.
#[tool(read_only)]
fn test_multiple_content_types() -> Vec<Content> {
    let text = Content::Text("Multiple content types test:".to_owned());
    vec![
        text,
        pixel(),
        resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
    ]
}

/// Fails.
#[tool]
fn test_error_handling() -> Result<String, ToolError> {
    Err(ToolError::failed("This tool intentionally returns an error for testing"))
}

/// Reports its progress.
#[tool]
async fn test_tool_with_progress(ctx: &ToolContext) -> &'static str {
    for done in [0, 50, 100] {
        ctx.progress(format!("{done} of 100"));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    "done"
}

/// Requests input, and returns the response.
fn asks(ctx: &ToolContext, message: &str, title: &str, properties: &Value, required: &[&str]) -> ToolResult {
    match ctx.input() {
        Some(response) => {
            ToolResult::text(format!("Elicitation completed: action=accept, content={response}"))
        }
        None => need(message, title, properties, required),
    }
}

fn need(message: &str, title: &str, properties: &Value, required: &[&str]) -> ToolResult {
    let mut schema = json!({ "type": "object", "properties": properties, "required": required });
    if !title.is_empty() {
        schema["title"] = title.into();
    }
    ToolResult::empty().with_control(Control::NeedInput(InputRequest::new(message, schema)))
}

/// Requests a name and an address.
#[tool(undocumented)]
fn test_elicitation(message: String, ctx: &ToolContext) -> ToolResult {
    let properties = json!({
        "username": { "type": "string", "description": "User's response" },
        "email": { "type": "string", "description": "User's email address" },
    });
    asks(ctx, &message, "", &properties, &["username", "email"])
}

/// Requests values that have defaults.
#[tool]
fn test_elicitation_sep1034_defaults(ctx: &ToolContext) -> ToolResult {
    let properties = json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    });
    asks(ctx, "Please review the values", "", &properties, &[])
}

/// Requests values of enumerations.
#[tool]
fn test_elicitation_sep1330_enums(ctx: &ToolContext) -> ToolResult {
    let titled = |first: &str| {
        json!([
            { "const": "value1", "title": format!("First {first}") },
            { "const": "value2", "title": format!("Second {first}") },
            { "const": "value3", "title": format!("Third {first}") },
        ])
    };
    let options = json!(["option1", "option2", "option3"]);
    let names = json!(["Option One", "Option Two", "Option Three"]);
    let properties = json!({
        "untitledSingle": { "type": "string", "enum": options },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": { "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": names },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
    });
    asks(ctx, "Please choose", "", &properties, &[])
}

/// Requests a name.
#[tool]
fn test_input_required_result_elicitation(ctx: &ToolContext) -> ToolResult {
    match ctx.input() {
        Some(response) => {
            ToolResult::text(format!("Hello, {}!", response["name"].as_str().unwrap_or_default()))
        }
        None => need("What is your name?", "user_name", &json!({ "name": { "type": "string" } }), &["name"]),
    }
}

/// Requests a confirmation.
#[tool]
fn test_input_required_result_request_state(ctx: &ToolContext) -> ToolResult {
    match ctx.input() {
        // The toolbox has verified the seal of the state.
        Some(_) => ToolResult::text("state-ok"),
        None => need("Please confirm", "confirm", &json!({ "ok": { "type": "boolean" } }), &["ok"]),
    }
}

/// Requests a confirmation, and detects a forged state.
#[tool]
fn test_input_required_result_tampered_state(ctx: &ToolContext) -> ToolResult {
    match ctx.input() {
        Some(_) => ToolResult::text("state-ok"),
        None => need("Please confirm", "confirm", &json!({ "ok": { "type": "boolean" } }), &["ok"]),
    }
}

/// Requests input twice.
#[tool]
fn test_input_required_result_multi_round(ctx: &ToolContext) -> ToolResult {
    match ctx.inputs() {
        [] => {
            need("Step 1: What is your name?", "step1", &json!({ "name": { "type": "string" } }), &["name"])
        }
        [_] => need(
            "Step 2: What is your favourite colour?",
            "step2",
            &json!({ "color": { "type": "string" } }),
            &["color"],
        ),
        [name, color, ..] => ToolResult::text(format!("{name} {color}")),
    }
}

/// Requires a client that supports elicitation.
#[tool]
fn test_missing_capability(ctx: &ToolContext) -> ToolResult {
    asks(ctx, "Please confirm", "", &json!({ "ok": { "type": "boolean" } }), &["ok"])
}

/// Requests input within a stream.
#[tool]
fn test_streaming_elicitation(ctx: &ToolContext) -> ToolResult {
    ctx.progress("about to ask");
    asks(ctx, "Please confirm", "", &json!({ "ok": { "type": "boolean" } }), &["ok"])
}

/// Logs nothing, because the server has no logging capability.
#[tool]
fn test_logging_tool() -> &'static str {
    "nothing is logged"
}

/// The handle that replaces the tools of the running server.
#[derive(Default)]
struct Served(OnceLock<Tools>);

/// Notifies the clients that the list of tools has changed.
#[tool]
fn test_trigger_tool_change(served: Service<Served>) -> Result<&'static str, ToolError> {
    let served = Service::into_inner(served);
    let tools = served.0.get().ok_or_else(|| ToolError::failed("nothing is served"))?;
    tools.replace(toolbox(Arc::clone(&served)).map_err(|error| ToolError::failed(error.to_string()))?);
    Ok("changed")
}

fn toolbox(served: Arc<Served>) -> Result<Toolbox, toolgen_runtime::RegistryError> {
    let registry = Registry::new(toolset![
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_multiple_content_types,
        test_error_handling,
        test_tool_with_progress,
        test_elicitation,
        test_elicitation_sep1034_defaults,
        test_elicitation_sep1330_enums,
        test_input_required_result_elicitation,
        test_input_required_result_request_state,
        test_input_required_result_tampered_state,
        test_input_required_result_multi_round,
        test_missing_capability,
        test_streaming_elicitation,
        test_logging_tool,
        test_trigger_tool_change,
    ])?;
    Ok(registry.toolbox(ToolboxContext::new().with_service(served)))
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stderr, reason = "it says where it is")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).ok_or("pass an address, such as 127.0.0.1:8080")?;
    let served = Arc::new(Served::default());
    let server = Server::new(toolbox(Arc::clone(&served))?).name("conformance");
    let _ = served.0.set(server.tools());
    let listener = TcpListener::bind(address).await?;
    eprintln!("http://{}/mcp", listener.local_addr()?);
    server.listen(listener).await?;
    Ok(())
}

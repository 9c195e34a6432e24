//! The served tools.

use std::sync::atomic::AtomicBool;

use toolgen_runtime::layers::middleware::{MiddlewareDecision, ToolRequest};
use toolgen_runtime::toolbox::ToolboxBuilder;
use toolgen_runtime::{Content, Control, InputRequest, ToolInput, ToolResult, tool, toolset};

use crate::prelude::*;

/// A sum.
#[derive(ToolInput)]
pub(crate) struct Sum {
    /// The sum.
    sum: i64,
}

impl serde_core::Serialize for Sum {
    fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({ "sum": self.sum }).serialize(serializer)
    }
}

/// Adds two numbers.
#[tool(read_only, idempotent, undocumented, label = "Addition")]
fn add(a: i64, b: i64) -> Sum {
    Sum { sum: a + b }
}

/// Fails.
#[tool(undocumented)]
fn fail(why: String) -> Result<String, ToolError> {
    Err(ToolError::failed(why))
}

/// Draws a dot.
#[tool(read_only)]
fn draw() -> ToolResult {
    let image = Content::Image { data: "aGVsbG8=".to_owned(), mime_type: "image/png".to_owned() };
    ToolResult::text("a dot").with_content(image)
}

/// Counts to three, and reports each number.
#[tool]
async fn count(ctx: &ToolContext) -> String {
    for number in 1..=2 {
        ctx.progress(format!("counted {number}"));
        tokio::task::yield_now().await;
    }
    ctx.update(ToolResult::text("counted 3"));
    "three".to_owned()
}

/// Whether a call of `hang` was cancelled.
#[derive(Default)]
pub(crate) struct Heard(pub(crate) AtomicBool);

/// Waits forever.
#[tool]
async fn hang(ctx: &ToolContext) -> Result<String, ToolError> {
    let received = ctx.service::<Heard>().unwrap();
    ctx.progress("waiting");
    ctx.cancel().cancelled().await;
    received.0.store(true, Ordering::SeqCst);
    Err(ToolError::Cancelled)
}

/// Returns the caller.
#[tool(read_only)]
fn who(ctx: &ToolContext) -> String {
    ctx.principal().map_or("nobody".to_owned(), |principal| principal.id.to_string())
}

/// Counts its calls in this session.
#[tool]
fn visits(ctx: &ToolContext) -> String {
    let Some(session) = ctx.session() else { return "no session".to_owned() };
    let visits = session.get("visits").and_then(|visits| visits.as_u64()).unwrap_or(0) + 1;
    session.set("visits", visits);
    visits.to_string()
}

/// Greets a person when it has their name.
#[tool]
fn greet(ctx: &ToolContext) -> ToolResult {
    match ctx.input() {
        Some(response) => ToolResult::text(format!("Hello, {}!", response["name"].as_str().unwrap())),
        None => {
            let schema = json!({"type": "object", "title": "user_name", "properties": {"name": {"type": "string"}}, "required": ["name"]});
            ToolResult::empty()
                .with_control(Control::NeedInput(InputRequest::new("What is your name?", schema)))
        }
    }
}

/// Pays after approval.
#[tool(undocumented)]
fn pay(amount: u32) -> String {
    format!("paid {amount}")
}

/// Returns a long text.
#[tool(read_only)]
fn tell() -> String {
    "once upon a time\n".repeat(100_000)
}

fn careful(request: &ToolRequest<'_>) -> MiddlewareDecision {
    match request.spec.name.as_str() {
        "pay" => MiddlewareDecision::NeedApproval("It costs money.".to_owned()),
        _ => MiddlewareDecision::Allow,
    }
}

/// Returns a toolbox with all of them.
pub(crate) fn toolbox() -> ToolboxBuilder {
    let registry =
        Registry::new(toolset![add, fail, draw, count, hang, who, visits, greet, pay, tell]).unwrap();
    Toolbox::builder(&registry).middleware(careful)
}

/// Returns a server with all of them, and whether `hang` was cancelled.
pub(crate) fn server() -> (Server, Arc<Heard>) {
    let received = Arc::new(Heard::default());
    let context = toolgen_runtime::ToolboxContext::new().with_service(Arc::clone(&received));
    (Server::new(toolbox().context(context).build().unwrap()).name("fixture").page_size(4), received)
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

//! Tests of runs that are recorded in an audit log, and replayed without external effects.

mod agents;
mod differences;
mod logs;
mod runs;
use toolgen_test_support::scratch;

use scratch::Scratch;
use toolgen_runtime::Content;

use crate::prelude::*;

/// Number of external requests on this thread, because tests run concurrently.
mod world {
    use std::cell::Cell;

    thread_local!(static ASKED: Cell<u32> = const { Cell::new(0) });

    pub(crate) fn ask() {
        ASKED.set(ASKED.get() + 1);
    }

    pub(crate) fn asked() -> u32 {
        ASKED.get()
    }
}

/// Finds the orders of a customer.
#[tool(undocumented, read_only)]
fn find_orders(customer: &str, limit: Option<u32>) -> String {
    world::ask();
    format!("{customer} has 7 and 9 of {}", limit.unwrap_or(10))
}

/// Pays money back.
#[tool(undocumented)]
fn refund(order: u32, cents: u32) -> Result<String, ToolError> {
    world::ask();
    match order {
        13 => Err(ToolError::failed_with("ORDER_LOCKED", "order 13 is locked")),
        _ => Ok(format!("{cents} cents of order {order} are paid back")),
    }
}

/// Logs in.
#[tool(undocumented)]
fn login(user: &str, #[arg(secret)] pin: &str) -> String {
    world::ask();
    format!("welcome {user}, {}", pin.len())
}

/// Takes a picture.
#[tool(undocumented)]
fn picture() -> ToolResult {
    world::ask();
    let image = Content::Image { data: "aGVsbG8=".to_owned(), mime_type: "image/png".to_owned() };
    ToolResult::text("cheese").with_content(image)
}

/// Refunds two orders, one after the other.
#[tool(undocumented)]
async fn refund_all(ctx: &ToolContext, customer: &str) -> Result<String, ToolError> {
    let found = ctx.call("find_orders", json!({"customer": customer})).await?.to_text();
    for order in [7, 9] {
        ctx.call("refund", json!({"order": order, "cents": 100})).await?;
    }
    Ok(format!("done: {found}"))
}

fn registry() -> Registry {
    Registry::new(toolset![find_orders, refund, login, picture, refund_all]).unwrap()
}

fn builder() -> ToolboxBuilder {
    Toolbox::builder(&registry())
}

fn turn() -> Turn {
    Turn::new("turn").with_session(Session::new("s-1"))
}

fn called(tool: &str, arguments: Value) -> ToolCall {
    ToolCall::new(format!("{tool}-1"), tool.to_owned(), arguments)
}

async fn call(toolbox: &Toolbox, tool: &str, arguments: Value) -> ToolResponse {
    toolbox.run(called(tool, arguments), &turn()).await
}

async fn dispatch(toolbox: &Toolbox, calls: Vec<ToolCall>) -> Vec<ToolResponse> {
    toolbox.dispatch(calls, &turn(), &DispatchOptions::default()).await.responses
}

/// Records the run of a program, with the bytes of its results.
async fn recorded(program: impl AsyncFnOnce(&Toolbox)) -> RecordedRun {
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).record_bytes(true).start().unwrap();
    program(&builder().layer(auditor.clone()).build().unwrap()).await;
    auditor.shutdown().await;
    let run = RecordedRun::from_memory(&sink, &RunSelection::new()).unwrap();
    // In the format of the file.
    RecordedRun::parse(&run.text()).unwrap()
}

fn replaying(run: &RecordedRun) -> (Replay, Toolbox) {
    let replay = Replay::of(run.clone());
    (replay.clone(), builder().layer(replay).build().unwrap())
}

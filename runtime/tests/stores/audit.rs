//! Tests of audit logs: what is recorded, what is not, and how failing disks are handled.

mod approvals;
mod files;
mod kill;
mod queue;
mod reader;
mod request;
mod toolbox;
use toolgen_test_support::scratch;
mod secrets;
mod sqlite;

use scratch::Scratch;
use toolgen_runtime::AgentTool;
use toolgen_runtime::layers::audit::Record;

use crate::prelude::*;

/// Logs in.
#[tool(undocumented)]
fn login(user: &str, #[arg(secret)] pin: &str) -> Result<String, ToolError> {
    match pin {
        "wrong-pin" => Err(ToolError::failed(format!("no login for {user} with {pin}"))),
        _ => Ok(format!("welcome {user}, your pin is {pin}")),
    }
}

fn login_tool() -> Option<Arc<dyn AgentTool>> {
    Some(toolset![login].remove(0))
}

fn info(id: &str, arguments: Value) -> CallInfo {
    CallInfo::new(id.to_owned(), "login", arguments).with_tool(login_tool())
}

fn record(auditor: &Auditor, id: &str) -> Record {
    auditor.record(|| info(id, json!({"user": "me", "pin": "hunter2"})))
}

/// Records a complete call: intent and outcome.
async fn call(auditor: &Auditor, id: &str, outcome: Result<ToolResult, ToolError>) {
    let mut record = record(auditor, id);
    record.intent().await.unwrap();
    record.finish(&outcome).await;
}

fn welcome() -> Result<ToolResult, ToolError> {
    Ok(ToolResult::text("welcome"))
}

//! What is recorded of calls, what is not, and what a broken disk does to it.
#![cfg(all(feature = "audit", feature = "macros"))]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[cfg(feature = "sqlite")]
mod approvals;
mod files;
#[cfg(feature = "sqlite")]
mod kill;
mod provider;
mod queue;
mod reader;
mod secrets;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use toolgen_runtime::layers::audit::{Auditor, CallInfo, Record};
use toolgen_runtime::{AgentTool, ToolError, ToolResult, tool, toolset};

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

/// A whole call: intent, outcome.
async fn call(auditor: &Auditor, id: &str, outcome: Result<ToolResult, ToolError>) {
    let mut record = record(auditor, id);
    record.intent().await.unwrap();
    record.finish(&outcome).await;
}

fn welcome() -> Result<ToolResult, ToolError> {
    Ok(ToolResult::text("welcome"))
}

/// A file that is gone when the test is over.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("toolgen-audit-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Scratch(folder.join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing but a folder of its own: the parent of a name that ends in `/` is the folder of all.
        let folder = self.0.parent().filter(|folder| *folder != std::env::temp_dir()).unwrap();
        let _ = std::fs::remove_dir_all(folder);
    }
}

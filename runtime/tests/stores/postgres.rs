//! Tests of the audit log in a real PostgreSQL server: rows, writers and outages.
#![cfg(target_os = "linux")]

mod kill;
mod outage;
mod partitions;
mod proxy;
mod reader;
mod recover;
mod rows;
use toolgen_test_support::postgres as server;
mod tls;

use toolgen_runtime::layers::audit::Record;

use crate::prelude::*;

/// Logs in.
#[tool(undocumented)]
fn login(user: &str, #[arg(secret)] password: &str) -> String {
    format!("{user} {password}")
}

/// A call of a tool. Without a specification, any string may be secret.
fn info(id: &str, tool: &str, arguments: Value) -> CallInfo {
    let known = toolset![login].remove(0);
    CallInfo::new(id.to_owned(), tool.to_owned(), arguments).with_tool(Some(known))
}

fn record(auditor: &Auditor, id: &str) -> Record {
    auditor.record(|| info(id, "login", json!({"user": "me", "password": "hunter2"})))
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

fn started(sink: impl AuditSink + 'static) -> Auditor {
    Auditor::builder(sink).start().unwrap()
}

fn durable(sink: impl AuditSink + 'static) -> Auditor {
    Auditor::builder(sink).durable(true).start().unwrap()
}

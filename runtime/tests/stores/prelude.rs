//! Imports that most of these tests use.

pub(crate) use std::fs::OpenOptions;
pub(crate) use std::path::Path;
pub(crate) use std::sync::atomic::{AtomicU32, Ordering};
pub(crate) use std::sync::{Arc, Mutex};
pub(crate) use std::time::{Duration, Instant};

pub(crate) use serde_json::{Value, json};
pub(crate) use toolgen_runtime::agent::dispatch::DispatchOptions;
pub(crate) use toolgen_runtime::layers::approval::{ApprovalError, ApprovalState, Approvals, QueuedApproval};
pub(crate) use toolgen_runtime::layers::audit::{
    AuditReader, AuditSink, AuditStatus, Auditor, CallInfo, JsonLinesSink, MemorySink,
};
pub(crate) use toolgen_runtime::layers::middleware::{
    Approval, ApprovalRequest, Middleware, MiddlewareDecision, ToolRequest,
};
pub(crate) use toolgen_runtime::layers::pages::{Pages, ResultLimit};
pub(crate) use toolgen_runtime::store::audit::rusqlite::Connection;
pub(crate) use toolgen_runtime::store::audit::{PostgresSink, SqliteSink};
pub(crate) use toolgen_runtime::store::{MemoryStore, OnFailure, RedisStore, SqliteStore, Store};
pub(crate) use toolgen_runtime::testing::replay::{RecordedRun, Replay, RunSelection};
pub(crate) use toolgen_runtime::toolbox::ToolboxBuilder;
pub(crate) use toolgen_runtime::{
    BoxFuture, Principal, Registry, Session, ToolCall, ToolContext, ToolError, ToolResponse, ToolResult,
    Toolbox, Turn, store, tool, toolset,
};

//! Items that most of these tests use.

pub(crate) use std::sync::atomic::Ordering;
pub(crate) use std::sync::{Arc, Mutex};
pub(crate) use std::time::{Duration, Instant};

pub(crate) use serde_json::{Map, Value, json};
pub(crate) use tokio::io::AsyncWriteExt;
pub(crate) use toolgen_runtime::engine::mcp::{McpClient, McpEngine, McpOptions, McpServerRequest};
pub(crate) use toolgen_runtime::serve::mcp::Server;
pub(crate) use toolgen_runtime::spec::plan::{McpServer, McpTransport};
pub(crate) use toolgen_runtime::{
    Engines, Frozen, Registry, Text, Tool, ToolCall, ToolContext, ToolError, Toolbox, Turn,
};

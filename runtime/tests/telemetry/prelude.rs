//! Items that most of these tests use.

pub(crate) use std::time::Duration;

pub(crate) use serde_json::json;
pub(crate) use toolgen_runtime::layers::otel::Otel;
pub(crate) use toolgen_runtime::{Registry, ToolCall, ToolContext, ToolError, Toolbox, Turn, tool, toolset};

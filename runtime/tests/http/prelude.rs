//! Imports that most of these tests use.

pub(crate) use std::sync::{Arc, Mutex};
pub(crate) use std::time::Duration;

pub(crate) use serde_json::{Value, json};
pub(crate) use toolgen_runtime::engine::http::{HttpEngineBuilder, Secret, StaticCredentials};
pub(crate) use toolgen_runtime::spec::plan::{
    Body, BodySource, Codec, Encoding, Location, Part, Placement, RequestPlan, Style, Tool,
};
pub(crate) use toolgen_runtime::{List, Registry, ToolCall, ToolContext, ToolError, ToolResult, Turn};
pub(crate) use toolgen_test_support::http::{Request, Server, Step, open, reply};

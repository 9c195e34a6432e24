//! Items that most of these tests use.

pub(crate) use std::sync::Arc;
pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
pub(crate) use std::time::Duration;

pub(crate) use serde_json::{Value, json};
pub(crate) use toolgen_runtime::{ToolContext, ToolResponse, Turn};

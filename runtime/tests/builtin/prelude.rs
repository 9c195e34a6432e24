//! Items that most of these tests use.

pub(crate) use std::fs;
pub(crate) use std::sync::Arc;
pub(crate) use std::sync::atomic::Ordering;
pub(crate) use std::time::Duration;

pub(crate) use serde_json::{Value, json};
pub(crate) use toolgen_runtime::{EffectLimits, ToolCall, ToolError, ToolboxContext, Turn, builtin, toolset};

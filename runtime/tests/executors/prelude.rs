//! Imports that most of these tests use.

pub(crate) use std::fs;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::sync::{Arc, Mutex};
pub(crate) use std::time::Duration;

pub(crate) use serde_json::{Value, json};
pub(crate) use toolgen_runtime::call::limits::EffectLimits;
pub(crate) use toolgen_runtime::engine::Engines;
pub(crate) use toolgen_runtime::engine::executor::{
    ExecError, ExecOptions, ExecOutput, Executor, GuardedExecutor, LocalExecutor, ResourceLimits,
    ScriptedExecutor, preflight,
};
pub(crate) use toolgen_runtime::spec::Network;
pub(crate) use toolgen_runtime::spec::plan::{ArgvTemplate, CommandPlan, Stdin};
pub(crate) use toolgen_runtime::{
    AgentTool, BoxFuture, CancellationToken, ExecutionPlan, List, Registry, Text, Tool, ToolCall,
    ToolContext, ToolError, ToolResponse, ToolResult, ToolSpec, Toolbox, ToolboxContext, Turn,
};

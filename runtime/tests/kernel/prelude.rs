//! Common imports of these tests.

pub(crate) use std::future::ready;
pub(crate) use std::num::NonZeroUsize;
pub(crate) use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
pub(crate) use std::sync::{Arc, Mutex};
pub(crate) use std::time::Duration;

pub(crate) use serde_json::{Value, json};
pub(crate) use tokio::time::Instant;
pub(crate) use toolgen_runtime::agent::agent_loop::{
    Entry, LoopEnd, LoopOptions, ModelTurn, Transcript, run_loop,
};
pub(crate) use toolgen_runtime::agent::dispatch::DispatchOptions;
pub(crate) use toolgen_runtime::agent::sub_agent::{AgentFailure, AgentMonitor, AgentTask, LoopRunner};
pub(crate) use toolgen_runtime::call::blocked::Blocked;
pub(crate) use toolgen_runtime::call::control::PendingInputCall;
pub(crate) use toolgen_runtime::call::limits::EffectLimits;
pub(crate) use toolgen_runtime::layers::audit::{Auditor, MemorySink};
pub(crate) use toolgen_runtime::layers::control::{InputHandler, InputQuestion, InputReply};
pub(crate) use toolgen_runtime::layers::events::Event;
pub(crate) use toolgen_runtime::layers::hooks::Hooks;
pub(crate) use toolgen_runtime::layers::middleware::{
    Approval, ApprovalRequest, Approver, Middleware, MiddlewareDecision, ToolRequest,
};
pub(crate) use toolgen_runtime::layers::policy::PolicyRules;
pub(crate) use toolgen_runtime::registry::discovery::Discovery;
pub(crate) use toolgen_runtime::registry::toolsets::Toolset;
pub(crate) use toolgen_runtime::spec::{Network, Requirement, RequirementKind, Timeout};
pub(crate) use toolgen_runtime::toolbox::{FactoryError, ToolFactory, ToolboxBuilder};
pub(crate) use toolgen_runtime::wire::{ToolResultOptions, WireFormat};
pub(crate) use toolgen_runtime::{
    AgentTool, BoxFuture, CancellationToken, Content, ContextValues, Control, Dependencies, Effect, Effects,
    InputRequest, List, Principal, Registry, Service, Session, Text, ToolCall, ToolContext, ToolError,
    ToolName, ToolResponse, ToolResult, ToolSpec, Toolbox, ToolboxContext, Turn, tool, toolset,
};

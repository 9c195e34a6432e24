//! What an LLM tool is, as data, and the thin runtime that registers and runs it.
//!
//! A [`ToolSpec`] says what a tool is, an [`AgentTool`] does it. A [`Registry`] holds tools, sealed and sorted. A
//! [`Provider`] lends a part of them to an agent, and every call passes its layers on the way to exactly one answer.
//!
//! | to | look at |
//! |---|---|
//! | make a tool of a function | [`function`], [`input`], [`inject`], [`output`], [`testing`] |
//! | make tools of a document or a closure | [`include_tools!`], [`plan`], `http`, `typed`, [`dynamic`] |
//! | describe a tool | [`spec`], [`shape`], [`dialect`], [`docs`] |
//! | collect tools | [`registry`], [`toolset!`], [`toolsets`], [`catalogue`] |
//! | lend them to an agent | [`provider`], [`context`], [`services`], [`values`], [`session`], [`roots`] |
//! | say what they may do | [`policy`], [`principal`], [`rate`], [`depends`], [`graph`], [`middleware`] |
//! | keep trouble small | [`breaker`], [`repeat`], [`pages`], [`error`] |
//! | watch and record | [`hooks`], [`events`], [`audit`], [`redact`], [`trace`] |
//! | talk to a model | [`wire`], [`call`], [`result`], [`control`] |
//! | run turns, loops and other agents | [`dispatch`], [`run`], [`state`], [`agent`] |
//! | start programs | [`executor`] |

#![cfg_attr(docsrs, feature(doc_cfg))]

// So that what the macros write is valid in this crate, too.
extern crate self as toolgen_runtime;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
#[cfg(feature = "runtime")]
pub mod agent;
mod base;
#[cfg(feature = "runtime")]
pub mod call;
pub mod engine;
pub mod function;
#[cfg(feature = "runtime")]
pub mod layers;
#[cfg(feature = "runtime")]
pub mod provider;
#[cfg(feature = "runtime")]
pub mod registry;
pub mod schema;
pub mod spec;
#[cfg(feature = "runtime")]
pub mod wire;

#[cfg(feature = "runtime")]
pub use {
    agent::dispatch::{DispatchOptions, Dispatched, Strategy},
    call::context::ToolContext,
    call::control::{Control, Effect, InputRequest},
    call::error::ToolError,
    call::principal::Principal,
    call::result::{Content, ResourceData, ToolResult},
    call::session::{Session, Sessions},
    call::tool::{AgentTool, BoxFuture},
    call::values::ContextValues,
    call::{ToolCall, ToolResponse},
    engine::dynamic::DynamicTool,
    function::inject::{Progress, Service},
    function::testing,
    function::{FunctionTool, ToolFunction},
    layers::breaker::CircuitBreaker,
    layers::depends::Dependencies,
    layers::repeat::RepeatGuard,
    provider::{Provider, ProviderContext},
    registry::{Registry, RegistryBuilder, RegistryError, RegistryProblem},
};

pub use base::frozen::{Frozen, List, Text};
#[cfg(feature = "typed")]
pub use engine::typed::TypedTool;
pub use function::input::ToolInput;
pub use schema::shape::{Def, Schema, Shape};
pub use spec::plan::{Call, RequestPlan, Tool};
pub use spec::{Effects, ToolName, ToolSpec};
#[cfg(feature = "runtime")]
#[doc(no_inline)]
pub use tokio_util::sync::CancellationToken;
#[cfg(feature = "macros")]
pub use toolgen_macros::ToolInput;
#[cfg(all(feature = "macros", feature = "runtime"))]
pub use toolgen_macros::{tool, tools, toolset};

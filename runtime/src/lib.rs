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

// So that what the macros write is valid in this crate, too.
extern crate self as toolgen_runtime;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
#[cfg(feature = "runtime")]
pub mod agent;
#[cfg(feature = "runtime")]
pub mod audit;
#[cfg(feature = "runtime")]
pub mod breaker;
#[cfg(feature = "runtime")]
pub mod call;
#[cfg(feature = "runtime")]
pub mod catalogue;
#[cfg(feature = "runtime")]
pub mod context;
#[cfg(feature = "runtime")]
pub mod control;
#[cfg(feature = "runtime")]
pub mod depends;
pub mod dialect;
#[cfg(feature = "runtime")]
pub mod dispatch;
pub mod docs;
#[cfg(feature = "runtime")]
pub mod dynamic;
#[cfg(feature = "runtime")]
pub mod error;
#[cfg(feature = "runtime")]
pub mod events;
#[cfg(feature = "runtime")]
pub mod executor;
#[doc(hidden)]
pub mod fit;
mod frozen;
#[cfg(feature = "runtime")]
pub mod function;
pub mod graph;
#[cfg(feature = "runtime")]
pub mod hooks;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "runtime")]
pub mod inject;
pub mod input;
#[cfg(feature = "inventory")]
pub mod inventory;
#[cfg(feature = "runtime")]
pub mod middleware;
#[cfg(feature = "runtime")]
pub mod output;
#[cfg(feature = "runtime")]
pub mod pages;
#[cfg(feature = "runtime")]
mod pipeline;
pub mod plan;
#[cfg(feature = "runtime")]
pub mod policy;
#[cfg(feature = "runtime")]
pub mod principal;
#[cfg(feature = "runtime")]
pub mod provider;
#[cfg(feature = "runtime")]
pub mod rate;
#[cfg(feature = "runtime")]
pub mod redact;
#[cfg(feature = "runtime")]
pub mod registry;
#[cfg(feature = "runtime")]
pub mod repeat;
#[cfg(feature = "runtime")]
pub mod result;
#[cfg(feature = "runtime")]
pub mod roots;
#[cfg(feature = "runtime")]
pub mod run;
#[cfg(feature = "runtime")]
pub mod services;
#[cfg(feature = "runtime")]
pub mod session;
pub mod shape;
pub mod spec;
#[cfg(feature = "runtime")]
pub mod state;
#[cfg(feature = "runtime")]
mod sync;
#[cfg(feature = "runtime")]
pub mod testing;
#[cfg(feature = "runtime")]
mod text;
#[cfg(feature = "runtime")]
pub mod tool;
#[cfg(feature = "runtime")]
pub mod toolset;
#[cfg(feature = "runtime")]
pub mod toolsets;
#[cfg(feature = "runtime")]
pub mod trace;
#[cfg(feature = "typed")]
pub mod typed;
#[cfg(feature = "runtime")]
pub mod values;
#[cfg(feature = "runtime")]
pub mod wire;

#[cfg(feature = "runtime")]
pub use breaker::CircuitBreaker;
#[cfg(feature = "runtime")]
pub use call::{ToolCall, ToolResponse};
#[cfg(feature = "runtime")]
pub use context::ToolContext;
#[cfg(feature = "runtime")]
pub use control::{Control, Effect, InputRequest};
#[cfg(feature = "runtime")]
pub use depends::Dependencies;
#[cfg(feature = "runtime")]
pub use dispatch::{DispatchOptions, Dispatched, Strategy};
#[cfg(feature = "runtime")]
pub use dynamic::DynamicTool;
#[cfg(feature = "runtime")]
pub use error::ToolError;
pub use frozen::{Frozen, List, Text};
#[cfg(feature = "runtime")]
pub use function::{FunctionTool, ToolFunction};
#[cfg(feature = "runtime")]
pub use inject::{Progress, Service};
pub use input::ToolInput;
pub use plan::{Call, RequestPlan, Tool};
#[cfg(feature = "runtime")]
pub use principal::Principal;
#[cfg(feature = "runtime")]
pub use provider::{Provider, ProviderContext};
#[cfg(feature = "runtime")]
pub use registry::{Registry, RegistryBuilder, RegistryError, RegistryProblem};
#[cfg(feature = "runtime")]
pub use repeat::RepeatGuard;
#[cfg(feature = "runtime")]
pub use result::{Content, ResourceData, ToolResult};
#[cfg(feature = "runtime")]
pub use session::{Session, Sessions};
pub use shape::{Def, Schema, Shape};
pub use spec::{Effects, ToolName, ToolSpec};
#[cfg(feature = "runtime")]
#[doc(no_inline)]
pub use tokio_util::sync::CancellationToken;
#[cfg(feature = "runtime")]
pub use tool::{AgentTool, BoxFuture};
#[cfg(feature = "macros")]
pub use toolgen_macros::ToolInput;
#[cfg(all(feature = "macros", feature = "runtime"))]
pub use toolgen_macros::{tool, tools, toolset};
#[cfg(feature = "typed")]
pub use typed::TypedTool;
#[cfg(feature = "runtime")]
pub use values::ContextValues;

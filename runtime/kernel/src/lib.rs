//! The core of `toolgen-runtime`: registers tools, offers them to agents and runs their calls. All other crates of
//! the runtime depend on it.
//!
//! Programs use `toolgen-runtime`, which re-exports all of this under the same paths.
//!
//! The modules form levels: each uses only itself and those below it.
//!
//! | level | contents |
//! |---|---|
//! | [`toolbox`] | the tools of one agent, and the pipeline of their calls |
//! | [`layers`] | the layers of a call, one module each |
//! | [`engine`], [`registry`] | engines for tools that are data; sealed registries |
//! | [`call`] | a call, its context and its outcome |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
#[doc(hidden)]
pub mod base;
pub mod call;
pub mod engine;
pub mod layers;
pub mod registry;
pub mod toolbox;

#[doc(inline)]
pub use {
    base::future::BoxFuture,
    call::context::ToolContext,
    call::context_values::ContextValues,
    call::control::{Control, Effect, InputRequest},
    call::error::ToolError,
    call::principal::Principal,
    call::result::{Content, ResourceData, ToolResult},
    call::session::{Session, Sessions},
    call::tool::AgentTool,
    call::{ToolCall, ToolResponse, Turn},
    engine::dynamic::DynamicTool,
    layers::breaker::CircuitBreaker,
    layers::dependencies::Dependencies,
    layers::repeat::RepeatGuard,
    registry::{Registry, RegistryBuilder, RegistryError, RegistryProblem},
    toolbox::dispatch::{DispatchOptions, Dispatched, Strategy},
    toolbox::{Toolbox, ToolboxBuilder, ToolboxContext},
};

#[cfg(feature = "typed")]
#[doc(inline)]
pub use engine::typed::{TypedItems, TypedTool};
#[doc(inline)]
pub use tokio_util::sync::CancellationToken;
#[doc(inline)]
pub use toolgen_core::{
    Def, EffectLimits, Effects, ExecutionPlan, Frozen, InvisibleChar, List, RequestPlan, Schema, Shape, Text,
    Tool, ToolName, ToolSpec, printable, schema, spec, visible,
};

//! Typed tools for LLM agents, and the runtime that calls them. `#[tool]` turns a Rust function into a tool; the compiler
//! `toolgen` generates the same kind of tool from OpenAPI documents, YAML manifests and MCP servers.
//!
#![cfg_attr(feature = "macros", doc = "```")]
#![cfg_attr(not(feature = "macros"), doc = "```ignore")]
//! use serde_json::json;
//! use toolgen_runtime::{Toolbox, tool, toolset};
//!
//! /// Adds two numbers.
//! #[tool(pure)]
//! fn add(
//!     /// The first number.
//!     a: i64,
//!     /// The second number.
//!     #[arg(default = 1)]
//!     b: i64,
//! ) -> i64 {
//!     a + b
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = Toolbox::new(toolset![add])?;
//! let response = tools.call("add", json!({"a": 2, "b": 40})).await;
//! assert_eq!(response.text(), "42"); // what the model reads
//! # Ok(())
//! # }
//! ```
//!
//! A build script generates the tools of an API, with `toolgen` as a build dependency:
//! `toolgen::Build::new("github").document("github.yaml").emit();`. A tool is named after its `operationId`. The features
//! `http` and `typed` run them (without `typed`, set `Options::types(false)`):
//!
//! ```ignore
//! pub mod github {
//!     toolgen_runtime::include_tools!("github");
//! }
//! use toolgen_runtime::Toolbox;
//! use toolgen_runtime::engine::http::{EnvCredentials, HttpEngine};
//!
//! let engine = HttpEngine::builder().credentials(EnvCredentials::new()).build()?;
//! let tools = Toolbox::new(engine.tools(github::TOOLS))?;
//! println!("{}", tools.call("getRepository", json!({"owner": "ada", "repo": "engine"})).await.text());
//! ```
//!
//! For more, see the [guide](https://github.com/toolgen/toolgen/blob/main/docs/start.md).
//!
//! # Overview
//!
//! | task | look at |
//! |---|---|
//! | write a tool | [`tool`](macro@tool), [`ToolInput`], [`function`]; by hand: [`AgentTool`]; at run time: [`DynamicTool`] |
//! | run the tools of a document, a manifest or an MCP lock file | [`engine`], [`Engines`], [`include_tools!`] |
//! | collect tools, and offer some of them to an agent | [`Registry`], [`Toolbox`], [`ToolboxBuilder`]; [`registry`] |
//! | call a tool | [`Toolbox::call`]; for a model: [`Turn`], [`Toolbox::run`], [`Toolbox::dispatch`] |
//! | read the result | [`ToolResponse`], [`ToolResult`], [`ToolError`] |
//! | send tools to a model, read its calls | [`wire::WireFormat`], [`schema::dialect`] |
//! | run an agent | `agent` (feature `agent`): `Agent`, `Model` (feature `model`), sub-agents, state maps |
//! | restrict calls | [`EffectLimits`], [`layers::policy`], [`layers::rate`], [`Principal`]; `rules` (feature `rules`) |
//! | ask a person first | [`layers::approval`], [`layers::middleware`] |
//! | observe and record calls | [`layers::events`], [`layers::hooks`], `layers::audit`, `layers::otel` |
//! | keep state in a conversation, share it between processes | [`Session`], [`store`] |
//! | find tools among many | [`registry::discovery`] |
//! | document tools in a prompt | [`spec::docs`] |
//! | serve tools over MCP | `serve` (feature `mcp-server`) |
//! | use ready-made tools: files, search, shell | `builtin` (feature `builtin`) |
//! | test tools | [`testing`] |
//!
//! # Features
//!
//! The number is the count of crates that are compiled on Linux with the default features and this one; without any
//! feature, it is 33.
//!
//! | feature | crates | what it adds |
//! |---|---|---|
//! | default: `macros`, `runtime` | 38 | `#[tool]`, `#[tools]`, `#[derive(ToolInput)]`; calls, toolboxes and layers |
//! | `http` | 122 | the HTTP engine, for tools from OpenAPI documents |
//! | `compression` | 131 | HTTP responses compressed with Brotli or Zstandard |
//! | `typed` | 38 | argument and result structs of generated tools |
//! | `chrono`, `jiff`, `url`, `uuid` | 41, 40, 51, 39 | types of these crates, instead of strings, in such structs |
//! | `agent` | 39 | the agent loop, state maps, agents as tools |
//! | `model` | 123 | a client for the APIs of model vendors |
//! | `audit` | 40 | audit records of calls, in memory and as JSON lines, and replays of them; cassettes of network traffic |
//! | `sqlite` | 52 | audit records, and state that processes share, in SQLite: see [`store`] |
//! | `postgres` | 92 | the same in PostgreSQL |
//! | `redis` | 82 | state that processes share, in Redis or Valkey |
//! | `executor` | 39 | tools that run commands, with guards; to run them on this machine, also `process` |
//! | `process` | 55 | executors that start processes and containers |
//! | `mcp` | 57 | tools from MCP servers |
//! | `mcp-oauth` | 187 | OAuth for MCP servers over HTTP |
//! | `mcp-server` | 113 | an MCP server |
//! | `rmcp` | 113 | use with the `rmcp` crate: tools from its clients, handlers for its servers |
//! | `rules` | 39 | rules on calls: conditions on arguments, principals and contexts |
//! | `one-shot` | 41 | programs that handle one call on their standard input and output |
//! | `builtin` | 79 | ready-made tools: files, searches, shell commands, chats |
//! | `tracing` | 41 | a span and log lines for each call |
//! | `otel` | 41 | OpenTelemetry: spans and metrics of calls, agents and requests, and trace context in outgoing requests |
//! | `inventory` | 39 | functions with `#[tool]` register themselves |
//! | `schemars` | 43 | types from other crates as arguments |
//!
//! This crate contains [`Engines`] and re-exports the other crates of the runtime, so programs need no direct dependency on them.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod engine;

/// Agents: the calls of a turn, the agent loop, state maps, and agents that are tools of other agents.
pub mod agent {
    #[cfg(feature = "agent")]
    #[doc(inline)]
    pub use toolgen_agent::*;
    #[doc(inline)]
    pub use toolgen_kernel::toolbox::dispatch;
}

/// Tools written as Rust functions: arguments, injected parameters, results, and lists of tools.
pub mod function {
    #[doc(inline)]
    pub use toolgen_function::*;
}

/// The layers that every call passes through, one per module; recording and replay, with the feature `audit`.
pub mod layers {
    #[doc(inline)]
    pub use toolgen_kernel::layers::*;
    #[cfg(feature = "audit")]
    #[doc(inline)]
    pub use toolgen_record::{audit, cassette, replay};
}

/// Serves the tools of a [`Toolbox`] to clients outside the program.
#[cfg(feature = "mcp-server")]
pub mod serve {
    #[doc(inline)]
    pub use toolgen_mcp::server as mcp;
}

/// Calls tools in tests: single calls, and recorded runs.
pub mod testing {
    #[doc(inline)]
    pub use toolgen_kernel::call::testing::*;
    #[cfg(feature = "audit")]
    #[doc(inline)]
    pub use toolgen_record::{cassette, replay};
}

#[cfg(feature = "builtin")]
#[doc(inline)]
pub use toolgen_builtin as builtin;
#[cfg(feature = "audit")]
#[doc(inline)]
pub use toolgen_record::replay_test;
#[cfg(feature = "rules")]
#[doc(inline)]
pub use toolgen_rules as rules;
#[doc(inline)]
pub use toolgen_store as store;
#[doc(inline)]
pub use toolgen_wire as wire;

#[doc(inline)]
pub use engine::Engines;
#[doc(hidden)]
pub use toolgen_function::__private;
#[doc(inline)]
pub use toolgen_function::{
    FunctionTool, ToolFunction,
    inject::{Progress, Service},
    input::ToolInput,
};
#[doc(inline)]
pub use toolgen_kernel::*;
#[cfg(feature = "macros")]
#[doc(inline)]
pub use toolgen_macros::{ToolInput, tool, tools, toolset};

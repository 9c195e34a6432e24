//! LLM tools as data, and the thin runtime that registers, offers and runs them.
//!
//! A [`ToolSpec`] describes a tool and an [`AgentTool`] runs it. A sealed [`Registry`] holds tools. A [`Toolbox`]
//! offers some of them to one agent. Each call through a toolbox passes its layers and gets exactly one response.
//!
#![cfg_attr(feature = "macros", doc = "```")]
#![cfg_attr(not(feature = "macros"), doc = "```ignore")]
//! use serde_json::json;
//! use toolgen_runtime::{Registry, ToolCall, Turn, tool, toolset};
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
//! let toolbox = Registry::new(toolset![add])?.toolbox(Default::default());
//! let call = ToolCall::new("call-1", "add", json!({"a": 2, "b": 40})); // as a model makes it
//! let answer = toolbox.call(call, &Turn::new("turn-1")).await;
//! assert_eq!(answer.text(), "42"); // what the model reads
//! # Ok(())
//! # }
//! ```
//!
//! Tools of an API come from a build script with the compiler `toolgen`, and run on an
#![cfg_attr(feature = "http", doc = "[`HttpEngine`](engine::http::HttpEngine)")]
#![cfg_attr(not(feature = "http"), doc = "`HttpEngine`")]
//! (feature `http`): `engine.tools(api::TOOLS)`. The
//! [guide](https://github.com/toolgen/toolgen/blob/main/docs/start.md) begins there.
//!
//! This crate contains [`Engines`] and re-exports the other crates of the runtime. The table lists the levels from
//! the highest down. The two lowest are the crate `toolgen-core`, which the compiler `toolgen` also uses. [`call`],
//! [`registry`], [`toolbox`], most [`layers`] and the common parts of engines are the crate `toolgen-kernel`; the
//! others are separate crates that depend on it.
//!
//! | level | use | modules |
//! |---|---|---|
//! | `builtin` | use ready-made tools | files, searches, shells, chats |
//! | `serve` | serve tools to others | a server of the Model Context Protocol |
//! | [`store`] | share state between processes | [`MemoryStore`](store::MemoryStore), `SqliteStore`, `PostgresStore`, `RedisStore` |
//! | [`agent`] | run the calls of a turn, loops and sub-agents | [`agent::dispatch`], `agent_loop`, `state_map`, `sub_agent` |
//! | [`toolbox`] | offer tools to an agent | [`Toolbox`], [`ToolboxBuilder`], [`ToolFactory`](toolbox::ToolFactory), [`one_shot`](toolbox::one_shot) |
//! | [`layers`] | limit, observe and record calls | [`policy`](layers::policy), [`rate`](layers::rate), [`dependencies`](layers::dependencies), [`middleware`](layers::middleware), [`control`](layers::control), [`breaker`](layers::breaker), [`repeat`](layers::repeat), [`pages`](layers::pages), [`redact`](layers::redact), [`hooks`](layers::hooks), [`events`](layers::events), `trace`, `otel`, `audit`, `replay`, `cassette` |
//! | [`wire`] | talk to a model's vendor | [`WireFormat`](wire::WireFormat) |
//! | [`engine`] | run tools that are data or closures | [`Engines`], [`FunctionTable`](engine::FunctionTable), [`dynamic`](engine::dynamic), `command`, `http`, `mcp`, `typed`, `executor` |
//! | [`registry`] | collect tools | [`Registry`], [`toolsets`](registry::toolsets), [`catalogue`](registry::catalogue) |
//! | [`function`] | turn a Rust function into a tool | [`input`](function::input), [`inject`](function::inject), [`return_value`](function::return_value), [`testing`] |
//! | [`call`] | write tools by hand, read results | [`Turn`], [`ToolResult`], [`ToolError`], [`EffectLimits`], [`Principal`], [`Session`] |
//! | [`spec`] | describe a tool | [`ToolSpec`], [`plan`](spec::plan), [`graph`](spec::graph), [`docs`](spec::docs), [`lint`](spec::lint) |
//! | [`schema`] | read, render and check schemas | [`shape`](schema::shape), [`dialect`](schema::dialect) |
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `macros` | yes | `#[tool]`, `#[tools]`, `#[derive(ToolInput)]` |
//! | `runtime` | yes | calls, registries, toolboxes and layers, which are always included |
//! | `http` | | the HTTP engine, for tools of OpenAPI documents |
//! | `compression` | | responses that are compressed with Brotli or Zstandard (with `http`) |
//! | `typed` | | argument and result structs of generated tools |
//! | `chrono`, `jiff`, `url`, `uuid` | | types of these crates, instead of strings, in such structs |
//! | `agent` | | the loop of an agent, state maps, agents as tools |
//! | `audit` | | audit records of calls, in memory and as JSON lines, and replays of them; cassettes of network traffic |
//! | `sqlite` | | audit records, and state that processes share, in SQLite (with `audit`): see [`store`] |
//! | `postgres` | | the same in PostgreSQL (with `audit`) |
//! | `redis` | | state that processes share, in Redis or Valkey |
//! | `executor` | | tools that are commands, and how tools start programs, with guards |
//! | `process` | | executors that start processes and containers (with `executor`) |
//! | `mcp` | | tools of MCP servers (with `process`) |
//! | `one-shot` | | programs that answer one call on their standard input and output |
//! | `builtin` | | ready-made tools: files, searches, shell commands, chats (with `agent`, `executor`) |
//! | `mcp-server` | | a server of the Model Context Protocol |
//! | `mcp-oauth` | | OAuth for MCP servers over HTTP (with `mcp`, `http`) |
//! | `rmcp` | | tools of clients, and handlers for servers, of the `rmcp` crate (with `mcp`, `mcp-server`) |
//! | `tracing` | | a span and log lines for each call |
//! | `otel` | | spans and metrics of OpenTelemetry for calls, agents and requests to servers, and its context in outgoing requests |
//! | `inventory` | | functions with `#[tool]` register themselves |
//! | `schemars` | | types of other crates as arguments |
//!
//! How many crates a program on Linux compiles with them, this one included, as of version 0.1:
//!
//! | features | crates |
//! |---|---|
//! | none | 33 |
//! | default | 38 |
//! | default and `mcp` | 57 |
//! | default and `mcp-server` | 113 |
//! | default and `http` | 122 |
//! | all | 252 |

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod engine;

/// Agents: the calls of a turn, the agent loop, state maps, and agents that are tools of other agents.
pub mod agent {
    #[cfg(feature = "agent")]
    pub use toolgen_agent::*;
    pub use toolgen_kernel::toolbox::dispatch;
}

/// Tools written as Rust functions: arguments, injected parameters, results, and lists of tools.
pub mod function {
    pub use toolgen_function::*;
}

/// The layers that every call passes, one module each; records and replays, with the feature `audit`.
pub mod layers {
    pub use toolgen_kernel::layers::*;
    #[cfg(feature = "audit")]
    pub use toolgen_record::{audit, cassette, replay};
}

/// Serves the tools of a [`Toolbox`] to clients outside the program.
#[cfg(feature = "mcp-server")]
pub mod serve {
    pub use toolgen_mcp::server as mcp;
}

/// Calls tools in tests: single calls, and recorded runs.
pub mod testing {
    pub use toolgen_kernel::call::testing::*;
    #[cfg(feature = "audit")]
    pub use toolgen_record::{cassette, replay};
}

#[cfg(feature = "builtin")]
pub use toolgen_builtin as builtin;
#[cfg(feature = "audit")]
pub use toolgen_record::replay_test;
pub use toolgen_store as store;
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

//! Engines: each one runs a kind of call that is data, such as an HTTP request.
//!
//! [`Engines`] makes the tools of a generated module, or of a document that was loaded, callable, whatever their kind:
//!
//! | kind of call | engine | set up by |
//! |---|---|---|
//! | HTTP request | `http::HttpEngine` | the program: servers, credentials |
//! | command | `command::CommandEngine` | none, or the program: where programs run |
//! | tool of an MCP server | `mcp::McpEngine` | the program: nothing, or what answers questions |
//! | function | [`FunctionTable`] | the program: its functions |
//! | agent | [`AgentEngine`](crate::agent::sub_agent) | the program: how a model is reached |
//! | composition, completion, effect | of [`Engines`] | none |
//!
//! ```
//! # #[cfg(not(all(unix, feature = "process")))]
//! # fn main() {}
//! # #[cfg(all(unix, feature = "process"))]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use serde_json::json;
//! use toolgen_runtime::engine::Engines;
//! use toolgen_runtime::engine::dynamic::DynamicTool;
//! use toolgen_runtime::spec::plan::{CommandPlan, Word};
//! use toolgen_runtime::spec::template::{Reference, Root, Template};
//! use toolgen_runtime::{Call, List, Registry, Tool, ToolCall, ToolContext};
//!
//! // `printf [%s] {text}`: what a manifest compiles to.
//! let text = Reference { root: Root::Argument("text".into()), path: List::EMPTY, optional: false };
//! let words = [
//!     Template::Constant(r#""printf""#.into()),
//!     Template::Constant(r#""[%s]""#.into()),
//!     Template::Value(text),
//! ];
//! let argv = words.map(|text| Word::One { text, dash: false });
//! let show = Tool {
//!     spec: DynamicTool::builder("show", "Shows a text.")
//!         .schema(&json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}))
//!         .spec()?,
//!     call: Call::Command(CommandPlan { argv: argv.into_iter().collect(), ..CommandPlan::EMPTY }),
//! };
//!
//! let provider = Registry::new(Engines::new().tools_from([show])?)?.provider(Default::default());
//! let turn = ToolContext::new("turn-1", "");
//! let call = |text| provider.call(ToolCall::new("1", "show", json!({ "text": text })), &turn);
//! assert_eq!(call("$(id); ls").await.text(), "[$(id); ls]");
//! assert!(call("-v").await.is_error());
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "runtime")]
mod arguments;
#[cfg(feature = "executor")]
pub mod command;
#[cfg(feature = "runtime")]
pub mod dynamic;
#[cfg(feature = "runtime")]
mod engines;
#[cfg(feature = "executor")]
pub mod executor;
#[cfg(feature = "runtime")]
mod functions;
#[cfg(feature = "http")]
pub mod http;
#[cfg(any(feature = "http", all(feature = "mcp", feature = "typed")))]
mod limit;
#[cfg(feature = "runtime")]
mod local;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(any(feature = "http", feature = "mcp"))]
pub(crate) mod tape;
#[cfg(feature = "typed")]
pub mod typed;

#[cfg(feature = "runtime")]
pub use engines::{Engine, EngineProblem, Engines, EnginesError};
#[cfg(feature = "runtime")]
pub use functions::FunctionTable;
#[cfg(any(feature = "http", feature = "mcp"))]
pub use tape::Tape;

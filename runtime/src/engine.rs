//! Engines: each one runs one kind of call that is data, such as an HTTP request.
//!
//! [`Engines`] makes the tools of a generated module, or of a document that was loaded at run time, callable,
//! regardless of their kind:
//!
//! | kind of call | engine | setup |
//! |---|---|---|
//! | HTTP request | `http::HttpEngine` | the program: servers, credentials |
//! | command | `command::CommandEngine` | none, or the program: where commands run |
//! | tool of an MCP server | `mcp::McpEngine` | the program: nothing, or handlers for the server's requests |
//! | function | [`FunctionTable`] | the program: its functions |
//! | agent | `agent::sub_agent::AgentEngine` | the program: how a model is reached |
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
//! use toolgen_runtime::spec::plan::{CommandPlan, ArgvTemplate};
//! use toolgen_runtime::spec::template::{Reference, Root, Template};
//! use toolgen_runtime::{ExecutionPlan, List, Registry, Tool, ToolCall, Turn};
//!
//! // `printf [%s] {text}`: the compiled form of a manifest.
//! let text = Reference { root: Root::Argument("text".into()), path: List::EMPTY, optional: false };
//! let words = [
//!     Template::Constant(r#""printf""#.into()),
//!     Template::Constant(r#""[%s]""#.into()),
//!     Template::Value(text),
//! ];
//! let argv = words.map(|text| ArgvTemplate::One { text, allow_leading_dash: false });
//! let show = Tool {
//!     spec: DynamicTool::builder("show", "Shows a text.")
//!         .schema(&json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}))
//!         .spec()?,
//!     call: ExecutionPlan::Command(CommandPlan { argv: argv.into_iter().collect(), ..CommandPlan::EMPTY }),
//! };
//!
//! let toolbox = Registry::new(Engines::new().tools_from([show])?)?.toolbox(Default::default());
//! let turn = Turn::new("turn-1");
//! let call = |text| toolbox.run(ToolCall::new("1", "show", json!({ "text": text })), &turn);
//! assert_eq!(call("$(id); ls").await.text(), "[$(id); ls]");
//! assert!(call("-v").await.is_error());
//! # Ok(())
//! # }
//! ```

mod engines;

pub use engines::{EngineProblem, Engines, EnginesError};
#[cfg(feature = "executor")]
pub use toolgen_exec::{self as executor, command};
#[cfg(feature = "http")]
pub use toolgen_http as http;
#[cfg(feature = "typed")]
pub use toolgen_kernel::engine::typed;
pub use toolgen_kernel::engine::{Engine, FunctionTable, Interceptor, dynamic};
#[cfg(feature = "mcp")]
pub use toolgen_mcp::client as mcp;

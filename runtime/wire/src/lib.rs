//! The wire formats of LLM vendors: tool definitions, tool calls and tool results.
//!
//! A [`WireFormat`] renders the list of tools for a request, parses the calls of a response, and renders the results.
//! It opens no connections: the program sends and receives the JSON.
//!
//! [`Stream`] assembles streamed replies, [`Deferred`] lets a vendor search the tools, and [`ToolPlan`] distributes a
//! vendor's limits on strict schemas. [`format`](mod@format) defines custom formats.
//!
//! ```
//! use serde_json::json;
//! use toolgen_runtime::call::ToolResponse;
//! use toolgen_runtime::wire::WireFormat;
//! use toolgen_runtime::ToolResult;
//!
//! # fn main() -> Result<(), toolgen_runtime::wire::WireError> {
//! let format = WireFormat::Anthropic;
//! let message = json!({
//!     "role": "assistant", "stop_reason": "tool_use",
//!     "content": [
//!         {"type": "text", "text": "Let me look."},
//!         {"type": "tool_use", "id": "toolu_1", "name": "clock", "input": {}},
//!     ],
//! });
//! let calls = format.tool_calls(&message)?;
//! let responses: Vec<_> =
//!     calls.iter().map(|call| ToolResponse::new(call, Ok(ToolResult::text("noon")))).collect();
//! assert_eq!(
//!     format.tool_results(&responses),
//!     [json!({"role": "user", "content": [
//!         {"type": "tool_result", "tool_use_id": "toolu_1", "content": "noon"},
//!     ]})]
//! );
//! # Ok(())
//! # }
//! ```

mod anthropic;
mod bedrock;
mod calls;
mod content;
#[doc(hidden)]
pub mod conversation;
pub mod format;
mod gemini;
mod ids;
mod layout;
pub mod mcp;
mod openai_chat;
mod openai_responses;
mod plan;
pub mod properties;
mod request;
mod stream;
mod tool_search;
mod tools;
mod turn;

use std::fmt;

use serde_json::Value;

use format::Format;
use properties::Selected;

use toolgen_kernel::call::ToolResponse;
use toolgen_kernel::schema::dialect::Dialect;
use toolgen_kernel::spec::{ToolSchema, ToolSpec};

pub use calls::Calls;
pub use ids::is_generated;
pub use layout::{StopReason, WireError};
pub use plan::{CacheTtl, DecisionReason, PlanError, PlanOptions, ToolDecision, ToolPlan};
pub use request::{CallPolicy, Request, ToolChoice, merge};
pub use stream::{DEFAULT_MAX_STREAM_BYTES, Stream, StreamDelta, StreamError};
pub use tool_search::Deferred;
pub use tools::{RefusedTool, RefusedTools, ToolWriter};
pub use turn::{ModelReply, RawTurn, Usage};
#[doc(hidden)]
pub use turn::{is_temporary, vendor_message};

/// Declares the formats, each with the module that contains its `FORMAT`. This is the only list of formats.
macro_rules! formats {
    ($($(#[$doc:meta])+ $format:ident = $module:ident;)+) => {
        /// The wire format of a vendor's tool calls and tool results.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum WireFormat {
            $($(#[$doc])+ $format,)+
            /// A format that the program defines.
            Custom(&'static Format),
        }

        impl WireFormat {
            /// All formats of this crate.
            pub const ALL: [WireFormat; [$(WireFormat::$format),+].len()] = [$(WireFormat::$format),+];

            fn format(self) -> &'static Format {
                match self {
                    $(WireFormat::$format => &$module::FORMAT,)+
                    WireFormat::Custom(format) => format,
                }
            }
        }
    };
}

formats! {
    /// OpenAI Chat Completions and the many compatible hosts (openai-python 3.57.0, `types/chat`).
    OpenAiChat = openai_chat;
    /// OpenAI Responses (openai-python 3.57.0, `types/responses`).
    OpenAiResponses = openai_responses;
    /// Anthropic Messages (anthropic-sdk-python 2.14.0, `types`).
    Anthropic = anthropic;
    /// Google Gemini, `generateContent` (google-genai 3.6.1, `types`).
    Gemini = gemini;
    /// Amazon Bedrock Converse (botocore 1.44.8, `bedrock-runtime`) over its HTTP interface, where bytes are base64
    /// strings.
    Bedrock = bedrock;
    /// The server side of the Model Context Protocol: calls are JSON-RPC requests (version 2025-11-25).
    Mcp = mcp;
}

impl WireFormat {
    /// Returns the name: `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `bedrock` or `mcp`, or the name of a
    /// custom format.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.format().name
    }

    /// Returns the format of this crate that has this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<WireFormat> {
        WireFormat::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the dialect of the schemas in [`tools`](Self::tools) and of the arguments in calls. Set it in the
    /// context of the calls with [`Turn::with_dialect`](toolgen_kernel::Turn::with_dialect).
    #[must_use]
    pub fn dialect(self) -> &'static Dialect {
        self.format().dialect
    }

    /// Renders the tools for a request, in the given order. The same tools give the same bytes.
    ///
    /// For OpenAI, Anthropic and Gemini this is the value of `tools`; for Bedrock the value of `toolConfig`; for MCP
    /// the result of `tools/list`.
    ///
    /// # Errors
    ///
    /// Returns all tools that the dialect cannot express, with all reasons.
    pub fn tools<'a>(self, specs: impl IntoIterator<Item = &'a ToolSpec>) -> Result<Value, RefusedTools> {
        self.tools_in(self.dialect(), specs)
    }

    /// Like [`tools`](Self::tools), with schemas in a dialect other than the default, such as
    /// [`OPENAI_STRICT`](toolgen_kernel::schema::dialect::OPENAI_STRICT). A strict dialect also sets the flag that
    /// requests it.
    ///
    /// # Errors
    ///
    /// Returns all tools that the dialect cannot express, with all reasons.
    pub fn tools_in<'a>(
        self,
        dialect: &Dialect,
        specs: impl IntoIterator<Item = &'a ToolSpec>,
    ) -> Result<Value, RefusedTools> {
        let format = self.format();
        tools::render(specs, dialect, format, Selected::default()).map(format.list)
    }

    /// Renders one tool in a dialect, without the list that contains it.
    #[must_use]
    pub fn tool(self, dialect: &Dialect, spec: &ToolSpec, visible: ToolSchema<'_>) -> Value {
        tools::entry(spec, visible, dialect, self.format(), Selected::default()).0
    }

    /// Parses the calls of a response, in order. Accepts a whole response, its message, its list of blocks or a single
    /// block.
    ///
    /// - Every call that needs a result is included, because vendors require a result for each call. A call that must
    ///   not run is [`blocked`](toolgen_kernel::call::ToolCall::blocked), and its result is the reason.
    /// - Blocked calls are: all calls of a response that the vendor stopped, for example because of its content; the
    ///   last call if the model reached its token limit, even if its arguments are complete JSON; and calls without a
    ///   name.
    /// - IDs are not changed. If a vendor sends no IDs (Gemini, hosts that imitate OpenAI Chat, OpenAI's legacy
    ///   `function_call`), unique IDs are generated, which are not sent back. OpenAI's custom tools have their own kind
    ///   of result, which a prefix of the ID marks.
    /// - Missing, `null` or empty arguments become `{}`. A string stays a string: the code that runs the call parses it
    ///   and rejects invalid JSON ([`tool::arguments`](toolgen_kernel::call::tool::arguments)). The string of a custom
    ///   tool becomes its argument `input`.
    /// - Only the first of several alternative choices is read. Blocks of unknown types and calls that the vendor runs
    ///   are skipped.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is not a response of this format, or is only a part of a response. Calls that
    /// cannot get a result are listed in [`problems`](Calls::problems) instead.
    pub fn tool_calls(self, response: &Value) -> Result<Calls, WireError> {
        let (calls, _) = calls::read(self.format(), response, true, &mut calls::TurnBuilder::default())?;
        Ok(calls)
    }

    /// Renders the tool results for the conversation: one message per call for OpenAI, one message with all results
    /// for Anthropic, Gemini and Bedrock, one JSON-RPC response per call for MCP. Each response gives one result, in
    /// order; an empty list gives no messages. The same responses give the same bytes.
    ///
    /// Content that a format cannot represent is replaced by a text that states this. If a format has no error flag,
    /// the text starts with `Error: `, unless it already does or the call was skipped.
    #[must_use]
    pub fn tool_results(self, responses: &[ToolResponse]) -> Vec<Value> {
        self.tool_results_with(responses, &ToolResultOptions::default())
    }

    /// Like [`tool_results`](Self::tool_results), with options.
    #[must_use]
    pub fn tool_results_with(
        self,
        responses: &[ToolResponse],
        options: &ToolResultOptions<'_>,
    ) -> Vec<Value> {
        let format = self.format();
        let results: Vec<Value> =
            responses.iter().map(|response| (format.answer)(response, options)).collect();
        if responses.is_empty() || format.message.is_empty() {
            return results;
        }
        vec![tools::object([("role", "user".into()), (format.message, results.into())])]
    }
}

/// Options for rendering tool results.
#[derive(Clone, Copy, Default)]
pub struct ToolResultOptions<'a> {
    text_only: bool,
    search: Option<&'a str>,
    specs: Option<&'a SpecLookup<'a>>,
}

/// A function that finds the specification of a tool by name.
type SpecLookup<'a> = dyn Fn(&str) -> Option<&'a ToolSpec> + 'a;

impl<'a> ToolResultOptions<'a> {
    /// Sends only text, for models that accept nothing else in a tool result: those of Bedrock other than Claude and
    /// Nova, Gemini before 3, and hosts that imitate Responses. Other content is replaced by a text that states this.
    #[must_use]
    pub fn text_only(mut self) -> ToolResultOptions<'a> {
        self.text_only = true;
        self
    }

    /// Renders the results of this tool, which [searches](Deferred::searched_by) tools, as references to the tools
    /// that it found, if the format has them: Anthropic then loads these tools. The details of the result list them
    /// under `tools`, each by its `name`; a result that names no tool is not changed.
    #[must_use]
    pub fn found_by(mut self, tool: &'a str) -> ToolResultOptions<'a> {
        self.search = Some(tool);
        self
    }

    /// Sets a function that finds the specification of a tool: MCP requires structured content for tools that declare
    /// an output. Responses of a [`Toolbox`](toolgen_kernel::Toolbox) contain what their tools declare and do not need
    /// this function.
    #[must_use]
    pub fn specs(mut self, specs: &'a SpecLookup<'a>) -> ToolResultOptions<'a> {
        self.specs = Some(specs);
        self
    }
}

impl fmt::Debug for ToolResultOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerOptions")
            .field("text_only", &self.text_only)
            .field("search", &self.search)
            .field("specs", &self.specs.is_some())
            .finish()
    }
}

impl fmt::Display for WireFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

//! The formats in which providers write calls and read answers.
//!
//! A [`WireFormat`] renders the list of tools for a request, reads the calls of a response, and renders what came of
//! them. It knows nothing of connections: a host sends and receives JSON as it likes.
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
//! let calls = format.calls(&message)?;
//! let responses: Vec<_> =
//!     calls.iter().map(|call| ToolResponse::new(call, Ok(ToolResult::text("noon")))).collect();
//! assert_eq!(
//!     format.answers(&responses),
//!     [json!({"role": "user", "content": [
//!         {"type": "tool_result", "tool_use_id": "toolu_1", "content": "noon"},
//!     ]})]
//! );
//! # Ok(())
//! # }
//! ```

mod anthropic;
mod bedrock;
mod content;
mod gemini;
mod ids;
pub mod mcp;
mod openai_chat;
mod openai_responses;
mod read;
mod tools;

use std::fmt;

use serde_json::Value;

use crate::call::ToolResponse;
use crate::schema::dialect::Dialect;
use crate::spec::ToolSpec;

pub use ids::is_made_up;
pub use read::{Calls, WireError};
pub use tools::{RefusedTool, RefusedTools};

/// Declares the formats, each with the module that holds its `FORMAT`: the only list of them.
macro_rules! formats {
    ($($(#[$doc:meta])+ $format:ident = $module:ident;)+) => {
        /// The format in which a provider writes calls and reads answers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum WireFormat {
            $($(#[$doc])+ $format,)+
        }

        impl WireFormat {
            /// All formats.
            pub const ALL: [WireFormat; [$(WireFormat::$format),+].len()] = [$(WireFormat::$format),+];

            fn format(self) -> &'static Format {
                match self {
                    $(WireFormat::$format => &$module::FORMAT,)+
                }
            }
        }
    };
}

formats! {
    /// OpenAI Chat Completions, and the many hosts that imitate it (openai-python 3.54.0, `types/chat`).
    OpenAiChat = openai_chat;
    /// OpenAI Responses (openai-python 3.54.0, `types/responses`).
    OpenAiResponses = openai_responses;
    /// Anthropic Messages (anthropic-sdk-python 2.12.0, `types`).
    Anthropic = anthropic;
    /// Google Gemini, `generateContent` (google-genai 3.4.0, `types`).
    Gemini = gemini;
    /// Amazon Bedrock Converse (botocore 1.44.5, `bedrock-runtime`), as its HTTP interface writes it: bytes are
    /// base64 text.
    Bedrock = bedrock;
    /// The server's side of the Model Context Protocol: calls are JSON-RPC requests (revision 2025-11-25).
    Mcp = mcp;
}

/// What one format does.
struct Format {
    name: &'static str,
    dialect: &'static Dialect,
    /// Whether calls without an id can be answered.
    ids_optional: bool,
    /// Where the blocks are that may be calls.
    layout: read::Layout,
    item: for<'v> fn(&'v Value) -> read::Item<'v>,
    answer: fn(&ToolResponse, &AnswerOptions<'_>) -> Value,
    /// The key under which all answers stand in one message of the user. Empty: each is a message.
    message: &'static str,
    tool: tools::ToolWriter,
    list: fn(Vec<Value>) -> Value,
}

impl WireFormat {
    /// The name: `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `bedrock` or `mcp`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.format().name
    }

    /// The format of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<WireFormat> {
        WireFormat::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The dialect of the schemas in [`tools`](Self::tools), in which arguments come back. A context of the calls has
    /// to be told: [`ToolContext::with_dialect`](crate::ToolContext::with_dialect).
    #[must_use]
    pub fn dialect(self) -> &'static Dialect {
        self.format().dialect
    }

    /// The tools as a request takes them, in the order given; the same tools give the same bytes.
    ///
    /// For OpenAI, Anthropic and Gemini this is the value of `tools`; for Bedrock the value of `toolConfig`; for MCP
    /// the result of `tools/list`.
    ///
    /// # Errors
    ///
    /// All tools that the dialect cannot take, with all reasons.
    pub fn tools<'a>(self, specs: impl IntoIterator<Item = &'a ToolSpec>) -> Result<Value, RefusedTools> {
        self.tools_in(self.dialect(), specs)
    }

    /// As [`tools`](Self::tools), with schemas in a dialect other than the usual one, such as
    /// [`OPENAI_STRICT`](crate::schema::dialect::OPENAI_STRICT). A strict dialect also sets the flag that asks for it.
    ///
    /// # Errors
    ///
    /// All tools that the dialect cannot take, with all reasons.
    pub fn tools_in<'a>(
        self,
        dialect: &Dialect,
        specs: impl IntoIterator<Item = &'a ToolSpec>,
    ) -> Result<Value, RefusedTools> {
        let format = self.format();
        tools::render(specs, dialect, format.tool).map(format.list)
    }

    /// The calls of a response, in order. A whole response will do, and so will its message, its list of blocks or a
    /// single block.
    ///
    /// - Every call that can be answered is there, so that each gets the answer its provider demands. One that must not
    ///   run says so in [`blocked`](crate::call::ToolCall::blocked), and is answered with the reason.
    /// - Blocked are all calls of a response that the provider stopped, such as for its content; the last one if the
    ///   model hit its token limit, even if its arguments happen to be whole JSON; and calls without a name.
    /// - Ids stay as they are. Where a provider gives none (Gemini, imitations of OpenAI Chat, OpenAI's old
    ///   `function_call`), they are made up, unique, and not sent back. OpenAI's custom tools have answers of their own
    ///   kind, which is noted in front of the id.
    /// - No arguments, whether absent, `null` or an empty text, are `{}`. Text stays text: whoever runs the call
    ///   reads it, and refuses what is not JSON ([`tool::arguments`](crate::call::tool::arguments)). The text of a
    ///   custom tool is its argument `input`.
    /// - Of several alternative choices the first counts. Blocks of unknown types are skipped, and so are calls that
    ///   the provider runs itself.
    ///
    /// # Errors
    ///
    /// If the value is no response of this format at all, or only a piece of one. Calls that cannot be answered are
    /// [problems](Calls::problems) beside the others.
    pub fn calls(self, response: &Value) -> Result<Calls, WireError> {
        read::calls(self.format(), response)
    }

    /// The answers, as a host appends them to the conversation: a message a call for OpenAI, one message with all of
    /// them for Anthropic, Gemini and Bedrock, a JSON-RPC response a call for MCP. One answer a response, in order;
    /// nothing for no responses. The same responses give the same bytes.
    ///
    /// What a format cannot carry is replaced by a text that says so. Where a format has no flag for errors, the text
    /// starts with `Error: `, unless it says so already or the call was skipped.
    #[must_use]
    pub fn answers(self, responses: &[ToolResponse]) -> Vec<Value> {
        self.answers_with(responses, &AnswerOptions::default())
    }

    /// As [`answers`](Self::answers), with options.
    #[must_use]
    pub fn answers_with(self, responses: &[ToolResponse], options: &AnswerOptions<'_>) -> Vec<Value> {
        let format = self.format();
        let answers = responses.iter().map(|response| (format.answer)(response, options));
        if responses.is_empty() || format.message.is_empty() {
            return answers.collect();
        }
        vec![tools::object([("role", "user".into()), (format.message, answers.collect())])]
    }
}

/// How answers are rendered.
#[derive(Clone, Copy, Default)]
pub struct AnswerOptions<'a> {
    text_only: bool,
    specs: Option<&'a SpecOf<'a>>,
}

/// Finds the specification of a tool by its name.
type SpecOf<'a> = dyn Fn(&str) -> Option<&'a ToolSpec> + 'a;

impl<'a> AnswerOptions<'a> {
    /// Sends texts only, for models that see nothing else in the result of a tool: those of Bedrock other than Claude
    /// and Nova, Gemini before 3, and hosts that imitate Responses. Other content is replaced by a text that says so.
    #[must_use]
    pub fn text_only(mut self) -> AnswerOptions<'a> {
        self.text_only = true;
        self
    }

    /// Finds the specification of a tool: MCP requires structured content of tools that declare what they give.
    /// Responses of a [`Provider`](crate::Provider) know what their tools declare, and need it not.
    #[must_use]
    pub fn specs(mut self, specs: &'a SpecOf<'a>) -> AnswerOptions<'a> {
        self.specs = Some(specs);
        self
    }
}

impl fmt::Debug for AnswerOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerOptions")
            .field("text_only", &self.text_only)
            .field("specs", &self.specs.is_some())
            .finish()
    }
}

impl fmt::Display for WireFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

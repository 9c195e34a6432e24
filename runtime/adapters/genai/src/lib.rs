//! Tools of a [`Toolbox`] for requests of [genai](https://docs.rs/genai).
//!
//! ```no_run
//! # async fn ask(client: genai::Client, toolbox: toolgen_runtime::Toolbox) -> Result<(), Box<dyn std::error::Error>> {
//! use genai::adapter::AdapterKind;
//! use genai::chat::ChatRequest;
//! use toolgen_genai::Conversation;
//!
//! let model = "claude-sonnet-5-5";
//! let conversation = Conversation::new(&toolbox, AdapterKind::from_model(model)?);
//! let mut request = ChatRequest::from_user("Which pets are waiting?");
//! let text = loop {
//!     request = request.with_tools(conversation.tools()?);
//!     let response = client.exec_chat(model, request.clone(), None).await?;
//!     match conversation.answer(&response).await {
//!         answers if answers.is_empty() => break response.into_first_text(),
//!         answers => request = request.append_messages(answers),
//!     }
//! };
//! # Ok(())
//! # }
//! ```
//!
//! The calls of a turn run concurrently where that is safe. Each call passes the whole pipeline of the toolbox:
//! rules, limits, argument validation, approvals, audit. Each call gets one result; errors are reported to the model.
//! If the future of [`Conversation::answer`] is dropped, or the token of the context fires, the calls are cancelled.
//!
//! Tool results of genai are text: images and other content are replaced by a line that describes them.

use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatResponse, StopReason, Tool, ToolResponse};
use toolgen_runtime::call::blocked::Blocked;
use toolgen_runtime::schema::dialect::{
    ANTHROPIC, BEDROCK, COHERE, DEEPSEEK, Dialect, GEMINI_JSON_SCHEMA, GROQ, JSON_SCHEMA, MISTRAL, OLLAMA,
    OPENAI, XAI,
};
use toolgen_runtime::wire::{RefusedTools, ToolResultOptions, WireFormat};
use toolgen_runtime::{Session, ToolCall, Toolbox, Turn};

/// Returns the dialect of the schemas that a vendor accepts: plain JSON Schema if the vendor's dialect is unknown.
#[must_use]
pub fn dialect(kind: AdapterKind) -> &'static Dialect {
    match kind {
        AdapterKind::OpenAI | AdapterKind::OpenAIResp | AdapterKind::GithubCopilot => &OPENAI,
        AdapterKind::Anthropic => &ANTHROPIC,
        // Schemas are sent as `parametersJsonSchema`.
        AdapterKind::Gemini | AdapterKind::GeminiIx | AdapterKind::Vertex => &GEMINI_JSON_SCHEMA,
        AdapterKind::BedrockApi => &BEDROCK,
        AdapterKind::Cohere => &COHERE,
        AdapterKind::DeepSeek => &DEEPSEEK,
        AdapterKind::Groq => &GROQ,
        AdapterKind::Mistral => &MISTRAL,
        AdapterKind::Ollama | AdapterKind::OllamaCloud => &OLLAMA,
        AdapterKind::Xai => &XAI,
        _ => &JSON_SCHEMA,
    }
}

/// A conversation with a model that has the tools of a toolbox.
#[derive(Clone, Debug)]
pub struct Conversation {
    toolbox: Toolbox,
    turn: Turn,
    dialect: &'static Dialect,
}

impl Conversation {
    /// Creates a conversation with the tools of a toolbox, in its own session. Schemas are in the [`dialect`] of the
    /// model's vendor.
    #[must_use]
    pub fn new(toolbox: &Toolbox, kind: AdapterKind) -> Conversation {
        let turn = Turn::new("genai").with_session(Session::unique());
        Conversation { toolbox: toolbox.clone(), turn, dialect: dialect(kind) }
    }

    /// Sets the context of the calls: its session, principal and cancellation token.
    #[must_use]
    pub fn in_turn(mut self, turn: Turn) -> Conversation {
        self.turn = turn;
        self
    }

    /// Sets the dialect of the schemas. A strict dialect also enables strict mode.
    #[must_use]
    pub fn in_dialect(mut self, dialect: &'static Dialect) -> Conversation {
        self.dialect = dialect;
        self
    }

    /// Returns the tools for a request. They can change, so call this before each request.
    ///
    /// # Errors
    ///
    /// Returns all tools that the dialect cannot express, with all reasons.
    pub fn tools(&self) -> Result<Vec<Tool>, RefusedTools> {
        let specs = self.toolbox.specs_for(self.turn.principal());
        // The simplest format: `{"name", "description", "input_schema"}`.
        let told = WireFormat::Anthropic.tools_in(self.dialect, specs)?;
        let tools = told.as_array().into_iter().flatten().map(|told| {
            let tool = Tool::new(told["name"].as_str().unwrap_or_default())
                .with_description(told["description"].as_str().unwrap_or_default())
                .with_schema(told["input_schema"].clone());
            if self.dialect.strict { tool.with_strict(true) } else { tool }
        });
        Ok(tools.collect())
    }

    /// Runs the calls of a response, and returns the new messages of the next request: the turn of the model, and the
    /// results of its calls. Empty if it made no calls.
    ///
    /// The calls of a filtered turn do not run, nor does the last call of a turn that the token limit truncated;
    /// their results contain the reason.
    pub async fn answer(&self, response: &ChatResponse) -> Vec<ChatMessage> {
        let Some(said) = response.clone().into_assistant_message_for_tool_use() else { return Vec::new() };
        let made = response.tool_calls();
        let mut calls: Vec<ToolCall> = made
            .iter()
            .map(|call| ToolCall::new(&call.call_id, &call.fn_name, call.fn_arguments.clone()))
            .collect();
        match &response.stop_reason {
            Some(StopReason::MaxTokens(_)) => {
                let last = calls.pop().map(ToolCall::truncated);
                calls.extend(last);
            }
            Some(StopReason::ContentFilter(why)) => {
                let why = Blocked::Stopped(why.clone().into());
                calls = calls.into_iter().map(|call| call.blocked(why.clone())).collect();
            }
            _ => {}
        }
        let turn = self.turn.clone().with_dialect(self.dialect);
        let answers = self.toolbox.dispatch(calls, &turn, &Default::default()).await;
        let options = ToolResultOptions::default().text_only();
        let texts = WireFormat::OpenAiChat.tool_results_with(&answers.responses, &options);
        let answers = made.into_iter().zip(&texts).map(|(call, text)| {
            ToolResponse::from_tool_call(call, text["content"].as_str().unwrap_or_default())
        });
        vec![said, ChatMessage::from(answers.collect::<Vec<_>>())]
    }
}

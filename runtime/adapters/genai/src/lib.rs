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
//! The calls of a turn run beside each other where that is safe, each through the whole path of the toolbox: rules,
//! limits, checked arguments, approvals, records. Each call gets one answer; what goes wrong is told to the model. When the
//! future of [`Conversation::answer`] is dropped, or the token of the context fires, the calls are cancelled.
//!
//! Answers to calls are texts in genai: images and what else is not text are replaced by a line that says so.

use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatResponse, StopReason, Tool, ToolResponse};
use toolgen_runtime::call::blocked::Blocked;
use toolgen_runtime::schema::dialect::{
    ANTHROPIC, BEDROCK, COHERE, DEEPSEEK, Dialect, GEMINI_JSON_SCHEMA, GROQ, JSON_SCHEMA, MISTRAL, OLLAMA,
    OPENAI, XAI,
};
use toolgen_runtime::wire::{ToolResultOptions, RefusedTools, WireFormat};
use toolgen_runtime::{Toolbox, Session, ToolCall, ToolContext};

/// Returns the dialect of the schemas that a kind of toolbox takes: plain JSON Schema where none is known.
#[must_use]
pub fn dialect(kind: AdapterKind) -> &'static Dialect {
    match kind {
        AdapterKind::OpenAI | AdapterKind::OpenAIResp | AdapterKind::GithubCopilot => &OPENAI,
        AdapterKind::Anthropic => &ANTHROPIC,
        // Schemas go into `parametersJsonSchema`.
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
    turn: ToolContext,
    dialect: &'static Dialect,
}

impl Conversation {
    /// Creates a conversation with the tools of a toolbox, in a session of its own. Schemas are in the [`dialect`] of the
    /// kind of toolbox that the model belongs to.
    #[must_use]
    pub fn new(toolbox: &Toolbox, kind: AdapterKind) -> Conversation {
        let turn = ToolContext::new("genai", "").with_session(Session::unique());
        Conversation { toolbox: toolbox.clone(), turn, dialect: dialect(kind) }
    }

    /// Sets the context in which calls are made: its session, its principal, its token.
    #[must_use]
    pub fn in_context(mut self, turn: ToolContext) -> Conversation {
        self.turn = turn;
        self
    }

    /// Sets the dialect of the schemas. A strict one also asks for strict decoding.
    #[must_use]
    pub fn in_dialect(mut self, dialect: &'static Dialect) -> Conversation {
        self.dialect = dialect;
        self
    }

    /// Returns the tools for a request. They can change: ask for each request.
    ///
    /// # Errors
    ///
    /// All tools that the dialect cannot express, with all reasons.
    pub fn tools(&self) -> Result<Vec<Tool>, RefusedTools> {
        let specs = self.toolbox.specs_for(self.turn.principal());
        // The plainest of the formats: `{"name", "description", "input_schema"}`.
        let told = WireFormat::Anthropic.tools_in(self.dialect, specs)?;
        let tools = told.as_array().into_iter().flatten().map(|told| {
            let tool = Tool::new(told["name"].as_str().unwrap_or_default())
                .with_description(told["description"].as_str().unwrap_or_default())
                .with_schema(told["input_schema"].clone());
            if self.dialect.strict { tool.with_strict(true) } else { tool }
        });
        Ok(tools.collect())
    }

    /// Runs the calls of a response, and returns what the next request has more: the turn of the model, and the answers to
    /// its calls. Nothing, if it made no calls.
    ///
    /// Calls of a turn that was filtered do not run, nor does the last call of one that the token limit cut off; the
    /// answers say why.
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

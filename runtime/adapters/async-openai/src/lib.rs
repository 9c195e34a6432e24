//! Tools of a [`Toolbox`](toolgen_runtime::Toolbox) for requests of [async-openai](https://docs.rs/async-openai): [`Chat`]
//! for Chat Completions, [`Responses`] for Responses.
//!
//! ```no_run
//! # async fn ask(client: async_openai::Client<async_openai::config::OpenAIConfig>, toolbox: toolgen_runtime::Toolbox)
//! #     -> Result<(), Box<dyn std::error::Error>> {
//! use async_openai::types::chat::{ChatCompletionRequestUserMessage, CreateChatCompletionRequestArgs};
//! use toolgen_async_openai::Chat;
//!
//! let chat = Chat::new(&toolbox);
//! let mut messages = vec![ChatCompletionRequestUserMessage::from("Which pets are waiting?").into()];
//! let text = loop {
//!     let mut request = CreateChatCompletionRequestArgs::default();
//!     request.model("gpt-5.1").messages(messages.clone()).tools(chat.tools()?);
//!     let response = client.chat().create(request.build()?).await?;
//!     match chat.answer(&response).await? {
//!         answers if answers.is_empty() => break response.choices[0].message.content.clone(),
//!         answers => messages.extend(answers),
//!     }
//! };
//! # Ok(())
//! # }
//! ```
//!
//! The calls of a turn run concurrently where that is safe. Each call passes the whole pipeline of the toolbox:
//! rules, limits, argument validation, approvals, audit. Each function call gets one result; errors are reported to
//! the model. If the future of [`Chat::answer`] is dropped, or the token of the context fires, the calls are
//! cancelled.

mod conversation;

pub use conversation::{AdapterError, Chat, Responses};

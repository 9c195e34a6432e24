//! Typed calls from Rust.

use std::fmt;

use serde_json::Value;

use super::engine::{HttpEngine, network};
use super::request::is_json;
use super::response::{as_json, header, read};
use super::{charset, transport::Reply};
use crate::base::frozen::Frozen;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::engine::typed::TypedTool;
use crate::spec::Network;
use crate::spec::plan::Tool;

/// Why a typed call returned no value.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// There was no response, or no request: the network, the time limit, a credential or an argument failed.
    Transport(ToolError),
    /// The service answered with a status other than success.
    Status {
        /// The status.
        status: u16,
        /// The body, as text.
        body: String,
    },
    /// The service answered with success, but not with a value of the expected type.
    Decode {
        /// What does not fit.
        source: serde_json::Error,
        /// The body, as text.
        body: String,
    },
    /// The service answered with more than the engine accepts.
    TooLarge {
        /// The number of bytes that the engine accepts.
        limit: usize,
    },
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Transport(error) => error.fmt(f),
            CallError::Status { status, .. } => write!(f, "the service answered with status {status}"),
            CallError::Decode { source, .. } => write!(f, "the answer is not of the expected type: {source}"),
            CallError::TooLarge { limit } => write!(f, "the answer has more than {limit} bytes"),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CallError::Transport(error) => Some(error),
            CallError::Decode { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl HttpEngine {
    /// Calls a tool with arguments that the compiler has checked.
    ///
    /// # Errors
    ///
    /// See [`CallError`]. Unlike for a model, a status other than success is an error here.
    pub async fn call<A: TypedTool>(&self, arguments: A) -> Result<A::Output, CallError> {
        self.call_in(arguments, &ToolContext::new("", "")).await
    }

    /// As [`call`](Self::call), in a context: its token cancels the call, its time limit and its allowed hosts apply.
    ///
    /// ```ignore
    /// let ctx = ToolContext::new("1", "list_pets").with_timeout(Duration::from_secs(2));
    /// let pets = engine.call_in(petstore::ListPets { limit: Some(5) }, &ctx).await?;
    /// ```
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call); [`CallError::Transport`] with [`ToolError::Cancelled`] when the token fires, and with a
    /// denial when the host is not one of those the context allows.
    pub async fn call_in<A: TypedTool>(
        &self,
        arguments: A,
        ctx: &ToolContext,
    ) -> Result<A::Output, CallError> {
        let tool = A::tool();
        let run = self.call_within(tool, arguments, ctx.allowed_hosts());
        let run = ctx.cancel().run_until_cancelled(run);
        let outcome = match self.time_limit(&tool.spec, ctx.timeout()) {
            Some(duration) => tokio::time::timeout(duration, run)
                .await
                .map_err(|_| CallError::Transport(ToolError::Timeout { duration }))?,
            None => run.await,
        };
        outcome.unwrap_or(Err(CallError::Transport(ToolError::Cancelled)))
    }

    async fn call_within<A: TypedTool>(
        &self,
        tool: &'static Tool,
        arguments: A,
        allowed: &Network,
    ) -> Result<A::Output, CallError> {
        let arguments = arguments.into_arguments().map_err(|why| {
            CallError::Transport(ToolError::invalid_args(format!("the arguments are not JSON: {why}")))
        })?;
        let request = self.prepare(&Frozen::Static(tool), arguments).await.map_err(CallError::Transport)?;
        let Reply { mut response, .. } = self.send(&request, allowed).await.map_err(CallError::Transport)?;
        let status = response.status();
        let content_type = header(response.headers(), "content-type");
        let limit = self.settings().max_typed_bytes;
        let body = read(&mut response, limit, None).await;
        let body = body.map_err(|error| CallError::Transport(network(&request, "read_error", error)))?;
        let text = || charset::decode(&body.bytes, &content_type, body.truncated);
        let shown = || {
            let mut text = text();
            if body.truncated {
                request.credentials.cut_unfinished(&mut text);
            }
            request.credentials.redact(&text)
        };
        if !status.is_success() {
            return Err(CallError::Status { status: status.as_u16(), body: shown() });
        }
        if body.truncated {
            return Err(CallError::TooLarge { limit });
        }
        let answer = tool.call.http().and_then(|plan| plan.answer.as_ref());
        let declared = tool.spec.output.as_ref().map_or(Ok(None), |_| as_json(&body, &content_type, answer));
        let decoded = if body.bytes.iter().all(u8::is_ascii_whitespace) {
            serde_json::from_value(Value::Null)
        } else if let Some(declared) = declared.transpose() {
            declared.map_err(serde_core::de::Error::custom).and_then(serde_json::from_value)
        } else if is_json(&content_type) || content_type.is_empty() {
            serde_json::from_str(&text())
        } else {
            // Servers send JSON under other media types, and texts that are not JSON as JSON.
            serde_json::from_str(&text()).or_else(|_| serde_json::from_value(Value::String(text())))
        };
        decoded.map_err(|source| CallError::Decode { source, body: shown() })
    }
}

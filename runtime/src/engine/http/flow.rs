//! An answer that is a sequence, for Rust: its items are read as they come.

use reqwest::Response;
use serde_core::de::Error;
use serde_json::Value;
use tokio::time::Instant;

use super::call_error::CallError;
use super::charset;
use super::engine::{HttpEngine, network};
use super::request::HttpRequest;
use super::response::{self, header};
use super::send::Sending;
use super::sequence::{EventData, Sequence, declared_events};
use super::transport::Reply;
use crate::base::frozen::Frozen;
use crate::call::context::ToolContext;
use crate::spec::plan::Tool;

/// An answer that is being read.
pub(super) struct Flow {
    request: HttpRequest,
    response: Response,
    sequence: Sequence,
    text: charset::Reader,
    /// The most bytes of an item.
    limit: usize,
}

/// What came of a sequence at once.
pub(super) struct Batch {
    pub(super) items: Vec<Value>,
    pub(super) bytes: usize,
    /// Whether nothing follows.
    pub(super) last: bool,
}

impl Flow {
    /// Sends the request of a call, and returns its answer, of which nothing is read yet.
    pub(super) async fn begin(
        engine: &HttpEngine,
        tool: &Frozen<Tool>,
        ctx: &ToolContext,
        arguments: Value,
        until: Instant,
    ) -> Result<Flow, CallError> {
        let request = engine.prepare(tool, arguments).await.map_err(CallError::Transport)?;
        let mut sending = Sending::new(engine, tool, ctx, Some(until)).map_err(CallError::Transport)?;
        let request = sending.proven(request).await.map_err(CallError::Transport)?;
        let Reply { mut response, .. } = sending.send(&request).await.map_err(CallError::Transport)?;
        let (status, limit) = (response.status(), engine.settings().max_typed_bytes);
        let content_type = header(response.headers(), "content-type");
        let data = declared_events(tool).unwrap_or(EventData::Text);
        match Sequence::of(&content_type, data, limit).filter(|_| status.is_success()) {
            Some(sequence) => {
                let text = charset::Reader::of(&content_type);
                Ok(Flow { request, response, sequence, text, limit })
            }
            None => {
                let read = response::read(&mut response, limit, None).await;
                let read = read.map_err(|why| CallError::Transport(network(&request, "read_error", why)))?;
                let body = request.credentials.shown(&read.bytes, &content_type, read.truncated);
                if !status.is_success() {
                    return Err(CallError::Status { status: status.as_u16(), body });
                }
                let why = format!("the answer is no sequence of items, but `{content_type}`");
                Err(CallError::Decode { source: serde_json::Error::custom(why), body })
            }
        }
    }

    /// Waits until at least one item has come, or the end.
    pub(super) async fn batch(&mut self) -> Result<Batch, CallError> {
        let mut batch = Batch { items: Vec::new(), bytes: 0, last: false };
        while batch.items.is_empty() && !batch.last {
            let chunk = self.response.chunk().await;
            let chunk =
                chunk.map_err(|why| CallError::Transport(network(&self.request, "read_error", why)))?;
            let bytes = chunk.as_deref().unwrap_or_default();
            let read = self.text.push(bytes, chunk.is_none()).and_then(|text| {
                self.sequence.push(text.as_bytes(), &mut batch.items)?;
                if chunk.is_none() { self.sequence.end(&mut batch.items) } else { Ok(()) }
            });
            read.map_err(|why| {
                let source = serde_json::Error::custom(why);
                CallError::Decode { source, body: String::new() }
            })?;
            if self.sequence.waiting() > self.limit {
                return Err(CallError::TooLarge { limit: self.limit });
            }
            batch.bytes += bytes.len();
            batch.last = chunk.is_none();
        }
        Ok(batch)
    }
}

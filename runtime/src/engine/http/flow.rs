//! An answer that is a sequence, for Rust: its items are read as they come.

use reqwest::Response;
use serde_json::Value;
use tokio::time::Instant;

use super::call_error::{Answered, CallError};
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
    tool: Frozen<Tool>,
    request: HttpRequest,
    answered: Answered,
    response: Response,
    sequence: Sequence,
    text: charset::Reader,
    /// The most bytes of an item.
    limit: usize,
}

/// The part of a sequence that came at once.
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
        let failed = CallError::without_answer(tool);
        let request = engine.prepare(tool, arguments).await.map_err(failed)?;
        let mut sending = Sending::new(engine, tool, ctx, Some(until)).map_err(failed)?;
        let request = sending.proven(request).await.map_err(failed)?;
        let Reply { mut response, final_url, refused } = sending.send(&request).await.map_err(failed)?;
        let (status, limit) = (response.status(), engine.settings().max_typed_bytes);
        let answered = Answered::new(tool, &request, status, final_url.as_ref());
        let content_type = header(response.headers(), "content-type");
        let data = declared_events(tool).unwrap_or(EventData::Text);
        match Sequence::of(&content_type, data, limit).filter(|_| status.is_success()) {
            Some(sequence) => {
                let text = charset::Reader::of(&content_type);
                Ok(Flow { tool: tool.clone(), request, answered, response, sequence, text, limit })
            }
            None => {
                let read = response::read(&mut response, limit, None).await;
                let read = read.map_err(|why| failed(network(&request, "READ_ERROR", why)))?;
                let body = request.credentials.shown(&read.bytes, &content_type, read.truncated);
                if !status.is_success() {
                    let answer = (status, response.headers());
                    let told = engine.refusal(tool, &request, answer, final_url.as_ref()).told;
                    return Err(answered.refusing(&request, response.headers(), (refused, told), body));
                }
                let why = format!("the answer is not a sequence of items, but `{content_type}`");
                Err(answered.unfit(&why, &body))
            }
        }
    }

    /// Returns which call the answer is of.
    pub(super) fn answered(&self) -> &Answered {
        &self.answered
    }

    /// Waits until at least one item or the end has come.
    pub(super) async fn batch(&mut self) -> Result<Batch, CallError> {
        let mut batch = Batch { items: Vec::new(), bytes: 0, last: false };
        while batch.items.is_empty() && !batch.last {
            let chunk = self.response.chunk().await;
            let chunk = chunk.map_err(|why| {
                CallError::without_answer(&self.tool)(network(&self.request, "READ_ERROR", why))
            })?;
            let bytes = chunk.as_deref().unwrap_or_default();
            let read = self.text.push(bytes, chunk.is_none()).and_then(|text| {
                self.sequence.push(text.as_bytes(), &mut batch.items)?;
                if chunk.is_none() { self.sequence.end(&mut batch.items) } else { Ok(()) }
            });
            read.map_err(|why| self.answered.clone().unfit(&why, ""))?;
            if self.sequence.waiting() > self.limit {
                return Err(self.answered.clone().too_large(self.limit));
            }
            batch.bytes += bytes.len();
            batch.last = chunk.is_none();
        }
        Ok(batch)
    }
}

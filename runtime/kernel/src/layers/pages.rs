//! Paging of results that are too large for a model to receive in one piece.
//!
//! [`Pages::apply`] cuts such a result, stores its full text for a while, and tells the model how to read the rest:
//! with the tool `read_result`, which [`Pages::tool`] returns and a toolbox adds to its own tools. Every toolbox has
//! such a limit: [`ResultLimit::DEFAULT`], unless it sets another limit or disables paging.
//!
//! ```
//! use serde_json::json;
//! use toolgen_runtime::layers::pages::{Pages, ResultLimit};
//! use toolgen_runtime::{ToolResult, ToolSpec, Turn, testing};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), toolgen_runtime::ToolError> {
//! let pages = Pages::new(ResultLimit::bytes(10));
//! let ctx = Turn::default().call_context("call-1", "log");
//! let cut = pages.apply(ToolResult::text("one\ntwo\nthree\nfour\n"), &ToolSpec::EMPTY, &ctx);
//! let text = cut.to_text();
//! assert!(text.starts_with("one\ntwo\n\n[Result cut: bytes 0-8 of 19. Call read_result with {\"handle\":"));
//!
//! let handle = text.split('"').nth(3).unwrap_or_default();
//! let next = testing::call_in(&pages.tool(), json!({"handle": handle, "offset": 8}), &ctx).await?;
//! assert!(next.to_text().starts_with("three\n\n[Result cut: bytes 8-14 of 19. Call read_result"));
//! # Ok(())
//! # }
//! ```

mod items;
mod read;
mod shared;
mod store;

use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

pub use read::{READ_RESULT, ReadResult};
pub use shared::RESULT_UNKNOWN;
pub use store::StoreLimits;

use crate::base::future::BoxFuture;
use crate::base::truncate::floor;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::{Content, ResourceData, ToolResult};
use crate::call::structured::Structured;
use crate::layers::layer::{Invocation, Layer, Outcome, Stage};
use crate::spec::ToolSpec;
use items::ItemList;
use store::Store;

/// Maximum size of a result that a model receives in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultLimit {
    /// Maximum size of the text, in bytes, over all parts of a result. A tool's own
    /// [`result_limit`](ToolSpec::result_limit) applies if it is smaller. The notice about a cut is not counted.
    pub text: u64,
    /// Maximum total size of images, audio and other binary content, in bytes before base64 encoding.
    pub binary: u64,
}

impl ResultLimit {
    /// The default limit of a toolbox: 50,000 bytes of text, about 12,000 tokens, and 5 MiB of other content, the
    /// largest image that the APIs of large vendors accept.
    pub const DEFAULT: ResultLimit = ResultLimit { text: 50_000, binary: 5 << 20 };

    /// Limits text and binary content to this many bytes each.
    #[must_use]
    pub const fn bytes(bytes: u64) -> ResultLimit {
        ResultLimit { text: bytes, binary: bytes }
    }

    /// Sets the maximum size of binary content, in bytes.
    #[must_use]
    pub const fn with_binary(mut self, bytes: u64) -> ResultLimit {
        self.binary = bytes;
        self
    }

    fn for_tool(self, spec: &ToolSpec) -> ResultLimit {
        let tool_limit = spec.result_limit.unwrap_or(u64::MAX);
        ResultLimit { text: self.text.min(tool_limit), binary: self.binary.min(tool_limit) }
    }
}

impl Default for ResultLimit {
    fn default() -> ResultLimit {
        ResultLimit::DEFAULT
    }
}

impl Default for Pages {
    fn default() -> Pages {
        Pages::new(ResultLimit::DEFAULT)
    }
}

/// Cuts large results and stores their full text. Clones share the stored results.
#[derive(Clone, Debug)]
pub struct Pages {
    limit: ResultLimit,
    store: Arc<Store>,
    shared: Option<Arc<dyn crate::call::store::Store>>,
}

impl Pages {
    /// Creates pages with this limit that keep results within [`StoreLimits::DEFAULT`].
    #[must_use]
    pub fn new(limit: ResultLimit) -> Pages {
        Pages::with_store(limit, StoreLimits::DEFAULT)
    }

    /// Creates pages with this limit that keep results within `store_limits`.
    #[must_use]
    pub fn with_store(limit: ResultLimit, store_limits: StoreLimits) -> Pages {
        Pages { limit, store: Arc::new(Store::new(store_limits)), shared: None }
    }

    /// Returns whether any result was ever cut and stored.
    pub(crate) fn has_cut(&self) -> bool {
        self.store.has_stored()
    }

    /// Returns the tool that reads the rest of a result.
    #[must_use]
    pub fn tool(&self) -> ReadResult {
        ReadResult::new(Arc::clone(&self.store), self.shared.clone())
    }

    /// Returns the result as a model receives it.
    ///
    /// A result within the limit is returned unchanged. Beyond the limit, text is cut, and a notice tells the model how
    /// to read the rest. JSON with a list is cut between two items of its largest list, and remains JSON; the rest is
    /// read as lists of the following items. Other text is cut at the end of a line if one is near, otherwise between
    /// two characters. The rest includes the text parts that follow the cut, one per line as [`ToolResult::to_text`]
    /// writes them. A text resource that does
    /// not fit gets its own handle and is read as a whole. Binary content that does not fit is replaced by text that
    /// states its type and size. Details are not changed, because no model sees them. MCP sends the
    /// [structured](ToolResult::structured) result of a tool that declares one: beyond the text limit it is
    /// [missing](Structured::Missing).
    ///
    /// A stored result can be read only in the same session, by the same agent and for the same principal.
    #[must_use]
    pub fn apply(&self, mut result: ToolResult, spec: &ToolSpec, ctx: &ToolContext) -> ToolResult {
        self.cut(&mut result, spec, ctx);
        result
    }

    /// Cuts a result, see [`apply`](Self::apply), and returns the handles of the stored results.
    pub(crate) fn cut(&self, result: &mut ToolResult, spec: &ToolSpec, ctx: &ToolContext) -> Vec<String> {
        let mut handles = Vec::new();
        // A page is never cut again.
        if spec.name.as_str() == READ_RESULT {
            return handles;
        }
        let limit = self.limit.for_tool(spec);
        let (text, binary) = sizes(&result.content);
        if text > limit.text {
            let full_text = result.to_text();
            let advice = match spec.projection.as_str() {
                name if name.is_empty() || !result.selected.is_empty() => String::new(),
                name => {
                    format!(", or call `{}` with `{name}` to get only the fields that you need", spec.name)
                }
            };
            let cutter = ResultCutter { pages: self, limit, ctx, advice, stored_handles: RefCell::default() };
            result.content = cutter.cut_text(std::mem::take(&mut result.content), full_text);
            handles = cutter.stored_handles.into_inner();
        }
        if binary > limit.binary {
            let mut remaining = limit.binary;
            result.content.iter_mut().for_each(|content| shrink(content, limit.binary, &mut remaining));
        }
        if spec.structured_output().is_some() {
            withhold(result, limit.text);
        }
        handles
    }

    /// Returns an error as a model receives it. If a tool failed, arguments are invalid or the call was denied, its
    /// text is cut and stored like a result.
    #[must_use]
    pub fn apply_error(&self, mut error: ToolError, spec: &ToolSpec, ctx: &ToolContext) -> ToolError {
        self.cut_error(&mut error, spec, ctx);
        error
    }

    /// Cuts the text of an error, see [`apply_error`](Self::apply_error), and returns the handles of the stored texts.
    pub(crate) fn cut_error(&self, error: &mut ToolError, spec: &ToolSpec, ctx: &ToolContext) -> Vec<String> {
        let limit = self.limit.for_tool(spec);
        if let ToolError::Failed { message, .. }
        | ToolError::InvalidArgs { message, .. }
        | ToolError::Denied { message, .. } = error
            && size(message.len()) > limit.text
            && spec.name.as_str() != READ_RESULT
        {
            let full_text = std::mem::take(message);
            let end = cut_point(&full_text, bytes(limit.text));
            hide_split_secrets(&full_text, 0..end, ctx);
            let visible = full_text.get(..end).unwrap_or_default().to_owned();
            let (advice, stored_handles) = Default::default();
            let cutter = ResultCutter { pages: self, limit, ctx, advice, stored_handles };
            *message = format!("{visible}\n{}", cutter.store_and_notice(full_text, end));
            return cutter.stored_handles.into_inner();
        }
        Vec::new()
    }
}

impl Layer for Pages {
    fn stage(&self) -> Stage {
        Stage::Result
    }

    fn is_single(&self) -> bool {
        true
    }

    fn after<'a>(&'a self, call: &'a Invocation<'a>, outcome: &'a mut Outcome) -> Option<BoxFuture<'a, ()>> {
        // A replayed result is already as the model received it.
        if !call.is_for_model() || call.is_replayed() {
            return None;
        }
        let handles = match outcome {
            Ok(result) => self.cut(result, call.spec(), call.ctx()),
            Err(error) => self.cut_error(error, call.spec(), call.ctx()),
        };
        (self.is_shared() && !handles.is_empty())
            .then(|| -> BoxFuture<'a, ()> { Box::pin(self.share(handles, call.ctx())) })
    }
}

/// Returns the number of bytes of text and of all other content.
fn sizes(content: &[Content]) -> (u64, u64) {
    let (mut text, mut binary) = (0, 0);
    let mut text_parts: u64 = 0;
    for part in content {
        match part {
            Content::Text(part) => {
                text += size(part.len());
                text_parts += 1;
            }
            Content::Resource { data: ResourceData::Text(part), .. } => text += size(part.len()),
            Content::Image { data, .. }
            | Content::Audio { data, .. }
            | Content::Resource { data: ResourceData::Base64(data), .. } => binary += decoded_size(data),
            Content::Link { .. } => {}
        }
    }
    // The line breaks between text parts count too.
    (text + text_parts.saturating_sub(1), binary)
}

/// Cuts a result that is too large.
struct ResultCutter<'a> {
    pages: &'a Pages,
    limit: ResultLimit,
    ctx: &'a ToolContext,
    /// What a model can do instead of reading all items.
    advice: String,
    /// The handles of the stored results.
    stored_handles: RefCell<Vec<String>>,
}

impl ResultCutter<'_> {
    /// Returns the parts that fit, and notices that replace the others.
    fn cut_text(&self, content: Vec<Content>, mut full_text: String) -> Vec<Content> {
        let mut remaining = self.limit.text;
        let mut parts = Vec::with_capacity(content.len() + 1);
        // The offset in the full text where the next part begins; `None` after the cut, when no more text is shown.
        let mut next_start = Some(0);
        for part in content {
            match part {
                Content::Text(text) => {
                    let Some(start) = next_start else { continue };
                    let line_break = u64::from(start > 0);
                    if size(text.len()) + line_break <= remaining {
                        remaining -= size(text.len()) + line_break;
                        next_start = Some(start + text.len() + 1);
                        parts.push(Content::Text(text));
                        continue;
                    }
                    let available = bytes(remaining.saturating_sub(line_break));
                    if let Some((visible, shown, list)) = self.cut_items(&text, available) {
                        parts.push(Content::Text(visible));
                        let stored = std::mem::take(&mut full_text);
                        parts.push(Content::Text(self.store_items(stored, start, shown, list)));
                        (remaining, next_start) = (0, None);
                        continue;
                    }
                    let end = cut_point(&text, available);
                    hide_split_secrets(&text, 0..end, self.ctx);
                    if let Some(visible) = text.get(..end).filter(|visible| !visible.is_empty()) {
                        parts.push(Content::Text(visible.to_owned()));
                    }
                    // If no text of a part is shown, the line break before the part is omitted.
                    let shown_end = if end == 0 { start.saturating_sub(1) } else { start + end };
                    parts.push(Content::Text(
                        self.store_and_notice(std::mem::take(&mut full_text), shown_end),
                    ));
                    (remaining, next_start) = (0, None);
                }
                Content::Resource { uri, mime_type, data: ResourceData::Text(text) }
                    if size(text.len()) > remaining =>
                {
                    parts.push(Content::Text(self.resource_notice(&uri, &mime_type, text)));
                }
                part => {
                    if let Content::Resource { data: ResourceData::Text(text), .. } = &part {
                        remaining -= size(text.len());
                    }
                    parts.push(part);
                }
            }
        }
        parts
    }

    /// Cuts JSON between two items of its largest list, so that the rest remains and has at most `max` bytes. Returns
    /// the JSON, the number of its items and of all, and the list. `None` if not even the first item fits.
    fn cut_items(&self, text: &str, max: usize) -> Option<(String, (usize, usize), ItemList)> {
        let list = ItemList::find(text)?;
        let tail = text.get(list.end..)?;
        let mut shown = (0, list.start);
        let mut total = 0;
        for item in list.items(text) {
            if total == shown.0 && item.end + tail.len() <= max {
                shown = (total + 1, item.end);
            }
            total += 1;
        }
        let (count, end) = shown;
        if count == 0 {
            return None;
        }
        hide_split_secrets(text, 0..end, self.ctx);
        Some((format!("{}{tail}", text.get(..end)?), (count, total), list))
    }

    /// Stores a text whose list, after an offset, was cut, and returns the notice.
    fn store_items(
        &self,
        full_text: String,
        offset: usize,
        (shown, total): (usize, usize),
        list: ItemList,
    ) -> String {
        let list = list.moved_by(offset);
        let described = list.describe(&(0..shown), total);
        match self.keep(full_text, Some(list)) {
            Some(handle) => {
                let call = read::read_items_call(&handle, shown);
                format!("[Result cut: {described}. Call {call} to read on{}.]", self.advice)
            }
            None => format!("[Result cut: {described}. The rest is too large to store. Request less data.]"),
        }
    }

    fn store_and_notice(&self, full_text: String, end: usize) -> String {
        let total = full_text.len();
        match self.keep(full_text, None) {
            Some(handle) => read::cut_notice(&handle, 0, end, total),
            None => {
                format!(
                    "[Result cut: bytes 0-{end} of {total}. The rest is too large to store. Request less data.]"
                )
            }
        }
    }

    fn resource_notice(&self, uri: &str, mime_type: &str, text: String) -> String {
        let media_type = if mime_type.is_empty() { "text" } else { mime_type };
        let total = text.len();
        let hint = match self.keep(text, None) {
            Some(handle) => format!("Call {} to read it.", read::read_call(&handle, 0)),
            None => String::from("It is too large to store. Request less data."),
        };
        format!("[Resource {uri} ({media_type}): {total} bytes, not shown. {hint}]")
    }

    fn keep(&self, full_text: String, list: Option<ItemList>) -> Option<String> {
        // A notice about an empty page would never make progress.
        let page = bytes(self.limit.text).max(1);
        let handle = self.pages.store.keep((full_text, list), page, self.ctx)?;
        self.stored_handles.borrow_mut().push(handle.clone());
        Some(handle)
    }
}

/// Replaces binary content that does not fit in the remaining size with a text.
fn shrink(content: &mut Content, max: u64, remaining: &mut u64) {
    let (label, mime_type, data) = match &*content {
        Content::Image { data, mime_type } => (String::from("Image"), mime_type, data),
        Content::Audio { data, mime_type } => (String::from("Audio"), mime_type, data),
        Content::Resource { uri, mime_type, data: ResourceData::Base64(data) } => {
            (format!("Resource {uri}"), mime_type, data)
        }
        Content::Text(_) | Content::Resource { .. } | Content::Link { .. } => return,
    };
    let size = decoded_size(data);
    if size <= *remaining {
        *remaining -= size;
        return;
    }
    let media_type = if mime_type.is_empty() { "binary" } else { mime_type };
    let text = format!("[{label} ({media_type}): {size} bytes, not shown: the maximum is {max} bytes.]");
    *content = Content::Text(text);
}

/// Removes a structured result that is too large to send.
fn withhold(result: &mut ToolResult, max: u64) {
    let bytes = match &result.structured {
        Structured::Json(text) => size(text.len()),
        Structured::Details | Structured::DetailsWithout(_) => json_size(&result.details),
        Structured::Missing(_) => return,
    };
    if bytes > max {
        let reason = format!("it has {bytes} bytes, and the maximum is {max}");
        result.structured = Structured::Missing(reason.into());
    }
}

/// Hides the remainder of a secret that the cut splits from records and events.
fn hide_split_secrets(text: &str, visible: Range<usize>, ctx: &ToolContext) {
    if let Some(secrets) = ctx.secrets() {
        ctx.hide(&secrets.cut_by(visible, text));
    }
}

/// Returns the size of a value as compact JSON, in bytes, without building the JSON.
fn json_size(value: &Value) -> u64 {
    struct Count(u64);
    impl io::Write for Count {
        fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
            self.0 += size(piece.len());
            Ok(piece.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Neither counting nor serialising a value can fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// Returns the decoded size of a base64 string, in bytes.
fn decoded_size(base64: &str) -> u64 {
    size(base64.trim_end_matches('=').len()) * 3 / 4
}

/// Returns where to cut a text so that at most `max` bytes remain: after the last line break if that keeps at least
/// half, otherwise between two characters.
fn cut_point(text: &str, max: usize) -> usize {
    if text.len() <= max {
        return text.len();
    }
    let end = floor(text, max);
    let line_end = text.get(..end).and_then(|head| head.rfind('\n')).map(|at| at + 1);
    line_end.filter(|line_end| *line_end >= end.div_ceil(2)).unwrap_or(end)
}

fn size(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn bytes(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;

//! Merges several pages into one result, for a model.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};
use toolgen_core::internal::json_bytes;
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::{Content, ToolResult};
use toolgen_kernel::spec::plan::{Pagination, Tool};

use super::{MAX_PAGES, Page, PageCursor, Reader};
use crate::failure::{explain_if_failed, network_error};
use crate::inner::Inner;
use crate::response::{self, BodyLimits};

/// The items of several pages.
struct MergedPages {
    items: Vec<Value>,
    /// The size of the items as JSON, in bytes.
    bytes: usize,
    pages: usize,
    /// The body, without its items, of the last page that is merged completely. Its cursor points to the next page.
    body: Value,
    /// Why no more pages were read, if there may be more.
    stopped: Option<String>,
}

impl MergedPages {
    /// Adds items while they fit. Returns whether all items fit.
    fn add(&mut self, items: Vec<Value>, max: usize, max_bytes: usize) -> bool {
        self.pages += 1;
        for item in items {
            let bytes = json_bytes(&item) + 1;
            let reason = if self.items.len() == max {
                format!("{} requested", items_were(max))
            } else if !self.items.is_empty() && self.bytes + bytes > max_bytes {
                "the size limit was reached".to_owned()
            } else {
                self.bytes += bytes;
                self.items.push(item);
                continue;
            };
            self.stopped = Some(reason);
            return false;
        }
        true
    }
}

fn items_were(count: usize) -> String {
    format!("{} {}", plural(count, "item"), if count == 1 { "was" } else { "were" })
}

/// Returns `1 page` or `2 pages`.
fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Runs a tool with a paginated list: reads at most `max` items, from as many pages as needed.
pub(crate) async fn run_paginated(
    engine: &Arc<Inner>,
    tool: &Frozen<Tool>,
    pages: &Pagination,
    (arguments, max): (Value, usize),
    limit: Option<Duration>,
    ctx: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let started = Instant::now();
    let deadline = response::stream_deadline(started, limit);
    let reader = Reader { engine, tool, pages, ctx, deadline };
    let mut cursor = PageCursor::new(arguments);
    let mut first = reader.page(&mut cursor).await?;
    let Some((body, items)) = first.list.take() else {
        let body = std::mem::take(&mut first.bytes);
        return page_result(engine, tool, first, body).await;
    };
    let max_bytes = engine.settings.max_bytes.saturating_sub(json_bytes(&body));
    let mut merged = MergedPages { items: Vec::new(), bytes: 0, pages: 0, body, stopped: None };
    let mut all_fit = merged.add(items, max, max_bytes);
    while all_fit && !cursor.is_end() {
        if let Some(text) = cursor.incomplete_reason() {
            merged.stopped = Some(text.to_owned());
        } else if merged.items.len() >= max && cursor.is_complete() {
            break;
        } else if merged.items.len() >= max {
            merged.stopped = Some(format!("{} requested", items_were(max)));
        } else if merged.pages == MAX_PAGES {
            merged.stopped = Some(format!("at most {MAX_PAGES} pages are read per call"));
        }
        if merged.stopped.is_some() {
            break;
        }
        let page = reader.page(&mut cursor);
        let page = match deadline {
            Some(deadline) => timeout_at(deadline, page)
                .await
                .unwrap_or(Err(ToolError::failed("the time limit was reached"))),
            None => page.await,
        };
        let number = merged.pages + 1;
        match page {
            Ok(Page { list: Some((body, items)), .. }) => {
                all_fit = merged.add(items, max, max_bytes);
                if all_fit {
                    merged.body = body;
                }
            }
            Ok(page) => {
                merged.stopped = Some(format!("page {number} returned status {}", page.status.as_u16()));
                break;
            }
            Err(error) => {
                merged.stopped = Some(format!("page {number} could not be read: {error}"));
                break;
            }
        }
    }
    let MergedPages { items, pages: page_count, mut body, stopped, .. } = merged;
    let (count, has_more) = (items.len(), stopped.is_some());
    if let Some(list) = body.pointer_mut(&pages.items) {
        *list = Value::Array(items);
    }
    let mut result = page_result(engine, tool, first, body.to_string().into_bytes()).await?;
    let end = match &stopped {
        Some(reason) => match cursor.total.filter(|_| cursor.incomplete_reason().is_none()) {
            Some(total) => format!("more may follow ({reason}; the service counts {total} in total)"),
            None => format!("more may follow ({reason})"),
        },
        None => "these are all".to_owned(),
    };
    let (item_word, page_word) = (plural(count, "item"), plural(page_count, "page"));
    result.content.push(Content::Text(format!("[{item_word} of {page_word}; {end}]")));
    result.details["pages"] = json!({"pages": page_count, "items": count, "more": has_more});
    if let Some(total) = cursor.total {
        result.details["pages"]["total"] = total.into();
    }
    Ok(result)
}

/// Returns a page as the result of a call, with this body.
async fn page_result(
    engine: &Inner,
    tool: &Tool,
    page: Page,
    body: Vec<u8>,
) -> Result<ToolResult, ToolError> {
    let (request, reply) = page.reply(body);
    let failure = explain_if_failed(&engine.settings, tool, &request, &reply);
    let limits = BodyLimits { stream_deadline: None, ..engine.limits(tool) };
    let result = response::result(&request, reply, limits).await;
    let mut result = result.map_err(|error| network_error(&request, "READ_ERROR", error))?;
    if let Some(failure) = failure {
        failure.add_to(&mut result.details);
    }
    Ok(result)
}

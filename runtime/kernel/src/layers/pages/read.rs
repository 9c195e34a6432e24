//! The tool that reads the rest of a result.

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Value, json};

use super::items::ItemList;
use super::shared;
use super::store::{Page, ResultOwner, Store};
use super::{bytes, cut_point, floor, hide_split_secrets};
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::{Content, ToolResult};
use crate::call::tool::AgentTool;
use crate::schema::shape::Schema;
use crate::spec::{Effects, ToolName, ToolSpec};

/// The name of the tool that reads the rest of a result.
pub const READ_RESULT: &str = "read_result";

static SPEC: ToolSpec = ToolSpec {
    name: ToolName::new(READ_RESULT),
    label: Text::Static("Read Result"),
    description: Text::Static(
        "Reads the next part of a result that was too large to show in one piece. The end of such a result states the \
         arguments to pass.",
    ),
    returns: Text::Static("The next part of the result and, if there is more, the call that reads it."),
    input: Schema::text(
        r#"{"type":"object","properties":{"handle":{"type":"string","description":"The handle from the cut result."},"offset":{"type":"integer","minimum":0,"default":0,"description":"The byte offset to continue from."},"item":{"type":"integer","minimum":0,"description":"The item to continue from, instead of an offset."}},"required":["handle"],"additionalProperties":false}"#,
    ),
    effects: Effects::NONE,
    ..ToolSpec::EMPTY
};

/// The tool `read_result`, which reads the rest of a result that [`Pages`](super::Pages) cut.
#[derive(Clone, Debug)]
pub struct ReadResult {
    store: Arc<Store>,
    shared: Option<Arc<dyn crate::call::store::Store>>,
}

impl ReadResult {
    pub(super) fn new(store: Arc<Store>, shared: Option<Arc<dyn crate::call::store::Store>>) -> ReadResult {
        ReadResult { store, shared }
    }

    /// Returns a result that this or another process has stored.
    async fn find(&self, handle: &str, ctx: &ToolContext) -> Result<Option<Page>, ToolError> {
        let owner = ResultOwner::of(ctx);
        let (page, shared) = (self.store.get(handle, &owner), &self.shared);
        match shared.as_ref().filter(|_| page.is_none() && !handle.is_empty()) {
            None => Ok(page),
            Some(shared) => shared::find(shared, &owner, handle).await,
        }
    }

    async fn read(&self, params: &Value, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        let handle = params.get("handle").and_then(Value::as_str).unwrap_or_default();
        let offset = bytes(params.get("offset").and_then(Value::as_u64).unwrap_or(0));
        let Some(Page { text, list, size, secrets }) = self.find(handle, ctx).await? else {
            let text = format!(
                "The result '{handle}' does not exist or has expired: results are kept for a limited time. Call the \
                 tool that returned it again."
            );
            return Err(ToolError::failed_with("RESULT_NOT_FOUND", text));
        };
        if let Some(secrets) = &secrets {
            ctx.hide(secrets);
        }
        let item = params.get("item").and_then(Value::as_u64).map(bytes);
        if let (Some(first), Some(list)) = (item, list) {
            return read_items(handle, &text, (&list, first), size, ctx);
        }
        if offset >= text.len() {
            let text =
                format!("offset {offset} is beyond the end of the result, which has {} bytes", text.len());
            return Err(ToolError::invalid_args(text));
        }
        let begin = floor(&text, offset);
        let remaining_text = text.get(begin..).unwrap_or_default();
        // At least one character, so that reading always makes progress.
        let first_char = remaining_text.chars().next().map_or(0, char::len_utf8);
        let end = begin + cut_point(remaining_text, size).max(first_char);
        let visible = text.get(begin..end).unwrap_or_default();
        hide_split_secrets(&text, begin..end, ctx);
        let notice = if end == text.len() {
            format!("[End of the result: bytes {begin}-{end} of {end}.]")
        } else {
            cut_notice(handle, begin, end, text.len())
        };
        let result = ToolResult::text(visible);
        let next = if end == text.len() { Value::Null } else { json!(end) };
        let details = json!({ "handle": handle, "offset": begin, "next_offset": next, "total": text.len() });
        Ok(result.with_content(Content::Text(notice)).with_details(details))
    }
}

impl AgentTool for ReadResult {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { self.read(&params, ctx).await })
    }
}

/// Returns as many items as fit in a page, as a list.
fn read_items(
    handle: &str,
    text: &str,
    (list, first): (&ItemList, usize),
    size: usize,
    ctx: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let items: Vec<Range<usize>> = list.items(text).collect();
    let Some(start) = items.get(first).map(|item| item.start) else {
        let total = items.len();
        return Err(ToolError::invalid_args(format!(
            "item {first} is beyond the end of the list of {total} items"
        )));
    };
    let fitting =
        items.get(first..).unwrap_or_default().iter().take_while(|item| item.end - start + 2 <= size);
    let shown = first..first + fitting.count();
    let (visible, notice, next) = match items.get(shown.end.wrapping_sub(1)).filter(|_| !shown.is_empty()) {
        Some(last) => {
            hide_split_secrets(text, start..last.end, ctx);
            let notice = items_notice(handle, text, list, &shown, items.len());
            (format!("[{}]", text.get(start..last.end).unwrap_or_default()), notice, shown.end)
        }
        None => {
            // A part of an item is not JSON; it is read by its bytes.
            let end = items.get(first).map_or(start, |item| item.end);
            let after = match first + 1 < items.len() {
                true => format!(", and {} for the next item", read_items_call(handle, first + 1)),
                false => String::new(),
            };
            let notice = format!(
                "[Item {first} of {} has bytes {start}-{end} of the result, more than a page. Call {} to read it{after}.]",
                items.len(),
                read_call(handle, start)
            );
            (String::new(), notice, first + 1)
        }
    };
    let next = if next < items.len() { json!(next) } else { Value::Null };
    let details = json!({ "handle": handle, "item": first, "next_item": next, "total": items.len() });
    let result = if visible.is_empty() { ToolResult::empty() } else { ToolResult::text(visible) };
    Ok(result.with_content(Content::Text(notice)).with_details(details))
}

/// Returns the notice after some items.
fn items_notice(handle: &str, text: &str, list: &ItemList, shown: &Range<usize>, total: usize) -> String {
    let described = list.describe(shown, total);
    if shown.end < total {
        return format!("[Result cut: {described}. Call {} to read on.]", read_items_call(handle, shown.end));
    }
    // The rest of the JSON was shown with the first items. Other parts of the result follow after a line break.
    let rest = list.json_end + 1;
    if rest < text.len() {
        let call = read_call(handle, rest);
        return format!("[End of the list: {described}. Call {call} to read the text after it.]");
    }
    format!("[End of the result: {described}.]")
}

/// Returns the call that reads from an item.
pub(super) fn read_items_call(handle: &str, item: usize) -> String {
    format!(r#"{READ_RESULT} with {{"handle":"{handle}","item":{item}}}"#)
}

/// Returns the notice at a cut.
pub(super) fn cut_notice(handle: &str, begin: usize, end: usize, total: usize) -> String {
    format!("[Result cut: bytes {begin}-{end} of {total}. Call {} to read on.]", read_call(handle, end))
}

/// Returns the call that reads from an offset.
pub(super) fn read_call(handle: &str, offset: usize) -> String {
    format!(r#"{READ_RESULT} with {{"handle":"{handle}","offset":{offset}}}"#)
}

//! The tool that reads the rest of a result.

use std::sync::Arc;

use serde_json::{Value, json};

use super::shared;
use super::store::{Page, ResultOwner, Store};
use super::{bytes, cut_point, floor, hide_split_secrets};
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
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
         handle and offset to pass.",
    ),
    returns: Text::Static("The next part of the result and, if there is more, the call that reads it."),
    input: Schema::text(
        r#"{"type":"object","properties":{"handle":{"type":"string","description":"The handle from the cut result."},"offset":{"type":"integer","minimum":0,"default":0,"description":"The byte offset to continue from."}},"required":["handle"],"additionalProperties":false}"#,
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
        let Some(Page { text, size, secrets }) = self.find(handle, ctx).await? else {
            let text = format!(
                "The result '{handle}' does not exist or has expired: results are kept for a limited time. Call the \
                 tool that returned it again."
            );
            return Err(ToolError::failed_with("RESULT_NOT_FOUND", text));
        };
        if let Some(secrets) = &secrets {
            ctx.hide(secrets);
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
        Ok(result.with_content(crate::call::result::Content::Text(notice)).with_details(details))
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

/// Returns the notice at a cut.
pub(super) fn cut_notice(handle: &str, begin: usize, end: usize, total: usize) -> String {
    format!("[Result cut: bytes {begin}-{end} of {total}. Call {} to read on.]", read_call(handle, end))
}

/// Returns the call that reads from an offset.
pub(super) fn read_call(handle: &str, offset: usize) -> String {
    format!(r#"{READ_RESULT} with {{"handle":"{handle}","offset":{offset}}}"#)
}

//! Cut results that several processes share through a store.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::Pages;
use super::items::ItemList;
use super::store::{Page, ResultOwner};
use crate::base::canonical::digest;
use crate::base::frozen::Text;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::store::{Expected, Row, Store, StoreError};

/// The code of the error for a page that cannot be looked up because its store cannot be reached.
pub const RESULT_UNKNOWN: &str = "RESULT_UNKNOWN";

const TABLE: &str = "pages";

impl Pages {
    /// Lets other processes read the rest of results that a toolbox cuts here, and vice versa. A result is stored
    /// before its first page is returned. Only the same session, agent and principal can read it, so all processes
    /// must use the same session IDs. The store keeps it for the time that the limits of the pages set.
    ///
    /// The process that cut a result also keeps it, and reads it from its own memory. While the store cannot be
    /// reached, the process that cut a result can read it; in other processes, reading fails with the code
    /// [`RESULT_UNKNOWN`]. A call whose result cannot be shared is not refused, because it has already run.
    ///
    /// Results of calls with secrets are kept only in this process: if another process read them, its records could
    /// not redact the secrets. [`apply`](Self::apply), which is synchronous, also keeps results only in this process.
    #[must_use]
    pub fn shared(mut self, store: impl Store + 'static) -> Pages {
        self.shared = Some(Arc::new(store));
        self
    }

    /// Returns whether other processes can read the results that are kept here.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Shares the results with these handles.
    pub(crate) async fn share(&self, handles: Vec<String>, ctx: &ToolContext) {
        let Some(shared) = &self.shared else { return };
        let owner = ResultOwner::of(ctx);
        for handle in handles {
            let Some(Page { text, list, size, secrets }) = self.store.get(&handle, &owner) else { continue };
            if secrets.is_none_or(|secrets| secrets.is_empty()) {
                // An error is ignored: this process can still read the result, and the call has run.
                let _ = put(
                    shared,
                    &owner,
                    &handle,
                    &format!("{}\n{text}", header(size, list.as_ref())),
                    self.store.ttl(),
                )
                .await;
            }
        }
    }
}

/// Returns the first line of a stored value: the size of a page and, for a text with a list, the range and the pointer
/// of the list.
fn header(size: usize, list: Option<&ItemList>) -> String {
    match list {
        None => size.to_string(),
        Some(ItemList { pointer, start, end, json_end }) => {
            format!("{size} {start} {end} {json_end} {}", json!(pointer))
        }
    }
}

fn parse_header(header: &str) -> Option<(usize, Option<ItemList>)> {
    let parts: Vec<&str> = header.splitn(5, ' ').collect();
    match parts.as_slice() {
        [size] => Some((size.parse().ok()?, None)),
        [size, start, end, json_end, pointer] => {
            let pointer = serde_json::from_str(pointer).ok()?;
            let (start, end, json_end) = (start.parse().ok()?, end.parse().ok()?, json_end.parse().ok()?);
            Some((size.parse().ok()?, Some(ItemList { pointer, start, end, json_end })))
        }
        _ => None,
    }
}

/// Stores a result. A value is a header, a line break, and the text.
async fn put(
    store: &dyn Store,
    owner: &ResultOwner,
    handle: &str,
    value: &str,
    ttl: Duration,
) -> Result<(), StoreError> {
    store.put(TABLE, &owner.key(handle), value.as_bytes(), ttl, Expected::Any).await.map(drop)
}

/// Returns the result of a handle that belongs to this owner; `None` if it does not exist or has expired.
pub(super) async fn find(
    store: &dyn Store,
    owner: &ResultOwner,
    handle: &str,
) -> Result<Option<Page>, ToolError> {
    let row = store.get(TABLE, &owner.key(handle)).await;
    row.and_then(|row| row.map(parse_page).transpose()).map_err(|error| {
        let text = format!(
            "It is unknown whether result '{handle}' exists, because the state that is shared with other processes \
             cannot be reached. Try again in a moment."
        );
        ToolError::failed_with(RESULT_UNKNOWN, text).with_operator_detail(error.to_string())
    })
}

fn parse_page(row: Row) -> Result<Page, StoreError> {
    let text = String::from_utf8(row.value).ok();
    let parts = text.as_deref().and_then(|text| text.split_once('\n'));
    let page = parts.and_then(|(header, text)| {
        let (size, list) = parse_header(header)?;
        Some(Page { text: text.into(), list, size, secrets: None })
    });
    page.ok_or_else(|| StoreError::unreadable("a result", "it has no size"))
}

impl ResultOwner {
    fn key(&self, handle: &str) -> String {
        format!("{}:{handle}", self.digest())
    }

    /// Returns a digest that is unique to the owner.
    fn digest(&self) -> String {
        let text = |text: &Option<Text>| text.as_ref().map(|text| text.as_str().to_owned());
        digest(&json!([text(&self.session), text(&self.agent), text(&self.principal)]))
    }
}

//! Results of which other processes can read the rest.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::Pages;
use super::store::{Page, ResultOwner};
use crate::base::canonical::digest;
use crate::base::frozen::Text;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::store::{Expected, Row, Store, StoreError};

/// The code of the error for a page that cannot be looked up, because its store cannot be reached.
pub const RESULT_UNKNOWN: &str = "RESULT_UNKNOWN";

const TABLE: &str = "pages";

impl Pages {
    /// Lets other processes read the rest of results that a toolbox cuts here, and the other way round. A result is
    /// stored before its beginning is answered. It is read by the same session, agent and principal only, so the
    /// processes have to give their sessions the same IDs. The store keeps it as long as the limits of the pages say.
    ///
    /// The process that cut a result keeps it, too, and reads it from its own memory. So while the store cannot be
    /// reached, results are read where they were cut; elsewhere, reading fails with the code [`RESULT_UNKNOWN`]. A call
    /// whose result cannot be shared is not refused, since it has run.
    ///
    /// Results of calls with secrets are kept in this process alone: if they were read elsewhere, records could not
    /// hide them. [`apply`](Self::apply), which waits for nothing, keeps results in this process, too.
    #[must_use]
    pub fn shared(mut self, store: impl Store + 'static) -> Pages {
        self.shared = Some(Arc::new(store));
        self
    }

    /// Returns whether others can read what is kept here.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Shares what is kept under these handles.
    pub(crate) async fn share(&self, handles: Vec<String>, ctx: &ToolContext) {
        let Some(shared) = &self.shared else { return };
        let owner = ResultOwner::of(ctx);
        for handle in handles {
            let Some(Page { text, size, secrets }) = self.store.get(&handle, &owner) else { continue };
            if secrets.is_none_or(|secrets| secrets.is_empty()) {
                // The call has run: if others cannot read it, this process still can.
                let _ = put(shared, &owner, &handle, &format!("{size}\n{text}"), self.store.ttl()).await;
            }
        }
    }
}

/// A value is the size of a page, a line break, and the text.
async fn put(
    store: &dyn Store,
    owner: &ResultOwner,
    handle: &str,
    value: &str,
    ttl: Duration,
) -> Result<(), StoreError> {
    store.put(TABLE, &owner.key(handle), value.as_bytes(), ttl, Expected::Any).await.map(drop)
}

/// Returns the result of a handle that belongs to this owner; `None` if there is none, or no longer.
pub(super) async fn find(
    store: &dyn Store,
    owner: &ResultOwner,
    handle: &str,
) -> Result<Option<Page>, ToolError> {
    let found = store.get(TABLE, &owner.key(handle)).await;
    found.and_then(|row| row.map(page).transpose()).map_err(|error| {
        let text = format!(
            "Whether there is a result '{handle}' is not known, because the state that is shared with other processes \
             cannot be reached. Try again in a moment."
        );
        ToolError::failed_with(RESULT_UNKNOWN, text).with_operator_detail(error.to_string())
    })
}

fn page(row: Row) -> Result<Page, StoreError> {
    let text = String::from_utf8(row.value).ok();
    let parts = text.as_deref().and_then(|text| text.split_once('\n'));
    let page = parts
        .and_then(|(size, text)| Some(Page { text: text.into(), size: size.parse().ok()?, secrets: None }));
    page.ok_or_else(|| StoreError::unreadable("a result", "it has no size"))
}

impl ResultOwner {
    fn key(&self, handle: &str) -> String {
        format!("{}:{handle}", self.digest())
    }

    /// Returns a text that no other owner has.
    fn digest(&self) -> String {
        let text = |text: &Option<Text>| text.as_ref().map(|text| text.as_str().to_owned());
        digest(&json!([text(&self.session), text(&self.agent), text(&self.principal)]))
    }
}

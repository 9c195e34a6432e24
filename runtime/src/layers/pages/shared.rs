//! Results of which other processes can read the rest.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::Pages;
use super::store::{Owner, Page};
use crate::base::canonical::digest;
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;

/// A result that is kept to be read page by page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPage {
    /// The whole text.
    pub text: Arc<str>,
    /// The number of bytes of a page.
    pub size: usize,
}

/// Keeps large results where other processes find them, in addition to the memory of this one, which alone is the
/// default.
pub trait PageStore: fmt::Debug + Send + Sync {
    /// Keeps a result under the handle and its owner, a text of 64 digits, for this long.
    ///
    /// # Errors
    ///
    /// If it cannot be kept. Then only this process can read it.
    fn keep<'a>(
        &'a self,
        owner: &'a str,
        handle: &'a str,
        page: &'a StoredPage,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), ToolError>>;

    /// Returns the result of a handle that belongs to this owner; `None` if there is none, or no longer.
    ///
    /// # Errors
    ///
    /// If the store cannot tell.
    fn get<'a>(
        &'a self,
        owner: &'a str,
        handle: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredPage>, ToolError>>;
}

impl Pages {
    /// Lets other processes read the rest of results that a provider cuts here, and the other way round. A result is
    /// stored before its beginning is answered. It is read by the same session, agent and principal only, so the
    /// processes have to give their sessions the same IDs.
    ///
    /// Results of calls with secrets are kept in this process alone: if they were read elsewhere, records could not
    /// hide them. [`apply`](Self::apply), which waits for nothing, keeps results in this process, too.
    #[must_use]
    pub fn with_shared(mut self, store: impl PageStore + 'static) -> Pages {
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
        let owner = Owner::of(ctx);
        for handle in handles {
            let Some(Page { text, size, secrets }) = self.store.get(&handle, &owner) else { continue };
            if secrets.is_none_or(|secrets| secrets.is_empty()) {
                // The call has run: if others cannot read it, this process still can.
                let page = StoredPage { text, size };
                let _ = shared.keep(&owner.digest(), &handle, &page, self.store.ttl()).await;
            }
        }
    }
}

impl Owner {
    /// Returns a text that no other owner has.
    pub(super) fn digest(&self) -> String {
        let text = |text: &Option<Text>| text.as_ref().map(|text| text.as_str().to_owned());
        digest(&json!([text(&self.session), text(&self.agent), text(&self.principal)]))
    }
}

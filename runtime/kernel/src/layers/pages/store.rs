//! The store that keeps large results until a model has read them.

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use super::items::ItemList;
use crate::base::frozen::Text;
use crate::base::sync::unpoisoned;
use crate::call::context::ToolContext;
use crate::call::secrets::Secrets;

/// Maximum number, size and age of stored results, over all sessions. Beyond these limits the oldest are dropped first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreLimits {
    /// Maximum total size, in bytes. A single result larger than this is not kept.
    pub bytes: usize,
    /// Maximum number of results.
    pub results: usize,
    /// How long a result is kept.
    pub ttl: Duration,
}

impl StoreLimits {
    /// The default: 32 MiB, 256 results, 30 minutes.
    pub const DEFAULT: StoreLimits =
        StoreLimits { bytes: 32 << 20, results: 256, ttl: Duration::from_secs(30 * 60) };
}

impl Default for StoreLimits {
    fn default() -> StoreLimits {
        StoreLimits::DEFAULT
    }
}

/// The owner of a result. No other caller may read it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ResultOwner {
    pub(super) session: Option<Text>,
    pub(super) agent: Option<Text>,
    pub(super) principal: Option<Text>,
}

impl ResultOwner {
    pub(super) fn of(ctx: &ToolContext) -> ResultOwner {
        let text = |text: &str| Text::from(text.to_owned());
        ResultOwner {
            session: ctx.session().map(|session| text(session.id())),
            agent: ctx.agent_id().map(text),
            principal: ctx.principal().map(|principal| principal.id.clone()),
        }
    }
}

/// Keeps results under handles that cannot be guessed.
pub(super) struct Store {
    limits: StoreLimits,
    /// Seeded with randomness from the operating system, so the next handle cannot be predicted.
    handle_hasher: RandomState,
    state: Mutex<StoreState>,
}

#[derive(Default)]
struct StoreState {
    /// The number of results that were ever stored.
    count: u64,
    bytes: usize,
    /// The results, in order of arrival, which is also the order of removal.
    results: VecDeque<StoredResult>,
}

struct StoredResult {
    handle: String,
    owner: ResultOwner,
    page: Page,
    expires_at: Instant,
}

/// A result that is read page by page.
#[derive(Clone)]
pub(super) struct Page {
    pub(super) text: Arc<str>,
    /// The list whose items are read one page after another.
    pub(super) list: Option<ItemList>,
    /// The size of a page, in bytes.
    pub(super) size: usize,
    /// The secrets of the call that returned the result. Records of later pages must not contain them.
    pub(super) secrets: Option<Arc<Secrets>>,
}

impl Store {
    pub(super) fn new(limits: StoreLimits) -> Store {
        Store { limits, handle_hasher: RandomState::new(), state: Mutex::default() }
    }

    /// Keeps a text that the call's owner reads in pages of `size` bytes, with the list in it, and returns its handle.
    /// Returns `None` if it is too large.
    pub(super) fn keep(
        &self,
        (text, list): (String, Option<ItemList>),
        size: usize,
        ctx: &ToolContext,
    ) -> Option<String> {
        if text.len() > self.limits.bytes || self.limits.results == 0 {
            return None;
        }
        let now = Instant::now();
        // If the time cannot be represented, use one far in the future.
        let expires_at =
            now.checked_add(self.limits.ttl).unwrap_or(now + Duration::from_secs(u32::MAX.into()));
        let mut state = unpoisoned(self.state.lock());
        state.count += 1;
        let (high, low) = (
            self.handle_hasher.hash_one((state.count, 0_u8)),
            self.handle_hasher.hash_one((state.count, 1_u8)),
        );
        // 96 bits, short enough for a model to copy correctly, and too long for an attacker to guess.
        let handle = format!("r{high:016x}{:08x}", low >> 32);
        state.bytes += text.len();
        let page = Page { text: text.into(), list, size, secrets: ctx.secrets() };
        state.results.push_back(StoredResult {
            handle: handle.clone(),
            owner: ResultOwner::of(ctx),
            page,
            expires_at,
        });
        state.evict(now, &self.limits);
        Some(handle)
    }

    /// Returns how long a result is kept.
    pub(super) fn ttl(&self) -> Duration {
        self.limits.ttl
    }

    /// Returns whether any result was ever stored.
    pub(super) fn has_stored(&self) -> bool {
        unpoisoned(self.state.lock()).count > 0
    }

    /// Returns a result, if it is still stored and belongs to this owner.
    pub(super) fn get(&self, handle: &str, owner: &ResultOwner) -> Option<Page> {
        let mut state = unpoisoned(self.state.lock());
        state.evict(Instant::now(), &self.limits);
        let stored = state.results.iter().find(|stored| stored.handle == handle && stored.owner == *owner)?;
        Some(stored.page.clone())
    }
}

impl StoreState {
    fn evict(&mut self, now: Instant, limits: &StoreLimits) {
        while let Some(oldest) = self.results.front() {
            let is_over_limit = self.bytes > limits.bytes || self.results.len() > limits.results;
            if !is_over_limit && oldest.expires_at > now {
                return;
            }
            self.bytes = self.bytes.saturating_sub(oldest.page.text.len());
            self.results.pop_front();
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = unpoisoned(self.state.lock());
        // Omits the results and their handles.
        f.debug_struct("Store")
            .field("limits", &self.limits)
            .field("results", &state.results.len())
            .field("bytes", &state.bytes)
            .finish_non_exhaustive()
    }
}

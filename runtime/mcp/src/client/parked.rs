//! Calls that wait for input: a server has asked, and the caller will call again with the answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;

use super::desk::Question;
use super::mcp_client::Place;

/// The most calls of a tool that wait for input.
const MOST: usize = 64;

/// A call in flight.
pub(super) struct Running {
    pub(super) answer: BoxFuture<'static, Result<Value, ToolError>>,
    pub(super) questions: mpsc::Receiver<Question>,
    /// The last question, if it is not answered yet.
    pub(super) open: Option<oneshot::Sender<Value>>,
    /// How many answers of the caller were used.
    pub(super) used: usize,
    /// The context that receives progress: that of the last time the call was made.
    pub(super) ctx: Arc<Mutex<Option<ToolContext>>>,
    pub(super) place: Place,
    pub(super) until: Instant,
}

/// The calls of a tool that wait for input, and are cancelled when this is dropped.
#[derive(Default)]
pub(super) struct Parked(BTreeMap<String, Running>);

impl Parked {
    /// Keeps a call. If there are too many, the one whose time is up first is given up.
    pub(super) fn put(&mut self, key: String, running: Running) {
        self.sweep();
        if self.0.len() >= MOST {
            let first = self.0.iter().min_by_key(|(_, running)| running.until);
            if let Some(first) = first.map(|(key, _)| key.clone()) {
                self.0.remove(&first);
            }
        }
        self.0.insert(key, running);
    }

    /// Takes a call up again.
    pub(super) fn take(&mut self, key: &str) -> Option<Running> {
        self.sweep();
        self.0.remove(key)
    }

    /// Gives up the calls whose time is up.
    pub(super) fn sweep(&mut self) {
        let now = Instant::now();
        self.0.retain(|_, running| running.until > now);
    }
}

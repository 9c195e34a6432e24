//! Progress that servers report of calls through a client of the `rmcp` crate.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex};

use ::rmcp::ClientHandler;
use ::rmcp::model::{ProgressNotificationParam, ProgressToken};
use ::rmcp::service::{NotificationContext, RoleClient};
use serde_json::json;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::context::ToolContext;

use crate::client::tool::line;

/// How many reports of calls that are not known yet are kept: a server may report before the client knows that it was
/// asked.
const MAX_EARLY_REPORTS: usize = 64;

/// Passes reports of servers on from the handler of a client to their calls. It is a handler itself, for programs
/// that need no other; the handler of a program passes on what [`on_progress`](ClientHandler::on_progress) gets to
/// [`heard`](Self::heard). Clones share their calls, and belong to one client.
#[derive(Clone, Default)]
pub struct Progress(Arc<Mutex<Hub>>);

#[derive(Default)]
struct Hub {
    calls: HashMap<ProgressToken, ToolContext>,
    early: VecDeque<ProgressNotificationParam>,
}

/// A call that receives reports until this is dropped.
pub(super) struct Hears<'p> {
    progress: &'p Progress,
    token: ProgressToken,
}

impl Drop for Hears<'_> {
    fn drop(&mut self) {
        unpoisoned(self.progress.0.lock()).calls.remove(&self.token);
    }
}

impl Progress {
    /// Creates one for a client.
    #[must_use]
    pub fn new() -> Progress {
        Progress::default()
    }

    /// Passes a report on to its call.
    pub fn forward(&self, report: ProgressNotificationParam) {
        let call = {
            let Hub { calls, early } = &mut *unpoisoned(self.0.lock());
            let Some(call) = calls.get(&report.progress_token) else {
                if early.len() == MAX_EARLY_REPORTS {
                    early.pop_front();
                }
                early.push_back(report);
                return;
            };
            call.clone()
        };
        call.progress(line(&json!(report)));
    }

    /// Lets a call receive the reports with a token, first those that have come already.
    pub(super) fn listen(&self, token: ProgressToken, call: &ToolContext) -> Hears<'_> {
        let Hub { calls, early } = &mut *unpoisoned(self.0.lock());
        early.retain(|report| {
            let is_other = report.progress_token != token;
            if !is_other {
                call.progress(line(&json!(report)));
            }
            is_other
        });
        calls.insert(token.clone(), call.clone());
        Hears { progress: self, token }
    }
}

impl ClientHandler for Progress {
    async fn on_progress(&self, report: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.forward(report);
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").finish_non_exhaustive()
    }
}

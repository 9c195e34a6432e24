//! Progress of calls through an `rmcp` client.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex};

use ::rmcp::ClientHandler;
use ::rmcp::model::{ProgressNotificationParam, ProgressToken};
use ::rmcp::service::{NotificationContext, RoleClient};
use serde_json::json;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::context::ToolContext;

use crate::client::tool::progress_line;

/// Maximum number of stored reports of unknown calls: the server may report progress before the client has registered
/// the call.
const MAX_EARLY_REPORTS: usize = 64;

/// Forwards progress from the handler of a client to its calls. This type is also a handler, for programs
/// that need no other. The handler of a program passes the parameters of [`on_progress`](ClientHandler::on_progress) to
/// [`forward`](Self::forward). Clones share their calls, and belong to one client.
#[derive(Clone, Default)]
pub struct Progress(Arc<Mutex<Hub>>);

#[derive(Default)]
struct Hub {
    calls: HashMap<ProgressToken, ToolContext>,
    early: VecDeque<ProgressNotificationParam>,
}

/// A call that receives reports until this is dropped.
pub(super) struct ProgressRegistration<'p> {
    progress: &'p Progress,
    token: ProgressToken,
}

impl Drop for ProgressRegistration<'_> {
    fn drop(&mut self) {
        unpoisoned(self.progress.0.lock()).calls.remove(&self.token);
    }
}

impl Progress {
    /// Creates the progress registry of a client.
    #[must_use]
    pub fn new() -> Progress {
        Progress::default()
    }

    /// Forwards a report to its call.
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
        call.progress(progress_line(&json!(report)));
    }

    /// Registers a call for reports with a token, and delivers reports that have already arrived.
    pub(super) fn register(&self, token: ProgressToken, call: &ToolContext) -> ProgressRegistration<'_> {
        let Hub { calls, early } = &mut *unpoisoned(self.0.lock());
        early.retain(|report| {
            let is_other = report.progress_token != token;
            if !is_other {
                call.progress(progress_line(&json!(report)));
            }
            is_other
        });
        calls.insert(token.clone(), call.clone());
        ProgressRegistration { progress: self, token }
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

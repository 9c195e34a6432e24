//! Approvals that are used once among all processes, and calls that wait for one.

mod queue;

use std::fmt;
use std::time::SystemTime;

use redis::Value;

use super::state::expiry;
use super::{OnFailure, RedisState, StateError};
use crate::base::future::BoxFuture;
use crate::call::error::ToolError;
use crate::layers::approval::{ApprovalStore, MemoryApprovals, SLACK};

/// Remembers on the server which calls were resumed, so that only one of all processes resumes a request, once. From
/// [`RedisState::approvals`].
///
/// A name is taken before its call runs. If the answer of the server is lost, the call does not run, and the request may
/// be used up: then the call has to be made again.
///
/// The server keeps names as it keeps everything else. One that forgets them, because it restarts without persistence
/// or because a replica that lacks the last ones takes over, lets a request be resumed again. If that must not happen,
/// run it with `appendonly yes` and `appendfsync always` and without such replicas, or use a database on disk.
///
/// As an [`ApprovalQueue`](crate::layers::approval::ApprovalQueue) it keeps calls that wait, which any process shows,
/// decides about and runs: the rows until [`APPROVALS_KEPT`](crate::layers::approval::APPROVALS_KEPT) after they expired,
/// the sealed calls, with the secrets among their arguments, until they can no longer run. While the server cannot be
/// reached, whatever [`on_failure`](Self::on_failure) says, calls that would wait are answered with an error.
///
/// ```no_run
/// use toolgen_runtime::layers::approval::Approvals;
/// use toolgen_runtime::layers::redis::RedisState;
/// use toolgen_runtime::{Provider, Registry};
///
/// # fn queued(registry: &Registry, key: &[u8; 32]) -> Result<Provider, Box<dyn std::error::Error>> {
/// let state = RedisState::builder("redis://127.0.0.1:6379", "shop-production").build()?;
/// let approvals = Approvals::new(state.approvals()).with_worker("worker-1");
/// let provider = Provider::builder(registry).approval_key(key).approval_queue(approvals).build()?;
/// # Ok(provider)
/// # }
/// ```
pub struct RedisApprovals {
    state: RedisState,
    on_failure: OnFailure,
    own: MemoryApprovals,
}

impl RedisState {
    /// Returns a store of the calls that were resumed, for
    /// [`ProviderBuilder::approval_store`](crate::provider::ProviderBuilder::approval_store). The processes also need
    /// the same [`approval_key`](crate::provider::ProviderBuilder::approval_key).
    #[must_use]
    pub fn approvals(&self) -> RedisApprovals {
        RedisApprovals { state: self.clone(), on_failure: OnFailure::Closed, own: MemoryApprovals::new() }
    }
}

impl RedisApprovals {
    /// Sets what happens to resumed calls while the server cannot be reached: by default they are refused
    /// ([`OnFailure::Closed`]) with the code `APPROVAL_UNKNOWN` or `INPUT_REQUEST_UNKNOWN`. With
    /// [`OnFailure::Degrade`] each process resumes a request once, so a call may run as often as there are processes:
    /// only for calls that may be repeated.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> RedisApprovals {
        self.on_failure = on_failure;
        self
    }

    async fn take_there(&self, name: &str, expires_at: SystemTime) -> Result<bool, StateError> {
        let left = expires_at.duration_since(SystemTime::now()).unwrap_or_default();
        let mut command = redis::cmd("SET");
        command.arg(self.state.key("approval", name)).arg("1").arg("NX");
        command.arg("PX").arg(expiry(left.saturating_add(SLACK)));
        match self.state.request(&command).await? {
            Value::Okay => Ok(true),
            Value::Nil => Ok(false),
            other => Err(self.state.unexpected(&other)),
        }
    }
}

impl ApprovalStore for RedisApprovals {
    fn take<'a>(&'a self, name: &'a str, expires_at: SystemTime) -> BoxFuture<'a, Result<bool, ToolError>> {
        Box::pin(async move {
            match (self.take_there(name, expires_at).await, self.on_failure) {
                (Ok(was_free), OnFailure::Closed) => Ok(was_free),
                (Err(why), OnFailure::Closed) => Err(why.into()),
                // What was resumed while the server was away is not resumed again when it is back.
                (taken, OnFailure::Degrade) => {
                    Ok(self.own.take(name, expires_at).await? && taken.unwrap_or(true))
                }
            }
        })
    }
}

impl fmt::Debug for RedisApprovals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisApprovals")
            .field("on_failure", &self.on_failure)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

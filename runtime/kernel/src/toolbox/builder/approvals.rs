//! Settings of approvals: the approver, the timeouts, the store and the queue.

use std::sync::Arc;
use std::time::Duration;

use super::ToolboxBuilder;
use crate::layers::approval::Approvals;
use crate::layers::middleware::Approver;

impl ToolboxBuilder {
    /// Sets the approver of the calls that middleware requires an approval for. Without an approver, these calls wait
    /// for [`Toolbox::resume`](crate::Toolbox::resume).
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> ToolboxBuilder {
        self.layers.approver = Some(Arc::new(approver));
        self
    }

    /// Sets how long an [`Approver`], an input handler or an effect handler may take. There is no limit by default.
    /// When the limit is reached, a call that needs approval or input keeps waiting, like after
    /// [`Approval::Later`](crate::layers::middleware::Approval::Later), and an effect fails.
    #[must_use]
    pub fn approval_timeout(mut self, timeout: Duration) -> ToolboxBuilder {
        self.layers.callback_timeouts.people = Some(timeout);
        self
    }

    /// Sets the timeout of callbacks that do not wait for people: middleware, hooks and the store of
    /// [approvals](Self::approval_store). Default: 30 seconds. Middleware and hooks that take longer refuse the
    /// call.
    ///
    /// Only asynchronous callbacks can be interrupted. Functions that run on the thread of the call, such as
    /// those that receive events, updates and progress, delay the call until they return.
    #[must_use]
    pub fn callback_timeout(mut self, timeout: Duration) -> ToolboxBuilder {
        self.layers.callback_timeouts.callbacks = timeout;
        self
    }

    /// Sets the secret that seals calls that wait for approval or for input. It must have at least 32 random bytes,
    /// otherwise building the toolbox fails. The default is a random key that is never disclosed and that is dropped
    /// with this toolbox and those built from it, so a waiting call neither outlives the program nor moves to
    /// another. To allow both, also set an [`approval_store`](Self::approval_store).
    #[must_use]
    pub fn approval_key(mut self, secret: impl AsRef<[u8]>) -> ToolboxBuilder {
        self.layers.seals.set_key(secret.as_ref());
        self
    }

    /// Sets how long a call may wait for approval or for input before it can no longer be resumed:
    /// [`DEFAULT_APPROVAL_EXPIRY`](crate::layers::approval::DEFAULT_APPROVAL_EXPIRY) by default.
    #[must_use]
    pub fn approval_expiry(mut self, expiry: Duration) -> ToolboxBuilder {
        self.layers.seals.expiry = expiry;
        self
    }

    /// Sets the store of the calls that were already resumed, so that each call is resumed only once. The default
    /// is a store in memory, shared by this toolbox and those built from it. It replaces an
    /// [`approval_queue`](Self::approval_queue), which is also such a store.
    #[must_use]
    pub fn approval_store(mut self, approvals: Approvals) -> ToolboxBuilder {
        self.layers.seals.set_store(approvals);
        self
    }

    /// Sets the queue in which calls wait for an approval that is not given immediately. Any process can show these
    /// calls, decide about them, and run the decided ones with
    /// [`Toolbox::resume_decided`](crate::Toolbox::resume_decided). The queue is also the
    /// [`approval_store`](Self::approval_store). Set it, and the same [`approval_key`](Self::approval_key), on every
    /// toolbox that makes or resumes such calls; a queue in memory needs no key.
    ///
    /// If the queue cannot store a call, the call fails with `APPROVAL_NOT_QUEUED` and does not wait. A call that a
    /// tool or a sub-agent makes does not wait in the queue either: by the time it is approved, its caller has
    /// ended.
    #[must_use]
    pub fn approval_queue(mut self, approvals: Approvals) -> ToolboxBuilder {
        self.layers.seals.set_queue(approvals);
        self
    }
}

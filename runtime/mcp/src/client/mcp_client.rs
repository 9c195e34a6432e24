//! A client of one server: it starts the server when it is needed, and again when it has ended.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::spec::mcp;
use toolgen_kernel::spec::plan::{McpPlan, McpServer};

use super::breaker::Breaker;
use super::connection::{Failure, RequestTimeouts};
use super::credentials::Credentials;
use super::error;
use super::options::McpOptions;
use super::session::{CallOptions, Session};

/// How often a call is repeated because the server was gone before it was sent.
const MAX_ATTEMPTS: usize = 3;
/// How long an orderly end may take in total.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// A client of an MCP server, which all its tools share. Clones are the same client; when the last one is dropped, a
/// server that is a program ends, with everything that it has started.
///
/// The server is started by the first call, and again by the next call after it has ended. A server that fails often is
/// left alone for a minute. A call in flight is not repeated unless it was not sent yet, or its tool is declared to be
/// idempotent.
#[derive(Clone)]
pub struct McpClient(pub(super) Arc<Client>);

pub(super) struct Client {
    pub(super) server: Frozen<McpServer>,
    pub(super) options: Arc<McpOptions>,
    pub(super) timeouts: RequestTimeouts,
    /// The values of the variables that are credentials by their names, and the tokens that were sent.
    pub(super) credentials: Credentials,
    permits: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    attempt: Option<Attempt>,
    breaker: Breaker,
    /// The revision that the server spoke last.
    revision: String,
    closed: bool,
}

type Outcome = Option<Result<Arc<Session>, String>>;

/// A connection, or an attempt to make one, which all calls wait for and which is abandoned when dropped.
struct Attempt {
    outcome: watch::Receiver<Outcome>,
    task: AbortHandle,
    /// Whether its failure or its end has been counted.
    counted: bool,
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How the calls of a tool are made.
pub(super) struct CallPolicy {
    pub(super) how: CallOptions,
    /// Whether a call whose answer was lost may be made again.
    pub(super) idempotent: bool,
    pub(super) place: PermitSlot,
}

/// The place of a call among those made at the same time. A call that waits for input gives it up.
pub(super) type PermitSlot = Arc<Mutex<Option<OwnedSemaphorePermit>>>;

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient").field("server", &self.0.server.alias).finish_non_exhaustive()
    }
}

impl McpClient {
    /// Creates a client that connects when it is first used.
    #[must_use]
    pub fn new(server: impl Into<Frozen<McpServer>>, options: McpOptions) -> McpClient {
        let server = server.into();
        let cap = match server.concurrency {
            0 => options.concurrency,
            own => usize::try_from(own).unwrap_or(usize::MAX),
        };
        let patience = RequestTimeouts {
            idle: server.idle_timeout.unwrap_or(options.idle_timeout),
            total: server.call_timeout.unwrap_or(options.call_timeout),
        };
        McpClient(Arc::new(Client {
            credentials: Credentials::new(super::transport::credentials(&server.transport)),
            permits: Arc::new(Semaphore::new(cap.clamp(1, Semaphore::MAX_PERMITS))),
            server,
            options: Arc::new(options),
            timeouts: patience,
            state: Mutex::default(),
        }))
    }

    /// Connects to a server.
    ///
    /// # Errors
    ///
    /// Why there is no connection, and what to do about it.
    pub async fn connect(
        server: impl Into<Frozen<McpServer>>,
        options: McpOptions,
    ) -> Result<McpClient, ToolError> {
        let client = McpClient::new(server, options);
        client.0.session().await.map_err(|error| client.0.redacted(error))?;
        Ok(client)
    }

    /// Returns the descriptors of the tools, as the server gives them and in its order. Credentials of the server in
    /// them are hidden.
    ///
    /// # Errors
    ///
    /// Why there is no list.
    pub async fn list_tools(&self) -> Result<Vec<Value>, ToolError> {
        Ok(self.0.listed().await.map_err(|error| self.0.redacted(error))?.tools.clone())
    }

    /// Returns the tools that [`tools`](McpClient::tools) leaves out, each with the reason.
    ///
    /// # Errors
    ///
    /// Why there is no list.
    pub async fn left_out(&self) -> Result<Vec<mcp::RejectedDescriptor>, ToolError> {
        let listed = self.0.listed().await.map_err(|error| self.0.redacted(error))?;
        let refused = mcp::tools(&self.0.server, &listed.tools, false).into_iter().filter_map(Result::err);
        Ok(listed.left_out.iter().cloned().chain(refused).collect())
    }

    /// Returns what is odd about the list of tools itself, in words.
    ///
    /// # Errors
    ///
    /// Why there is no list.
    pub async fn remarks(&self) -> Result<Vec<String>, ToolError> {
        Ok(self.0.listed().await.map_err(|error| self.0.redacted(error))?.remarks.clone())
    }

    /// Calls a tool by the name the server knows it by, and returns the result as the server gives it. The arguments
    /// are not checked, and questions are not answered. If numbers in it are not as the server wrote them, such as
    /// `1.10`, its member `io.toolgen/written` is its text.
    ///
    /// # Errors
    ///
    /// Why there is no result. A tool that fails gives a result whose `isError` is true.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Value, ToolError> {
        let plan = McpPlan {
            server: self.0.server.clone(),
            tool: tool.to_owned().into(),
            descriptor: toolgen_kernel::base::frozen::Text::EMPTY,
        };
        let how = CallOptions { timeouts: self.0.timeouts, on_progress: None, asker: None };
        let manner = CallPolicy { how, idempotent: false, place: PermitSlot::default() };
        self.0.call(&plan, &arguments, &manner).await.map_err(|error| self.0.redacted(error))
    }

    /// Waits until the server says that its list of tools has changed, or the connection has ended: then the list has
    /// to be requested again. Locked tools do not need this.
    ///
    /// # Errors
    ///
    /// Why there is no connection.
    pub async fn changed(&self) -> Result<(), ToolError> {
        self.0.session().await.map_err(|error| self.0.redacted(error))?.changed().await;
        Ok(())
    }

    /// Returns the revision of the protocol that both sides speak, such as `2025-11-25`; `None` if there is no
    /// connection.
    #[must_use]
    pub fn revision(&self) -> Option<String> {
        self.0.current().map(|session| session.agreement.revision.clone())
    }

    /// Returns the name and the version of the server, as it gives them: not to be trusted. `None` if there is no
    /// connection.
    #[must_use]
    pub fn server_info(&self) -> Option<Value> {
        Some(self.redact(&self.0.current()?.agreement.info))
    }

    /// Returns what the server can do, as it says; `None` if there is no connection.
    #[must_use]
    pub fn capabilities(&self) -> Option<Value> {
        Some(self.redact(&self.0.current()?.agreement.capabilities))
    }

    /// Returns what a server said, without the credentials that it was given.
    fn redact(&self, text: &Value) -> Value {
        let mut text = text.clone();
        self.0.credentials.now().hide_in_value(&mut text);
        text
    }

    /// Returns how many messages of the connection fitted nothing: answers that came late, twice or unasked.
    #[must_use]
    pub fn ignored(&self) -> u64 {
        self.0.current().map_or(0, |session| session.ignored())
    }

    /// Ends the connection in an orderly way, for good: later calls fail.
    pub async fn close(&self) {
        let session = self.0.current();
        let attempt = {
            let mut state = unpoisoned(self.0.state.lock());
            state.closed = true;
            state.attempt.take()
        };
        drop(attempt);
        if let Some(session) = session {
            // A program that does not end is killed with the last handle of the session.
            let _ = timeout(CLOSE_TIMEOUT, session.close()).await;
        }
    }
}

impl Client {
    /// The connection, if there is one.
    fn current(&self) -> Option<Arc<Session>> {
        let state = unpoisoned(self.state.lock());
        let outcome = state.attempt.as_ref()?.outcome.borrow().clone();
        outcome?.ok().filter(|session| session.is_alive())
    }

    /// The connection, made if there is none.
    async fn session(&self) -> Result<Arc<Session>, ToolError> {
        let mut outcome = self.attempt()?;
        let made = match outcome.wait_for(Option::is_some).await {
            Ok(made) => made.clone(),
            Err(_) => None,
        };
        match made {
            Some(Ok(session)) => Ok(session),
            Some(Err(reason)) => Err(error::unreachable(&self.server, &reason)),
            None => Err(error::unreachable(&self.server, "the attempt to connect was given up")),
        }
    }

    /// Returns the connection or the attempt to make one: a new attempt if the last one failed or its connection ended.
    fn attempt(&self) -> Result<watch::Receiver<Outcome>, ToolError> {
        let mut state = unpoisoned(self.state.lock());
        let State { attempt, breaker, revision, closed } = &mut *state;
        if *closed {
            return Err(error::unreachable(&self.server, "the client was closed"));
        }
        let now = Instant::now();
        let mut last = None;
        if let Some(attempt) = attempt {
            let failed = match &*attempt.outcome.borrow() {
                Some(Ok(session)) if session.is_alive() => {
                    if !attempt.counted {
                        attempt.counted = true;
                        breaker.connected();
                        revision.clone_from(&session.agreement.revision);
                    }
                    None
                }
                Some(Ok(session)) => Some(session.ended()),
                Some(Err(reason)) => Some(reason.clone()),
                // Its task is gone with the runtime that it ran on.
                None if attempt.task.is_finished() => Some("the attempt to connect was given up".to_owned()),
                None => None,
            };
            match failed {
                None => return Ok(attempt.outcome.clone()),
                failed => last = failed,
            }
            breaker.failed(now);
        }
        let delay = breaker.attempt(now).map_err(|remaining| {
            *attempt = None;
            error::open(&self.server, last.as_deref().unwrap_or("it failed too often"), remaining)
        })?;
        let runtime =
            Handle::try_current().map_err(|reason| error::unreachable(&self.server, &reason.to_string()))?;
        let (tell, outcome) = watch::channel(None);
        let (server, options) = (self.server.clone(), Arc::clone(&self.options));
        let credentials = self.credentials.clone();
        let known = if revision.is_empty() { server.revision.to_string() } else { revision.clone() };
        let task = runtime.spawn(async move {
            sleep(delay).await;
            let session = Session::connect(&server, &options, &credentials, &known).await;
            // If nobody waits any more, the session is dropped and with it the server.
            drop(tell.send(Some(session.map(Arc::new))));
        });
        *attempt = Some(Attempt { outcome: outcome.clone(), task: task.abort_handle(), counted: false });
        Ok(outcome)
    }

    /// The tools of the server.
    pub(super) async fn listed(&self) -> Result<Arc<super::session::Listed>, ToolError> {
        let session = self.session().await?;
        session.tools().await.map_err(|reason| error::failure(&self.server, "tools/list", reason))
    }

    /// Hides the credentials of the server in an error: its last words, on standard error too, may hold them.
    pub(super) fn hide_in_error(&self, error: &mut ToolError) {
        let credentials = self.credentials.now();
        match error {
            ToolError::Failed { message, detail, .. } | ToolError::Denied { message, detail } => {
                credentials.hide_in_text(message);
                credentials.hide_in_text(detail);
            }
            ToolError::InvalidArgs { message, .. } => credentials.hide_in_text(message),
            _ => {}
        }
    }

    pub(super) fn redacted(&self, mut error: ToolError) -> ToolError {
        self.hide_in_error(&mut error);
        error
    }

    /// Calls a tool, if it still matches its lock.
    pub(super) async fn call(
        &self,
        plan: &McpPlan,
        arguments: &Map<String, Value>,
        manner: &CallPolicy,
    ) -> Result<Value, ToolError> {
        let total = self.timeouts.total;
        let whole = async {
            // Its holders are done within their time.
            *unpoisoned(manner.place.lock()) = Arc::clone(&self.permits).acquire_owned().await.ok();
            let outcome = self.call_now(plan, arguments, manner).await;
            drop(unpoisoned(manner.place.lock()).take());
            outcome
        };
        // A call is made again a few times at most, each within its time; and it may have to wait for others.
        let limit = total.saturating_mul(2);
        timeout(limit, whole).await.unwrap_or(Err(ToolError::Timeout { duration: limit }))
    }

    async fn call_now(
        &self,
        plan: &McpPlan,
        arguments: &Map<String, Value>,
        manner: &CallPolicy,
    ) -> Result<Value, ToolError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let session = self.session().await?;
            if !plan.descriptor.is_empty() {
                match session.tools().await {
                    Ok(listed) => super::lock_check::check_unchanged(plan, &listed)?,
                    Err(Failure::NotSent(_) | Failure::ConnectionLost(_))
                        if tries < MAX_ATTEMPTS && !session.is_alive() =>
                    {
                        continue;
                    }
                    Err(reason) => return Err(error::unverified(plan, reason)),
                }
            }
            match session.call(&plan.tool, arguments, &manner.how).await {
                Ok(response) => return Ok(response),
                Err(Failure::NotSent(_)) if tries < MAX_ATTEMPTS && !session.is_alive() => {}
                Err(Failure::ConnectionLost(_))
                    if tries < MAX_ATTEMPTS && manner.idempotent && !session.is_alive() => {}
                Err(reason) => return Err(error::failure(&self.server, &plan.tool, reason)),
            }
        }
    }
}

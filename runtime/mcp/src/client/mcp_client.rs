//! The client of one server: starts it on demand, and restarts it after it has ended.

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

/// Maximum number of attempts, the first included, if the server exits before a call is sent.
const MAX_ATTEMPTS: usize = 3;
/// Maximum total time of a graceful close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Client of an MCP server, shared by all its tools. Clones are the same client. When the last clone is dropped, a
/// server that is a child process is killed with everything that it has started.
///
/// The server is started by the first call, and restarted by the next call after it has ended. If a server fails
/// repeatedly, calls are rejected for one minute. A call in flight is retried only if it was not sent yet, or if its
/// tool is declared idempotent.
#[derive(Clone)]
pub struct McpClient(pub(super) Arc<Client>);

pub(super) struct Client {
    pub(super) server: Frozen<McpServer>,
    pub(super) options: Arc<McpOptions>,
    pub(super) timeouts: RequestTimeouts,
    /// Values of the variables whose names suggest credentials, and the tokens that were sent.
    pub(super) credentials: Credentials,
    permits: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    attempt: Option<Attempt>,
    breaker: Breaker,
    /// The protocol version of the last connection.
    version: String,
    is_closed: bool,
}

type Outcome = Option<Result<Arc<Session>, String>>;

/// A connection, or an attempt to connect that all calls wait for. It is abandoned when dropped.
struct Attempt {
    outcome: watch::Receiver<Outcome>,
    task: AbortHandle,
    /// Whether its failure or end has been counted.
    is_counted: bool,
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How calls of a tool are sent.
pub(super) struct CallPolicy {
    pub(super) options: CallOptions,
    /// Whether a call whose response was lost may be retried.
    pub(super) idempotent: bool,
    pub(super) permit: PermitSlot,
}

/// The concurrency permit of a call. A call that waits for input releases it.
pub(super) type PermitSlot = Arc<Mutex<Option<OwnedSemaphorePermit>>>;

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient").field("server", &self.0.server.alias).finish_non_exhaustive()
    }
}

impl McpClient {
    /// Creates a client that connects on first use.
    #[must_use]
    pub fn new(server: impl Into<Frozen<McpServer>>, options: McpOptions) -> McpClient {
        let server = server.into();
        let limit = match server.concurrency {
            0 => options.concurrency,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        };
        let timeouts = RequestTimeouts {
            idle: server.idle_timeout.unwrap_or(options.idle_timeout),
            total: server.call_timeout.unwrap_or(options.call_timeout),
        };
        McpClient(Arc::new(Client {
            credentials: Credentials::new(super::transport::credentials(&server.transport)),
            permits: Arc::new(Semaphore::new(limit.clamp(1, Semaphore::MAX_PERMITS))),
            server,
            options: Arc::new(options),
            timeouts,
            state: Mutex::default(),
        }))
    }

    /// Connects to a server.
    ///
    /// # Errors
    ///
    /// Returns the reason if the connection fails, and what to do.
    pub async fn connect(
        server: impl Into<Frozen<McpServer>>,
        options: McpOptions,
    ) -> Result<McpClient, ToolError> {
        let client = McpClient::new(server, options);
        client.0.session().await.map_err(|error| client.0.redacted(error))?;
        Ok(client)
    }

    /// Returns the tool descriptors, as the server sends them and in its order, with credentials of the server
    /// redacted.
    ///
    /// # Errors
    ///
    /// Returns an error if the list cannot be fetched.
    pub async fn list_tools(&self) -> Result<Vec<Value>, ToolError> {
        Ok(self.0.tool_list().await.map_err(|error| self.0.redacted(error))?.tools.clone())
    }

    /// Returns the tools that [`tools`](McpClient::tools) omits, each with the reason.
    ///
    /// # Errors
    ///
    /// Returns an error if the list cannot be fetched.
    pub async fn rejected_tools(&self) -> Result<Vec<mcp::RejectedDescriptor>, ToolError> {
        let tool_list = self.0.tool_list().await.map_err(|error| self.0.redacted(error))?;
        let rejected =
            mcp::tools(&self.0.server, &tool_list.tools, false).into_iter().filter_map(Result::err);
        Ok(tool_list.rejected.iter().cloned().chain(rejected).collect())
    }

    /// Returns remarks about irregularities of the tool list itself.
    ///
    /// # Errors
    ///
    /// Returns an error if the list cannot be fetched.
    pub async fn list_warnings(&self) -> Result<Vec<String>, ToolError> {
        Ok(self.0.tool_list().await.map_err(|error| self.0.redacted(error))?.remarks.clone())
    }

    /// Calls a tool by its name at the server, and returns the raw result. Arguments are not validated, and
    /// elicitations are not answered. If parsing changes numbers of the result, such as `1.10`, the member
    /// `io.toolgen/written` holds the result as it was written.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no result. A tool that fails returns a result whose `isError` is true.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Value, ToolError> {
        let plan = McpPlan {
            server: self.0.server.clone(),
            tool: tool.to_owned().into(),
            descriptor: toolgen_kernel::base::frozen::Text::EMPTY,
        };
        let options = CallOptions { timeouts: self.0.timeouts, on_progress: None, question_tx: None };
        let policy = CallPolicy { options, idempotent: false, permit: PermitSlot::default() };
        self.0.call(&plan, &arguments, &policy).await.map_err(|error| self.0.redacted(error))
    }

    /// Waits until the server reports a change of its tool list, or the connection has ended: then fetch the list
    /// again. Locked tools do not need this.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no connection.
    pub async fn changed(&self) -> Result<(), ToolError> {
        self.0.session().await.map_err(|error| self.0.redacted(error))?.changed().await;
        Ok(())
    }

    /// Returns the negotiated protocol version, such as `2025-11-25`; `None` without a connection.
    #[must_use]
    pub fn protocol_version(&self) -> Option<String> {
        self.0.current_session().map(|session| session.negotiated.version.clone())
    }

    /// Returns the name and version of the server, as reported by the server and thus untrusted. `None` without a
    /// connection.
    #[must_use]
    pub fn server_info(&self) -> Option<Value> {
        Some(self.redact(&self.0.current_session()?.negotiated.server_info))
    }

    /// Returns the capabilities that the server reports; `None` without a connection.
    #[must_use]
    pub fn capabilities(&self) -> Option<Value> {
        Some(self.redact(&self.0.current_session()?.negotiated.capabilities))
    }

    /// Redacts the server's credentials in a value from the server.
    fn redact(&self, value: &Value) -> Value {
        let mut value = value.clone();
        self.0.credentials.current().hide_in_value(&mut value);
        value
    }

    /// Returns the number of dropped messages of the connection: late, duplicate or unsolicited responses.
    #[must_use]
    pub fn dropped_messages(&self) -> u64 {
        self.0.current_session().map_or(0, |session| session.ignored())
    }

    /// Closes the connection gracefully and permanently: later calls fail.
    pub async fn close(&self) {
        let session = self.0.current_session();
        let attempt = {
            let mut state = unpoisoned(self.0.state.lock());
            state.is_closed = true;
            state.attempt.take()
        };
        drop(attempt);
        if let Some(session) = session {
            // A process that does not exit is killed with the last handle of the session.
            let _ = timeout(CLOSE_TIMEOUT, session.close()).await;
        }
    }
}

impl Client {
    /// Returns the connection, if there is one.
    fn current_session(&self) -> Option<Arc<Session>> {
        let state = unpoisoned(self.state.lock());
        let outcome = state.attempt.as_ref()?.outcome.borrow().clone();
        outcome?.ok().filter(|session| session.is_alive())
    }

    /// Returns the connection, and connects if there is none.
    async fn session(&self) -> Result<Arc<Session>, ToolError> {
        let mut outcome = self.current_attempt()?;
        let outcome = match outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone(),
            Err(_) => None,
        };
        match outcome {
            Some(Ok(session)) => Ok(session),
            Some(Err(reason)) => Err(error::unreachable(&self.server, &reason)),
            None => Err(error::unreachable(&self.server, "the attempt to connect was abandoned")),
        }
    }

    /// Returns the connection or the running attempt. Starts a new attempt if the last one failed or its connection
    /// ended.
    fn current_attempt(&self) -> Result<watch::Receiver<Outcome>, ToolError> {
        let mut state = unpoisoned(self.state.lock());
        let State { attempt, breaker, version, is_closed } = &mut *state;
        if *is_closed {
            return Err(error::unreachable(&self.server, "the client was closed"));
        }
        let now = Instant::now();
        let mut last_error = None;
        if let Some(attempt) = attempt {
            let end_reason = match &*attempt.outcome.borrow() {
                Some(Ok(session)) if session.is_alive() => {
                    if !attempt.is_counted {
                        attempt.is_counted = true;
                        breaker.connected();
                        version.clone_from(&session.negotiated.version);
                    }
                    None
                }
                Some(Ok(session)) => Some(session.end_reason()),
                Some(Err(reason)) => Some(reason.clone()),
                // The task ended with the Tokio runtime that it ran on.
                None if attempt.task.is_finished() => Some("the attempt to connect was abandoned".to_owned()),
                None => None,
            };
            match end_reason {
                None => return Ok(attempt.outcome.clone()),
                end_reason => last_error = end_reason,
            }
            breaker.failed(now);
        }
        let delay = breaker.attempt(now).map_err(|remaining| {
            *attempt = None;
            error::circuit_open(
                &self.server,
                last_error.as_deref().unwrap_or("it failed repeatedly"),
                remaining,
            )
        })?;
        let runtime =
            Handle::try_current().map_err(|reason| error::unreachable(&self.server, &reason.to_string()))?;
        let (outcome_tx, outcome) = watch::channel(None);
        let (server, options) = (self.server.clone(), Arc::clone(&self.options));
        let credentials = self.credentials.clone();
        let known_version = if version.is_empty() { server.revision.to_string() } else { version.clone() };
        let task = runtime.spawn(async move {
            sleep(delay).await;
            let session = Session::connect(&server, &options, &credentials, &known_version).await;
            // If no call waits for the outcome, the session is dropped, which stops the server.
            drop(outcome_tx.send(Some(session.map(Arc::new))));
        });
        *attempt = Some(Attempt { outcome: outcome.clone(), task: task.abort_handle(), is_counted: false });
        Ok(outcome)
    }

    /// Returns the tools of the server.
    pub(super) async fn tool_list(&self) -> Result<Arc<super::session::ToolList>, ToolError> {
        let session = self.session().await?;
        session.tools().await.map_err(|reason| error::failure(&self.server, "tools/list", reason))
    }

    /// Redacts the server's credentials in an error, which may include the end of its standard error.
    pub(super) fn redact_error(&self, error: &mut ToolError) {
        let credentials = self.credentials.current();
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
        self.redact_error(&mut error);
        error
    }

    /// Calls a tool, if it still matches its lock.
    pub(super) async fn call(
        &self,
        plan: &McpPlan,
        arguments: &Map<String, Value>,
        policy: &CallPolicy,
    ) -> Result<Value, ToolError> {
        let total = self.timeouts.total;
        let attempts = async {
            // Each permit is released within its holder's timeout.
            *unpoisoned(policy.permit.lock()) = Arc::clone(&self.permits).acquire_owned().await.ok();
            let outcome = self.call_with_retries(plan, arguments, policy).await;
            drop(unpoisoned(policy.permit.lock()).take());
            outcome
        };
        // Bounds the total time: each of the few attempts has its own timeout, and may wait for a permit.
        let limit = total.saturating_mul(2);
        timeout(limit, attempts).await.unwrap_or(Err(ToolError::Timeout { duration: limit }))
    }

    async fn call_with_retries(
        &self,
        plan: &McpPlan,
        arguments: &Map<String, Value>,
        policy: &CallPolicy,
    ) -> Result<Value, ToolError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let session = self.session().await?;
            if !plan.descriptor.is_empty() {
                match session.tools().await {
                    Ok(tool_list) => super::lock_check::check_unchanged(plan, &tool_list)?,
                    Err(Failure::NotSent(_) | Failure::ConnectionLost(_))
                        if attempts < MAX_ATTEMPTS && !session.is_alive() =>
                    {
                        continue;
                    }
                    Err(reason) => return Err(error::unverified(plan, reason)),
                }
            }
            match session.call(&plan.tool, arguments, &policy.options).await {
                Ok(response) => return Ok(response),
                Err(Failure::NotSent(_)) if attempts < MAX_ATTEMPTS && !session.is_alive() => {}
                Err(Failure::ConnectionLost(_))
                    if attempts < MAX_ATTEMPTS && policy.idempotent && !session.is_alive() => {}
                Err(reason) => return Err(error::failure(&self.server, &plan.tool, reason)),
            }
        }
    }
}

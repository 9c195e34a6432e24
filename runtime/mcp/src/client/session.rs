//! One connection to a server, from version negotiation to close.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};
use toolgen_kernel::base::printable::visible;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::base::truncate::cut;
use toolgen_kernel::spec::mcp::{RejectedDescriptor, canonical};
use toolgen_kernel::spec::plan::McpServer;

use super::connection::{Connection, Failure, Request, RequestTimeouts};
use super::credentials::{Credentials, hide_in_descriptor};
use super::inbox::{Inbox, OnProgress};
use super::negotiation::{LEGACY, Negotiated, NegotiationError, negotiate};
use super::options::McpOptions;
use super::server_requests::{QuestionSender, ServerRequestHandler, serve_requests};
use super::transport;

/// Maximum number of input rounds of one call.
const MAX_INPUT_ROUNDS: usize = 10;
/// The error code for missing or mismatching headers.
const HEADER_MISMATCH: i64 = -32020;
/// Maximum number of tools per server.
const MAX_TOOLS: usize = 10_000;
/// Maximum total size of all descriptors, as a multiple of the maximum message size.
const MAX_LIST_SIZE_FACTOR: usize = 4;
/// Minimum and maximum time for which a list is cached, if the server does not report changes.
const LIST_TTL_BOUNDS: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(86_400)];

/// Maximum length of a quotation in remarks, in characters.
const MAX_SHOWN: usize = 100;
/// Remark about a list that ends with an empty cursor.
const RESTART_REMARK: &str = "its list of tools ends with an empty `nextCursor`, which restarts the list; it should end \
                            without one";

/// A connection with a negotiated protocol version; it is closed when dropped.
pub(super) struct Session {
    pub(super) connection: Connection,
    pub(super) negotiated: Negotiated,
    handler: Arc<ServerRequestHandler>,
    options: Arc<McpOptions>,
    credentials: Credentials,
    /// The last fetched list. Every call of a locked tool reads it without waiting for other calls.
    list: Mutex<Option<Arc<ToolList>>>,
    /// Held while the list is fetched or discarded.
    list_lock: tokio::sync::Mutex<()>,
    /// Whether the server reports changes of its list.
    notifies_changes: Arc<Mutex<bool>>,
    _tasks: Tasks,
}

/// The tools of a server, as the server describes them.
pub(super) struct ToolList {
    /// The descriptors, in the server's order.
    pub(super) tools: Vec<Value>,
    /// Tools that cannot be called over this transport.
    pub(super) rejected: Vec<RejectedDescriptor>,
    /// Remarks about irregularities of the list itself.
    pub(super) remarks: Vec<String>,
    /// Descriptors as canonical JSON, by tool name. Empty for a duplicate name.
    by_name: BTreeMap<String, String>,
    /// Number of reported list changes when the list was fetched.
    changes: u64,
    /// When the list expires, if the server does not report changes.
    expires_at: Instant,
}

impl ToolList {
    /// Returns the descriptor of a tool as canonical JSON; `None` if there is no such tool.
    pub(super) fn descriptor(&self, tool: &str) -> Option<&str> {
        self.by_name.get(tool).map(String::as_str)
    }
}

/// Tasks that are aborted when this is dropped.
#[derive(Default)]
struct Tasks(Vec<AbortHandle>);

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

/// Options of one call.
pub(super) struct CallOptions {
    pub(super) timeouts: RequestTimeouts,
    /// Callback for progress.
    pub(super) on_progress: Option<OnProgress>,
    /// Sender for the call's elicitations.
    pub(super) question_tx: Option<QuestionSender>,
}

impl Session {
    /// Connects to a server. `known_version` is the protocol version of an earlier connection, or empty.
    ///
    /// # Errors
    ///
    /// Returns the reason if the connection fails.
    pub(super) async fn connect(
        server: &McpServer,
        options: &Arc<McpOptions>,
        credentials: &Credentials,
        known_version: &str,
    ) -> Result<Session, String> {
        let connected = match Session::try_connect(server, options, credentials, known_version).await {
            Err(NegotiationError { ended_at_probe: true, .. }) => {
                Session::try_connect(server, options, credentials, LEGACY[0]).await
            }
            connected => connected,
        };
        connected.map_err(|error| error.message)
    }

    async fn try_connect(
        server: &McpServer,
        options: &Arc<McpOptions>,
        credentials: &Credentials,
        known_version: &str,
    ) -> Result<Session, NegotiationError> {
        let (inbox, server_messages) = Inbox::new();
        let started = Instant::now();
        let transport = transport::start(server, options, credentials, inbox.clone())?;
        let handler = ServerRequestHandler::new(server, Arc::clone(options), credentials.clone());
        let handler = Arc::new(handler);
        let request_loop =
            serve_requests(Arc::downgrade(&transport), server_messages, Arc::clone(&handler), inbox.clone());
        let mut tasks = Tasks(vec![tokio::spawn(request_loop).abort_handle()]);
        let connection = Connection { transport, inbox };
        let remaining = options.connect_timeout.saturating_sub(started.elapsed());
        let negotiated =
            negotiate(&connection, known_version, &server.capabilities, (options.probe_timeout, remaining))
                .await?;
        let notifies = negotiated.capabilities["tools"]["listChanged"] == true;
        let notifies_changes = Arc::new(Mutex::new(notifies && !negotiated.is_modern()));
        if notifies && negotiated.is_modern() {
            tasks.0.push(subscribe(&connection, &negotiated, &notifies_changes));
        }
        let (options, credentials) = (Arc::clone(options), credentials.clone());
        let (list, list_lock) = Default::default();
        Ok(Session {
            connection,
            negotiated,
            handler,
            options,
            credentials,
            list,
            list_lock,
            notifies_changes,
            _tasks: tasks,
        })
    }

    /// Whether the connection has not ended.
    pub(super) fn is_alive(&self) -> bool {
        self.connection.inbox.end_reason().is_none()
    }

    /// Waits until the list of tools has changed, or the connection has ended.
    pub(super) async fn changed(&self) {
        self.connection.inbox.changed().await;
    }

    /// Returns why the connection has ended.
    pub(super) fn end_reason(&self) -> String {
        self.connection.inbox.end_reason().unwrap_or_default()
    }

    /// Returns the number of dropped messages of the server.
    pub(super) fn ignored(&self) -> u64 {
        self.connection.inbox.ignored()
    }

    /// Closes the connection gracefully.
    pub(super) async fn close(&self) {
        self.connection.transport.close().await;
        self.connection.inbox.close("the connection was closed");
    }

    /// Returns the tools of the server, and fetches them if they may have changed.
    ///
    /// # Errors
    ///
    /// Returns the reason if there is no complete list.
    pub(super) async fn tools(&self) -> Result<Arc<ToolList>, Failure> {
        if let Some(cached) = self.cached_list() {
            return Ok(cached);
        }
        let _guard = self.list_lock.lock().await;
        // Another call may have fetched the list in the meantime.
        if let Some(cached) = self.cached_list() {
            return Ok(cached);
        }
        // The cached list is outdated, even if fetching a new one fails.
        *unpoisoned(self.list.lock()) = None;
        let list = Arc::new(self.fetch_list(self.connection.inbox.changes()).await?);
        *unpoisoned(self.list.lock()) = Some(Arc::clone(&list));
        Ok(list)
    }

    /// Returns the cached list if it cannot have changed.
    fn cached_list(&self) -> Option<Arc<ToolList>> {
        let cached = unpoisoned(self.list.lock()).clone()?;
        let is_current = cached.changes == self.connection.inbox.changes()
            && (Instant::now() < cached.expires_at
                || (*unpoisoned(self.notifies_changes.lock())
                    && self.connection.transport.receives_server_messages()));
        is_current.then_some(cached)
    }

    async fn fetch_list(&self, changes: u64) -> Result<ToolList, Failure> {
        let deadline = Instant::now() + self.options.connect_timeout;
        let (mut tools, mut rejected, mut cursors, mut ttl) =
            (Vec::new(), Vec::new(), HashSet::new(), Duration::MAX);
        let (mut cursor, mut by_name, mut size, mut remarks) = (None, BTreeMap::new(), 0, Vec::new());
        let max_size = self.options.max_message.saturating_mul(MAX_LIST_SIZE_FACTOR);
        for _ in 0..self.options.max_pages.max(1) {
            let remaining = deadline.saturating_duration_since(Instant::now());
            let mut request = Request::new("tools/list", RequestTimeouts::of(remaining));
            if let Some(cursor) = cursor.take() {
                request.params.insert("cursor".to_owned(), Value::String(cursor));
            }
            self.negotiated.add_metadata(&mut request);
            let mut page = self.connection.request(request).await?;
            let Value::Array(mut page_tools) = page["tools"].take() else {
                return Err(protocol_violation("its response to `tools/list` has no array `tools`"));
            };
            page_tools.retain(|tool| {
                let headers = self.connection.transport.argument_headers(&tool["inputSchema"], &Value::Null);
                headers.map_err(|error| rejected.push(rejected_descriptor(tool, error))).is_ok()
            });
            let next = page["nextCursor"].take();
            let is_listed = |tool: &Value| by_name.contains_key(tool["name"].as_str().unwrap_or_default());
            // Many servers end the list with an empty cursor, and start from the beginning if it is requested.
            let restarts = next == "" && cursors.contains("") && page_tools.iter().all(is_listed);
            if restarts {
                page_tools.clear();
                remarks.push(RESTART_REMARK.to_owned());
            }
            let credentials = self.credentials.current();
            page_tools.retain_mut(|tool| {
                let mut text = canonical(tool);
                if credentials.replace(&text).is_some() {
                    hide_in_descriptor(&credentials, tool);
                    text = canonical(tool);
                }
                size += text.len();
                match by_name.entry(tool["name"].as_str().unwrap_or_default().to_owned()) {
                    Entry::Vacant(entry) => drop(entry.insert(text)),
                    // Some servers list a tool on two pages.
                    Entry::Occupied(descriptor) if *descriptor.get() == text => return false,
                    Entry::Occupied(mut descriptor) => descriptor.get_mut().clear(),
                }
                true
            });
            if size > max_size {
                return Err(protocol_violation(format!("its list of tools has more than {max_size} bytes")));
            }
            tools.extend(page_tools);
            ttl = ttl.min(Duration::from_millis(page["ttlMs"].as_u64().unwrap_or_default()));
            if tools.len() > MAX_TOOLS {
                return Err(protocol_violation(format!("it lists more than {MAX_TOOLS} tools")));
            }
            match next {
                Value::String(next) if !restarts && !cursors.insert(next.clone()) => {
                    return Err(protocol_violation(
                        "its list of tools repeats: the same `nextCursor` was sent twice",
                    ));
                }
                Value::String(next) if !restarts => cursor = Some(next),
                Value::String(_) | Value::Null => {
                    let expires_at = Instant::now() + ttl.clamp(LIST_TTL_BOUNDS[0], LIST_TTL_BOUNDS[1]);
                    return Ok(ToolList { tools, rejected, remarks, by_name, changes, expires_at });
                }
                other => {
                    let other = cut(&visible(&other.to_string()), MAX_SHOWN);
                    return Err(protocol_violation(format!(
                        "its list of tools is incomplete: `nextCursor` is {other}, and not a string"
                    )));
                }
            }
        }
        let pages = self.options.max_pages;
        Err(protocol_violation(format!("its list of tools has more than {pages} pages")))
    }

    /// Calls a tool, and provides the input that it requests before it returns a result.
    ///
    /// # Errors
    ///
    /// Returns the reason if there is no result.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        options: &CallOptions,
    ) -> Result<Value, Failure> {
        let _registration =
            options.question_tx.clone().map(|question_tx| self.handler.register_call(question_tx));
        let mut headers = self.headers(tool, arguments).await?;
        let (mut input_params, mut is_corrected) = (Map::new(), false);
        for _ in 0..MAX_INPUT_ROUNDS {
            let mut request = Request::new("tools/call", options.timeouts);
            request.params.clone_from(&input_params);
            request.params.insert("name".to_owned(), Value::from(tool));
            request.params.insert("arguments".to_owned(), Value::Object(arguments.clone()));
            request.name = Some(tool.to_owned());
            request.headers.clone_from(&headers);
            request.on_progress = Some(options.on_progress.clone().unwrap_or_else(|| Arc::new(|_| {})));
            self.negotiated.add_metadata(&mut request);
            if self.options.propagates_trace {
                super::trace::add_trace_context(&mut request, &self.options.propagated_meta);
            }
            let mut result = match self.connection.request(request).await {
                Err(Failure::Refused { code: HEADER_MISMATCH, .. }) if !is_corrected => {
                    // The tool requires other headers than when it was listed.
                    is_corrected = true;
                    let guard = self.list_lock.lock().await;
                    *unpoisoned(self.list.lock()) = None;
                    drop(guard);
                    headers = self.headers(tool, arguments).await?;
                    continue;
                }
                result => result?,
            };
            match result["resultType"].as_str() {
                None | Some("complete") => return Ok(result),
                Some("input_required") => {
                    let responses = self.provide_inputs(result["inputRequests"].take(), options).await?;
                    input_params.clear();
                    input_params.insert("inputResponses".to_owned(), Value::Object(responses));
                    if let state @ Value::String(_) = result["requestState"].take() {
                        input_params.insert("requestState".to_owned(), state);
                    }
                }
                Some("task") => return self.await_task(result, options).await,
                Some(other) => {
                    return Err(protocol_violation(format!("its result has the unexpected type `{other}`")));
                }
            }
        }
        Err(protocol_violation(format!("it asked for input more than {MAX_INPUT_ROUNDS} times")))
    }

    /// Returns the headers that repeat arguments, if the tool requires them.
    async fn headers(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Vec<(String, String)>, Failure> {
        let transport = &self.connection.transport;
        if !transport.sends_argument_headers() {
            return Ok(Vec::new());
        }
        let tool_list = self.tools().await?;
        let Some(descriptor) = tool_list.tools.iter().find(|descriptor| descriptor["name"] == tool) else {
            return Ok(Vec::new());
        };
        transport
            .argument_headers(&descriptor["inputSchema"], &Value::Object(arguments.clone()))
            .map_err(protocol_violation)
    }

    /// Provides the input that an incomplete result requests.
    pub(super) async fn provide_inputs(
        &self,
        requests: Value,
        options: &CallOptions,
    ) -> Result<Map<String, Value>, Failure> {
        let mut responses = Map::new();
        let Value::Object(requests) = requests else { return Ok(responses) };
        for (key, mut request) in requests {
            let method = request["method"].as_str().unwrap_or_default().to_owned();
            let params = request.get_mut("params").map(Value::take).unwrap_or_default();
            let response = timeout(
                self.options.call_timeout,
                self.handler.handle_request(&method, params, options.question_tx.as_ref()),
            );
            let rejection =
                |(_, reason)| protocol_violation(format!("it needs a response to `{method}`: {reason}"));
            let timed_out = |_| Failure::TotalTimeout(self.options.call_timeout, String::new());
            responses.insert(key, response.await.map_err(timed_out)?.map_err(rejection)?);
        }
        Ok(responses)
    }
}

/// Returns the failure for a server that violates the protocol or the limits of this client.
pub(super) fn protocol_violation(message: impl Into<String>) -> Failure {
    Failure::Refused { code: 0, message: message.into(), data: Value::Null }
}

/// Returns the reason why a tool is omitted if its arguments cannot be repeated in headers.
fn rejected_descriptor(tool: &Value, message: String) -> RejectedDescriptor {
    let tool = tool["name"].as_str().unwrap_or_default().to_owned();
    RejectedDescriptor {
        tool,
        pointer: "/inputSchema",
        message,
        help: "ask the authors of the server to correct it",
    }
}

/// Subscribes to changes of the tool list while the connection lasts.
fn subscribe(
    connection: &Connection,
    negotiated: &Negotiated,
    notifies_changes: &Arc<Mutex<bool>>,
) -> AbortHandle {
    let mut request = Request::new("subscriptions/listen", RequestTimeouts::UNLIMITED);
    request.params.insert("notifications".to_owned(), json!({ "toolsListChanged": true }));
    negotiated.add_metadata(&mut request);
    let (notifies_changes, inbox) = (Arc::clone(notifies_changes), connection.inbox.clone());
    // The connection ends when this task is its only owner.
    let transport = Arc::downgrade(&connection.transport);
    let subscription = async move {
        let Ok(mut ticket) = inbox.register(None) else { return };
        let Some(transport) = transport.upgrade() else { return };
        let result = transport.send(request.message(ticket.id)).await;
        drop(transport);
        if result.is_ok() {
            *unpoisoned(notifies_changes.lock()) = true;
            // The response ends the subscription.
            drop((&mut ticket.reply).await);
            *unpoisoned(notifies_changes.lock()) = false;
        }
    };
    tokio::spawn(subscription).abort_handle()
}

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
use super::inbox::{Inbox, OnNotice};
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
const SHOWN: usize = 100;
/// Remark about a list that ends with an empty cursor.
const BEGINS_AGAIN: &str = "its list of tools ends with an empty `nextCursor`, which restarts the list; it should end \
                            without one";

/// A connection with a negotiated protocol version; it is closed when dropped.
pub(super) struct Session {
    pub(super) link: Connection,
    pub(super) agreement: Negotiated,
    desk: Arc<ServerRequestHandler>,
    options: Arc<McpOptions>,
    credentials: Credentials,
    /// The list that was fetched last. Every call of a locked tool reads it without waiting for other calls.
    list: Mutex<Option<Arc<Listed>>>,
    /// Held while the list is fetched or discarded.
    listing: tokio::sync::Mutex<()>,
    /// Whether the server reports changes of its list.
    notifies_changes: Arc<Mutex<bool>>,
    _tasks: Tasks,
}

/// The tools of a server, as the server describes them.
pub(super) struct Listed {
    /// The descriptors, in the server's order.
    pub(super) tools: Vec<Value>,
    /// Tools that cannot be called over this transport.
    pub(super) left_out: Vec<RejectedDescriptor>,
    /// Remarks about irregularities of the list itself.
    pub(super) remarks: Vec<String>,
    /// Descriptors as canonical JSON, by tool name. Empty for a duplicate name.
    by_name: BTreeMap<String, String>,
    /// Number of reported list changes when the list was fetched.
    changes: u64,
    /// When the list expires, if the server does not report changes.
    stale: Instant,
}

impl Listed {
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
    pub(super) on_progress: Option<OnNotice>,
    /// Receiver of the call's elicitations.
    pub(super) asker: Option<QuestionSender>,
}

impl Session {
    /// Connects to a server. `known` is the protocol version of an earlier connection, or empty.
    ///
    /// # Errors
    ///
    /// Returns the reason if the connection fails.
    pub(super) async fn connect(
        server: &McpServer,
        options: &Arc<McpOptions>,
        credentials: &Credentials,
        known: &str,
    ) -> Result<Session, String> {
        let connected = match Session::connect_as(server, options, credentials, known).await {
            Err(NegotiationError { at_probe: true, .. }) => {
                Session::connect_as(server, options, credentials, LEGACY[0]).await
            }
            connected => connected,
        };
        connected.map_err(|NegotiationError { message: reason, .. }| reason)
    }

    async fn connect_as(
        server: &McpServer,
        options: &Arc<McpOptions>,
        credentials: &Credentials,
        known: &str,
    ) -> Result<Session, NegotiationError> {
        let (inbox, text) = Inbox::new();
        let started = Instant::now();
        let transport = transport::start(server, options, credentials, inbox.clone())?;
        let desk = ServerRequestHandler::new(server, Arc::clone(options), credentials.clone());
        let desk = Arc::new(desk);
        let attending = serve_requests(Arc::downgrade(&transport), text, Arc::clone(&desk), inbox.clone());
        let mut tasks = Tasks(vec![tokio::spawn(attending).abort_handle()]);
        let link = Connection { transport, inbox };
        let remaining = options.connect_timeout.saturating_sub(started.elapsed());
        let agreement =
            negotiate(&link, known, &server.capabilities, (options.probe_timeout, remaining)).await?;
        let tells = agreement.capabilities["tools"]["listChanged"] == true;
        let notifies_changes = Arc::new(Mutex::new(tells && !agreement.is_modern()));
        if tells && agreement.is_modern() {
            tasks.0.push(subscribe(&link, &agreement, &notifies_changes));
        }
        let (options, credentials) = (Arc::clone(options), credentials.clone());
        let (list, listing) = Default::default();
        Ok(Session {
            link,
            agreement,
            desk,
            options,
            credentials,
            list,
            listing,
            notifies_changes,
            _tasks: tasks,
        })
    }

    /// Whether the connection can still answer requests.
    pub(super) fn is_alive(&self) -> bool {
        self.link.inbox.ended().is_none()
    }

    /// Waits until the list of tools has changed, or the connection has ended.
    pub(super) async fn changed(&self) {
        self.link.inbox.changed().await;
    }

    /// Returns why the connection has ended.
    pub(super) fn ended(&self) -> String {
        self.link.inbox.ended().unwrap_or_default()
    }

    /// Returns the number of dropped messages of the server.
    pub(super) fn ignored(&self) -> u64 {
        self.link.inbox.ignored()
    }

    /// Closes the connection gracefully.
    pub(super) async fn close(&self) {
        self.link.transport.close().await;
        self.link.inbox.closed("the connection was closed");
    }

    /// Returns the tools of the server, and fetches them if they may have changed.
    ///
    /// # Errors
    ///
    /// Returns the reason if there is no complete list.
    pub(super) async fn tools(&self) -> Result<Arc<Listed>, Failure> {
        if let Some(known) = self.cached_list() {
            return Ok(known);
        }
        let _listing = self.listing.lock().await;
        // Another call may have fetched the list in the meantime.
        if let Some(known) = self.cached_list() {
            return Ok(known);
        }
        // The cached list is outdated, even if fetching a new one fails.
        *unpoisoned(self.list.lock()) = None;
        let fresh = Arc::new(self.read_list(self.link.inbox.changes()).await?);
        *unpoisoned(self.list.lock()) = Some(Arc::clone(&fresh));
        Ok(fresh)
    }

    /// Returns the cached list if it cannot have changed.
    fn cached_list(&self) -> Option<Arc<Listed>> {
        let known = unpoisoned(self.list.lock()).clone()?;
        let current = known.changes == self.link.inbox.changes()
            && (Instant::now() < known.stale
                || (*unpoisoned(self.notifies_changes.lock()) && self.link.transport.hears()));
        current.then_some(known)
    }

    async fn read_list(&self, changes: u64) -> Result<Listed, Failure> {
        let ends = Instant::now() + self.options.connect_timeout;
        let (mut tools, mut left_out, mut seen, mut ttl) =
            (Vec::new(), Vec::new(), HashSet::new(), Duration::MAX);
        let (mut cursor, mut by_name, mut size, mut remarks) = (None, BTreeMap::new(), 0, Vec::new());
        let largest = self.options.max_message.saturating_mul(MAX_LIST_SIZE_FACTOR);
        for _ in 0..self.options.max_pages.max(1) {
            let remaining = ends.saturating_duration_since(Instant::now());
            let mut request = Request::new("tools/list", RequestTimeouts::of(remaining));
            if let Some(cursor) = cursor.take() {
                request.params.insert("cursor".to_owned(), Value::String(cursor));
            }
            self.agreement.add_metadata(&mut request);
            let mut page = self.link.request(request).await?;
            let Value::Array(mut found) = page["tools"].take() else {
                return Err(protocol_violation("its response to `tools/list` has no array `tools`"));
            };
            found.retain(|tool| {
                let repeated = self.link.transport.repeated(&tool["inputSchema"], &Value::Null);
                repeated.map_err(|error| left_out.push(not_repeated(tool, error))).is_ok()
            });
            let next = page["nextCursor"].take();
            let knows = |tool: &Value| by_name.contains_key(tool["name"].as_str().unwrap_or_default());
            // Many servers end the list with an empty cursor, and start from the beginning if it is requested.
            let begins_again = next == "" && seen.contains("") && found.iter().all(knows);
            if begins_again {
                found.clear();
                remarks.push(BEGINS_AGAIN.to_owned());
            }
            let credentials = self.credentials.now();
            found.retain_mut(|tool| {
                let mut text = canonical(tool);
                if credentials.replace(&text).is_some() {
                    hide_in_descriptor(&credentials, tool);
                    text = canonical(tool);
                }
                size += text.len();
                match by_name.entry(tool["name"].as_str().unwrap_or_default().to_owned()) {
                    Entry::Vacant(entry) => drop(entry.insert(text)),
                    // Some servers list a tool on two pages.
                    Entry::Occupied(known) if *known.get() == text => return false,
                    Entry::Occupied(mut known) => known.get_mut().clear(),
                }
                true
            });
            if size > largest {
                return Err(protocol_violation(format!("its list of tools has more than {largest} bytes")));
            }
            tools.extend(found);
            ttl = ttl.min(Duration::from_millis(page["ttlMs"].as_u64().unwrap_or_default()));
            if tools.len() > MAX_TOOLS {
                return Err(protocol_violation(format!("it lists more than {MAX_TOOLS} tools")));
            }
            match next {
                Value::String(next) if !begins_again && !seen.insert(next.clone()) => {
                    return Err(protocol_violation(
                        "its list of tools repeats: the same `nextCursor` was sent twice",
                    ));
                }
                Value::String(next) if !begins_again => cursor = Some(next),
                Value::String(_) | Value::Null => {
                    let stale = Instant::now() + ttl.clamp(LIST_TTL_BOUNDS[0], LIST_TTL_BOUNDS[1]);
                    return Ok(Listed { tools, left_out, remarks, by_name, changes, stale });
                }
                other => {
                    let other = cut(&visible(&other.to_string()), SHOWN);
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
        how: &CallOptions,
    ) -> Result<Value, Failure> {
        let _open = how.asker.clone().map(|asker| self.desk.open(asker));
        let mut headers = self.headers(tool, arguments).await?;
        let (mut more, mut corrected) = (Map::new(), false);
        for _ in 0..MAX_INPUT_ROUNDS {
            let mut request = Request::new("tools/call", how.timeouts);
            request.params.clone_from(&more);
            request.params.insert("name".to_owned(), Value::from(tool));
            request.params.insert("arguments".to_owned(), Value::Object(arguments.clone()));
            request.name = Some(tool.to_owned());
            request.headers.clone_from(&headers);
            request.on_progress = Some(how.on_progress.clone().unwrap_or_else(|| Arc::new(|_| {})));
            self.agreement.add_metadata(&mut request);
            if self.options.passes_on {
                super::trace::pass_trace_on(&mut request, &self.options.also_passed);
            }
            let mut result = match self.link.request(request).await {
                Err(Failure::Refused { code: HEADER_MISMATCH, .. }) if !corrected => {
                    // The tool requires other headers than when it was listed.
                    corrected = true;
                    let listing = self.listing.lock().await;
                    *unpoisoned(self.list.lock()) = None;
                    drop(listing);
                    headers = self.headers(tool, arguments).await?;
                    continue;
                }
                result => result?,
            };
            match result["resultType"].as_str() {
                None | Some("complete") => return Ok(result),
                Some("input_required") => {
                    let responses = self.inputs(result["inputRequests"].take(), how).await?;
                    more.clear();
                    more.insert("inputResponses".to_owned(), Value::Object(responses));
                    if let state @ Value::String(_) = result["requestState"].take() {
                        more.insert("requestState".to_owned(), state);
                    }
                }
                Some("task") => return self.finish(result, how).await,
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
        let transport = &self.link.transport;
        if !transport.repeats() {
            return Ok(Vec::new());
        }
        let listed = self.tools().await?;
        let Some(found) = listed.tools.iter().find(|known| known["name"] == tool) else {
            return Ok(Vec::new());
        };
        transport
            .repeated(&found["inputSchema"], &Value::Object(arguments.clone()))
            .map_err(protocol_violation)
    }

    /// Provides the input that an incomplete result requests.
    pub(super) async fn inputs(
        &self,
        requests: Value,
        how: &CallOptions,
    ) -> Result<Map<String, Value>, Failure> {
        let mut responses = Map::new();
        let Value::Object(requests) = requests else { return Ok(responses) };
        for (key, mut request) in requests {
            let method = request["method"].as_str().unwrap_or_default().to_owned();
            let params = request.get_mut("params").map(Value::take).unwrap_or_default();
            let response = timeout(
                self.options.call_timeout,
                self.desk.handle_request(&method, params, how.asker.as_ref()),
            );
            let refused =
                |(_, reason)| protocol_violation(format!("it needs a response to `{method}`: {reason}"));
            let late = |_| Failure::Late(self.options.call_timeout, String::new());
            responses.insert(key, response.await.map_err(late)?.map_err(refused)?);
        }
        Ok(responses)
    }
}

/// Returns the failure for a server that violates the protocol or the limits of this client.
pub(super) fn protocol_violation(message: impl Into<String>) -> Failure {
    Failure::Refused { code: 0, message: message.into(), data: Value::Null }
}

/// Returns the reason why a tool is omitted if its arguments cannot be repeated in headers.
fn not_repeated(tool: &Value, message: String) -> RejectedDescriptor {
    let tool = tool["name"].as_str().unwrap_or_default().to_owned();
    RejectedDescriptor {
        tool,
        pointer: "/inputSchema",
        message,
        help: "ask the authors of the server to correct it",
    }
}

/// Subscribes to changes of the tool list while the connection lasts.
fn subscribe(link: &Connection, agreement: &Negotiated, notifies_changes: &Arc<Mutex<bool>>) -> AbortHandle {
    let mut request = Request::new("subscriptions/listen", RequestTimeouts::ENDLESS);
    request.params.insert("notifications".to_owned(), json!({ "toolsListChanged": true }));
    agreement.add_metadata(&mut request);
    let (reported, inbox) = (Arc::clone(notifies_changes), link.inbox.clone());
    // The connection ends when this task is its only owner.
    let transport = Arc::downgrade(&link.transport);
    let listening = async move {
        let Ok(mut ticket) = inbox.expect(None) else { return };
        let Some(transport) = transport.upgrade() else { return };
        let sent = transport.send(request.message(ticket.id)).await;
        drop(transport);
        if sent.is_ok() {
            *unpoisoned(reported.lock()) = true;
            // The response ends the subscription.
            drop((&mut ticket.reply).await);
            *unpoisoned(reported.lock()) = false;
        }
    };
    tokio::spawn(listening).abort_handle()
}

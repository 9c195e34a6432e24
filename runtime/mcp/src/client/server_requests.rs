//! Handles requests that a server sends to this client: `ping`, `roots/list`, `sampling/createMessage` and
//! `elicitation/create`.
//!
//! A request is rejected unless the client declared its capability. Concurrent requests are limited; requests beyond
//! the limit are rejected, and a server that does not read the rejections gets no further responses.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use toolgen_kernel::base::frozen::{List, Text};
use toolgen_kernel::base::future::catch_panic_async;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::control::InputRequest;
use toolgen_kernel::spec::plan::McpServer;

use super::connection::{Message, Transport};
use super::credentials::Credentials;
use super::inbox::{Inbox, ServerMessage};
use super::options::{McpOptions, McpServerRequest};

/// Maximum number of concurrent requests of a server.
const MAX_CONCURRENT_REQUESTS: usize = 16;
/// Maximum number of pending rejections. A server that does not read them gets no further responses.
const MAX_PENDING_REFUSALS: usize = 64;

/// The JSON-RPC code of an unknown method.
const METHOD_NOT_FOUND: i64 = -32601;
/// The code of a request that this client supports, but declines.
const REQUEST_DECLINED: i64 = -1;

/// The channel for the elicitations of a call.
pub(super) type QuestionSender = mpsc::Sender<Question>;

/// An elicitation of a server, sent to the caller. Dropping it cancels the elicitation.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) request: InputRequest,
    pub(super) reply_to: oneshot::Sender<Value>,
}

/// Answers the requests of a server.
pub(super) struct ServerRequestHandler {
    server: Text,
    /// The capabilities that the server may use.
    capabilities: List<Text>,
    options: Arc<McpOptions>,
    credentials: Credentials,
    /// The calls in flight that accept elicitations.
    calls: Mutex<BTreeMap<u64, QuestionSender>>,
    next_number: AtomicU64,
}

/// A call in flight. Dropping it ends the acceptance of elicitations.
pub(super) struct ActiveCall<'d> {
    handler: &'d ServerRequestHandler,
    number: u64,
}

impl Drop for ActiveCall<'_> {
    fn drop(&mut self) {
        unpoisoned(self.handler.calls.lock()).remove(&self.number);
    }
}

/// Rejection of a server's request: code and message.
pub(super) type Rejection = (i64, String);

impl ServerRequestHandler {
    pub(super) fn new(
        server: &McpServer,
        options: Arc<McpOptions>,
        credentials: Credentials,
    ) -> ServerRequestHandler {
        let (server, capabilities) = (server.alias.clone(), server.capabilities.clone());
        let (calls, next_number) = Default::default();
        ServerRequestHandler { server, capabilities, options, credentials, calls, next_number }
    }

    /// Registers a call in flight that accepts elicitations.
    pub(super) fn register_call(&self, question_tx: QuestionSender) -> ActiveCall<'_> {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        unpoisoned(self.calls.lock()).insert(number, question_tx);
        ActiveCall { handler: self, number }
    }

    /// Handles a request. An elicitation is sent to `question_tx`, the call that it belongs to, or to the only call in
    /// flight.
    ///
    /// # Errors
    ///
    /// Returns the code and the message for the server if the request is rejected.
    pub(super) async fn handle_request(
        &self,
        method: &str,
        mut params: Value,
        question_tx: Option<&QuestionSender>,
    ) -> Result<Value, Rejection> {
        let (capability, handler) = match method {
            "ping" => return Ok(json!({})),
            "roots/list" => ("roots", &self.options.roots),
            "sampling/createMessage" => ("sampling", &self.options.sampling),
            "elicitation/create" => ("elicitation", &self.options.elicitation),
            _ => return Err((METHOD_NOT_FOUND, format!("this client has no method `{method}`"))),
        };
        if !self.capabilities.iter().any(|name| *name == capability) {
            return Err((
                METHOD_NOT_FOUND,
                format!("this client did not declare the capability `{capability}`"),
            ));
        }
        // A person or a model reads the parameters.
        self.credentials.current().hide_in_value(&mut params);
        if let Some(handler) = handler {
            let request =
                McpServerRequest { server: self.server.clone(), method: method.to_owned().into(), params };
            return handler(request).await.map_err(|error| (REQUEST_DECLINED, error.to_string()));
        }
        match capability {
            "roots" => Ok(json!({ "roots": [] })),
            "elicitation" => Ok(self.forward_question(params, question_tx).await),
            _ => Err((REQUEST_DECLINED, "this client has no sampling handler".to_owned())),
        }
    }

    /// Forwards an elicitation to the caller.
    async fn forward_question(&self, mut params: Value, question_tx: Option<&QuestionSender>) -> Value {
        let question_tx = question_tx.cloned().or_else(|| {
            let calls = unpoisoned(self.calls.lock());
            // If several calls are in flight, it is unknown to which call an elicitation belongs.
            calls.values().next().filter(|_| calls.len() == 1).cloned()
        });
        let is_form = params.get("mode").is_none_or(|mode| mode == "form");
        let (Some(question_tx), true) = (question_tx, is_form) else { return json!({ "action": "decline" }) };
        let message = params["message"].as_str().unwrap_or("The tool needs input.").to_owned();
        let schema = params.get_mut("requestedSchema").map(Value::take).unwrap_or_default();
        let request = InputRequest::new(message, schema);
        let (reply_to, reply) = oneshot::channel();
        if question_tx.send(Question { request, reply_to }).await.is_err() {
            return json!({ "action": "decline" });
        }
        match reply.await {
            Ok(content) => json!({ "action": "accept", "content": content }),
            Err(_) => json!({ "action": "cancel" }),
        }
    }
}

/// Answers the requests of a server while the connection lasts.
pub(super) async fn serve_requests(
    transport: Weak<dyn Transport>,
    mut messages: mpsc::Receiver<ServerMessage>,
    handler: Arc<ServerRequestHandler>,
    inbox: Inbox,
) {
    let mut running = JoinSet::new();
    let mut handles: BTreeMap<String, AbortHandle> = BTreeMap::new();
    while let Some(message) = messages.recv().await {
        while running.try_join_next().is_some() {}
        handles.retain(|_, handle| !handle.is_finished());
        match message {
            ServerMessage::Cancelled(id) => {
                if let Some(handle) = handles.remove(&id.to_string()) {
                    handle.abort();
                }
            }
            ServerMessage::Request { .. }
                if running.len() >= MAX_CONCURRENT_REQUESTS + MAX_PENDING_REFUSALS =>
            {
                inbox.count_dropped();
            }
            ServerMessage::Request { id, method, params } => {
                let busy = running.len() >= MAX_CONCURRENT_REQUESTS;
                let (handler, inbox, transport) =
                    (Arc::clone(&handler), inbox.clone(), Weak::clone(&transport));
                let name = id.to_string();
                let task = async move {
                    let _guard = inbox.begin_server_request();
                    let timed_out = (REQUEST_DECLINED, "the request timed out".to_owned());
                    let response = match busy {
                        true => Err((REQUEST_DECLINED, "too many concurrent requests".to_owned())),
                        false => {
                            let response = handler.handle_request(&method, params, None);
                            match catch_panic_async(timeout(handler.options.call_timeout, response)).await {
                                Some(response) => response.unwrap_or(Err(timed_out)),
                                None => Err((REQUEST_DECLINED, "the handler failed".to_owned())),
                            }
                        }
                    };
                    let message = match response {
                        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                        Err((code, message)) => {
                            let error = json!({ "code": code, "message": message });
                            json!({ "jsonrpc": "2.0", "id": id, "error": error })
                        }
                    };
                    if let Some(transport) = transport.upgrade() {
                        let text = message.to_string();
                        let message = Message { text, id: None, method: "", name: None, headers: Vec::new() };
                        // A broken connection is reported to the pending requests.
                        drop(transport.send(message).await);
                    }
                };
                handles.insert(name, running.spawn(task));
            }
        }
    }
}

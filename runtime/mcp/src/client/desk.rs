//! Requests of a server to its client: pings, roots, completions of a model, and questions to people.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use toolgen_kernel::base::frozen::{List, Text};
use toolgen_kernel::base::future::caught;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::control::InputRequest;
use toolgen_kernel::spec::plan::McpServer;

use super::credentials::Credentials;
use super::inbox::{Inbox, Said};
use super::link::{Message, Transport};
use super::options::{McpAsked, McpOptions};

/// How many requests of a server are answered at the same time.
const MOST: usize = 16;
/// How many more are refused at the same time. A server that does not read its refusals gets no further answers.
const REFUSED: usize = 64;

/// The code of JSON-RPC for a method that does not exist.
const NO_METHOD: i64 = -32601;
/// The code with which a client refuses what it could do.
const UNWILLING: i64 = -1;

/// The channel through which the questions of a call are answered.
pub(super) type Asker = mpsc::Sender<Question>;

/// A question of a server to the caller; unanswered if it is dropped.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) request: InputRequest,
    pub(super) answer: oneshot::Sender<Value>,
}

/// Answers the requests of a server.
pub(super) struct Desk {
    server: Text,
    /// What the server may ask for.
    capabilities: List<Text>,
    options: Arc<McpOptions>,
    credentials: Credentials,
    /// The calls in flight that take questions.
    calls: Mutex<BTreeMap<u64, Asker>>,
    next: AtomicU64,
}

/// A call in flight, which takes no more questions once this is dropped.
pub(super) struct Open<'d> {
    desk: &'d Desk,
    number: u64,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        unpoisoned(self.desk.calls.lock()).remove(&self.number);
    }
}

/// Why a request of a server is refused: the code and the text.
pub(super) type No = (i64, String);

impl Desk {
    pub(super) fn new(server: &McpServer, options: Arc<McpOptions>, credentials: Credentials) -> Desk {
        let (server, capabilities) = (server.alias.clone(), server.capabilities.clone());
        let (calls, next) = Default::default();
        Desk { server, capabilities, options, credentials, calls, next }
    }

    /// Notes a call in flight that takes questions.
    pub(super) fn open(&self, asker: Asker) -> Open<'_> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        unpoisoned(self.calls.lock()).insert(number, asker);
        Open { desk: self, number }
    }

    /// Answers a request. A question goes to `asker`, the call that it belongs to, or to the only call there is.
    ///
    /// # Errors
    ///
    /// The code and the text with which the server is refused.
    pub(super) async fn answer(
        &self,
        method: &str,
        mut params: Value,
        asker: Option<&Asker>,
    ) -> Result<Value, No> {
        let (capability, handler) = match method {
            "ping" => return Ok(json!({})),
            "roots/list" => ("roots", &self.options.roots),
            "sampling/createMessage" => ("sampling", &self.options.sampling),
            "elicitation/create" => ("elicitation", &self.options.elicitation),
            _ => return Err((NO_METHOD, format!("this client has no method `{method}`"))),
        };
        if !self.capabilities.iter().any(|name| *name == capability) {
            return Err((NO_METHOD, format!("this client did not declare the capability `{capability}`")));
        }
        // A person or a model reads it.
        self.credentials.now().hide_in_value(&mut params);
        if let Some(handler) = handler {
            let asked = McpAsked { server: self.server.clone(), method: method.to_owned().into(), params };
            return handler(asked).await.map_err(|why| (UNWILLING, why.to_string()));
        }
        match capability {
            "roots" => Ok(json!({ "roots": [] })),
            "elicitation" => Ok(self.ask(params, asker).await),
            _ => Err((UNWILLING, "nobody here answers requests for a completion".to_owned())),
        }
    }

    /// Passes a question on to the caller that it concerns.
    async fn ask(&self, mut params: Value, asker: Option<&Asker>) -> Value {
        let asker = asker.cloned().or_else(|| {
            let calls = unpoisoned(self.calls.lock());
            // Whose question it is cannot be told if there are several.
            calls.values().next().filter(|_| calls.len() == 1).cloned()
        });
        let is_form = params.get("mode").is_none_or(|mode| mode == "form");
        let (Some(asker), true) = (asker, is_form) else { return json!({ "action": "decline" }) };
        let message = params["message"].as_str().unwrap_or("The tool needs input.").to_owned();
        let schema = params.get_mut("requestedSchema").map(Value::take).unwrap_or_default();
        let request = InputRequest::new(message, schema);
        let (answer, answered) = oneshot::channel();
        if asker.send(Question { request, answer }).await.is_err() {
            return json!({ "action": "decline" });
        }
        match answered.await {
            Ok(content) => json!({ "action": "accept", "content": content }),
            Err(_) => json!({ "action": "cancel" }),
        }
    }
}

/// Answers the requests of a server for as long as there is a connection.
pub(super) async fn attend(
    transport: Weak<dyn Transport>,
    mut said: mpsc::Receiver<Said>,
    desk: Arc<Desk>,
    inbox: Inbox,
) {
    let mut running = JoinSet::new();
    let mut handles: BTreeMap<String, AbortHandle> = BTreeMap::new();
    while let Some(said) = said.recv().await {
        while running.try_join_next().is_some() {}
        handles.retain(|_, handle| !handle.is_finished());
        match said {
            Said::Cancelled(id) => {
                if let Some(handle) = handles.remove(&id.to_string()) {
                    handle.abort();
                }
            }
            Said::Request { .. } if running.len() >= MOST + REFUSED => inbox.ignore(),
            Said::Request { id, method, params } => {
                let busy = running.len() >= MOST;
                let (desk, inbox, transport) = (Arc::clone(&desk), inbox.clone(), Weak::clone(&transport));
                let name = id.to_string();
                let work = async move {
                    let _asked = inbox.asked();
                    let late = (UNWILLING, "there was no answer in time".to_owned());
                    let answer = match busy {
                        true => Err((UNWILLING, "too many requests at the same time".to_owned())),
                        false => {
                            let answer = desk.answer(&method, params, None);
                            match caught(timeout(desk.options.total, answer)).await {
                                Some(answer) => answer.unwrap_or(Err(late)),
                                None => Err((UNWILLING, "answering it failed".to_owned())),
                            }
                        }
                    };
                    let message = match answer {
                        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                        Err((code, message)) => {
                            let error = json!({ "code": code, "message": message });
                            json!({ "jsonrpc": "2.0", "id": id, "error": error })
                        }
                    };
                    if let Some(transport) = transport.upgrade() {
                        let text = message.to_string();
                        let message = Message { text, id: None, method: "", name: None, headers: Vec::new() };
                        // A connection that breaks is noticed by those who wait for answers.
                        drop(transport.send(message).await);
                    }
                };
                handles.insert(name, running.spawn(work));
            }
        }
    }
}

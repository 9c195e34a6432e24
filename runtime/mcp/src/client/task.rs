//! Calls that a server answers with a task (`io.modelcontextprotocol/tasks`): the client polls the task until it is
//! finished.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until};

use super::connection::{Connection, Failure, Request, RequestTimeouts};
use super::negotiation::Negotiated;
use super::reading::OriginalText;
use super::session::{CallOptions, Session, protocol_violation};

/// Poll interval, if the server does not specify one.
const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum and maximum poll interval, regardless of what the server specifies.
const POLL_INTERVAL_BOUNDS: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(30)];
/// Timeout of the notification that a task is cancelled.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of inputs of one task.
const MAX_INPUTS: usize = 100;

/// A task at a server. Dropping it cancels the task, unless the task has finished.
struct Task<'s> {
    connection: &'s Connection,
    negotiated: &'s Negotiated,
    id: String,
    is_finished: bool,
}

impl Task<'_> {
    fn request(&self, method: &'static str, timeouts: RequestTimeouts) -> Request {
        let mut request = Request::new(method, timeouts);
        request.params.insert("taskId".to_owned(), Value::from(self.id.as_str()));
        request.name = Some(self.id.clone());
        self.negotiated.add_metadata(&mut request);
        request
    }
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        if let (false, Ok(runtime)) = (self.is_finished, Handle::try_current()) {
            let (connection, request) =
                (self.connection.clone(), self.request("tasks/cancel", RequestTimeouts::of(CANCEL_TIMEOUT)));
            runtime.spawn(async move { connection.request(request).await });
        }
    }
}

impl Session {
    /// Awaits the result of a task, and provides the input that it requests.
    ///
    /// # Errors
    ///
    /// Returns the reason if there is no result. The task is cancelled.
    pub(super) async fn await_task(&self, mut state: Value, options: &CallOptions) -> Result<Value, Failure> {
        let Some(id) = state["taskId"].as_str().filter(|id| !id.is_empty()) else {
            return Err(protocol_violation("its result is a task without a `taskId`"));
        };
        let mut task = Task {
            connection: &self.connection,
            negotiated: &self.negotiated,
            id: id.to_owned(),
            is_finished: false,
        };
        let deadline = Instant::now() + options.timeouts.total;
        let (mut last_message, mut answered_keys) = (Value::Null, BTreeSet::new());
        loop {
            if let (Some(on_progress), message @ Value::String(_)) =
                (&options.on_progress, &state["statusMessage"])
                && *message != last_message
            {
                on_progress(&json!({ "message": message }));
                last_message = message.clone();
            }
            match state["status"].as_str().unwrap_or_default() {
                "working" => {}
                "input_required" => self.answer_task(&task, &mut state, &mut answered_keys, options).await?,
                status => {
                    task.is_finished = true;
                    return match status {
                        "completed" => {
                            let (original, mut result) =
                                (OriginalText::take(&mut state).part("result"), state["result"].take());
                            drop(OriginalText::take(&mut result));
                            original.insert_into(&mut result);
                            Ok(result)
                        }
                        "failed" => Err(failed(&state["error"])),
                        "cancelled" => Err(protocol_violation("it has cancelled the task")),
                        other => Err(protocol_violation(format!("its task has the status `{other}`"))),
                    };
                }
            }
            let pause = state["pollIntervalMs"].as_u64().map_or(DEFAULT_POLL_INTERVAL, Duration::from_millis);
            let next_poll = Instant::now() + pause.clamp(POLL_INTERVAL_BOUNDS[0], POLL_INTERVAL_BOUNDS[1]);
            sleep_until(next_poll.min(deadline)).await;
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return Err(Failure::TotalTimeout(options.timeouts.total, String::new()));
            }
            let timeouts = RequestTimeouts { total: remaining, ..options.timeouts };
            state = self.connection.request(task.request("tasks/get", timeouts)).await?;
        }
    }

    /// Provides the input that a task requests. The task may repeat a request until it has received the response.
    async fn answer_task(
        &self,
        task: &Task<'_>,
        state: &mut Value,
        answered_keys: &mut BTreeSet<String>,
        options: &CallOptions,
    ) -> Result<(), Failure> {
        let Value::Object(mut requests) = state["inputRequests"].take() else { return Ok(()) };
        requests.retain(|key, _| !answered_keys.contains(key));
        if requests.is_empty() {
            return Ok(());
        }
        if answered_keys.len() + requests.len() > MAX_INPUTS {
            return Err(protocol_violation(format!("its task asks for more than {MAX_INPUTS} inputs")));
        }
        answered_keys.extend(requests.keys().cloned());
        let responses: Map<String, Value> = self.provide_inputs(Value::Object(requests), options).await?;
        let mut update = task.request("tasks/update", options.timeouts);
        update.params.insert("inputResponses".to_owned(), Value::Object(responses));
        self.connection.request(update).await.map(drop)
    }
}

/// Returns the failure of a task: the error that the call would have returned.
fn failed(error: &Value) -> Failure {
    Failure::Refused {
        code: error["code"].as_i64().unwrap_or_default(),
        message: error["message"].as_str().unwrap_or("its task has failed").to_owned(),
        data: error["data"].clone(),
    }
}

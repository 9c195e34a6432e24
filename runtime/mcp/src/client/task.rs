//! Calls that a server answers with a task (`io.modelcontextprotocol/tasks`): the client polls the task until it is
//! finished.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until};

use super::connection::{Connection, Failure, Request, RequestTimeouts};
use super::negotiation::Negotiated;
use super::reading::Written;
use super::session::{CallOptions, Session, protocol_violation};

/// Poll interval, if the server does not specify one.
const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum and maximum poll interval, regardless of what the server specifies.
const POLL_INTERVAL_BOUNDS: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(30)];
/// Timeout of the notification that a task is cancelled.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of inputs of one task.
const MAX_INPUTS: usize = 100;

/// A task at a server. It is cancelled when this is dropped, unless it has finished.
struct Task<'s> {
    link: &'s Connection,
    agreement: &'s Negotiated,
    id: String,
    over: bool,
}

impl Task<'_> {
    fn request(&self, method: &'static str, patience: RequestTimeouts) -> Request {
        let mut request = Request::new(method, patience);
        request.params.insert("taskId".to_owned(), Value::from(self.id.as_str()));
        request.name = Some(self.id.clone());
        self.agreement.add_metadata(&mut request);
        request
    }
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        if let (false, Ok(runtime)) = (self.over, Handle::try_current()) {
            let (link, request) =
                (self.link.clone(), self.request("tasks/cancel", RequestTimeouts::of(CANCEL_TIMEOUT)));
            runtime.spawn(async move { link.request(request).await });
        }
    }
}

impl Session {
    /// Awaits the result of a task, and provides the input that it requests.
    ///
    /// # Errors
    ///
    /// Returns the reason if there is no result. The task is cancelled.
    pub(super) async fn finish(&self, mut state: Value, how: &CallOptions) -> Result<Value, Failure> {
        let Some(id) = state["taskId"].as_str().filter(|id| !id.is_empty()) else {
            return Err(protocol_violation("its result is a task without a `taskId`"));
        };
        let mut task = Task { link: &self.link, agreement: &self.agreement, id: id.to_owned(), over: false };
        let until = Instant::now() + how.timeouts.total;
        let (mut last_message, mut answered) = (Value::Null, BTreeSet::new());
        loop {
            if let (Some(on_progress), message @ Value::String(_)) =
                (&how.on_progress, &state["statusMessage"])
                && *message != last_message
            {
                on_progress(&json!({ "message": message }));
                last_message = message.clone();
            }
            match state["status"].as_str().unwrap_or_default() {
                "working" => {}
                "input_required" => self.answer(&task, &mut state, &mut answered, how).await?,
                ended => {
                    task.over = true;
                    return match ended {
                        "completed" => {
                            let (written, mut result) =
                                (Written::take(&mut state).part("result"), state["result"].take());
                            drop(Written::take(&mut result));
                            written.put(&mut result);
                            Ok(result)
                        }
                        "failed" => Err(failed(&state["error"])),
                        "cancelled" => Err(protocol_violation("it has cancelled the task")),
                        other => Err(protocol_violation(format!("its task has the status `{other}`"))),
                    };
                }
            }
            let pause = state["pollIntervalMs"].as_u64().map_or(DEFAULT_POLL_INTERVAL, Duration::from_millis);
            let next = Instant::now() + pause.clamp(POLL_INTERVAL_BOUNDS[0], POLL_INTERVAL_BOUNDS[1]);
            sleep_until(next.min(until)).await;
            let remaining = until.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return Err(Failure::Late(how.timeouts.total, String::new()));
            }
            let patience = RequestTimeouts { total: remaining, ..how.timeouts };
            state = self.link.request(task.request("tasks/get", patience)).await?;
        }
    }

    /// Provides the input that a task requests. The task may repeat a request until it has received the response.
    async fn answer(
        &self,
        task: &Task<'_>,
        state: &mut Value,
        answered: &mut BTreeSet<String>,
        how: &CallOptions,
    ) -> Result<(), Failure> {
        let Value::Object(mut asked) = state["inputRequests"].take() else { return Ok(()) };
        asked.retain(|key, _| !answered.contains(key));
        if asked.is_empty() {
            return Ok(());
        }
        if answered.len() + asked.len() > MAX_INPUTS {
            return Err(protocol_violation(format!("its task asks for more than {MAX_INPUTS} inputs")));
        }
        answered.extend(asked.keys().cloned());
        let responses: Map<String, Value> = self.inputs(Value::Object(asked), how).await?;
        let mut update = task.request("tasks/update", how.timeouts);
        update.params.insert("inputResponses".to_owned(), Value::Object(responses));
        self.link.request(update).await.map(drop)
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

//! Calls that a server answers with a task (`io.modelcontextprotocol/tasks`): its state is polled until it is
//! done.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until};

use super::era::Agreement;
use super::link::{Failure, Link, Patience, Request};
use super::reading::Written;
use super::session::{How, Session, odd};

/// The time between two polls, if the server does not say.
const PAUSE: Duration = Duration::from_secs(1);
/// The shortest and the longest time between two polls, whatever the server says.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(30)];
/// How long it may take to notify a server that a task is given up.
const GIVING_UP: Duration = Duration::from_secs(10);

/// The most inputs that one task may ask for.
const MOST_ASKED: usize = 100;

/// A task at a server, cancelled there when this is dropped unless it is over.
struct Task<'s> {
    link: &'s Link,
    agreement: &'s Agreement,
    id: String,
    over: bool,
}

impl Task<'_> {
    fn request(&self, method: &'static str, patience: Patience) -> Request {
        let mut request = Request::new(method, patience);
        request.params.insert("taskId".to_owned(), Value::from(self.id.as_str()));
        request.name = Some(self.id.clone());
        self.agreement.sign(&mut request);
        request
    }
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        if let (false, Ok(runtime)) = (self.over, Handle::try_current()) {
            let (link, request) = (self.link.clone(), self.request("tasks/cancel", Patience::of(GIVING_UP)));
            runtime.spawn(async move { link.request(request).await });
        }
    }
}

impl Session {
    /// Returns the result of a task, and answers what it asks for meanwhile.
    ///
    /// # Errors
    ///
    /// Why there is no result. The task is cancelled.
    pub(super) async fn finish(&self, mut state: Value, how: &How) -> Result<Value, Failure> {
        let Some(id) = state["taskId"].as_str().filter(|id| !id.is_empty()) else {
            return Err(odd("its result is a task without a `taskId`"));
        };
        let mut task = Task { link: &self.link, agreement: &self.agreement, id: id.to_owned(), over: false };
        let until = Instant::now() + how.patience.total;
        let (mut told, mut answered) = (Value::Null, BTreeSet::new());
        loop {
            if let (Some(on_progress), message @ Value::String(_)) =
                (&how.on_progress, &state["statusMessage"])
                && *message != told
            {
                on_progress(&json!({ "message": message }));
                told = message.clone();
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
                        "cancelled" => Err(odd("it has cancelled the task")),
                        other => Err(odd(format!("its task has the status `{other}`"))),
                    };
                }
            }
            let pause = state["pollIntervalMs"].as_u64().map_or(PAUSE, Duration::from_millis);
            let next = Instant::now() + pause.clamp(PAUSES[0], PAUSES[1]);
            sleep_until(next.min(until)).await;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Failure::Late(how.patience.total, String::new()));
            }
            let patience = Patience { total: left, ..how.patience };
            state = self.link.request(task.request("tasks/get", patience)).await?;
        }
    }

    /// Answers what a task asks for. It may go on asking until it has heard the answer.
    async fn answer(
        &self,
        task: &Task<'_>,
        state: &mut Value,
        answered: &mut BTreeSet<String>,
        how: &How,
    ) -> Result<(), Failure> {
        let Value::Object(mut asked) = state["inputRequests"].take() else { return Ok(()) };
        asked.retain(|key, _| !answered.contains(key));
        if asked.is_empty() {
            return Ok(());
        }
        if answered.len() + asked.len() > MOST_ASKED {
            return Err(odd(format!("its task asks for more than {MOST_ASKED} inputs")));
        }
        answered.extend(asked.keys().cloned());
        let answers: Map<String, Value> = self.inputs(Value::Object(asked), how).await?;
        let mut update = task.request("tasks/update", how.patience);
        update.params.insert("inputResponses".to_owned(), Value::Object(answers));
        self.link.request(update).await.map(drop)
    }
}

/// The error of a task that has failed: the one that the call would have had.
fn failed(error: &Value) -> Failure {
    Failure::Refused {
        code: error["code"].as_i64().unwrap_or_default(),
        message: error["message"].as_str().unwrap_or("its task has failed").to_owned(),
        data: error["data"].clone(),
    }
}

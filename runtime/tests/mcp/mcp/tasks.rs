//! Calls that a server answers with a task.

use crate::mcp::server::{answer, error, text};
use crate::mcp::support::{call, eventually, options, run, server, told};
use crate::prelude::*;

/// Requests of clients about tasks, as seen by the server.
static SEEN: Mutex<Vec<Value>> = Mutex::new(Vec::new());

/// Server: answers a call with a task.
pub(crate) fn begin(id: &Value, given: &Value) {
    SEEN.lock().unwrap().clear();
    let state = if given["odd"].is_null() { json!("task-1") } else { given["odd"].clone() };
    // The ID of the task determines its outcome.
    let task = if given["kind"].is_null() { state } else { given["kind"].clone() };
    let status = if given["kind"] == "over" { "completed" } else { "working" };
    answer(
        id,
        &json!({
            "resultType": "task", "taskId": task, "status": status, "result": text("at once"), "ttlMs": null,
            "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "pollIntervalMs": 30,
            "statusMessage": "beginning",
        }),
    );
}

/// Server: answers a request about a task.
pub(crate) fn about(method: &str, id: &Value, params: &Value) {
    let count = {
        let mut seen = SEEN.lock().unwrap();
        let mut params = params.clone();
        let revision = params["_meta"]["io.modelcontextprotocol/protocolVersion"].take();
        seen.push(json!([method, params["taskId"], revision, params["inputResponses"]]));
        seen.iter().filter(|one| one[0] == "tasks/get").count()
    };
    let task = params["taskId"].as_str().unwrap_or_default();
    let mut state =
        json!({"resultType": "complete", "taskId": task, "status": "working", "pollIntervalMs": 30});
    match (method, task) {
        ("tasks/get", "task-1") if count < 3 => {
            state["statusMessage"] = format!("step {}", count.min(2)).into();
        }
        ("tasks/get", "task-1") => {
            (state["status"], state["result"]) = ("completed".into(), text("done at last"));
        }
        ("tasks/get", "fails") => {
            state["status"] = "failed".into();
            state["error"] = json!({"code": -32602, "message": "`n` must be even"});
        }
        ("tasks/get", "lost") => return error(id, -32602, "no such task"),
        ("tasks/get", "stopped") => state["status"] = "cancelled".into(),
        ("tasks/get", "strange") => state["status"] = "resting".into(),
        ("tasks/get", "asks") => {
            let seen = SEEN.lock().unwrap();
            let given = seen.iter().find(|one| one[0] == "tasks/update").map(|one| one[3].clone());
            let asked = json!({"method": "elicitation/create", "params": {"message": "Which name?", "requestedSchema": {}}});
            match given {
                // The cancellation takes effect after a while.
                Some(given) if count > 4 => {
                    (state["status"], state["result"]) = ("completed".into(), text(&given.to_string()));
                }
                _ => {
                    (state["status"], state["inputRequests"]) =
                        ("input_required".into(), json!({"q": asked}));
                }
            }
        }
        _ => {}
    }
    answer(id, &state);
}

/// Returns the requests that the server has seen since its last task began.
pub(crate) fn seen(id: &Value) {
    answer(id, &text(&json!(*SEEN.lock().unwrap()).to_string()));
}

async fn client() -> McpClient {
    let capabilities = ["elicitation", "tasks"].map(Into::into);
    let server = McpServer { capabilities: capabilities.into_iter().collect(), ..server("modern tasks") };
    let options = options().elicitation(|asked: McpServerRequest| async move {
        Ok(json!({"action": "accept", "content": asked.params["message"]}))
    });
    McpClient::connect(server, options.call_timeout(Duration::from_secs(2))).await.unwrap()
}

#[test]
fn task_is_polled_until_done() {
    run(async {
        let client = client().await;
        let toolbox = Registry::new(client.tools().await.unwrap()).unwrap().toolbox(Default::default());
        let received = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&received);
        let turn = Turn::new("turn").with_on_progress(move |line| lines.lock().unwrap().push(line));
        let response = toolbox.run(ToolCall::new("1", "hostile__task", json!({})), &turn).await;
        assert_eq!(response.text(), "done at last");
        assert_eq!(*received.lock().unwrap(), ["beginning", "step 1", "step 2"]);
        let get = json!(["tasks/get", "task-1", "2026-07-28", null]);
        assert_eq!(told(&client, "seen").await, json!([get, get, get]).to_string());
        assert_eq!(call(&client, "task", json!({"kind": "over"})).await.unwrap(), "at once");
        assert_eq!(told(&client, "seen").await, "[]");
    });
}

#[test]
fn failed_task_reports_its_reason() {
    run(async {
        let client = client().await;
        for (kind, expected) in [
            ("fails", "`n` must be even"),
            ("lost", "no such task"),
            ("stopped", "it has cancelled the task"),
            ("strange", "its task has the status `resting`"),
        ] {
            let reason = call(&client, "task", json!({ "kind": kind })).await.unwrap_err().to_string();
            assert!(reason.contains(expected), "{reason}");
        }
        let reason = call(&client, "task", json!({"odd": ""})).await.unwrap_err().to_string();
        assert!(reason.contains("a task without a `taskId`"), "{reason}");
    });
}

#[test]
fn task_gets_its_requested_input() {
    run(async {
        let client = client().await;
        let got = call(&client, "task", json!({"kind": "asks"})).await.unwrap();
        let response = json!({"q": {"action": "accept", "content": "Which name?"}});
        assert_eq!(got, response.to_string());
        // The input is provided once, although the task requests it repeatedly.
        let seen = told(&client, "seen").await;
        assert_eq!(seen.matches("tasks/update").count(), 1, "{seen}");
    });
}

#[test]
fn abandoned_task_is_cancelled() {
    run(async {
        let client = client().await;
        let cancelled = async || told(&client, "seen").await.contains("tasks/cancel");
        let given_up = call(&client, "task", json!({"kind": "endless"}));
        assert!(tokio::time::timeout(Duration::from_millis(300), given_up).await.is_err());
        eventually("it is cancelled", cancelled).await;
        // A task that takes longer than the call's timeout is also cancelled.
        let started = Instant::now();
        let error = call(&client, "task", json!({"kind": "endless"})).await.unwrap_err();
        assert_eq!(error.code(), "TIMEOUT", "{error}");
        assert!(started.elapsed() < Duration::from_secs(8));
        eventually("it is cancelled", cancelled).await;
        // A finished task is not cancelled.
        call(&client, "task", json!({})).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(!cancelled().await);
    });
}

#[test]
fn task_support_is_declared_on_request() {
    run(async {
        let declared = |client: McpClient| async move {
            let message = told(&client, "declared").await;
            serde_json::from_str::<Value>(&message).unwrap()
        };
        let tasks = json!({"io.modelcontextprotocol/tasks": {}});
        assert_eq!(declared(client().await).await, json!({"elicitation": {}, "extensions": tasks}));
        let without = McpClient::connect(server("modern"), options()).await.unwrap();
        assert_eq!(declared(without).await, json!({}));
    });
}

//! Hooks and events.

use toolgen_runtime::Progress;

use super::{Journal, call, toolbox};
use crate::prelude::*;

/// Tells how far it is.
#[tool]
pub(crate) async fn slow(progress: Progress) -> &'static str {
    progress.report("half");
    progress.update(ToolResult::text("so far"));
    "all"
}

/// Records everything, and answers as configured.
struct Noting {
    journal: Journal,
    runs: bool,
    updates: bool,
}

impl Hooks for Noting {
    fn before_tool_execution<'a>(&'a self, call: &'a ToolCall, _ctx: &'a ToolContext) -> BoxFuture<'a, bool> {
        self.journal.note(format!("before {}", call.name));
        Box::pin(async { self.runs })
    }

    fn after_tool_execution<'a>(
        &'a self,
        response: &'a ToolResponse,
        _ctx: &'a ToolContext,
    ) -> BoxFuture<'a, ()> {
        self.journal.note(format!("after {}", response.text()));
        Box::pin(async {})
    }

    fn before_tool_execution_update(&self, _call_id: &str, _tool: &str, update: &ToolResult) -> bool {
        self.journal.note(format!("before update {}", update.to_text()));
        self.updates
    }

    fn after_tool_execution_update(&self, _call_id: &str, _tool: &str, update: &ToolResult) {
        self.journal.note(format!("after update {}", update.to_text()));
    }
}

async fn noted(name: &str, runs: bool, updates: bool) -> (Vec<String>, String) {
    let journal = Journal::default();
    let events = journal.clone();
    let toolbox = toolbox()
        .hooks(Noting { journal: journal.clone(), runs, updates })
        .on_event(move |event| events.note(format!("event {}", event.type_name())))
        .build()
        .unwrap();
    let response = call(&toolbox, name, json!({})).await;
    (journal.lines(), response.text())
}

#[tokio::test]
async fn hooks_and_events_have_a_fixed_order() {
    let (lines, text) = noted("slow", true, true).await;
    assert_eq!(text, "all");
    assert_eq!(
        lines,
        [
            "before slow",
            "event tool_call",
            "event progress",
            "before update so far",
            "event update",
            "after update so far",
            "event tool_response",
            "after all"
        ]
    );
}

#[tokio::test]
async fn hook_can_stop_a_call_before_other_layers() {
    let (lines, text) = noted("slow", false, true).await;
    assert_eq!(text, "Tool execution skipped by before_tool_execution hook.");
    assert_eq!(lines, ["before slow"]);
    // The same for unknown tools.
    let (lines, text) = noted("slo", true, true).await;
    let message = "Tool not found: slo; did you mean 'slow'?";
    assert_eq!(text, message);
    assert_eq!(lines, ["before slo", "event tool_call", "event error", &format!("after {message}")]);
}

#[tokio::test]
async fn hook_can_suppress_an_update() {
    let (lines, _) = noted("slow", true, false).await;
    assert!(lines.contains(&"before update so far".to_owned()));
    assert!(!lines.iter().any(|line| line == "event update" || line == "after update so far"), "{lines:?}");
}

#[tokio::test]
async fn events_are_plain_data() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let events = seen.clone();
    let toolbox = toolbox()
        .on_event(move |event| {
            let mut event = serde_json::to_value(event).unwrap();
            event["timestamp"] = json!(0);
            if event.get("duration_ms").is_some() {
                event["duration_ms"] = json!(0);
            }
            events.lock().unwrap().push(event);
        })
        .build()
        .unwrap();
    call(&toolbox, "add", json!({"a": 1, "b": 2})).await;
    call(&toolbox, "fail", json!({})).await;
    assert_eq!(
        *seen.lock().unwrap(),
        [
            json!({"type": "tool_call", "object": "tool.call", "id": "c1", "name": "add", "timestamp": 0,
                   "agent_id": "agent-1", "arguments": {"a": 1, "b": 2}}),
            json!({"type": "tool_response", "object": "tool.response", "id": "c1", "name": "add", "timestamp": 0,
                   "agent_id": "agent-1", "content": [{"type": "text", "text": "3"}], "is_error": false,
                   "duration_ms": 0}),
            json!({"type": "tool_call", "object": "tool.call", "id": "c1", "name": "fail", "timestamp": 0,
                   "agent_id": "agent-1", "arguments": {}}),
            json!({"type": "error", "object": "tool.error", "id": "c1", "name": "fail", "timestamp": 0,
                   "agent_id": "agent-1", "error": "it broke", "code": "EXECUTION_ERROR", "is_error": true,
                   "duration_ms": 0}),
        ]
    );
}

/// Logs in.
#[tool]
pub(crate) async fn login(
    /// The word.
    #[arg(secret)]
    word: String,
    progress: Progress,
) -> Result<String, ToolError> {
    progress.report(format!("trying {word}"));
    progress.update(ToolResult::text(format!("tried {word}")));
    if word.ends_with('!') {
        Err(ToolError::failed(format!("{word} is wrong")))
    } else {
        Ok(format!("{word}, welcome"))
    }
}

#[tokio::test]
async fn events_contain_no_secrets() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let events = seen.clone();
    let toolbox = toolbox()
        .on_event(move |event| events.lock().unwrap().push(serde_json::to_string(&event).unwrap()))
        .build()
        .unwrap();
    for word in ["open sesame", "open sesame!"] {
        let response = call(&toolbox, "login", json!({ "word": word })).await;
        assert!(response.text().contains("open sesame"), "the model sees what the tool says");
    }
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 8);
    for event in seen.iter() {
        assert!(event.contains("[REDACTED]") && !event.contains("sesame"), "{event}");
    }
}

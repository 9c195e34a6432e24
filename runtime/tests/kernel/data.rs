//! Plain data round-trips through JSON; damaged data is rejected with a clear error.

use std::fmt::Debug;
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toolgen_runtime::ResourceData;
use toolgen_runtime::layers::audit::{AuditIntent, AuditOutcome};
use toolgen_runtime::layers::dependencies::MissingDependencies;
use toolgen_runtime::toolbox::ToolMeta;

use crate::prelude::*;

/// Returns the JSON of a value, and checks that it reads as the same value, also with an unknown member.
fn same<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
    let mut written: Value = serde_json::from_str(&text).unwrap();
    if let Value::Object(members) = &mut written {
        members.insert("of_a_later_version".to_owned(), json!([1]));
        assert_eq!(&serde_json::from_value::<T>(written).unwrap(), value, "{text}");
    }
    text
}

/// Reads a value in the form that another program wrote, and checks that it is written in the same form.
fn read<T: Serialize + DeserializeOwned + PartialEq + Debug>(written: &Value) -> T {
    let value: T = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(same(&value), written.to_string());
    value
}

fn problem<T: DeserializeOwned + Debug>(damaged: Value) -> String {
    serde_json::from_value::<T>(damaged).unwrap_err().to_string()
}

#[test]
fn calls_round_trip_with_their_block_reason() {
    let call = ToolCall::new("1", "add", json!({"a": 1}));
    assert_eq!(same(&call), r#"{"id":"1","name":"add","arguments":{"a":1}}"#);
    for reason in [Blocked::Truncated, Blocked::Stopped("refusal".into()), Blocked::Malformed("it is".into())]
    {
        same(&call.clone().blocked(reason));
    }
    assert_eq!(problem::<ToolCall>(json!({"id": "1"})), "ToolCall: `name` is missing");
    assert_eq!(problem::<ToolCall>(json!([])), "ToolCall: not an object");
    let damaged = json!({"id": 1, "name": "add", "arguments": {}});
    assert!(problem::<ToolCall>(damaged).starts_with("ToolCall: `id`: invalid type: integer `1`"));
}

fn link(to: &str, size: Option<u64>) -> Content {
    let mime_type = size.map_or("", |_| "text/plain").to_owned();
    Content::Link { uri: to.to_owned(), name: to.to_owned(), mime_type, size }
}

#[test]
fn results_serialize_like_to_json() {
    let blob = ResourceData::Base64("AA==".into());
    let result = ToolResult::text("a")
        .with_content(Content::Image { data: "AQ==".into(), mime_type: "image/png".into() })
        .with_content(Content::Audio { data: "AQ==".into(), mime_type: "audio/wav".into() })
        .with_content(Content::Resource { uri: "x:/y".into(), mime_type: String::new(), data: blob.clone() })
        .with_content(link("x:/y", Some(7)))
        .with_content(link("x:/z", None))
        .with_details(json!({"k": 1}))
        .with_child_loop("s.sub.1");
    assert_eq!(same(&result), result.to_json().to_string());
    assert_eq!(same(&ToolResult::empty()), r#"{"content":[],"details":null}"#);
    assert_eq!(same(&blob), r#"{"blob":"AA=="}"#);
    let question = InputRequest::new("Sure?", json!({"type": "object"}));
    for control in [
        Control::complete("DONE", json!({"k": 1})),
        Control::Effect(Effect::new("page", json!(null))),
        Control::NeedInput(question),
    ] {
        same(&result.clone().with_control(control));
    }
    assert_eq!(
        problem::<Content>(json!({"type": "hologram"})),
        "Content: `type` has the unknown value `hologram`"
    );
}

#[test]
fn waiting_requests_round_trip() {
    read::<ApprovalRequest>(
        &json!({"id": "1", "name": "rm", "arguments": {"path": "/"}, "shown": {"path": "?"}, "reasons": ["it is all"], "approved": ["x"],
                "expires_at": 1500, "principal": "p", "session_id": "s", "agent_id": "a", "inputs": [1], "seal": "n.s"}),
    );
    let pending = json!({"id": "1", "name": "rm", "arguments": {}, "request": {"message": "Sure?", "schema": {}},
                         "approved": ["x"], "expires_at": 1500, "principal": "p", "inputs": [{"sure": true}], "seal": "n.s"});
    let pending: PendingInputCall = read(&pending);
    let missing = json!({
        "error": "dependency_not_met", "message": "Cannot execute 'log': prerequisites not met", "tool": "log",
        "missing_dependencies": [{"type": "entity_exists", "key": "plan", "description": "Plan needed", "optional": false,
                                  "metadata": {"arg_key": "slug"}, "tool": "log"}],
        "suggested_order": ["plan"], "help": "Call these tools in order before attempting log: plan",
    });
    let missing: MissingDependencies = read(&missing);
    let invalid = toolgen_runtime::schema::shape::decode::ArgumentProblem {
        pointer: "/a".into(),
        kind: toolgen_runtime::schema::shape::decode::ArgumentProblemKind::Missing,
        message: "missing".into(),
    };
    let errors = [
        ToolError::failed_with("CODE", "no").with_operator_detail("why"),
        ToolError::NotFound { name: "x".into(), suggestion: Some("y".into()) },
        ToolError::from_problems(vec![invalid]),
        ToolError::Cancelled,
        ToolError::Timeout { duration: Duration::from_millis(1500) },
        ToolError::denied("no"),
        ToolError::InputRequired(Box::new(pending)),
        missing.into(),
    ];
    let mut transcript = Transcript::user("Go.");
    transcript.push(Entry::Model(ModelTurn::calls([ToolCall::new("1", "add", json!({}))]).with_tokens(7)));
    for error in errors {
        let mut response = ToolResponse::new(&ToolCall::new("1", "add", json!({})), Err(error));
        response.started = SystemTime::UNIX_EPOCH + Duration::from_millis(1500);
        same(&response);
        transcript.push(Entry::Answer(Box::new(response)));
    }
    same(&transcript);
}

#[test]
fn records_and_events_round_trip() {
    read::<ToolMeta>(&json!({"name": "a", "description": "A.", "input_schema": {"type": "object"}}));
    read::<AuditOutcome>(&json!({"status": "refused", "result": null, "error": "no", "error_code": "X",
                                 "is_error": true, "duration_ms": 3}));
    read::<AuditIntent>(
        &json!({"timestamp": "2026-01-01T00:00:00.000Z", "session_id": "s", "agent_id": "", "principal": "p",
                                "tool_name": "a", "tool_call_id": "1", "parameters": {}, "spec_hash": "00",
                                "attempt": 1, "approved": true, "approved_by": "Ada", "key": 4}),
    );
    let head = |kind: &str, object: &str, rest: Value| {
        let mut event = json!({"type": kind, "object": object, "id": "1", "name": "a", "timestamp": 1500, "agent_id": "x",
                               "session_id": "s", "principal": "p"});
        event.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        event
    };
    for event in [
        head("tool_call", "tool.call", json!({"arguments": null})),
        head("tool_response", "tool.response", json!({"content": [], "is_error": false, "duration_ms": 2})),
        head("error", "tool.error", json!({"error": "no", "code": "X", "is_error": true, "duration_ms": 2})),
        head("update", "tool.update", json!({"content": [], "details": null})),
        head("progress", "tool.progress", json!({"message": "half"})),
    ] {
        read::<Event>(&event);
    }
}

#[test]
fn frozen_values_serialize_as_their_value() {
    assert_eq!(same(&Text::Static("a")), r#""a""#);
    assert_eq!(same(&List::from(vec![Text::Static("a")])), r#"["a"]"#);
}

#[test]
fn debug_output_shows_no_arguments_or_results() {
    const NEEDLE: &str = "n33dle-4711";
    let value = json!({"pin": NEEDLE, "list": [NEEDLE]});
    let call = ToolCall::new("c-1", "login", value.clone());
    let mut result = ToolResult::json(value.clone()).with_control(Control::complete("DONE", value.clone()));
    for data in [ResourceData::Text(NEEDLE.to_owned()), ResourceData::Base64(NEEDLE.to_owned())] {
        result =
            result.with_content(Content::Resource { uri: NEEDLE.to_owned(), mime_type: "t".into(), data });
    }
    result = result.with_content(link(NEEDLE, None));
    let bytes = Content::Image { data: NEEDLE.to_owned(), mime_type: "image/png".into() };
    let response = ToolResponse::new(&call, Ok(result.with_content(bytes)));
    let turn = ModelTurn::calls([call.clone()]).with_text(NEEDLE);
    let mut transcript = Transcript::user(NEEDLE);
    transcript.push(Entry::Model(turn));
    transcript.push(Entry::Answer(Box::new(response.clone())));
    let head = json!({
        "id": "c-1", "name": "login", "arguments": value, "shown": value, "reasons": ["why"], "approved": [],
        "expires_at": 1000, "inputs": [value], "request": {"message": "which?", "schema": {}}, "seal": "0.0",
    });
    let mut event = json!({
        "id": "c-1", "name": "login", "timestamp": 0, "arguments": value, "content": value, "details": value,
        "is_error": false, "duration_ms": 1, "error": NEEDLE, "code": "C", "message": NEEDLE,
    });
    let mut seen = vec![
        format!("{call:?}"),
        format!("{response:?}"),
        format!("{transcript:?}"),
        format!("{:?}", Control::Effect(Effect::new("send", value.clone()))),
        format!("{:?}", serde_json::from_value::<ApprovalRequest>(head.clone()).unwrap()),
        format!("{:?}", serde_json::from_value::<PendingInputCall>(head).unwrap()),
    ];
    for kind in ["tool_call", "tool_response", "error", "update", "progress"] {
        event["type"] = json!(kind);
        seen.push(format!("{:?}", serde_json::from_value::<Event>(event.clone()).unwrap()));
    }
    let row = json!({
        "timestamp": "", "session_id": "", "agent_id": "", "principal": "p", "tool_name": "login", "tool_call_id": "c-1",
        "parameters": value, "spec_hash": "", "attempt": 1, "status": "ok", "result": value, "error": NEEDLE,
        "is_error": true, "duration_ms": 1,
    });
    seen.push(format!("{:?}", serde_json::from_value::<AuditIntent>(row.clone()).unwrap()));
    seen.push(format!("{:?}", serde_json::from_value::<AuditOutcome>(row).unwrap()));
    for text in seen {
        assert!(!text.contains(NEEDLE), "{text}");
    }
    let displayed = format!("{call:?}");
    assert_eq!(
        displayed,
        r#"ToolCall { id: "c-1", name: "login", blocked: None, arguments: <object of 2> }"#
    );
}

#[test]
fn data_of_earlier_versions_is_readable() {
    let outcome = json!({"status": "error", "result": null, "error": "no", "error_code": "missing_credential",
                         "is_error": true, "duration_ms": 3});
    let outcome: AuditOutcome = serde_json::from_value(outcome).unwrap();
    assert_eq!(outcome.error_code.as_deref(), Some("MISSING_CREDENTIAL"));
    for (approver, read) in [(json!(""), None), (json!(null), None), (json!("Ada"), Some("Ada"))] {
        let intent = json!({"timestamp": "2026-01-01T00:00:00.000Z", "session_id": "s", "agent_id": "", "tool_name": "a",
                            "tool_call_id": "1", "parameters": {}, "spec_hash": "00", "attempt": 1, "approved": false,
                            "approved_by": approver});
        let intent: AuditIntent = serde_json::from_value(intent).unwrap();
        assert_eq!(intent.approved_by.as_deref(), read);
        assert_eq!(intent.to_json()["approved_by"], json!(read));
    }
    let reason = json!({"kind": "failed", "message": "down", "code": "service_unavailable"});
    let reason: ToolError = serde_json::from_value(reason).unwrap();
    assert_eq!(reason.code(), "SERVICE_UNAVAILABLE");
    // A tool's own error code is kept.
    let own = json!({"kind": "failed", "message": "locked", "code": "resource_locked"});
    assert_eq!(serde_json::from_value::<ToolError>(own).unwrap().code(), "resource_locked");
}

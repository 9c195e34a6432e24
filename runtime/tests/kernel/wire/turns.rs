//! Whole turns: a vendor's message passes all layers of the runtime, and the results have the vendor's format.
use toolgen_runtime::engine::dynamic::DynamicTool;

use crate::prelude::*;
use crate::wire::formats::{ROWS, Row};
use crate::wire::helpers::spec;

/// A tool that adds two numbers, and the number of its calls.
fn toolbox() -> (Toolbox, Arc<AtomicUsize>) {
    let input = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                       "required": ["a", "b"]});
    let ran = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ran);
    let tool = DynamicTool::new(spec("add", "Adds.", &input, None), move |params, _| {
        count.fetch_add(1, Ordering::SeqCst);
        ready(Ok((params["a"].as_i64().unwrap() + params["b"].as_i64().unwrap()).to_string()))
    });
    let registry = Registry::builder().add(tool).seal().unwrap();
    (Toolbox::builder(&registry).build().unwrap(), ran)
}

#[tokio::test]
async fn every_call_of_a_turn_gets_one_response() {
    let sum = json!({"a": 1, "b": 2});
    let calls = [
        ToolCall::new("c1", "add", sum.clone()),
        ToolCall::new("c2", "subtract", sum.clone()),
        ToolCall::new("c3", "add", json!({"a": "x"})),
        ToolCall::new("c4", "add", sum),
    ];
    for Row { format, written, answered, end, cut, .. } in ROWS {
        let (toolbox, ran) = toolbox();
        let turn = Turn::new("turn").with_dialect(format.dialect());
        let mut response = written(&calls);
        let whole = end.is_empty();
        if !whole {
            *response.pointer_mut(end).unwrap() = (*cut).into();
        }
        let mut responses = Vec::new();
        for call in format.tool_calls(&response).unwrap() {
            responses.push(toolbox.run(call, &turn).await);
        }
        let errors: Vec<bool> = responses.iter().map(|response| response.is_error()).collect();
        assert_eq!(errors, [false, true, true, !whole], "{format}");
        assert_eq!(ran.load(Ordering::SeqCst), if whole { 2 } else { 1 }, "{format}");
        let replies = format.tool_results(&responses);
        assert_eq!(answered(&replies), ["c1", "c2", "c3", "c4"], "{format}");
        let message = Value::from(replies).to_string();
        assert!(message.contains("\"3\""), "{format}: {message}");
        assert_eq!(message.contains("cut off"), !whole, "{format}: {message}");
        assert!(message.contains("Invalid arguments: "), "{format}: {message}");
    }
}

#[tokio::test]
async fn calls_of_a_stopped_response_never_run() {
    let sum = json!({"a": 1, "b": 2});
    let calls = [ToolCall::new("c1", "add", sum.clone()), ToolCall::new("c2", "add", sum)];
    for Row { format, written, answered, end, stopped, .. } in ROWS {
        for reason in *stopped {
            let (toolbox, ran) = toolbox();
            let turn = Turn::new("turn").with_dialect(format.dialect());
            let mut response = written(&calls);
            *response.pointer_mut(end).unwrap() = (*reason).into();
            let read = format.tool_calls(&response).unwrap();
            assert_eq!(read.stopped.as_deref(), Some(*reason), "{format}");
            let responses = toolbox.dispatch(read.calls, &turn, &DispatchOptions::new()).await.responses;
            assert_eq!(ran.load(Ordering::SeqCst), 0, "{format}: {reason}");
            let replies = format.tool_results(&responses);
            assert_eq!(answered(&replies), ["c1", "c2"], "{format}");
            assert!(responses.iter().all(|answer| answer.text().contains(reason)), "{format}: {responses:?}");
        }
    }
}

#[tokio::test]
async fn malformed_call_does_not_affect_its_siblings() {
    let written = json!({"stop_reason": "tool_use", "content": [
        {"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1, "b": 2}},
        {"type": "tool_use", "id": "c2", "name": {"is": "no text"}, "input": {"a": 1, "b": 2}},
        {"type": "tool_use", "name": "add", "input": {"a": 1, "b": 2}},
        {"type": "tool_use", "id": "c4", "name": "add", "input": {"a": 2, "b": 2}},
    ]});
    let (toolbox, ran) = toolbox();
    let read = WireFormat::Anthropic.tool_calls(&written).unwrap();
    assert_eq!(read.problems.len(), 1, "{:?}", read.problems);
    let turn = Turn::new("turn");
    let responses = toolbox.dispatch(read.calls, &turn, &DispatchOptions::new()).await.responses;
    assert_eq!(ran.load(Ordering::SeqCst), 2);
    let messages: Vec<String> = responses.iter().map(|response| response.text()).collect();
    assert_eq!(messages, ["3", "The call was not executed: it has no name.", "4"]);
}

#[tokio::test]
async fn tools_and_arguments_use_the_same_dialect() {
    let (toolbox, _) = toolbox();
    for format in WireFormat::ALL {
        let tools = format.tools(toolbox.specs()).unwrap().to_string();
        assert!(tools.contains("\"name\":\"add\""), "{format}: {tools}");
        assert_eq!(tools, format.tools(toolbox.specs()).unwrap().to_string());
    }
}

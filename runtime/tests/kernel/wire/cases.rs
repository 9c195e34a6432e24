//! Each file of `cases/` is a response with its calls, or tool responses with their rendered results.

use std::fs;
use std::path::Path;

use toolgen_runtime::ResourceData;
use toolgen_runtime::call::tool::arguments;
use toolgen_runtime::wire::is_generated;
use toolgen_test_support::golden::cases;

use crate::prelude::*;
use crate::wire::helpers::{response, spec};

fn told(calls: &[ToolCall]) -> Value {
    let reported = calls.iter().map(|call| {
        let id = if is_generated(&call.id) { "*" } else { call.id.as_str() };
        let mut message = json!({"id": id, "name": call.name.as_str(), "arguments": call.arguments});
        match &call.blocked {
            None => {}
            Some(Blocked::Truncated) => message["truncated"] = true.into(),
            Some(Blocked::Stopped(reason)) => message["stopped"] = reason.as_str().into(),
            Some(Blocked::Malformed(reason)) => message["malformed"] = reason.as_str().into(),
            Some(other) => panic!("{other:?}"),
        }
        message
    });
    reported.collect()
}

fn check_calls(format: WireFormat, case: &Value, title: &str) {
    let (calls, problems) = match format.tool_calls(&case["response"]) {
        Ok(read) => (read.calls, read.problems),
        // Nothing in it has this format.
        Err(error) => {
            assert_eq!(case["calls"], json!([]), "{title}");
            (Vec::new(), vec![error])
        }
    };
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told(&calls), case["calls"], "{title}");
    let expected = case.get("problems").cloned().unwrap_or_else(|| json!([]));
    assert_eq!(json!(problems), expected, "{title}");
}

fn check_answers(format: WireFormat, case: &Value, title: &str) {
    let responses: Vec<_> = case["responses"].as_array().unwrap().iter().map(response).collect();
    let output = json!({"type": "object", "properties": {"sum": {"type": "integer"}}});
    let sum = spec("sum", "Adds.", &json!({"type": "object"}), Some(&output));
    let specs = |name: &str| (name == "sum").then_some(&sum);
    let mut options = ToolResultOptions::default().specs(&specs);
    if case["text_only"] == true {
        options = options.text_only();
    }
    // Compared as strings, because prompt caches depend on the order of keys.
    let replies = Value::from(format.tool_results_with(&responses, &options));
    assert_eq!(format!("{replies:#}"), format!("{:#}", case["answers"]), "{title}");
}

#[test]
fn calls_and_responses_match_the_cases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/wire/cases");
    let (mut calls, mut responses) = (0, 0);
    for directory in cases(&root) {
        let name = directory.file_name().unwrap().to_str().unwrap().to_owned();
        let format = WireFormat::by_name(&name).unwrap();
        for path in cases(&directory) {
            let case: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            let title = format!("{}: {}", path.display(), case["about"]);
            if case.get("answers").is_some() {
                check_answers(format, &case, &title);
                responses += 1;
            } else {
                check_calls(format, &case, &title);
                calls += 1;
            }
        }
    }
    assert!(calls >= 50 && responses >= 9, "{calls} and {responses} cases");
}

#[test]
fn formats_are_found_by_name() {
    for format in WireFormat::ALL {
        assert_eq!(WireFormat::by_name(format.name()), Some(format));
        assert_eq!(format.to_string(), format.name());
    }
    assert_eq!(WireFormat::by_name("other"), None);
    assert_eq!(WireFormat::Gemini.dialect().name, "gemini");
    assert_eq!(WireFormat::Mcp.dialect().name, "json-schema");
}

#[test]
fn generated_ids_are_unique() {
    let response = json!([{"functionCall": {"name": "a"}}, {"functionCall": {"name": "a"}}]);
    let mut ids = Vec::new();
    for _ in 0..50 {
        ids.extend(WireFormat::Gemini.tool_calls(&response).unwrap().into_iter().map(|call| call.id));
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 100);
}

#[test]
fn malformed_arguments_are_reported_and_never_run() {
    let cut =
        json!({"tool_calls": [{"id": "1", "function": {"name": "add", "arguments": "{\"a\": 1, \"b"}}]});
    let call = &WireFormat::OpenAiChat.tool_calls(&cut).unwrap()[0];
    let spec =
        spec("add", "Adds.", &json!({"type": "object", "properties": {"a": {"type": "integer"}}}), None);
    let error = arguments(&spec, call.arguments.clone(), WireFormat::OpenAiChat.dialect()).unwrap_err();
    assert!(error.to_string().starts_with("Invalid arguments: the arguments are not JSON: "), "{error}");
    let responses = WireFormat::OpenAiChat.tool_results(&[ToolResponse::new(call, Err(error))]);
    assert!(
        responses[0]["content"].as_str().unwrap().starts_with("Error: Invalid arguments: "),
        "{responses:?}"
    );
}

#[test]
fn non_function_calls_get_responses_of_their_own_kind() {
    let old = json!({"role": "assistant", "function_call": {"name": "add", "arguments": "{}"}});
    let call = &WireFormat::OpenAiChat.tool_calls(&old).unwrap()[0];
    assert_eq!(
        WireFormat::OpenAiChat.tool_results(&[ToolResponse::new(call, Ok("3".into()))]),
        [json!({"role": "function", "name": "add", "content": "3"})]
    );
    let custom = json!([{"type": "custom_tool_call", "call_id": "call_9", "name": "sh", "input": "ls"}]);
    let call = &WireFormat::OpenAiResponses.tool_calls(&custom).unwrap()[0];
    assert_eq!(
        WireFormat::OpenAiResponses.tool_results(&[ToolResponse::new(call, Ok("a b".into()))]),
        [json!({"type": "custom_tool_call_output", "call_id": "call_9", "output": "a b"})]
    );
}

#[test]
fn document_names_are_unique_in_a_conversation() {
    let pdf = || Content::Resource {
        uri: "mem:/r".into(),
        mime_type: "application/pdf".into(),
        data: ResourceData::Base64("JVBERi0=".into()),
    };
    let mut names = Vec::new();
    for id in ["tooluse_1", "tooluse-1", "tooluse_2"] {
        let result = ToolResult::empty().with_content(pdf()).with_content(pdf());
        let response = ToolResponse::new(&ToolCall::new(id, "a", json!({})), Ok(result));
        let responses = WireFormat::Bedrock.tool_results(std::slice::from_ref(&response));
        assert_eq!(responses, WireFormat::Bedrock.tool_results(&[response]));
        for block in responses[0]["content"][0]["toolResult"]["content"].as_array().unwrap() {
            names.push(block["document"]["name"].as_str().unwrap().to_owned());
        }
    }
    let allowed = |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    assert!(names.iter().all(allowed), "{names:?}");
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 6, "{names:?}");
}

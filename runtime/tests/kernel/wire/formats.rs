//! What the tests must know of each format: one row per format.

use crate::prelude::*;

/// What the tests must know of a format.
pub(crate) struct Row {
    pub(crate) format: WireFormat,
    /// A response with these calls, in the vendor's format.
    pub(crate) written: fn(&[ToolCall]) -> Value,
    /// The IDs of the results, in order.
    pub(crate) answered: fn(&[Value]) -> Vec<String>,
    /// Where a response has its stop reason. Empty if it has none, because a request is always whole.
    pub(crate) end: &'static str,
    /// The stop reason if the model reached its token limit.
    pub(crate) cut: &'static str,
    /// The stop reasons if the vendor stopped the model.
    pub(crate) stopped: &'static [&'static str],
}

/// All formats.
pub(crate) const ROWS: &[Row] = &[
    Row {
        format: WireFormat::OpenAiChat,
        written: |calls| {
            let calls = each(calls, |call| {
                json!({"id": call.id.as_str(), "type": "function",
                       "function": {"name": call.name.as_str(), "arguments": call.arguments.to_string()}})
            });
            json!({"choices": [{"message": {"role": "assistant", "tool_calls": calls},
                                "finish_reason": "tool_calls"}]})
        },
        answered: |responses| responses.iter().map(|reply| text(&reply["tool_call_id"])).collect(),
        end: "/choices/0/finish_reason",
        cut: "length",
        stopped: &["content_filter", "error"],
    },
    Row {
        format: WireFormat::OpenAiResponses,
        written: |calls| {
            let output = each(calls, |call| {
                json!({"type": "function_call", "id": "fc", "call_id": call.id.as_str(), "status": "completed",
                       "name": call.name.as_str(), "arguments": call.arguments.to_string()})
            });
            json!({"status": "completed", "incomplete_details": {"reason": null}, "output": output})
        },
        answered: |responses| responses.iter().map(|reply| text(&reply["call_id"])).collect(),
        end: "/incomplete_details/reason",
        cut: "max_output_tokens",
        stopped: &["content_filter", "steered"],
    },
    Row {
        format: WireFormat::Anthropic,
        written: |calls| {
            let content = each(calls, |call| {
                json!({"type": "tool_use", "id": call.id.as_str(), "name": call.name.as_str(),
                       "input": call.arguments})
            });
            json!({"stop_reason": "tool_use", "content": content})
        },
        answered: |responses| blocks(responses, "/0/content", "/tool_use_id"),
        end: "/stop_reason",
        cut: "max_tokens",
        stopped: &["refusal"],
    },
    Row {
        format: WireFormat::Gemini,
        written: |calls| {
            let parts = each(calls, |call| {
                json!({"functionCall": {"id": call.id.as_str(), "name": call.name.as_str(),
                                        "args": call.arguments}})
            });
            json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]})
        },
        answered: |responses| blocks(responses, "/0/parts", "/functionResponse/id"),
        end: "/candidates/0/finishReason",
        cut: "MAX_TOKENS",
        stopped: &["MALFORMED_FUNCTION_CALL", "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"],
    },
    Row {
        format: WireFormat::Bedrock,
        written: |calls| {
            let content = each(calls, |call| {
                json!({"toolUse": {"toolUseId": call.id.as_str(), "name": call.name.as_str(),
                                   "input": call.arguments}})
            });
            json!({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use"})
        },
        answered: |responses| blocks(responses, "/0/content", "/toolResult/toolUseId"),
        end: "/stopReason",
        cut: "max_tokens",
        stopped: &[
            "malformed_tool_use",
            "malformed_model_output",
            "guardrail_intervened",
            "content_filtered",
        ],
    },
    Row {
        format: WireFormat::Mcp,
        written: |calls| {
            Value::from(each(calls, |call| {
                // IDs in their parsed form are strings or numbers.
                let id = serde_json::from_str::<i64>(&call.id).map_or(json!(call.id.as_str()), Value::from);
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                       "params": {"name": call.name.as_str(), "arguments": call.arguments}})
            }))
        },
        answered: |responses| {
            let id = |response: &Value| match &response["id"] {
                Value::String(id) => id.clone(),
                id => id.to_string(),
            };
            responses.iter().map(id).collect()
        },
        end: "",
        cut: "",
        stopped: &[],
    },
];

fn each(calls: &[ToolCall], write: impl Fn(&ToolCall) -> Value) -> Vec<Value> {
    calls.iter().map(write).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn blocks(responses: &[Value], list: &str, id: &str) -> Vec<String> {
    let responses = json!(responses);
    let blocks = responses.pointer(list).and_then(Value::as_array).unwrap();
    blocks.iter().map(|block| text(block.pointer(id).unwrap())).collect()
}

#[test]
fn every_format_has_a_row() {
    let formats: Vec<WireFormat> = ROWS.iter().map(|row| row.format).collect();
    assert_eq!(formats, WireFormat::ALL);
}

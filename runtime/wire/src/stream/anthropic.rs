//! Streams of Anthropic Messages.

use serde_json::{Value, json};

use super::assembly::{Assembly, add_text, block, check_next, index, set, update};
use crate::calls::text;
use crate::layout::WireError;

pub(crate) fn assemble(assembly: &mut Assembly, event: &Value) -> Result<(), WireError> {
    match text(event, "type") {
        "message_start" => start(assembly, event),
        "content_block_start" => block_start(assembly, event),
        "content_block_delta" => delta(assembly, event),
        "content_block_stop" => {
            let index = index(event, "index")?;
            block(assembly.list("/content")?, index)?;
            assembly.close(index);
            Ok(())
        }
        "message_delta" => {
            assembly.list("/content")?;
            for (key, value) in event.get("delta").and_then(Value::as_object).into_iter().flatten() {
                set(&mut assembly.response, key, value.clone());
            }
            update(&mut assembly.response, "usage", event.get("usage"));
            Ok(())
        }
        "message_stop" => {
            assembly.list("/content")?;
            assembly.end();
            Ok(())
        }
        // `ping`, and future kinds of events.
        _ => Ok(()),
    }
}

fn start(assembly: &mut Assembly, event: &Value) -> Result<(), WireError> {
    if !assembly.response.is_null() {
        return Err(WireError::new("", "begins a second message"));
    }
    let Some(message @ Value::Object(_)) = event.get("message") else {
        return Err(WireError::new("/message", "is not an object"));
    };
    assembly.response = message.clone();
    if !message.get("content").is_some_and(Value::is_array) {
        assembly.response["content"] = json!([]);
    }
    Ok(())
}

fn block_start(assembly: &mut Assembly, event: &Value) -> Result<(), WireError> {
    let index = index(event, "index")?;
    let Some(block @ Value::Object(_)) = event.get("content_block") else {
        return Err(WireError::new("/content_block", "is not an object"));
    };
    let blocks = assembly.list("/content")?;
    check_next(blocks, index)?;
    blocks.push(block.clone());
    if block.get("input").is_some() {
        assembly.open(index, format!("/content/{index}/input"));
    }
    match text(block, "type") {
        "tool_use" => assembly.call(text(block, "id"), text(block, "name"))?,
        "text" => assembly.text(text(block, "text")),
        "thinking" => assembly.thinking(text(block, "thinking")),
        _ => {}
    }
    Ok(())
}

fn delta(assembly: &mut Assembly, event: &Value) -> Result<(), WireError> {
    let index = index(event, "index")?;
    let block = block(assembly.list("/content")?, index)?;
    let delta = event.get("delta").unwrap_or(&Value::Null);
    match text(delta, "type") {
        "text_delta" => {
            let message = text(delta, "text");
            add_text(block, "text", message);
            assembly.text(message);
        }
        "thinking_delta" => {
            let thought = text(delta, "thinking");
            add_text(block, "thinking", thought);
            assembly.thinking(thought);
        }
        "signature_delta" => add_text(block, "signature", text(delta, "signature")),
        "input_json_delta" => assembly.append(index, text(delta, "partial_json"))?,
        "citations_delta" => {
            if let Some(citation) = delta.get("citation") {
                match block.get_mut("citations") {
                    Some(Value::Array(citations)) => citations.push(citation.clone()),
                    _ => set(block, "citations", json!([citation])),
                }
            }
        }
        _ => {}
    }
    Ok(())
}

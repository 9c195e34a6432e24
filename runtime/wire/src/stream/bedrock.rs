//! Streams of Amazon Bedrock, `ConverseStream`.

use serde_json::{Value, json};

use super::assembly::{Assembly, add_text, block, check_next, child, fields, index, set};
use crate::calls::text;
use crate::layout::WireError;

/// The location of the blocks.
const CONTENT: &str = "/output/message/content";

pub(crate) fn assemble(assembly: &mut Assembly, event: &Value) -> Result<(), WireError> {
    for (kind, event) in fields(Some(event)) {
        match kind.as_str() {
            "messageStart" => start(assembly, event)?,
            "contentBlockStart" => block_start(assembly, event)?,
            "contentBlockDelta" => delta(assembly, event)?,
            "contentBlockStop" => {
                let index = index(event, "contentBlockIndex")?;
                block(assembly.list(CONTENT)?, index)?;
                assembly.close(index);
            }
            "messageStop" | "metadata" => {
                assembly.list(CONTENT)?;
                // `p` is padding that hides the length of an event.
                for (key, value) in fields(Some(event)).filter(|(key, _)| *key != "p") {
                    set(&mut assembly.response, key, value.clone());
                }
                if kind == "messageStop" {
                    assembly.end();
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn start(assembly: &mut Assembly, event: &Value) -> Result<(), WireError> {
    if !assembly.response.is_null() {
        return Err(WireError::new("", "begins a second message"));
    }
    let role = event.get("role").cloned().unwrap_or_else(|| "assistant".into());
    assembly.response = json!({ "output": { "message": { "role": role, "content": [] } } });
    Ok(())
}

fn block_start(assembly: &mut Assembly, event: &Value) -> Result<(), WireError> {
    let index = index(event, "contentBlockIndex")?;
    let blocks = assembly.list(CONTENT)?;
    check_next(blocks, index)?;
    let start = event.get("start").filter(|start| start.is_object()).cloned().unwrap_or_else(|| json!({}));
    blocks.push(start.clone());
    if let Some(call @ Value::Object(_)) = start.get("toolUse") {
        let blocks = assembly.list(CONTENT)?;
        set(child(block(blocks, index)?, "toolUse"), "input", json!({}));
        assembly.open(index, format!("{CONTENT}/{index}/toolUse/input"));
        if text(call, "type").is_empty() {
            assembly.call(text(call, "toolUseId"), text(call, "name"))?;
        }
    }
    Ok(())
}

fn delta(assembly: &mut Assembly, event: &Value) -> Result<(), WireError> {
    let index = index(event, "contentBlockIndex")?;
    let blocks = assembly.list(CONTENT)?;
    // Only calls have a start event.
    if u64::try_from(blocks.len()) == Ok(index) {
        blocks.push(json!({}));
    }
    let block = block(blocks, index)?;
    let delta = event.get("delta").unwrap_or(&Value::Null);
    if let Some(Value::String(message)) = delta.get("text") {
        match block.pointer_mut("/citationsContent/content/0") {
            Some(cited) => add_text(cited, "text", message),
            None => add_text(block, "text", message),
        }
        assembly.text(message);
    } else if let Some(call) = delta.get("toolUse") {
        assembly.append(index, text(call, "input"))?;
    } else if let Some(thought) = delta.get("reasoningContent") {
        add_reasoning(child(block, "reasoningContent"), thought);
        assembly.thinking(text(thought, "text"));
    } else if let Some(citation) = delta.get("citation") {
        add_citation(block, citation);
    }
    Ok(())
}

/// Adds to reasoning, which is signed text or opaque bytes.
fn add_reasoning(content: &mut Value, thought: &Value) {
    if let Some(bytes) = thought.get("redactedContent") {
        set(content, "redactedContent", bytes.clone());
    }
    for key in ["text", "signature"] {
        if let Some(Value::String(suffix)) = thought.get(key) {
            let signed = child(content, "reasoningText");
            if signed.get("text").is_none() {
                set(signed, "text", "".into());
            }
            add_text(signed, key, suffix);
        }
    }
}

/// Converts a text block to a block with citations if necessary, and adds a citation.
fn add_citation(block: &mut Value, citation: &Value) {
    match block.pointer_mut("/citationsContent/citations") {
        Some(Value::Array(citations)) => citations.push(citation.clone()),
        _ => {
            let message = json!([{ "text": text(block, "text") }]);
            *block = json!({ "citationsContent": { "content": message, "citations": [citation] } });
        }
    }
}

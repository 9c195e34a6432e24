//! Streams of OpenAI Responses. The last event contains the whole response; the others matter only if it is missing.

use serde_json::{Value, json};

use super::assembly::{Assembly, add_text, block, check_next, fields, index, set};
use crate::calls::text;
use crate::layout::WireError;

pub(crate) fn assemble(assembly: &mut Assembly, event: &Value) -> Result<(), WireError> {
    match text(event, "type") {
        "response.created" | "response.queued" | "response.in_progress" => begin_response(assembly, event),
        "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
            let Some(response @ Value::Object(_)) = event.get("response") else {
                return Err(WireError::new("/response", "is not an object"));
            };
            // Some hosts omit what they have already sent.
            let streamed_output = assembly
                .response
                .get("output")
                .filter(|streamed_output| **streamed_output != json!([]))
                .cloned();
            assembly.response = response.clone();
            if let Some(streamed_output) =
                streamed_output.filter(|_| response.get("output").is_none_or(|output| *output == json!([])))
            {
                set(&mut assembly.response, "output", streamed_output);
            }
            assembly.end();
            Ok(())
        }
        "response.output_item.added" => item_added(assembly, event),
        "response.output_item.done" => item_done(assembly, event),
        kind => match kind.strip_suffix(".delta").and_then(|kind| kind.strip_prefix("response.")) {
            Some(kind) => delta(assembly, kind, event),
            None => Ok(()),
        },
    }
}

fn begin_response(assembly: &mut Assembly, event: &Value) -> Result<(), WireError> {
    if !assembly.response.is_null() {
        return if text(event, "type") == "response.created" {
            Err(WireError::new("", "begins a second response"))
        } else {
            Ok(())
        };
    }
    assembly.response = json!({});
    for (key, value) in
        fields(event.get("response")).filter(|(key, _)| !matches!(key.as_str(), "status" | "output"))
    {
        set(&mut assembly.response, key, value.clone());
    }
    set(&mut assembly.response, "output", json!([]));
    Ok(())
}

fn item_added(assembly: &mut Assembly, event: &Value) -> Result<(), WireError> {
    let index = index(event, "output_index")?;
    let Some(item @ Value::Object(_)) = event.get("item") else {
        return Err(WireError::new("/item", "is not an object"));
    };
    let items = assembly.list("/output")?;
    check_next(items, index)?;
    items.push(item.clone());
    begin_item(assembly, item)
}

fn item_done(assembly: &mut Assembly, event: &Value) -> Result<(), WireError> {
    let index = index(event, "output_index")?;
    let Some(item @ Value::Object(_)) = event.get("item") else {
        return Err(WireError::new("/item", "is not an object"));
    };
    let items = assembly.list("/output")?;
    if u64::try_from(items.len()) == Ok(index) {
        items.push(item.clone());
        return begin_item(assembly, item);
    }
    let existing = block(items, index)?;
    if ["type", "call_id"].iter().any(|key| text(existing, key) != text(item, key)) {
        return Err(WireError::new(
            "/item",
            format!("ends item {index} with another type or ID than it began with"),
        ));
    }
    *existing = item.clone();
    Ok(())
}

/// Reports the start of an item, if it is a call for the program.
fn begin_item(assembly: &mut Assembly, item: &Value) -> Result<(), WireError> {
    if matches!(text(item, "type"), "function_call" | "custom_tool_call") {
        assembly.call(text(item, "call_id"), text(item, "name"))?;
    }
    Ok(())
}

fn delta(assembly: &mut Assembly, kind: &str, event: &Value) -> Result<(), WireError> {
    let Some(Value::String(suffix)) = event.get("delta") else { return Ok(()) };
    // The list of parts of the item, the index of the part, its type and the key of its text.
    let (list, number, part_type, key) = match kind {
        "output_text" => ("content", "content_index", "output_text", "text"),
        "refusal" => ("content", "content_index", "refusal", "refusal"),
        "reasoning_text" => ("content", "content_index", "reasoning_text", "text"),
        "reasoning_summary_text" => ("summary", "summary_index", "summary_text", "text"),
        "function_call_arguments" => ("", "", "", "arguments"),
        "custom_tool_call_input" => ("", "", "", "input"),
        _ => return Ok(()),
    };
    let item = block(assembly.list("/output")?, index(event, "output_index")?)?;
    if list.is_empty() {
        add_text(item, key, suffix);
        return Ok(());
    }
    if !item.get(list).is_some_and(Value::is_array) {
        set(item, list, json!([]));
    }
    let parts = item.get_mut(list).and_then(Value::as_array_mut);
    let number = event.get(number).and_then(Value::as_u64).unwrap_or_default();
    if let Some(parts) = parts {
        if u64::try_from(parts.len()) == Ok(number) {
            parts.push(json!({ "type": part_type }));
        }
        add_text(block(parts, number)?, key, suffix);
    }
    if part_type.starts_with("reasoning") || list == "summary" {
        assembly.thinking(suffix);
    } else {
        assembly.text(suffix);
    }
    Ok(())
}

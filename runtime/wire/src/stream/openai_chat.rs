//! Streams of OpenAI Chat Completions and of Ollama.

use serde_json::{Value, json};

use super::assembly::{Assembly, add_text, child, fields, set};
use crate::calls::text;
use crate::layout::WireError;

/// The keys of reasoning of DeepSeek and vLLM, of OpenRouter and Groq, and of Ollama.
pub(crate) const THOUGHTS: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

pub(crate) fn assemble(assembly: &mut Assembly, event: &Value) -> Result<(), WireError> {
    if !event.is_object() {
        return Err(WireError::new("", "is not an object"));
    }
    if assembly.response.is_null() {
        assembly.response = json!({});
    }
    let handled_separately = ["choices", "message", "object"];
    for (key, value) in fields(Some(event))
        .filter(|(key, value)| !handled_separately.contains(&key.as_str()) && !value.is_null())
    {
        set(&mut assembly.response, key, value.clone());
    }
    // The events of Ollama contain a message, without choices.
    if let Some(message @ Value::Object(_)) = event.get("message") {
        add_message(assembly, "/message", message)?;
        if event.get("done") == Some(&Value::Bool(true)) {
            assembly.end();
        }
        return Ok(());
    }
    let choices = event.get("choices").and_then(Value::as_array).into_iter().flatten();
    // Only the first choice is read.
    for choice in choices.filter(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0) {
        if assembly.response.pointer("/choices/0").is_none() {
            set(
                &mut assembly.response,
                "choices",
                json!([{ "index": 0, "message": { "role": "assistant" } }]),
            );
        }
        if let Some(delta @ Value::Object(_)) = choice.get("delta").or_else(|| choice.get("message")) {
            add_message(assembly, "/choices/0/message", delta)?;
        }
        let Some(target) = assembly.response.pointer_mut("/choices/0") else { continue };
        for (key, value) in fields(Some(choice)).filter(|(_, value)| !value.is_null()) {
            if !matches!(key.as_str(), "delta" | "message" | "index" | "logprobs") {
                set(target, key, value.clone());
            }
        }
        if !text(choice, "finish_reason").is_empty() {
            assembly.end();
        }
    }
    Ok(())
}

/// Adds the part of a message that an event contains.
fn add_message(assembly: &mut Assembly, pointer: &str, delta: &Value) -> Result<(), WireError> {
    if assembly.response.pointer(pointer).is_none() {
        set(&mut assembly.response, "message", json!({}));
    }
    for (key, value) in fields(Some(delta)).filter(|(_, value)| !value.is_null()) {
        if key == "tool_calls" {
            for call in value.as_array().into_iter().flatten() {
                add_call(assembly, pointer, call)?;
            }
            continue;
        }
        let Some(message) = assembly.response.pointer_mut(pointer) else { continue };
        match (key.as_str(), value) {
            ("function_call", call) => {
                let is_new = message.get(key).is_none();
                let function_call = child(message, key);
                add_function(function_call, call);
                if is_new {
                    assembly.call("", text(call, "name"))?;
                }
            }
            ("content" | "refusal", Value::String(reply)) => {
                add_content(message, key, reply);
                assembly.text(reply);
            }
            (key, Value::String(thought)) if THOUGHTS.contains(&key) => {
                add_text(message, key, thought);
                assembly.thinking(thought);
            }
            (_, Value::Array(parts)) => add_list(assembly, pointer, key, parts),
            (key, value) => set(message, key, value.clone()),
        }
    }
    Ok(())
}

/// Adds text to the content, which is a string or, if there are other parts, a list of parts.
fn add_content(message: &mut Value, key: &str, reply: &str) {
    match message.get_mut(key) {
        Some(Value::Array(parts)) => parts.push(json!({ "type": "text", "text": reply })),
        _ => add_text(message, key, reply),
    }
}

/// Adds parts, such as parts of Mistral's content or of OpenRouter's reasoning.
fn add_list(assembly: &mut Assembly, pointer: &str, key: &str, new_parts: &[Value]) {
    let Some(message) = assembly.response.pointer_mut(pointer) else { return };
    match message.get_mut(key) {
        Some(Value::Array(parts)) => parts.extend(new_parts.iter().cloned()),
        Some(Value::String(reply)) => {
            let text_part = (!reply.is_empty()).then(|| json!({ "type": "text", "text": reply }));
            let all_parts = text_part.into_iter().chain(new_parts.iter().cloned()).collect();
            set(message, key, all_parts);
        }
        _ => set(message, key, new_parts.to_vec().into()),
    }
    if key == "content" {
        for part in new_parts {
            assembly.text(text(part, "text"));
        }
    }
}

/// Adds to a call, which its index identifies. Hosts that omit the index, or use the same index for all calls, give a
/// new ID to each call.
fn add_call(assembly: &mut Assembly, pointer: &str, delta: &Value) -> Result<(), WireError> {
    let list = format!("{pointer}/tool_calls");
    if assembly.response.pointer(&list).is_none()
        && let Some(message) = assembly.response.pointer_mut(pointer)
    {
        set(message, "tool_calls", json!([]));
    }
    let number = delta.get("index").and_then(Value::as_u64);
    let id = text(delta, "id");
    let inner = ["function", "custom"].into_iter().find_map(|key| delta.get(key)).unwrap_or(&Value::Null);
    let name = text(inner, "name");
    let calls = assembly.list(&list)?;
    let (last, length) = (calls.len().checked_sub(1), calls.len());
    let known_offset = match number {
        Some(number) => assembly.call_positions.get(&number).copied(),
        None if id.is_empty() && name.is_empty() => last,
        None => None,
    };
    let is_other_call = |offset: &usize| {
        let existing_id = assembly
            .response
            .pointer(&list)
            .and_then(|calls| calls.get(*offset))
            .map_or("", |call| text(call, "id"));
        !id.is_empty() && !existing_id.is_empty() && existing_id != id
    };
    let offset = match known_offset {
        Some(offset) if !is_other_call(&offset) => offset,
        Some(_) if name.is_empty() => {
            let reason = format!("adds to a call with the ID `{id}`, but that call has another");
            return Err(WireError::new("/choices/0/delta/tool_calls", reason));
        }
        _ if name.is_empty() && assembly.has_call(id) => {
            let reason = format!("adds to the call `{id}` without its index");
            return Err(WireError::new("/choices/0/delta/tool_calls", reason));
        }
        _ => {
            assembly.call(id, name)?;
            assembly.list(&list)?.push(json!({}));
            assembly.call_positions.insert(number.unwrap_or_default(), length);
            length
        }
    };
    let Some(call) = assembly.list(&list)?.get_mut(offset) else { return Ok(()) };
    for (key, value) in fields(Some(delta)).filter(|(key, value)| *key != "index" && !value.is_null()) {
        match key.as_str() {
            "function" | "custom" => add_function(child(call, key), value),
            // Some hosts repeat the ID as an empty string.
            _ if *value == "" => {}
            _ => set(call, key, value.clone()),
        }
    }
    Ok(())
}

/// Adds to the function of a call: strings of arguments are appended, all other members are set.
fn add_function(function: &mut Value, delta: &Value) {
    for (key, value) in fields(Some(delta)).filter(|(_, value)| !value.is_null()) {
        match (key.as_str(), value) {
            ("arguments" | "input", Value::String(suffix)) => add_text(function, key, suffix),
            ("name", Value::String(name)) if name.is_empty() => {}
            (key, value) => set(function, key, value.clone()),
        }
    }
}

//! Streams of Gemini, `streamGenerateContent`: every event is a response, and the parts of all events are
//! concatenated.

use serde_json::{Value, json};

use super::assembly::{Assembly, add_text, child, fields, set};
use crate::calls::text;
use crate::layout::WireError;

pub(crate) fn assemble(assembly: &mut Assembly, event: &Value) -> Result<(), WireError> {
    if !event.is_object() {
        return Err(WireError::new("", "is not an object"));
    }
    if assembly.response.is_null() {
        assembly.response = json!({});
    }
    for (key, value) in fields(Some(event)).filter(|(key, value)| *key != "candidates" && !value.is_null()) {
        set(&mut assembly.response, key, value.clone());
    }
    let is_rejected = |feedback| event.get(feedback).is_some_and(|reason| !reason.is_null());
    if is_rejected("promptFeedback") || is_rejected("prompt_feedback") {
        assembly.end();
    }
    let candidates = event.get("candidates").and_then(Value::as_array).into_iter().flatten();
    // Only the first candidate is read.
    for update in
        candidates.filter(|candidate| candidate.get("index").and_then(Value::as_u64).unwrap_or(0) == 0)
    {
        add_candidate(assembly, update)?;
    }
    Ok(())
}

fn add_candidate(assembly: &mut Assembly, update: &Value) -> Result<(), WireError> {
    if assembly.response.pointer("/candidates/0").is_none() {
        set(&mut assembly.response, "candidates", json!([{}]));
    }
    let Some(candidate) = assembly.response.pointer_mut("/candidates/0") else { return Ok(()) };
    for (key, value) in fields(Some(update)).filter(|(key, value)| *key != "content" && !value.is_null()) {
        set(candidate, key, value.clone());
    }
    let content = update.get("content").unwrap_or(&Value::Null);
    let parts = content.get("parts").and_then(Value::as_array);
    if content.is_object() {
        let target = child(candidate, "content");
        for (key, value) in fields(Some(content)).filter(|(key, _)| *key != "parts") {
            set(target, key, value.clone());
        }
        if target.get("parts").is_none() {
            set(target, "parts", json!([]));
        }
    }
    for part in parts.into_iter().flatten() {
        add_part(assembly, part)?;
    }
    let reasons = ["finishReason", "finish_reason"].map(|key| text(update, key));
    if reasons.iter().any(|reason| !reason.is_empty()) {
        assembly.end();
    }
    Ok(())
}

/// The location of the parts.
const PARTS: &str = "/candidates/0/content/parts";

fn add_part(assembly: &mut Assembly, part: &Value) -> Result<(), WireError> {
    let parts = assembly.list(PARTS)?;
    let call =
        ["functionCall", "function_call"].into_iter().find(|key| part.get(key).is_some_and(Value::is_object));
    let Some(key) = call else {
        let message = text(part, "text");
        let is_thought = part.get("thought") == Some(&Value::Bool(true));
        match parts.last_mut() {
            // The last event often has an empty text part, which is rejected when it is sent back.
            _ if message.is_empty() && is_plain(part) => {}
            Some(last) if is_plain(last) && is_plain(part) && last.get("thought") == part.get("thought") => {
                add_text(last, "text", message);
            }
            _ => parts.push(part.clone()),
        }
        if is_thought {
            assembly.thinking(message);
        } else {
            assembly.text(message);
        }
        return Ok(());
    };
    let call = part.get(key).unwrap_or(&Value::Null);
    match parts.last_mut().and_then(|last| last.get_mut(key)).filter(|last| continues(last)) {
        // The continuation of a call whose arguments are streamed.
        Some(last) => {
            add_arguments(last, call)?;
            let is_continued = continues(call);
            set(last, "willContinue", is_continued.into());
            if !is_continued && let Value::Object(fields) = last {
                fields.shift_remove("willContinue");
            }
        }
        None => {
            let mut new_part = part.clone();
            let inner = child(&mut new_part, key);
            if let Value::Object(fields) = inner {
                fields.shift_remove("partialArgs");
                fields.shift_remove("partial_args");
            }
            add_arguments(inner, call)?;
            parts.push(new_part);
            assembly.call(text(call, "id"), text(call, "name"))?;
        }
    }
    Ok(())
}

/// Whether a part has only text. A signed part is not merged: its signature covers its own text.
fn is_plain(part: &Value) -> bool {
    let has_only_text = fields(Some(part)).all(|(key, value)| match key.as_str() {
        "text" => value.is_string(),
        key => key == "thought",
    });
    has_only_text && part.get("text").is_some()
}

fn continues(call: &Value) -> bool {
    ["willContinue", "will_continue"].iter().any(|key| call.get(key) == Some(&Value::Bool(true)))
}

/// Sets the arguments in an event of a call, each at its location: a JSON path such as `$.items[0].name`.
fn add_arguments(call: &mut Value, event: &Value) -> Result<(), WireError> {
    let partial = event.get("partialArgs").or_else(|| event.get("partial_args"));
    for argument in partial.and_then(Value::as_array).into_iter().flatten() {
        let field = |camel: &str, snake: &str| {
            argument.get(camel).or_else(|| argument.get(snake)).filter(|value| !value.is_null())
        };
        let path = field("jsonPath", "json_path").and_then(Value::as_str).unwrap_or_default();
        let error = || WireError::new("/partialArgs", "has a path that does not resolve");
        let target = value_at_path(child(call, "args"), path).ok_or_else(error)?;
        if let Some(Value::String(suffix)) = field("stringValue", "string_value") {
            match target {
                Value::String(text) => text.push_str(suffix),
                target => *target = suffix.as_str().into(),
            }
        } else if let Some(value) =
            field("numberValue", "number_value").or_else(|| field("boolValue", "bool_value"))
        {
            *target = value.clone();
        }
    }
    Ok(())
}

/// Maximum number of items of a list: a path could otherwise create a list of any length.
const MAX_LIST_ITEMS: usize = 10_000;

/// Returns the value at a JSON path with names and indices, creating missing values on the way.
fn value_at_path<'v>(arguments: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    let mut target = arguments;
    let mut remaining = path.strip_prefix('$')?;
    let mut steps = 0;
    while !remaining.is_empty() {
        steps += 1;
        if steps > toolgen_kernel::base::depth::MAX_DEPTH {
            return None;
        }
        if let Some(after) = remaining.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            (target, remaining) = (member(target, &after[..end])?, &after[end..]);
        } else {
            let (content, after) = bracket(remaining)?;
            remaining = after;
            target = match content.parse::<usize>() {
                Ok(index) if index < MAX_LIST_ITEMS => item(target, index)?,
                Ok(_) => return None,
                Err(_) => member(target, content.trim_matches(['"', '\'']))?,
            };
        }
    }
    Some(target)
}

/// Splits off the content of the brackets, which may be a quoted name.
fn bracket(text: &str) -> Option<(&str, &str)> {
    let content = text.strip_prefix('[')?;
    match content.chars().next().filter(|quote| matches!(quote, '"' | '\'')) {
        Some(quote) => {
            let end = content[1..].find(quote)? + 2;
            Some((&content[..end], content[end..].strip_prefix(']')?))
        }
        None => content.split_once(']'),
    }
}

fn member<'v>(target: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    if target.is_null() {
        *target = json!({});
    }
    Some(target.as_object_mut()?.entry(name).or_insert(Value::Null))
}

fn item(target: &mut Value, index: usize) -> Option<&mut Value> {
    if target.is_null() {
        *target = json!([]);
    }
    let items = target.as_array_mut()?;
    if items.len() <= index {
        items.resize(index + 1, Value::Null);
    }
    items.get_mut(index)
}

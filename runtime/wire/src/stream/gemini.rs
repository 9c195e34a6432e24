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
    let refused = |feedback| event.get(feedback).is_some_and(|reason| !reason.is_null());
    if refused("promptFeedback") || refused("prompt_feedback") {
        assembly.end();
    }
    let candidates = event.get("candidates").and_then(Value::as_array).into_iter().flatten();
    // Only the first candidate is read.
    for from in
        candidates.filter(|candidate| candidate.get("index").and_then(Value::as_u64).unwrap_or(0) == 0)
    {
        candidate(assembly, from)?;
    }
    Ok(())
}

fn candidate(assembly: &mut Assembly, from: &Value) -> Result<(), WireError> {
    if assembly.response.pointer("/candidates/0").is_none() {
        set(&mut assembly.response, "candidates", json!([{}]));
    }
    let Some(candidate) = assembly.response.pointer_mut("/candidates/0") else { return Ok(()) };
    for (key, value) in fields(Some(from)).filter(|(key, value)| *key != "content" && !value.is_null()) {
        set(candidate, key, value.clone());
    }
    let content = from.get("content").unwrap_or(&Value::Null);
    let parts = content.get("parts").and_then(Value::as_array);
    if content.is_object() {
        let into = child(candidate, "content");
        for (key, value) in fields(Some(content)).filter(|(key, _)| *key != "parts") {
            set(into, key, value.clone());
        }
        if into.get("parts").is_none() {
            set(into, "parts", json!([]));
        }
    }
    for more in parts.into_iter().flatten() {
        part(assembly, more)?;
    }
    let word = ["finishReason", "finish_reason"].map(|key| text(from, key));
    if word.iter().any(|word| !word.is_empty()) {
        assembly.end();
    }
    Ok(())
}

/// The location of the parts.
const PARTS: &str = "/candidates/0/content/parts";

fn part(assembly: &mut Assembly, more: &Value) -> Result<(), WireError> {
    let parts = assembly.list(PARTS)?;
    let call =
        ["functionCall", "function_call"].into_iter().find(|key| more.get(key).is_some_and(Value::is_object));
    let Some(key) = call else {
        let message = text(more, "text");
        let thought = more.get("thought") == Some(&Value::Bool(true));
        match parts.last_mut() {
            // The last event often has an empty text part, which is rejected when it is sent back.
            _ if message.is_empty() && is_plain(more) => {}
            Some(last) if is_plain(last) && is_plain(more) && last.get("thought") == more.get("thought") => {
                add_text(last, "text", message);
            }
            _ => parts.push(more.clone()),
        }
        if thought {
            assembly.thinking(message);
        } else {
            assembly.text(message);
        }
        return Ok(());
    };
    let call = more.get(key).unwrap_or(&Value::Null);
    match parts.last_mut().and_then(|last| last.get_mut(key)).filter(|last| goes_on(last)) {
        // The rest of a call whose arguments are streamed.
        Some(last) => {
            add_arguments(last, call)?;
            let still = goes_on(call);
            set(last, "willContinue", still.into());
            if !still && let Value::Object(fields) = last {
                fields.shift_remove("willContinue");
            }
        }
        None => {
            let mut started = more.clone();
            let inner = child(&mut started, key);
            if let Value::Object(fields) = inner {
                fields.shift_remove("partialArgs");
                fields.shift_remove("partial_args");
            }
            add_arguments(inner, call)?;
            parts.push(started);
            assembly.call(text(call, "id"), text(call, "name"))?;
        }
    }
    Ok(())
}

/// Whether a part has only text. A signed part is not merged: its signature covers its own text.
fn is_plain(part: &Value) -> bool {
    let plain = fields(Some(part)).all(|(key, value)| match key.as_str() {
        "text" => value.is_string(),
        key => key == "thought",
    });
    plain && part.get("text").is_some()
}

fn goes_on(call: &Value) -> bool {
    ["willContinue", "will_continue"].iter().any(|key| call.get(key) == Some(&Value::Bool(true)))
}

/// Sets the arguments in an event of a call, each at its location: a JSON path such as `$.items[0].name`.
fn add_arguments(call: &mut Value, event: &Value) -> Result<(), WireError> {
    let partial = event.get("partialArgs").or_else(|| event.get("partial_args"));
    for argument in partial.and_then(Value::as_array).into_iter().flatten() {
        let of = |camel: &str, snake: &str| {
            argument.get(camel).or_else(|| argument.get(snake)).filter(|it| !it.is_null())
        };
        let path = of("jsonPath", "json_path").and_then(Value::as_str).unwrap_or_default();
        let wrong = || WireError::new("/partialArgs", "has a path that does not resolve");
        let place = place(child(call, "args"), path).ok_or_else(wrong)?;
        if let Some(Value::String(more)) = of("stringValue", "string_value") {
            match place {
                Value::String(text) => text.push_str(more),
                place => *place = more.as_str().into(),
            }
        } else if let Some(value) =
            of("numberValue", "number_value").or_else(|| of("boolValue", "bool_value"))
        {
            *place = value.clone();
        }
    }
    Ok(())
}

/// Maximum number of items of a list: a path could otherwise create a list of any length.
const MAX_LIST_ITEMS: usize = 10_000;

/// Returns the value at a JSON path with names and indices, creating missing values on the way.
fn place<'v>(arguments: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    let mut place = arguments;
    let mut rest = path.strip_prefix('$')?;
    let mut steps = 0;
    while !rest.is_empty() {
        steps += 1;
        if steps > toolgen_kernel::base::depth::MAX_DEPTH {
            return None;
        }
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            (place, rest) = (member(place, &after[..end])?, &after[end..]);
        } else {
            let (inside, after) = bracket(rest)?;
            rest = after;
            place = match inside.parse::<usize>() {
                Ok(index) if index < MAX_LIST_ITEMS => item(place, index)?,
                Ok(_) => return None,
                Err(_) => member(place, inside.trim_matches(['"', '\'']))?,
            };
        }
    }
    Some(place)
}

/// Splits off the content of the brackets, which may be a quoted name.
fn bracket(rest: &str) -> Option<(&str, &str)> {
    let inside = rest.strip_prefix('[')?;
    match inside.chars().next().filter(|quote| matches!(quote, '"' | '\'')) {
        Some(quote) => {
            let end = inside[1..].find(quote)? + 2;
            Some((&inside[..end], inside[end..].strip_prefix(']')?))
        }
        None => inside.split_once(']'),
    }
}

fn member<'v>(place: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    if place.is_null() {
        *place = json!({});
    }
    Some(place.as_object_mut()?.entry(name).or_insert(Value::Null))
}

fn item(place: &mut Value, index: usize) -> Option<&mut Value> {
    if place.is_null() {
        *place = json!([]);
    }
    let items = place.as_array_mut()?;
    if items.len() <= index {
        items.resize(index + 1, Value::Null);
    }
    items.get_mut(index)
}

//! The locations where a manifest names the variables of credentials. Another value at such a location may be the
//! credential itself, so problems do not repeat it.

use serde_json::Value;

use crate::source::Pointer;

/// The replacement for a value in messages.
const REDACTED: &str = "…";

/// Whether a location may contain a credential by accident.
pub(super) fn may_stand_at(pointer: &Pointer, value: Option<&Value>) -> bool {
    if value.and_then(Value::as_str).is_some_and(has_user) {
        return true;
    }
    let tokens: Vec<&str> = pointer.as_str().split('/').skip(1).collect();
    let is_credential_key = |part: &&str| ["auth", "bearer", "headers", "credentials"].contains(part);
    match tokens.as_slice() {
        ["tools", _, "http", "auth", ..] => true,
        ["tools", _, "http", "headers", name, ..] => is_credential(name),
        ["imports", after @ ..] => after.iter().any(is_credential_key),
        _ => false,
    }
}

/// Whether a URL contains a user name, possibly with a password.
fn has_user(text: &str) -> bool {
    let authority =
        text.split_once("://").map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or(rest));
    authority.is_some_and(|authority| authority.contains('@'))
}

/// Whether a header contains a credential.
fn is_credential(header: &str) -> bool {
    let name = header.to_ascii_lowercase();
    ["auth", "cookie", "token", "key", "secret", "password"].iter().any(|word| name.contains(word))
}

/// Removes the value at the location from a message and a help.
pub(super) fn redact(mut message: String, mut help: String, value: Option<&Value>) -> (String, String) {
    let Some(Value::String(text)) = value else { return (message, help) };
    let json = serde_json::to_string(text).unwrap_or_default();
    let mut is_redacted = false;
    for output in [&mut message, &mut help] {
        for (occurrence, replacement) in
            [(json.clone(), format!("\"{REDACTED}\"")), (format!("`{text}`"), format!("`{REDACTED}`"))]
        {
            is_redacted |= output.contains(&occurrence);
            *output = output.replace(&occurrence, &replacement);
        }
    }
    if is_redacted {
        help.push_str("; the value may be a secret, so it is not repeated");
    }
    (message, help)
}

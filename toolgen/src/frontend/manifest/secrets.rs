//! The locations where a manifest names the variables of credentials. Another value there may be the credential
//! itself, which no problem repeats.

use serde_json::Value;

use crate::source::Pointer;

/// The replacement for a value in messages.
const REDACTED: &str = "…";

/// Whether a location may contain a credential by accident.
pub(super) fn may_stand_at(pointer: &Pointer, given: Option<&Value>) -> bool {
    if given.and_then(Value::as_str).is_some_and(has_user) {
        return true;
    }
    let parts: Vec<&str> = pointer.as_str().split('/').skip(1).collect();
    let of_import = |part: &&str| ["auth", "bearer", "headers", "credentials"].contains(part);
    match parts.as_slice() {
        ["tools", _, "http", "auth", ..] => true,
        ["tools", _, "http", "headers", name, ..] => is_credential(name),
        ["imports", rest @ ..] => rest.iter().any(of_import),
        _ => false,
    }
}

/// Whether a URL has a user, possibly with a password.
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

/// Returns a message and a help that do not repeat the value.
pub(super) fn redact(mut message: String, mut help: String, given: Option<&Value>) -> (String, String) {
    let Some(Value::String(text)) = given else { return (message, help) };
    let displayed = serde_json::to_string(text).unwrap_or_default();
    let mut hidden = false;
    for reply in [&mut message, &mut help] {
        for (form, instead) in
            [(displayed.clone(), format!("\"{REDACTED}\"")), (format!("`{text}`"), format!("`{REDACTED}`"))]
        {
            hidden |= reply.contains(&form);
            *reply = reply.replace(&form, &instead);
        }
    }
    if hidden {
        help.push_str("; the value may be a secret, so it is not repeated");
    }
    (message, help)
}

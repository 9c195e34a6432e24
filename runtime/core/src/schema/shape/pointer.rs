//! JSON pointers (RFC 6901) and references.

use std::fmt::Write as _;

use crate::base::truncate;

/// Adds a reference token to a JSON pointer.
pub fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    let mut remaining = token;
    while let Some(at) = remaining.bytes().position(|byte| matches!(byte, b'~' | b'/')) {
        let (plain, escaped) = remaining.split_at(at);
        pointer.push_str(plain);
        pointer.push_str(if escaped.starts_with('~') { "~0" } else { "~1" });
        remaining = &escaped[1..];
    }
    pointer.push_str(remaining);
}

/// Returns the pointer to a member of the value at a JSON pointer.
pub(crate) fn child(pointer: &str, token: &str) -> String {
    let mut child = pointer.to_owned();
    push(&mut child, token);
    child
}

/// Maximum length of a key in a message, in characters.
const MAX_KEY: usize = 100;
/// Maximum length of a pointer in a message, in bytes; further keys are omitted.
const MAX_POINTER_BYTES: usize = 2_000;

/// Adds a key of a value to a JSON pointer in a message. Long keys are cut.
pub(crate) fn push_truncated(pointer: &mut String, key: &str) {
    let limit = if pointer.len() < MAX_POINTER_BYTES { MAX_KEY } else { 0 };
    if key.len() <= limit { push(pointer, key) } else { push(pointer, &truncate::cut(key, limit)) }
}

/// Returns the reference to a named shape, `#/$defs/NAME`, as a URI fragment (RFC 6901, section 6).
pub(crate) fn reference(name: &str) -> String {
    let mut token = String::new();
    push(&mut token, name);
    let mut reference = String::from("#/$defs");
    for byte in token.bytes() {
        // The characters of a URI fragment (RFC 3986, section 3.5); all others are percent-encoded.
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte) {
            reference.push(char::from(byte));
        } else {
            let _ = write!(reference, "%{byte:02X}");
        }
    }
    reference
}

/// Returns `NAME` of `#/$defs/NAME` or `#/definitions/NAME`.
pub fn referenced(reference: &str) -> Option<String> {
    let token = reference.strip_prefix("#/$defs/").or_else(|| reference.strip_prefix("#/definitions/"))?;
    if token.is_empty() || token.contains('/') {
        return None;
    }
    Some(token_of(&percent_decode(token)?))
}

/// Returns the key that a reference token encodes.
pub fn token_of(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// Decodes a URI fragment; `None` if the result is not valid UTF-8.
pub(crate) fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut remaining = text.bytes();
    while let Some(byte) = remaining.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let high = char::from(remaining.next()?).to_digit(16)?;
        let low = char::from(remaining.next()?).to_digit(16)?;
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_round_trip_any_name() {
        for name in ["Pet", "a/b", "a~b", "a~1b", "100%", "größe", "Map<String, Pet[]>", "x y"] {
            assert_eq!(referenced(&reference(name)).as_deref(), Some(name), "{name}");
        }
        assert_eq!(reference("a/b c"), "#/$defs/a~1b%20c");
        assert_eq!(referenced("#/definitions/Pet").as_deref(), Some("Pet"));
        for other in ["#", "#/$defs/", "#/$defs/A/properties/b", "other.json#/$defs/A", "#/$defs/%zz"] {
            assert_eq!(referenced(other), None, "{other}");
        }
    }
}

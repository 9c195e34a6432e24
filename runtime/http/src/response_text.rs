//! The text of a response that a model reads. To keep it short, URLs are decoded, and JSON has no white space.

use std::borrow::Cow;

use reqwest::{StatusCode, Url};
use serde_core::de::IgnoredAny;
use serde_json::error::Category;
use serde_json::{Map, Value};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::media_type::{essence, is_json};
use toolgen_kernel::base::printable::visible;
use toolgen_kernel::base::truncate::cut;
use toolgen_kernel::spec::plan::is_secret_header;

use super::encode::leading_octets;
use super::request::HttpRequest;
use super::{charset, html};

/// The end of a truncated text.
pub(super) const TRUNCATED: &str = "\n... [truncated]";

/// Maximum length of the text of an error page, in characters. The top of a page describes the error.
const MAX_ERROR_PAGE_CHARS: usize = 2000;

/// A response as a model sees it, except for its body.
#[derive(Clone, Copy)]
pub(super) struct VisibleResponse<'a> {
    pub(super) head: &'a str,
    pub(super) url: &'a str,
    pub(super) content_type: &'a str,
    /// Whether the response is a success of the operation, and not an error.
    pub(super) is_success: bool,
    /// Maximum length of the text, in bytes.
    pub(super) limit: usize,
}

/// Returns the first line of the text: the method, the URL, the final URL after redirects, and the status.
pub(super) fn head(request: &HttpRequest, status: StatusCode, final_url: Option<&Url>) -> String {
    let (method, code) = (&request.method, status.as_u16());
    let displayed = |url: &str| request.credentials.redact(&readable_url(url));
    match final_url.map(|url| displayed(&request.credentials.redact_url(url.as_str()))) {
        None => format!("{method} {} → {code}", displayed(&request.redacted_url())),
        Some(last) => format!("{method} {} → {last} → {code}", displayed(&request.redacted_url())),
    }
}

/// Decodes percent-encoded characters of a URL that are visible and not syntax: `B%C3%A4r` becomes `Bär`, and `%20`,
/// `%2F` and `%26` are unchanged. The result is an equivalent URL.
pub(super) fn readable_url(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    let mut remaining = url;
    while let Some(start) = remaining.find('%') {
        let (prefix, encoded) = remaining.split_at(start);
        out.push_str(prefix);
        // The encoded bytes of one character.
        let bytes: Vec<u8> = leading_octets(encoded).take(4).collect();
        let Some(char) = first_char(&bytes) else {
            out.push('%');
            remaining = &encoded[1..];
            continue;
        };
        let (encoded_char, after_char) = encoded.split_at(3 * char.len_utf8());
        if is_plain(char) {
            out.push(char);
        } else {
            out.push_str(encoded_char);
        }
        remaining = after_char;
    }
    out.push_str(remaining);
    out
}

/// Returns the first character of UTF-8 bytes.
fn first_char(bytes: &[u8]) -> Option<char> {
    (1..=bytes.len()).find_map(|end| std::str::from_utf8(bytes.get(..end)?).ok()?.chars().next())
}

/// Whether a character is visible, and is not syntax anywhere in a URL.
fn is_plain(char: char) -> bool {
    if char.is_ascii() {
        char.is_ascii_alphanumeric() || matches!(char, '-' | '.' | '_' | '~')
    } else {
        !char.is_whitespace() && matches!(visible(char.encode_utf8(&mut [0; 4])), Cow::Borrowed(_))
    }
}

/// Removes white space between the tokens of JSON; the tokens are unchanged. Text that is not JSON is returned
/// verbatim.
fn json(text: String) -> String {
    let has_whitespace = text.contains([' ', '\t', '\n', '\r']);
    if !has_whitespace || serde_json::from_str::<IgnoredAny>(&text).is_err() {
        return text;
    }
    let (mut in_string, mut escaped) = (false, false);
    let is_kept = |char: char| {
        if in_string {
            in_string = escaped || char != '"';
            escaped = !escaped && char == '\\';
            return true;
        }
        in_string = char == '"';
        !matches!(char, ' ' | '\t' | '\n' | '\r')
    };
    let mut text = text;
    text.retain(is_kept);
    text
}

/// Returns a text response, which may be incomplete.
pub(super) fn text(
    request: &HttpRequest,
    visible: VisibleResponse<'_>,
    decoded: &str,
    truncated: bool,
) -> String {
    let VisibleResponse { head, content_type, .. } = visible;
    let redact = |text: &str| request.credentials.redact(text);
    let essence = essence(content_type);
    if let Some(page) = html::page(&essence, decoded).filter(|_| !visible.is_success) {
        // With its entities decoded, a page may show a credential that was not visible before.
        let page = match cut(&redact(&page), MAX_ERROR_PAGE_CHARS) {
            page if page.is_empty() => "[an HTML page without text]".to_owned(),
            page => page,
        };
        return format!("{head}\n\n{page}");
    }
    if decoded.is_empty() && !truncated {
        return head.to_owned();
    }
    let (mut body, mut note) = (redact(decoded), String::new());
    if is_json(&essence) {
        note = (!truncated).then(|| not_json(decoded)).flatten().unwrap_or_default();
        body = json(body);
    }
    // Decoding may have made the text longer.
    let is_truncated = charset::truncate(&mut body, visible.limit);
    let suffix = if truncated || is_truncated { TRUNCATED } else { "" };
    format!("{head}{note}\n\n{body}{suffix}")
}

/// Returns the line that describes why a body declared as JSON is invalid. Returns `None` if it is valid or empty.
fn not_json(text: &str) -> Option<String> {
    let error = serde_json::from_str::<IgnoredAny>(text).err().filter(|_| !text.trim().is_empty())?;
    Some(match error.classify() {
        Category::Eof => "\nThe body is incomplete: the JSON ends early.".to_owned(),
        _ => format!("\nThe body is declared as JSON, but is invalid: {error}."),
    })
}

/// Maximum length of a header that a model sees, in bytes. Longer headers are omitted, because an incomplete header is
/// useless.
const MAX_HEADER: usize = 1024;

/// Adds the headers that a model sees to the first line of a result: the declared headers of a success; the target
/// and the reason of a redirect that was not followed; and for other failures, when to retry.
pub(super) fn append_headers(
    head: &mut String,
    status: StatusCode,
    headers: &Map<String, Value>,
    declared: Option<&[Text]>,
    redirect_error: Option<&str>,
) {
    match declared {
        Some(declared) => {
            let declared = declared.iter().map(Text::as_str);
            let others = declared.filter(|name| !name.eq_ignore_ascii_case("location"));
            add_visible(headers, std::iter::once("Location").chain(others), head);
        }
        None if status.is_redirection() => {
            add_visible(headers, ["Location"], head);
            head.extend(["\n", &redirect_note(status, redirect_error)]);
        }
        None => add_visible(headers, ["Retry-After"], head),
    }
}

/// Describes why a redirect is the final response.
fn redirect_note(status: StatusCode, redirect_error: Option<&str>) -> String {
    match redirect_error {
        Some(reason) => format!("The redirect was not followed: {reason}."),
        None if status == StatusCode::NOT_MODIFIED => {
            "The service reports that nothing was modified, and sends no body.".to_owned()
        }
        None => "The response is not a redirect that can be followed.".to_owned(),
    }
}

/// Adds these headers if a model may see them, one per line.
fn add_visible<'n>(headers: &Map<String, Value>, names: impl IntoIterator<Item = &'n str>, out: &mut String) {
    for name in names.into_iter().filter(|name| !is_secret_header(name)) {
        let value = headers.get(&name.to_ascii_lowercase()).and_then(Value::as_str).unwrap_or_default();
        if !value.is_empty() && value.len() <= MAX_HEADER && !value.contains(char::is_control) {
            out.extend(["\n", name, ": ", value]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_decoded_only_if_the_meaning_stays() {
        let base = "https://api.example.com";
        for (raw, expected) in [
            ("/weather?city=B%C3%A4r%20%26%20Co", "/weather?city=Bär%20%26%20Co"),
            ("/%E6%9D%B1%E4%BA%AC/%61%2Db%5F%7E", "/東京/a-b_~"),
            ("/a%2Fb%3Fc%23d%25e%2541%3D%2B+", "/a%2Fb%3Fc%23d%25e%2541%3D%2B+"),
            ("/%0A%00%1B%E2%80%AE%E2%80%8B%C2%A0%22%3C", "/%0A%00%1B%E2%80%AE%E2%80%8B%C2%A0%22%3C"),
            ("/%C3%28%FF%zz%4%", "/%C3%28%FF%zz%4%"),
            ("/%C3%A4%C3%B6%", "/äö%"),
        ] {
            assert_eq!(readable_url(&format!("{base}{raw}")), format!("{base}{expected}"));
        }
    }

    #[test]
    fn only_json_whitespace_is_removed() {
        for (raw, expected) in [
            (
                "{\n  \"b\": 1.50,\r\n\t\"a\": [1e400, -0.0, 12345678901234567890123]\n}\n",
                "{\"b\":1.50,\"a\":[1e400,-0.0,12345678901234567890123]}",
            ),
            (
                r#"{ "a b\" c\\" : " \\\" d ", "a b\" c\\" : null }"#,
                r#"{"a b\" c\\":" \\\" d ","a b\" c\\":null}"#,
            ),
            ("[ 1, 2", "[ 1, 2"),
            ("not json, at all", "not json, at all"),
            ("1 2", "1 2"),
            ("[]", "[]"),
            (" \"a b\u{2003}c\" ", "\"a b\u{2003}c\""),
        ] {
            assert_eq!(json(raw.to_owned()), expected);
        }
    }
}

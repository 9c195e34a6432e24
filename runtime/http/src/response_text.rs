//! The text that a model reads of an answer, kept short: decoded URLs, JSON without blanks.

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

use super::encode::octets;
use super::request::HttpRequest;
use super::{charset, html};

/// The end of a text that was cut off.
pub(super) const TRUNCATED: &str = "\n... [truncated]";

/// How many characters of an error page a model reads: the top says what went wrong, and the rest is decoration.
const MAX_ERROR_PAGE_CHARS: usize = 2000;

/// An answer as a model sees it, except for its body.
#[derive(Clone, Copy)]
pub(super) struct VisibleResponse<'a> {
    pub(super) head: &'a str,
    pub(super) url: &'a str,
    pub(super) content_type: &'a str,
    /// Whether it is what the operation answers, and not an error.
    pub(super) is_answer: bool,
    /// The most bytes of a text.
    pub(super) limit: usize,
}

/// Returns the first line of what a model reads: the method, the URL, the one that redirects led to, and the status.
pub(super) fn head(request: &HttpRequest, status: StatusCode, final_url: Option<&Url>) -> String {
    let (method, code) = (&request.method, status.as_u16());
    let displayed = |url: &str| request.credentials.redact(&self::url(url));
    match final_url.map(|url| displayed(&request.credentials.redact_url(url.as_str()))) {
        None => format!("{method} {} → {code}", displayed(&request.redacted_url())),
        Some(last) => format!("{method} {} → {last} → {code}", displayed(&request.redacted_url())),
    }
}

/// Returns a URL with those percent-encoded characters decoded that have no meaning in it and are visible: `Bär` for
/// `B%C3%A4r`, and `%20`, `%2F` and `%26` as they are. So the text is the same URL for whoever reads it.
pub(super) fn url(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    let mut rest = url;
    while let Some(at) = rest.find('%') {
        let (before, encoded) = rest.split_at(at);
        out.push_str(before);
        // Of one character.
        let bytes: Vec<u8> = octets(encoded).take(4).collect();
        let Some(char) = first_char(&bytes) else {
            out.push('%');
            rest = &encoded[1..];
            continue;
        };
        let (own, after) = encoded.split_at(3 * char.len_utf8());
        if is_plain(char) {
            out.push(char);
        } else {
            out.push_str(own);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Returns the character that some bytes begin with.
fn first_char(bytes: &[u8]) -> Option<char> {
    (1..=bytes.len()).find_map(|end| std::str::from_utf8(bytes.get(..end)?).ok()?.chars().next())
}

/// Whether a character means itself anywhere in a URL, and is visible.
fn is_plain(char: char) -> bool {
    if char.is_ascii() {
        char.is_ascii_alphanumeric() || matches!(char, '-' | '.' | '_' | '~')
    } else {
        !char.is_whitespace() && matches!(visible(char.encode_utf8(&mut [0; 4])), Cow::Borrowed(_))
    }
}

/// Returns a JSON text without the blanks between its tokens, whose text stays as it is. A text that is not JSON
/// stays whole.
fn json(text: String) -> String {
    let is_spaced = text.contains([' ', '\t', '\n', '\r']);
    if !is_spaced || serde_json::from_str::<IgnoredAny>(&text).is_err() {
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

/// Returns an answer that is a text, whose rest may not have been read.
pub(super) fn text(
    request: &HttpRequest,
    visible: VisibleResponse<'_>,
    decoded: &str,
    truncated: bool,
) -> String {
    let VisibleResponse { head, content_type, .. } = visible;
    let redact = |text: &str| request.credentials.redact(text);
    let essence = essence(content_type);
    if let Some(page) = html::page(&essence, decoded).filter(|_| !visible.is_answer) {
        // Without its entities, a page may show a credential that it did not show before.
        let page = match cut(&redact(&page), MAX_ERROR_PAGE_CHARS) {
            page if page.is_empty() => "[an HTML page without text]".to_owned(),
            page => page,
        };
        return format!("{head}\n\n{page}");
    }
    if decoded.is_empty() && !truncated {
        return head.to_owned();
    }
    let (mut body, mut remark) = (redact(decoded), String::new());
    if is_json(&essence) {
        remark = (!truncated).then(|| not_json(decoded)).flatten().unwrap_or_default();
        body = json(body);
    }
    // Decoding may have made the text longer.
    let is_cut = charset::cut(&mut body, visible.limit);
    let end = if truncated || is_cut { TRUNCATED } else { "" };
    format!("{head}{remark}\n\n{body}{end}")
}

/// Returns the line that says why the whole of a body is not the JSON that it claims to be; `None` if it is, or is
/// empty.
fn not_json(text: &str) -> Option<String> {
    let wrong = serde_json::from_str::<IgnoredAny>(text).err().filter(|_| !text.trim().is_empty())?;
    Some(match wrong.classify() {
        Category::Eof => "\nThe body is not whole: the JSON ends early.".to_owned(),
        _ => format!("\nThe body is not JSON, although the service says so: {wrong}."),
    })
}

/// The longest header that a model sees, in bytes; a longer one is left out, since a part of it is useless.
const MAX_HEADER: usize = 1024;

/// Adds to the first line of a result the headers that a model sees: those declared for answers; for a redirect that
/// was not followed, where it leads and why; and for another failure, when the service may be asked again.
pub(super) fn append_headers(
    head: &mut String,
    status: StatusCode,
    headers: &Map<String, Value>,
    declared: Option<&[Text]>,
    refused: Option<&str>,
) {
    match declared {
        Some(declared) => {
            let declared = declared.iter().map(Text::as_str);
            let others = declared.filter(|name| !name.eq_ignore_ascii_case("location"));
            add(headers, std::iter::once("Location").chain(others), head);
        }
        None if status.is_redirection() => {
            add(headers, ["Location"], head);
            head.extend(["\n", &not_followed(status, refused)]);
        }
        None => add(headers, ["Retry-After"], head),
    }
}

/// Says why a redirect is not the answer.
fn not_followed(status: StatusCode, refused: Option<&str>) -> String {
    match refused {
        Some(reason) => format!("The redirect was not followed: {reason}."),
        None if status == StatusCode::NOT_MODIFIED => {
            "The service says that nothing was modified, and sends nothing.".to_owned()
        }
        None => "The service does not say where to find the answer.".to_owned(),
    }
}

/// Adds the headers of these names that a model may see, one per line.
fn add<'n>(headers: &Map<String, Value>, names: impl IntoIterator<Item = &'n str>, out: &mut String) {
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
        for (given, read) in [
            ("/weather?city=B%C3%A4r%20%26%20Co", "/weather?city=Bär%20%26%20Co"),
            ("/%E6%9D%B1%E4%BA%AC/%61%2Db%5F%7E", "/東京/a-b_~"),
            ("/a%2Fb%3Fc%23d%25e%2541%3D%2B+", "/a%2Fb%3Fc%23d%25e%2541%3D%2B+"),
            ("/%0A%00%1B%E2%80%AE%E2%80%8B%C2%A0%22%3C", "/%0A%00%1B%E2%80%AE%E2%80%8B%C2%A0%22%3C"),
            ("/%C3%28%FF%zz%4%", "/%C3%28%FF%zz%4%"),
            ("/%C3%A4%C3%B6%", "/äö%"),
        ] {
            assert_eq!(url(&format!("{base}{given}")), format!("{base}{read}"));
        }
    }

    #[test]
    fn only_json_whitespace_is_removed() {
        for (given, read) in [
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
            assert_eq!(json(given.to_owned()), read);
        }
    }
}

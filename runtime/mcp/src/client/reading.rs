//! Lenient parser for messages of a server. An unparsable tool descriptor affects only its tool, and numbers keep
//! their digits.

use std::borrow::Cow;

use memchr::memchr2;
use serde_json::{Map, Number, Value, json};
use toolgen_core::internal::pointer;
use toolgen_kernel::base::printable::visible;
use toolgen_kernel::base::truncate::cut;
use toolgen_kernel::spec::mcp::{MAX_LEVELS, UNREADABLE};

/// The UTF-8 byte order mark that some servers send.
const BOM: &[u8] = b"\xef\xbb\xbf";
/// The member of a result that holds its original text, if parsing changes its numbers.
const WRITTEN: &str = "io.toolgen/written";
/// Maximum nesting depth of a message that can be parsed.
const READ_LEVELS: usize = 127;
/// Maximum depth to which an error is located.
const SEARCHED: usize = 24;
/// Maximum length of a quoted error and of its surroundings, in characters.
const SHOWN: usize = 40;

/// Parses a message. In a list of tools, an unparsable descriptor is replaced by its name and the reason. In other
/// messages, unpaired surrogates become `U+FFFD`, and numbers that are too large become the largest number; their
/// digits are [kept](Written).
///
/// # Errors
///
/// Returns the location of the error if the message is not valid JSON.
pub(super) fn read(text: &[u8]) -> Result<Value, String> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    match serde_json::from_slice(text) {
        Ok(message) => Ok(with_digits(message, text)),
        // A log line.
        Err(error)
            if !text.trim_ascii_start().starts_with(b"{") && !text.trim_ascii_start().starts_with(b"[") =>
        {
            Err(error.to_string())
        }
        Err(_) => match list_in_parts(text) {
            Some(message) => Ok(message),
            None => {
                let message = serde_json::from_slice(&mended(text, true)).map_err(|_| fault(text))?;
                Ok(with_digits(message, text))
            }
        },
    }
}

/// Parses a JSON text within a result. Also returns its compact form if parsing changes its numbers.
pub(super) fn value(text: &str) -> Option<(Value, Option<String>)> {
    let value =
        serde_json::from_str(text).or_else(|_| serde_json::from_slice(&mended(text.as_bytes(), true)));
    let written = is_rewritten(text.as_bytes()).then(|| compact(text));
    Some((value.ok()?, written))
}

/// Returns a JSON text without whitespace between tokens.
pub(super) fn compact(text: &str) -> String {
    String::from_utf8_lossy(&mended(text.as_bytes(), false)).into_owned()
}

/// The original text of a result, if parsing changes its numbers.
pub(super) struct Written(Option<String>);

impl Written {
    /// Removes it from a result.
    pub(super) fn take(result: &mut Value) -> Written {
        match result.as_object_mut().and_then(|members| members.shift_remove(WRITTEN)) {
            Some(Value::String(text)) => Written(Some(text)),
            _ => Written(None),
        }
    }

    /// Adds it to a result.
    pub(super) fn put(self, result: &mut Value) {
        if let (Some(text), Value::Object(members)) = (self.0, result) {
            members.insert(WRITTEN.to_owned(), text.into());
        }
    }

    /// Returns the original text of a member or an item.
    pub(super) fn part(&self, key: &str) -> Written {
        let found = self.0.as_deref().and_then(|text| part(text.as_bytes(), key));
        Written(found.map(|part| String::from_utf8_lossy(part).into_owned()))
    }

    /// Returns the text, if there is one.
    pub(super) fn text(self) -> Option<String> {
        self.0
    }

    /// Returns the original text of a value, or else its JSON.
    pub(super) fn text_of(self, value: &Value) -> String {
        self.0.unwrap_or_else(|| value.to_string())
    }
}

/// Adds the original text to the results of a message, if parsing changes their numbers.
fn with_digits(mut message: Value, text: &[u8]) -> Value {
    let rewritten = is_rewritten(text);
    match &mut message {
        Value::Array(messages) if rewritten => {
            let parts = parts(text).unwrap_or_default();
            for (message, (_, text)) in messages.iter_mut().zip(parts) {
                note_digits(message, Some(text));
            }
        }
        Value::Array(messages) => messages.iter_mut().for_each(|message| note_digits(message, None)),
        message => note_digits(message, rewritten.then_some(text)),
    }
    message
}

fn note_digits(message: &mut Value, text: Option<&[u8]>) {
    let Some(result) = message.get_mut("result") else { return };
    // The server must not set this member itself.
    drop(Written::take(result));
    let is_list = result.get("tools").is_some_and(Value::is_array);
    let written = text.filter(|_| !is_list).and_then(|text| part(text, "result"));
    let written = written.filter(|text| is_rewritten(text)).map(|text| mended(text, false));
    Written(written.map(|text| String::from_utf8_lossy(&text).into_owned())).put(result);
}

/// Parses a list of tools, each descriptor separately. `None` if it is not such a list.
fn list_in_parts(text: &[u8]) -> Option<Value> {
    let list = |text| {
        let mut result = Map::new();
        for (key, part) in parts(text)? {
            let value = match parts(part) {
                Some(tools) if key == "tools" && part.starts_with(b"[") => {
                    let read = |tool| serde_json::from_slice(tool).unwrap_or_else(|_| unreadable(tool));
                    tools.into_iter().map(|(_, tool)| read(tool)).collect()
                }
                _ => serde_json::from_slice(part).ok()?,
            };
            result.insert(key, value);
        }
        result.get("tools").is_some_and(Value::is_array).then_some(Value::Object(result))
    };
    let mut message = Map::new();
    for (key, part) in parts(text)? {
        let value = if key == "result" { list(part)? } else { serde_json::from_slice(part).ok()? };
        message.insert(key, value);
    }
    message.contains_key("result").then_some(Value::Object(message))
}

/// The list entry that replaces an unparsable descriptor.
fn unreadable(tool: &[u8]) -> Value {
    let name = part(tool, "name").filter(|name| name.starts_with(b"\""));
    let name = name.and_then(|name| serde_json::from_str::<Value>(&literal(name)).ok());
    let reason = match levels(tool) > READ_LEVELS {
        true => format!("the descriptor is nested deeper than {MAX_LEVELS} levels"),
        false => format!("the descriptor cannot be parsed: {}", fault(tool)),
    };
    json!({ "name": name, UNREADABLE: reason })
}

/// Describes what in a text cannot be parsed, and where.
fn fault(text: &[u8]) -> String {
    if levels(text) > READ_LEVELS {
        return format!("it is nested too deeply: more than {READ_LEVELS} levels");
    }
    let (mut location, mut text) = (String::new(), text);
    for _ in 0..SEARCHED {
        let wrong = |(_, part): &(String, &[u8])| serde_json::from_slice::<Value>(part).is_err();
        let Some((key, part)) = parts(text).and_then(|parts| parts.into_iter().find(wrong)) else { break };
        pointer::push(&mut location, &key);
        text = part;
    }
    let at = if location.is_empty() {
        String::new()
    } else {
        format!(" at `{}`", cut(&visible(&location), 5 * SHOWN))
    };
    let error = serde_json::from_slice::<Value>(text).err();
    let column = error.as_ref().map_or(0, serde_json::Error::column);
    let reason = error.map(|error| error.to_string()).unwrap_or_default();
    let short = reason.split(" at line ").next().unwrap_or_default();
    let displayed = |text: &[u8]| cut(&visible(&String::from_utf8_lossy(text)), SHOWN);
    match text.trim_ascii_start().first() {
        Some(b'"') => format!("the string {}{at} is not Unicode: {short}", displayed(text)),
        Some(b'{' | b'[') => {
            let near = text.get(column.saturating_sub(SHOWN / 2)..).unwrap_or_default();
            let what = if location.is_empty() { "it".to_owned() } else { format!("the value{at}") };
            format!("{what} is not JSON: {short}, near `{}`", displayed(near))
        }
        _ if is_number(text) => format!("the number `{}`{at} is too large", displayed(text)),
        _ => format!("`{}`{at} is not JSON", displayed(text)),
    }
}

/// Returns the nesting depth of a text.
fn levels(text: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for token in Tokens(text) {
        match token {
            b"{" | b"[" => depth += 1,
            b"}" | b"]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Returns the original text of a member or an item. Of duplicate members, the last one counts.
fn part<'t>(text: &'t [u8], key: &str) -> Option<&'t [u8]> {
    parts(text)?.into_iter().rfind(|(name, _)| name == key).map(|(_, part)| part)
}

/// Returns the original text of all members by name, or of all items by index.
fn parts(text: &[u8]) -> Option<Vec<(String, &[u8])>> {
    let (mut tokens, mut found) = (Tokens(text), Vec::new());
    let closing: &[u8] = match tokens.next()? {
        b"{" => b"}",
        b"[" => b"]",
        _ => return None,
    };
    if Tokens(tokens.0).next()? == closing {
        return Some(found);
    }
    loop {
        let mut key = found.len().to_string();
        if closing == b"}" {
            key = serde_json::from_str(&literal(tokens.next()?)).ok()?;
            tokens.next().filter(|token| *token == b":")?;
        }
        let (rest, mut depth) = (tokens.0.trim_ascii_start(), 0_usize);
        loop {
            match tokens.next()? {
                b"{" | b"[" => depth += 1,
                b"}" | b"]" => depth = depth.checked_sub(1)?,
                b"," | b":" if depth == 0 => return None,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        found.push((key, rest.get(..rest.len() - tokens.0.len())?));
        match tokens.next()? {
            b"," => {}
            token => return (token == closing).then_some(found),
        }
    }
}

/// Returns a text without whitespace between tokens and with valid Unicode strings. If `bounded`, numbers that are
/// too large become the largest number.
fn mended(text: &[u8], bounded: bool) -> Vec<u8> {
    let (mut out, mut after_word) = (Vec::with_capacity(text.len()), false);
    for token in Tokens(text) {
        let is_word = !matches!(token, b"{" | b"}" | b"[" | b"]" | b"," | b":");
        if is_word && after_word {
            out.push(b' ');
        }
        after_word = is_word;
        let token = match token {
            [b'"', ..] => Cow::Owned(literal(token).into_bytes()),
            _ if bounded && is_number(token) && serde_json::from_slice::<Number>(token).is_err() => {
                let largest = if token.starts_with(b"-") { f64::MIN } else { f64::MAX };
                Cow::Owned(json!(largest).to_string().into_bytes())
            }
            _ => Cow::Borrowed(token),
        };
        out.extend_from_slice(&token);
    }
    out
}

/// Whether parsing changes the digits of a number in the text.
fn is_rewritten(text: &[u8]) -> bool {
    Tokens(text).any(|token| {
        let is_short = token.len() < 19 && token.iter().all(u8::is_ascii_digit);
        let read = |token| serde_json::from_slice::<Number>(token).map(|number| number.to_string());
        !is_short && is_number(token) && read(token).map_or(true, |read| read.as_bytes() != token)
    })
}

/// Whether a token has the letters of a number.
fn is_number(word: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    word.first().is_some_and(|first| *first == b'-' || first.is_ascii_digit())
        && word.last().is_some_and(u8::is_ascii_digit)
        && word.iter().all(is_part)
}

/// Returns a string as valid JSON: unpaired surrogates and invalid UTF-8 become `U+FFFD`.
fn literal(token: &[u8]) -> String {
    if let Ok(text) = serde_json::from_slice::<String>(token) {
        return Value::from(text).to_string();
    }
    let text = String::from_utf8_lossy(token);
    let (mut out, mut rest) = (String::with_capacity(text.len()), &*text);
    let code = |digits: Option<&str>| digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    while let Some(at) = rest.find(|char: char| char == '\\' || char < ' ') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let first = rest.strip_prefix("\\u").and_then(|digits| code(digits.get(..4)));
        let second = rest.get(6..8).filter(|escape| *escape == "\\u").and_then(|_| code(rest.get(8..12)));
        let length = match (first, second) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                out.push(char::REPLACEMENT_CHARACTER);
                rest = &rest[6..];
                continue;
            }
            (Some(_), _) => 6,
            _ if rest.starts_with('\\') => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => {
                let control = rest.chars().next().unwrap_or_default();
                out.push_str(&format!("\\u{:04x}", u32::from(control)));
                rest = &rest[1..];
                continue;
            }
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out.push_str(rest);
    serde_json::from_str::<String>(&out).map_or(out, |text| Value::from(text).to_string())
}

/// The tokens of a JSON text: strings, words such as numbers, and punctuation.
struct Tokens<'t>(&'t [u8]);

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<&'t [u8]> {
        let text = self.0.trim_ascii_start();
        let end = match text.first()? {
            b'"' => string_end(text),
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || b"{}[],:\"".contains(byte);
                text.iter().position(ends).unwrap_or(text.len())
            }
        };
        let (token, rest) = text.split_at(end);
        self.0 = rest;
        Some(token)
    }
}

/// Returns the end of the string at the start of a text.
fn string_end(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        match text.get(at - 1) {
            Some(b'"') => return at,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgen_kernel::spec::mcp;
    use toolgen_kernel::spec::plan::McpServer;

    fn nested(levels: usize) -> String {
        format!(
            r#"{{"type":"object","description":"[\"{{","properties":{}{{}}{}}}"#,
            r#"{"a\\":{"type":"object","properties":"#.repeat(levels),
            "}}".repeat(levels)
        )
    }

    fn refused(middle: &str) -> String {
        let [first, last] =
            ["one", "two"].map(|name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#));
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{first}, {middle},{last} ]}}}}"#);
        let message = read(text.as_bytes()).unwrap();
        let list = message["result"]["tools"].as_array().unwrap();
        let made = mcp::tools(&McpServer { alias: "a".into(), ..McpServer::EMPTY }.into(), list, false);
        assert!(made[0].is_ok() && made[2].is_ok(), "{middle}");
        made[1].as_ref().unwrap_err().to_string()
    }

    #[test]
    fn unparsable_tool_is_skipped_and_reported_by_name() {
        for levels in [60, 70, 5000] {
            let reason = refused(&format!(r#"{{"name":"mine","inputSchema":{}}}"#, nested(levels)));
            assert!(
                reason.contains("nested deeper than 100 levels") && reason.contains("`mine`"),
                "{reason}"
            );
        }
        for (schema, message) in [
            (
                r#"{"type":"object","properties":{"a":{"default":NaN}}}"#,
                "`NaN` at `/inputSchema/properties/a/default`",
            ),
            (r#"{"maximum":-Infinity}"#, "`-Infinity` at `/inputSchema/maximum`"),
            (r#"{"maximum":1e400}"#, "the number `1e400` at `/inputSchema/maximum` is too large"),
            (
                r#"{"description":"\ud800 x"}"#,
                "the string \"\\ud800 x\" at `/inputSchema/description` is not Unicode",
            ),
            (r#"{"description":"\udc00"}"#, "`/inputSchema/description`"),
            ("{\"description\":\"a\tb\"}", "`/inputSchema/description`"),
            (r#"{"enum":[undefined]}"#, "`undefined` at `/inputSchema/enum/0`"),
            (r#"{"enum":[1 2]}"#, "tool `mine`"),
        ] {
            let reason = refused(&format!(r#"{{"inputSchema":{schema}, "name" : "mine"}}"#));
            assert!(reason.contains(message) && reason.contains("tool `mine`"), "{reason}");
        }
        assert!(refused(r#"{"name":"\ud800"}"#).contains("tool `\u{fffd}`"));
    }

    #[test]
    fn byte_order_mark_is_skipped() {
        assert_eq!(read(b"\xef\xbb\xbf{\"id\":1}").unwrap(), json!({"id": 1}));
    }

    #[test]
    fn other_parse_errors_have_a_location() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        for (result, message) in [
            (format!(r#"{{"content":{deep}}}"#), "nested too deeply"),
            (
                r#"{"structuredContent":{"rows":[1,{"a/b":NaN}]}}"#.to_owned(),
                "`NaN` at `/result/structuredContent/rows/1/a~1b`",
            ),
            (r#"{"content":[],}"#.to_owned(), "the value at `/result` is not JSON: trailing comma, near"),
            (r#"{"content":['a']}"#.to_owned(), "`'a'` at `/result/content/0`"),
            (r#"{"content":["#.to_owned(), "it is not JSON: expected value, near"),
        ] {
            let reason = read(format!(r#"{{"id":1,"result":{result}}}"#).as_bytes()).unwrap_err();
            assert!(reason.contains(message), "{reason}");
        }
        assert!(read(b"a line of a log").is_err());
        assert!(read(b"{\"id\":1,\"result\":{\"tools\":[").is_err());
    }

    #[test]
    fn unpaired_surrogates_are_replaced() {
        let text = b"{\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\\ud83d \\ud83d\\ude00 \\\\ud800 \xff\t\"}]}}";
        let message = read(text).unwrap();
        assert_eq!(message["result"]["content"][0]["text"], "a\u{fffd} 😀 \\ud800 \u{fffd}\t");
    }

    #[test]
    fn lossy_numbers_keep_their_original_digits() {
        for exact in ["7", "-7", "1.5", "0.1", "18446744073709551615", "\"1.10\"", "1e+22"] {
            let mut message = read(format!(r#"{{"id":1,"result":{{"n":{exact}}}}}"#).as_bytes()).unwrap();
            assert_eq!(Written::take(&mut message["result"]).text(), None, "{exact}");
        }
        for changed in
            ["100000000000000000000", "1.10", "1e400", "-1E400", "-0", "1.0e2", "0.1000000000000000055511"]
        {
            let text = format!(
                r#"{{"id":1,"result":{{ "io.toolgen/written": "forged", "n": [ {changed}, "\u0061" ]}}}}"#
            );
            for text in [format!("[{text}]"), text] {
                let mut message = read(text.as_bytes()).unwrap();
                let result = message.pointer_mut(if text.starts_with('[') { "/0/result" } else { "/result" });
                let result = result.unwrap();
                let written = Written::take(result);
                assert!(result["n"][0].is_number());
                assert_eq!(written.part("n").text().unwrap(), format!(r#"[{changed},"a"]"#));
                assert_eq!(written.part("n").part("0").text_of(&json!(1)), changed);
            }
        }
        let mut forged = read(br#"{"result":{"io.toolgen/written":"{}"}}"#).unwrap();
        assert_eq!(forged["result"].take(), json!({}));
    }
}

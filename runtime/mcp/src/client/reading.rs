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
const ORIGINAL_KEY: &str = "io.toolgen/written";
/// Maximum nesting depth of a message that can be parsed.
const MAX_PARSED_LEVELS: usize = 127;
/// Maximum depth to which an error is located.
const MAX_ERROR_DEPTH: usize = 24;
/// Maximum length of a quoted error and of its surroundings, in characters.
const MAX_SHOWN: usize = 40;

/// Parses a message. In a list of tools, an unparsable descriptor is replaced by its name and the reason. In other
/// messages, unpaired surrogates become `U+FFFD`, and numbers that are too large become the largest number; their
/// digits are [kept](OriginalText).
///
/// # Errors
///
/// Returns the location of the error if the message is not valid JSON.
pub(super) fn parse(text: &[u8]) -> Result<Value, String> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    match serde_json::from_slice(text) {
        Ok(message) => Ok(keep_digits(message, text)),
        // A log line, not a message.
        Err(error)
            if !text.trim_ascii_start().starts_with(b"{") && !text.trim_ascii_start().starts_with(b"[") =>
        {
            Err(error.to_string())
        }
        Err(_) => match parse_tool_list(text) {
            Some(message) => Ok(message),
            None => {
                let message =
                    serde_json::from_slice(&normalized(text, true)).map_err(|_| describe_error(text))?;
                Ok(keep_digits(message, text))
            }
        },
    }
}

/// Parses a JSON text within a result. Also returns its compact form if parsing changes its numbers.
pub(super) fn parse_value(text: &str) -> Option<(Value, Option<String>)> {
    let value =
        serde_json::from_str(text).or_else(|_| serde_json::from_slice(&normalized(text.as_bytes(), true)));
    let original = changes_numbers(text.as_bytes()).then(|| compact(text));
    Some((value.ok()?, original))
}

/// Returns a JSON text without whitespace between tokens.
pub(super) fn compact(text: &str) -> String {
    String::from_utf8_lossy(&normalized(text.as_bytes(), false)).into_owned()
}

/// The original text of a result, if parsing changes its numbers.
pub(super) struct OriginalText(Option<String>);

impl OriginalText {
    /// Removes the original text from a result.
    pub(super) fn take(result: &mut Value) -> OriginalText {
        match result.as_object_mut().and_then(|members| members.shift_remove(ORIGINAL_KEY)) {
            Some(Value::String(text)) => OriginalText(Some(text)),
            _ => OriginalText(None),
        }
    }

    /// Adds the original text to a result.
    pub(super) fn insert_into(self, result: &mut Value) {
        if let (Some(text), Value::Object(members)) = (self.0, result) {
            members.insert(ORIGINAL_KEY.to_owned(), text.into());
        }
    }

    /// Returns the original text of a member or an item.
    pub(super) fn part(&self, key: &str) -> OriginalText {
        let part = self.0.as_deref().and_then(|text| part(text.as_bytes(), key));
        OriginalText(part.map(|part| String::from_utf8_lossy(part).into_owned()))
    }

    /// Returns the original text, if there is one.
    pub(super) fn text(self) -> Option<String> {
        self.0
    }

    /// Returns the original text of a value, or else its JSON.
    pub(super) fn or_json(self, value: &Value) -> String {
        self.0.unwrap_or_else(|| value.to_string())
    }
}

/// Adds the original text to the results of a message, if parsing changes their numbers.
fn keep_digits(mut message: Value, text: &[u8]) -> Value {
    let has_changed_numbers = changes_numbers(text);
    match &mut message {
        Value::Array(messages) if has_changed_numbers => {
            let parts = parts(text).unwrap_or_default();
            for (message, (_, text)) in messages.iter_mut().zip(parts) {
                store_original(message, Some(text));
            }
        }
        Value::Array(messages) => messages.iter_mut().for_each(|message| store_original(message, None)),
        message => store_original(message, has_changed_numbers.then_some(text)),
    }
    message
}

fn store_original(message: &mut Value, text: Option<&[u8]>) {
    let Some(result) = message.get_mut("result") else { return };
    // The server must not set this member itself.
    drop(OriginalText::take(result));
    let is_list = result.get("tools").is_some_and(Value::is_array);
    let original = text.filter(|_| !is_list).and_then(|text| part(text, "result"));
    let original = original.filter(|text| changes_numbers(text)).map(|text| normalized(text, false));
    OriginalText(original.map(|text| String::from_utf8_lossy(&text).into_owned())).insert_into(result);
}

/// Parses a list of tools, each descriptor separately. `None` for other JSON.
fn parse_tool_list(text: &[u8]) -> Option<Value> {
    let list = |text| {
        let mut result = Map::new();
        for (key, part) in parts(text)? {
            let value = match parts(part) {
                Some(tools) if key == "tools" && part.starts_with(b"[") => {
                    let read = |tool| serde_json::from_slice(tool).unwrap_or_else(|_| unparsable_entry(tool));
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
fn unparsable_entry(tool: &[u8]) -> Value {
    let name = part(tool, "name").filter(|name| name.starts_with(b"\""));
    let name = name.and_then(|name| serde_json::from_str::<Value>(&string_literal(name)).ok());
    let reason = match nesting_depth(tool) > MAX_PARSED_LEVELS {
        true => format!("the descriptor is nested deeper than {MAX_LEVELS} levels"),
        false => format!("the descriptor cannot be parsed: {}", describe_error(tool)),
    };
    json!({ "name": name, UNREADABLE: reason })
}

/// Describes the first parse error of a text, and its location.
fn describe_error(text: &[u8]) -> String {
    if nesting_depth(text) > MAX_PARSED_LEVELS {
        return format!("it is nested too deeply: more than {MAX_PARSED_LEVELS} levels");
    }
    let (mut location, mut text) = (String::new(), text);
    for _ in 0..MAX_ERROR_DEPTH {
        let is_invalid = |(_, part): &(String, &[u8])| serde_json::from_slice::<Value>(part).is_err();
        let Some((key, part)) = parts(text).and_then(|parts| parts.into_iter().find(is_invalid)) else {
            break;
        };
        pointer::push(&mut location, &key);
        text = part;
    }
    let location_text = if location.is_empty() {
        String::new()
    } else {
        format!(" at `{}`", cut(&visible(&location), 5 * MAX_SHOWN))
    };
    let error = serde_json::from_slice::<Value>(text).err();
    let column = error.as_ref().map_or(0, serde_json::Error::column);
    let reason = error.map(|error| error.to_string()).unwrap_or_default();
    let short = reason.split(" at line ").next().unwrap_or_default();
    let quote = |text: &[u8]| cut(&visible(&String::from_utf8_lossy(text)), MAX_SHOWN);
    match text.trim_ascii_start().first() {
        Some(b'"') => format!("the string {}{location_text} is not Unicode: {short}", quote(text)),
        Some(b'{' | b'[') => {
            let near = text.get(column.saturating_sub(MAX_SHOWN / 2)..).unwrap_or_default();
            let subject =
                if location.is_empty() { "it".to_owned() } else { format!("the value{location_text}") };
            format!("{subject} is not JSON: {short}, near `{}`", quote(near))
        }
        _ if is_number(text) => format!("the number `{}`{location_text} is too large", quote(text)),
        _ => format!("`{}`{location_text} is not JSON", quote(text)),
    }
}

/// Returns the nesting depth of a text.
fn nesting_depth(text: &[u8]) -> usize {
    let (mut depth, mut max_depth) = (0_usize, 0);
    for token in Tokens(text) {
        match token {
            b"{" | b"[" => depth += 1,
            b"}" | b"]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        max_depth = max_depth.max(depth);
    }
    max_depth
}

/// Returns the original text of a member or an item. Of duplicate members, the last one counts.
fn part<'t>(text: &'t [u8], key: &str) -> Option<&'t [u8]> {
    parts(text)?.into_iter().rfind(|(name, _)| name == key).map(|(_, part)| part)
}

/// Returns the original text of all members by name, or of all items by index.
fn parts(text: &[u8]) -> Option<Vec<(String, &[u8])>> {
    let (mut tokens, mut members) = (Tokens(text), Vec::new());
    let closing: &[u8] = match tokens.next()? {
        b"{" => b"}",
        b"[" => b"]",
        _ => return None,
    };
    if Tokens(tokens.0).next()? == closing {
        return Some(members);
    }
    loop {
        let mut key = members.len().to_string();
        if closing == b"}" {
            key = serde_json::from_str(&string_literal(tokens.next()?)).ok()?;
            tokens.next().filter(|token| *token == b":")?;
        }
        let (value_start, mut depth) = (tokens.0.trim_ascii_start(), 0_usize);
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
        members.push((key, value_start.get(..value_start.len() - tokens.0.len())?));
        match tokens.next()? {
            b"," => {}
            token => return (token == closing).then_some(members),
        }
    }
}

/// Returns a text without whitespace between tokens and with valid Unicode strings. If `bounded`, numbers that are
/// too large become the largest number.
fn normalized(text: &[u8], bounded: bool) -> Vec<u8> {
    let (mut out, mut after_word) = (Vec::with_capacity(text.len()), false);
    for token in Tokens(text) {
        let is_word = !matches!(token, b"{" | b"}" | b"[" | b"]" | b"," | b":");
        if is_word && after_word {
            out.push(b' ');
        }
        after_word = is_word;
        let token = match token {
            [b'"', ..] => Cow::Owned(string_literal(token).into_bytes()),
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
fn changes_numbers(text: &[u8]) -> bool {
    Tokens(text).any(|token| {
        let is_short = token.len() < 19 && token.iter().all(u8::is_ascii_digit);
        let parsed_number = |token| serde_json::from_slice::<Number>(token).map(|number| number.to_string());
        !is_short
            && is_number(token)
            && parsed_number(token).map_or(true, |number| number.as_bytes() != token)
    })
}

/// Whether a token has the letters of a number.
fn is_number(word: &[u8]) -> bool {
    let is_number_byte = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    word.first().is_some_and(|first| *first == b'-' || first.is_ascii_digit())
        && word.last().is_some_and(u8::is_ascii_digit)
        && word.iter().all(is_number_byte)
}

/// Returns a string as valid JSON: unpaired surrogates and invalid UTF-8 become `U+FFFD`.
fn string_literal(token: &[u8]) -> String {
    if let Ok(text) = serde_json::from_slice::<String>(token) {
        return Value::from(text).to_string();
    }
    let text = String::from_utf8_lossy(token);
    let (mut out, mut rest) = (String::with_capacity(text.len()), &*text);
    let code = |digits: Option<&str>| digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    while let Some(escape_start) = rest.find(|char: char| char == '\\' || char < ' ') {
        out.push_str(&rest[..escape_start]);
        rest = &rest[escape_start..];
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
                let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"{}[],:\"".contains(byte);
                text.iter().position(is_end).unwrap_or(text.len())
            }
        };
        let (token, rest) = text.split_at(end);
        self.0 = rest;
        Some(token)
    }
}

/// Returns the end of the string at the start of a text.
fn string_end(text: &[u8]) -> usize {
    let mut end = 1;
    while let Some(offset) = text.get(end..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        end += offset + 1;
        match text.get(end - 1) {
            Some(b'"') => return end,
            _ => end += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgen_kernel::spec::mcp;
    use toolgen_kernel::spec::plan::McpServer;

    fn nested(nesting_depth: usize) -> String {
        format!(
            r#"{{"type":"object","description":"[\"{{","properties":{}{{}}{}}}"#,
            r#"{"a\\":{"type":"object","properties":"#.repeat(nesting_depth),
            "}}".repeat(nesting_depth)
        )
    }

    fn rejection_of(middle: &str) -> String {
        let [first, last] =
            ["one", "two"].map(|name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#));
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{first}, {middle},{last} ]}}}}"#);
        let message = parse(text.as_bytes()).unwrap();
        let list = message["result"]["tools"].as_array().unwrap();
        let adapted = mcp::tools(&McpServer { alias: "a".into(), ..McpServer::EMPTY }.into(), list, false);
        assert!(adapted[0].is_ok() && adapted[2].is_ok(), "{middle}");
        adapted[1].as_ref().unwrap_err().to_string()
    }

    #[test]
    fn unparsable_tool_is_skipped_and_reported_by_name() {
        for nesting_depth in [60, 70, 5000] {
            let reason =
                rejection_of(&format!(r#"{{"name":"mine","inputSchema":{}}}"#, nested(nesting_depth)));
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
            let reason = rejection_of(&format!(r#"{{"inputSchema":{schema}, "name" : "mine"}}"#));
            assert!(reason.contains(message) && reason.contains("tool `mine`"), "{reason}");
        }
        assert!(rejection_of(r#"{"name":"\ud800"}"#).contains("tool `\u{fffd}`"));
    }

    #[test]
    fn byte_order_mark_is_skipped() {
        assert_eq!(parse(b"\xef\xbb\xbf{\"id\":1}").unwrap(), json!({"id": 1}));
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
            let reason = parse(format!(r#"{{"id":1,"result":{result}}}"#).as_bytes()).unwrap_err();
            assert!(reason.contains(message), "{reason}");
        }
        assert!(parse(b"a line of a log").is_err());
        assert!(parse(b"{\"id\":1,\"result\":{\"tools\":[").is_err());
    }

    #[test]
    fn unpaired_surrogates_are_replaced() {
        let text = b"{\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\\ud83d \\ud83d\\ude00 \\\\ud800 \xff\t\"}]}}";
        let message = parse(text).unwrap();
        assert_eq!(message["result"]["content"][0]["text"], "a\u{fffd} 😀 \\ud800 \u{fffd}\t");
    }

    #[test]
    fn lossy_numbers_keep_their_original_digits() {
        for exact in ["7", "-7", "1.5", "0.1", "18446744073709551615", "\"1.10\"", "1e+22"] {
            let mut message = parse(format!(r#"{{"id":1,"result":{{"n":{exact}}}}}"#).as_bytes()).unwrap();
            assert_eq!(OriginalText::take(&mut message["result"]).text(), None, "{exact}");
        }
        for changed in
            ["100000000000000000000", "1.10", "1e400", "-1E400", "-0", "1.0e2", "0.1000000000000000055511"]
        {
            let text = format!(
                r#"{{"id":1,"result":{{ "io.toolgen/written": "forged", "n": [ {changed}, "\u0061" ]}}}}"#
            );
            for text in [format!("[{text}]"), text] {
                let mut message = parse(text.as_bytes()).unwrap();
                let result = message.pointer_mut(if text.starts_with('[') { "/0/result" } else { "/result" });
                let result = result.unwrap();
                let original = OriginalText::take(result);
                assert!(result["n"][0].is_number());
                assert_eq!(original.part("n").text().unwrap(), format!(r#"[{changed},"a"]"#));
                assert_eq!(original.part("n").part("0").or_json(&json!(1)), changed);
            }
        }
        let mut forged = parse(br#"{"result":{"io.toolgen/written":"{}"}}"#).unwrap();
        assert_eq!(forged["result"].take(), json!({}));
    }
}

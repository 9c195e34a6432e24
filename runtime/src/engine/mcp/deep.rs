//! Lists of tools that are nested too deeply: what is too deep is taken out of them, so that it costs one tool.

use serde_json::Value;

/// The maximum nesting of a message: what is deeper cannot be read.
const MAX_LEVELS: usize = 120;
/// What stands in place of a value that is too deep, in JSON. With it a descriptor still has more levels than one may
/// have, and so it is refused.
const CUT: &[u8] = b"\"[MAX_DEPTH_EXCEEDED]\"";

/// Reads a message. A list of tools is read without the parts of it that are nested too deeply.
///
/// # Errors
///
/// Why it is not JSON that can be read.
pub(super) fn read(text: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(text).or_else(|why| {
        let cut: Option<Value> = without_depths(text).and_then(|text| serde_json::from_slice(&text).ok());
        cut.filter(|message| message.pointer("/result/tools").is_some_and(Value::is_array)).ok_or(why)
    })
}

/// Returns a text without the objects and lists that are nested too deeply. `None` if there are none.
fn without_depths(text: &[u8]) -> Option<Vec<u8>> {
    let (mut kept, mut depth, mut deepest) = (Vec::with_capacity(text.len()), 0_usize, 0);
    let (mut in_text, mut escaped) = (false, false);
    for &byte in text {
        let opens = !in_text && matches!(byte, b'{' | b'[');
        let closes = !in_text && matches!(byte, b'}' | b']');
        if opens {
            depth += 1;
            deepest = deepest.max(depth);
            if depth == MAX_LEVELS + 1 {
                kept.extend_from_slice(CUT);
            }
        }
        if depth <= MAX_LEVELS {
            kept.push(byte);
        }
        if closes {
            depth = depth.checked_sub(1)?;
        }
        match byte {
            b'"' if !escaped => in_text = !in_text,
            _ => {}
        }
        escaped = in_text && byte == b'\\' && !escaped;
    }
    (deepest > MAX_LEVELS).then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::spec::mcp;
    use crate::spec::plan::McpServer;

    fn nested(levels: usize) -> String {
        format!(
            r#"{{"type":"object","description":"[\"{{","properties":{}{{}}{}}}"#,
            r#"{"a\\":{"type":"object","properties":"#.repeat(levels),
            "}}".repeat(levels)
        )
    }

    #[test]
    fn a_tool_that_is_nested_too_deeply_costs_itself() {
        for levels in [60, 70, 5000] {
            let tools = [nested(1), nested(levels), nested(2)]
                .map(|schema| format!(r#"{{"name":"t{}","inputSchema":{schema}}}"#, schema.len()));
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{}]}}}}"#, tools.join(","));
            let message = read(text.as_bytes()).unwrap();
            let list = message["result"]["tools"].as_array().unwrap();
            let made = mcp::tools(&McpServer { alias: "a".into(), ..McpServer::EMPTY }.into(), list, false);
            assert!(made[0].is_ok() && made[2].is_ok());
            let why = made[1].as_ref().unwrap_err().to_string();
            assert!(
                why.contains("nested deeper than 100 levels")
                    && why.contains(list[1]["name"].as_str().unwrap()),
                "{why}"
            );
        }
    }

    #[test]
    fn nothing_else_is_shortened() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        assert!(read(format!(r#"{{"id":1,"result":{{"content":{deep}}}}}"#).as_bytes()).is_err());
        assert!(read(b"{\"id\":1,\"result\":{\"tools\":[").is_err());
    }
}

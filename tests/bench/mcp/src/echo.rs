//! The smallest server that there can be: one tool, `echo`, whose result is its argument.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

fn result(method: &str, params: &mut Value) -> Option<Value> {
    Some(match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "echo", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{
            "name": "echo",
            "description": "Says what it is told.",
            "inputSchema": {
                "type": "object",
                "properties": { "message": { "type": "string", "description": "What it says." } },
                "required": ["message"],
            },
        }] }),
        "tools/call" => {
            json!({ "content": [{ "type": "text", "text": params["arguments"]["message"].take() }] })
        }
        "ping" => json!({}),
        _ => return None,
    })
}

pub(crate) fn serve() {
    let mut stdout = std::io::stdout().lock();
    let mut lines = std::io::stdin().lock();
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        let mut message: Value = serde_json::from_slice(&line).unwrap();
        line.clear();
        let id = message["id"].take();
        if id.is_null() {
            continue;
        }
        let method = message["method"].take();
        let answer = match result(method.as_str().unwrap(), &mut message["params"]) {
            Some(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            None => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "unknown method" } })
            }
        };
        stdout.write_all(format!("{answer}\n").as_bytes()).unwrap();
        stdout.flush().unwrap();
    }
}

//! What is not a message is answered all the same: nobody waits for ever.

use tokio::time::timeout;

use crate::prelude::*;
use crate::serve::client::serve;
use crate::serve::ending::Raw;
use crate::serve::tools::server;

/// Returns the next answer.
async fn answer(client: &mut Raw) -> Value {
    let line = timeout(Duration::from_secs(5), client.hears("jsonrpc")).await.expect("an answer");
    serde_json::from_str(&line).unwrap()
}

fn call(id: &str, argument: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"add","arguments":{argument}}}}}"#
    )
}

#[tokio::test]
async fn a_line_that_is_no_message_is_answered_with_the_reason() {
    let deep = call("7", &format!("{}1{}", "[".repeat(130), "]".repeat(130)));
    let batch = format!("[{}]", call("8", "{}"));
    let text = br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":""#;
    let not_utf8 = [text.as_slice(), b"\xff\xfe\"}}"].concat();
    let long = call("10", &format!("\"{}\"", "x".repeat(17 << 20)));
    let cases: [(Vec<u8>, Value, i64, &str); 13] = [
        (call("1", r#"{"a":1e400,"b":1}"#).into(), json!(1), -32700, "number out of range"),
        (call("\"two\"", r#"{"a":NaN}"#).into(), json!("two"), -32700, "expected value"),
        (call("3", r#"{"a":"\ud800"}"#).into(), json!(3), -32700, "hex escape"),
        (call("-4", r#"{"a":1,}"#).into(), json!(-4), -32700, "trailing comma"),
        (deep.into(), json!(7), -32700, "recursion limit"),
        (b"hello".into(), Value::Null, -32700, "not readable JSON"),
        (br#"{"jsonrpc":"2.0","id":6"#.into(), Value::Null, -32700, "EOF"),
        (not_utf8, json!(9), -32700, "UTF-8"),
        (b"\xff\xfe{\0}\0".into(), Value::Null, -32700, "UTF-8"),
        (batch.into(), Value::Null, -32600, "line of its own"),
        (br#"{"jsonrpc":"2.0","id":5,"method":5}"#.into(), json!(5), -32600, "not a message of JSON-RPC"),
        (b"17".into(), Value::Null, -32600, "not a message of JSON-RPC"),
        (long.into(), json!(10), -32600, "more than 16777216 bytes"),
    ];
    let mut client = Raw::start();
    client.begins().await;
    for (line, id, code, why) in cases {
        client.writes(&line).await;
        client.writes(b"\r\n").await;
        let answer = answer(&mut client).await;
        let shown = String::from_utf8_lossy(&line[..line.len().min(100)]);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{shown}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{shown}: {answer}");
    }
    for id in ["1.5", "true", "null", r#"{"a":1}"#, "[1]", "[1,2]", "99999999999999999999999"] {
        client.writes(call(id, r#"{"a":20,"b":22}"#).as_bytes()).await;
        client.writes(b"\n").await;
        let answer = answer(&mut client).await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&Value::Null, &json!(-32600)),
            "{id}: {answer}"
        );
    }
    let long = format!("\"{}\"", "x".repeat(400));
    client.writes(format!("{}\n", call(&long, r#"{"a":20,"b":22}"#)).as_bytes()).await;
    assert_eq!(answer(&mut client).await["result"]["structuredContent"]["sum"], 42);
    // Blank lines and unknown notifications are passed over, and a last line needs no end.
    client.writes(b"\n \r\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n").await;
    client.writes(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":1e999}\n").await;
    client.writes(call("11", r#"{"a":20,"b":22}"#).as_bytes()).await;
    client.ends().await;
    let last = answer(&mut client).await;
    assert_eq!(
        (&last["id"], &last["result"]["structuredContent"]["sum"]),
        (&json!(11), &json!(42)),
        "{last}"
    );
}

#[tokio::test]
async fn before_a_session_and_without_one_it_is_answered_too() {
    let mut client = Raw::start();
    client
        .writes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"x\":1e999}}\n")
        .await;
    assert_eq!(answer(&mut client).await["error"]["code"], -32700);
    client.begins().await;
}

fn request(id: i64, method: &str, params: Value) -> Value {
    match params {
        Value::Null => json!({"jsonrpc": "2.0", "id": id, "method": method}),
        params => json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
    }
}

/// Requests that no method has, with the code and the reason that they are answered with.
fn misfits() -> [(&'static str, Value, i64, &'static str); 7] {
    [
        (
            "tools/call",
            json!({"name": "add", "arguments": []}),
            -32602,
            "`params.arguments` must be an object, not a list",
        ),
        (
            "tools/call",
            json!({"name": "add", "arguments": "{}"}),
            -32602,
            "`params.arguments` must be an object, not a text",
        ),
        ("tools/call", Value::Null, -32602, "`params.name` is missing, a text"),
        ("tools/call", json!({"arguments": {}}), -32602, "`params.name` is missing, a text"),
        ("tools/call", json!({"name": 5}), -32602, "`params.name` must be a text, not a number"),
        (
            "tools/cal",
            json!({}),
            -32601,
            "There is no method \"tools/cal\" here; did you mean \"tools/call\"?",
        ),
        ("strange", Value::Null, -32601, "There is no method \"strange\" here"),
    ]
}

#[tokio::test]
async fn a_request_that_does_not_fit_its_method_is_answered_with_the_reason() {
    let mut client = Raw::start();
    client.begins().await;
    for (id, (method, params, code, why)) in (1..).zip(misfits()) {
        client.says(request(id, method, params)).await;
        let answer = answer(&mut client).await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(code)), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{answer}");
    }
    // A method of the protocol that this server has not.
    client.says(request(9, "prompts/get", json!({"name": "x"}))).await;
    let answer = answer(&mut client).await;
    assert_eq!(answer["error"]["message"], "There is no method \"prompts/get\" here", "{answer}");
}

/// Requests that begin no session, with the reason that they are answered with.
fn no_beginnings() -> [(&'static str, Value, &'static str); 6] {
    let client_info = json!({"name": "raw", "version": "1"});
    let begin =
        |info: Value| json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    let version = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    [
        ("initialize", begin(json!({"name": "raw"})), "`params.clientInfo.version` is missing, a text"),
        (
            "initialize",
            json!({"protocolVersion": 5}),
            "`params.protocolVersion` must be a text, not a number; `params.capabilities` is missing, an object; \
             `params.clientInfo` is missing, an object.",
        ),
        (
            "initialize",
            json!({"protocolVersion": "2025-11-25", "clientInfo": client_info}),
            "`params.capabilities`",
        ),
        ("tools/list", json!({}), "\"tools/list\" came before `initialize`, which comes first."),
        ("tools/list", json!({ "_meta": version }), "`io.modelcontextprotocol/clientCapabilities`"),
        ("tools/call", json!({"name": 5}), "\"tools/call\" came before `initialize`"),
    ]
}

#[tokio::test]
async fn what_initialize_lacks_is_told_and_that_it_comes_first() {
    let mut client = Raw::start();
    client.says(request(1, "ping", Value::Null)).await;
    assert_eq!(answer(&mut client).await["result"], json!({}));
    for (id, (method, params, why)) in (2..).zip(no_beginnings()) {
        client.says(request(id, method, params)).await;
        let answer = answer(&mut client).await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32602)), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{answer}");
    }
    client.begins().await;
}

#[tokio::test]
async fn a_question_whose_answer_cannot_be_read_ends() {
    let mut client = Raw::start();
    client.begins().await;
    let params = json!({"name": "greet", "arguments": {}});
    client.says(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
    let asked: Value = serde_json::from_str(&client.hears("elicitation/create").await).unwrap();
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"action\":1e400}}}}\n", asked["id"]);
    client.writes(line.as_bytes()).await;
    let answer = answer(&mut client).await;
    assert_eq!(answer["id"], 1);
    assert!(answer.to_string().contains("number out of range"), "{answer}");
}

#[tokio::test]
async fn over_http_the_status_comes_with_the_reason() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = serve(server().0).await;
    for (body, status, why) in [
        (call("1", r#"{"a":1e400}"#), 400, "number out of range"),
        (call("1", r#"{"a":"\ud800"}"#), 400, "hex escape"),
        ("hello".to_owned(), 400, "expected value"),
        (format!("[{}]", call("8", "{}")), 400, "line of its own"),
    ] {
        let request = reqwest::Client::new().post(&url).header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream").body(body.clone());
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{body}");
        let text = answer.text().await.unwrap();
        assert!(text.contains(why), "{body}: {text}");
    }
}

/// Posts a message, and returns the status, the session and the answer, of a stream or alone.
async fn post(url: &str, session: Option<&str>, body: Value) -> (u16, Option<String>, Value) {
    let request = reqwest::Client::new().post(url).header("content-type", "application/json");
    let request = request.header("accept", "application/json, text/event-stream").body(body.to_string());
    let request = session.into_iter().fold(request, |request, id| request.header("mcp-session-id", id));
    let answer = request.send().await.unwrap();
    let id = answer.headers().get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
    let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
    let data = text.lines().find_map(|line| line.strip_prefix("data:").filter(|data| data.contains('{')));
    let data = serde_json::from_str(data.unwrap_or(&text)).unwrap_or(Value::String(text));
    (status, id, data)
}

#[tokio::test]
async fn over_http_the_same_reasons_are_told() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = serve(server().0).await;
    for (id, (method, params, why)) in (1..).zip(no_beginnings()) {
        // An era that the header does not tell is another matter.
        if params.get("_meta").is_some() {
            continue;
        }
        let (status, _, answer) = post(&url, None, request(id, method, params)).await;
        assert_eq!(
            (status, &answer["id"], &answer["error"]["code"]),
            (400, &json!(id), &json!(-32602)),
            "{answer}"
        );
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{answer}");
    }
    let client = json!({"name": "raw", "version": "1"});
    let begin = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let (_, session, _) = post(&url, None, request(0, "initialize", begin)).await;
    let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    post(&url, session.as_deref(), begun).await;
    for (id, (method, params, code, why)) in (1..).zip(misfits()) {
        let (_, _, answer) = post(&url, session.as_deref(), request(id, method, params)).await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(code)), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{answer}");
    }
}

#[tokio::test]
async fn over_http_a_body_that_is_no_message_is_answered_as_on_a_line() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = serve(server().0).await;
    for (body, code) in [
        ("hello".to_owned(), -32700),
        (String::new(), -32700),
        (r#"{"jsonrpc":"2.0""#.to_owned(), -32700),
        ("17".to_owned(), -32600),
        (call("1.5", "{}"), -32600),
        (call("null", "{}"), -32600),
        (format!("[{}]", call("1", "{}")), -32600),
    ] {
        let request = reqwest::Client::new().post(&url).body(body.clone());
        let request = request
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 400, "{body}");
        let told: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        assert_eq!((&told["id"], &told["error"]["code"]), (&Value::Null, &json!(code)), "{body}: {told}");
    }
}

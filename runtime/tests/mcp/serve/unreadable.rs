//! Invalid messages are answered with an error, so that no sender waits forever.

use std::path::Path;

use tokio::runtime::Runtime;
use tokio::time::timeout;
use toolgen_test_support::script;

use crate::prelude::*;
use crate::serve::client::serve;
use crate::serve::ending::Raw;
use crate::serve::tools::server;

/// Returns the next response.
async fn answer(client: &mut Raw) -> Value {
    let line = timeout(Duration::from_secs(5), client.hears("jsonrpc")).await.expect("an answer");
    serde_json::from_str(&line).unwrap()
}

fn call(id: &str, argument: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"add","arguments":{argument}}}}}"#
    )
}

/// Formats the ID of a response, and its result or error.
fn shown(response: &Value) -> String {
    match &response["error"] {
        Value::Null => format!("{}: {}", response["id"], response["result"]),
        error => format!("{}: {} {}", response["id"], error["code"], error["message"].as_str().unwrap()),
    }
}

/// Posts a body, and returns the status, the session and the response, from a stream or a single message.
async fn post(url: &str, session: Option<&str>, body: String) -> (u16, Option<String>, Value) {
    let request = reqwest::Client::new().post(url).header("content-type", "application/json");
    let request = request.header("accept", "application/json, text/event-stream").body(body);
    let request = session.into_iter().fold(request, |request, id| request.header("mcp-session-id", id));
    let response = request.send().await.unwrap();
    let id = response.headers().get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
    let (status, text) = (response.status().as_u16(), response.text().await.unwrap());
    let data = text.lines().find_map(|line| line.strip_prefix("data:").filter(|data| data.contains('{')));
    let data = serde_json::from_str(data.unwrap_or(&text)).unwrap_or(Value::String(text));
    (status, id, data)
}

/// Begins a session over HTTP, and returns its ID.
async fn session(url: &str) -> Option<String> {
    let client = json!({"name": "raw", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let (_, session, _) = post(url, None, begin.to_string()).await;
    let started = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    post(url, session.as_deref(), started.to_string()).await;
    session
}

/// `line` writes a line and `request` the next request; `post` sends an HTTP body, in a session after `session`.
#[test]
fn invalid_messages_match_the_script() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = Runtime::new().unwrap();
    let _guard = runtime.enter();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/serve/scripts/unreadable.txt");
    script::replay(&file, || {
        let (mut client, mut last, mut started) = (Raw::start(), 0, None);
        let (runtime, url) = (&runtime, runtime.block_on(serve(server().0)));
        move |word, rest| {
            let mut answered = |line: &str| {
                runtime.block_on(client.writes(format!("{line}\r\n").as_bytes()));
                vec![shown(&runtime.block_on(answer(&mut client)))]
            };
            match word {
                "line" => answered(rest),
                "request" => {
                    last += 1;
                    let (method, params) = rest.split_once(' ').unwrap_or((rest, ""));
                    let mut message = json!({"jsonrpc": "2.0", "id": last, "method": method});
                    if !params.is_empty() {
                        message["params"] = serde_json::from_str(params).unwrap();
                    }
                    answered(&message.to_string())
                }
                "begin" => {
                    runtime.block_on(client.begins());
                    Vec::new()
                }
                "session" => {
                    started = runtime.block_on(session(&url));
                    Vec::new()
                }
                "post" => {
                    let (status, _, response) =
                        runtime.block_on(post(&url, started.as_deref(), rest.to_owned()));
                    vec![format!("{status}, {}", shown(&response))]
                }
                other => panic!("there is no word `{other}`"),
            }
        }
    });
}

#[tokio::test]
async fn binary_and_deep_lines_get_an_error_response() {
    let deep = call("7", &format!("{}1{}", "[".repeat(130), "]".repeat(130)));
    let text = br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":""#;
    let not_utf8 = [text.as_slice(), b"\xff\xfe\"}}"].concat();
    let long = call("10", &format!("\"{}\"", "x".repeat(17 << 20)));
    let mut client = Raw::start();
    client.begins().await;
    for (line, id, code, reason) in [
        (deep.into(), json!(7), -32700, "recursion limit"),
        (not_utf8, json!(9), -32700, "UTF-8"),
        (b"\xff\xfe{\0}\0".into(), Value::Null, -32700, "UTF-8"),
        (long.into(), json!(10), -32600, "more than 16777216 bytes"),
    ] as [(Vec<u8>, Value, i64, &str); 4]
    {
        client.writes(&line).await;
        client.writes(b"\r\n").await;
        let response = answer(&mut client).await;
        assert_eq!((&response["id"], &response["error"]["code"]), (&id, &json!(code)), "{response}");
        assert!(response["error"]["message"].as_str().unwrap().contains(reason), "{response}");
    }
    let long = format!("\"{}\"", "x".repeat(400));
    client.writes(format!("{}\n", call(&long, r#"{"a":20,"b":22}"#)).as_bytes()).await;
    assert_eq!(answer(&mut client).await["result"]["structuredContent"]["sum"], 42);
    // Blank lines and unknown notifications are skipped, and the last line needs no line break.
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
async fn unreadable_input_ends_the_question() {
    let mut client = Raw::start();
    client.begins().await;
    let params = json!({"name": "greet", "arguments": {}});
    client.says(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
    let asked: Value = serde_json::from_str(&client.hears("elicitation/create").await).unwrap();
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"action\":1e400}}}}\n", asked["id"]);
    client.writes(line.as_bytes()).await;
    let response = answer(&mut client).await;
    assert_eq!(response["id"], 1);
    assert!(response.to_string().contains("number out of range"), "{response}");
}

//! Irregular responses: how they are reported, and that they affect only their call.

use toolgen_runtime::{ToolResponse, spec};

use crate::mcp::basics::{tool, toolbox, turn};
use crate::mcp::support::{call, connect, options, run, server};
use crate::prelude::*;

/// Returns the response to a call whose server writes this line; `$ID` is the ID of the request.
async fn raw(line: &str) -> ToolResponse {
    let server = Frozen::from(server("legacy"));
    let toolbox = toolbox(McpEngine::with_options(options()), [tool(&server, "raw")]);
    toolbox.run(ToolCall::new("1", "raw", json!({ "line": line })), &turn()).await
}

/// Returns the response to a call with this result.
async fn result(result: &str) -> ToolResponse {
    raw(&format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#)).await
}

/// Returns a client whose tool list has this JSON, without white space.
async fn listing(list: &str) -> McpClient {
    connect(&format!("legacy list={list}")).await
}

#[test]
fn numbers_keep_their_original_digits() {
    run(async {
        let value = r#"{"id":100000000000000000000,"price":1.10,"far":1e400,"zero":-0}"#;
        let response = result(&format!(r#"{{"content":[],"structuredContent": {value} }}"#)).await;
        assert_eq!(response.text(), value);
        // The same holds if text content repeats the value.
        let message = json!(value).to_string();
        let response = result(&format!(
            r#"{{"content":[{{"type":"text","text":{message}}}],"structuredContent":{value}}}"#
        ))
        .await;
        assert_eq!(response.text(), value);
        let other = json!(value.replace("1.10", "1.1")).to_string();
        let response = result(&format!(
            r#"{{"content":[{{"type":"text","text":{other}}}],"structuredContent":{value}}}"#
        ))
        .await;
        assert!(response.text().ends_with(value) && response.text().contains("1.1,"), "{}", response.text());
        // The same holds for content that is kept as JSON, and for a failure.
        let response = result(r#"{"content":[{"type":"chart","y":[1.10, 1e20]}]}"#).await;
        assert_eq!(response.text(), r#"{"type":"chart","y":[1.10,1e20]}"#);
        let response = result(r#"{"content":[],"structuredContent":{"left":0.50},"isError":true}"#).await;
        assert_eq!((response.text().as_str(), response.is_error()), (r#"{"left":0.50}"#, true));
        let response = result(r#"{"structuredContent":{"n":1.10}}"#).await;
        assert_eq!(response.outcome.unwrap().structured().unwrap().into_owned(), json!({"n": 1.1}));
        let response = result(r#"{"structuredContent":{"n":100000000000000000001}}"#).await;
        let outcome = response.outcome.unwrap();
        assert!(outcome.structured().unwrap_err().contains("only the content has its exact value"));
    });
}

#[test]
fn unparsable_response_error_has_a_json_pointer() {
    run(async {
        for (line, message) in [
            (
                r#"{"id":$ID,"result":{"content":[],"structuredContent":{"rows":[{"n":NaN}]}}}"#,
                "`NaN` at `/result/structuredContent/rows/0/n` is not JSON",
            ),
            (
                r#"{"id":$ID,"result":{"content":[],"structuredContent":Infinity}}"#,
                "`Infinity` at `/result/structuredContent`",
            ),
            (r#"{"id":$ID,"result":{"content":[],}}"#, "not JSON"),
        ] {
            let response = raw(line).await;
            assert_eq!(response.outcome.as_ref().unwrap_err().code(), "INVALID_OUTPUT");
            let text = response.text();
            assert!(text.contains(message) && text.contains("The call was sent"), "{text}");
            assert!(!text.contains("was lost"), "{text}");
        }
        let response = raw(
            "\u{feff}{\"id\":$ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"half \\ud83d\"}]}}",
        )
        .await;
        assert_eq!(response.text(), "half \u{fffd}");
    });
}

#[test]
fn unparsable_tool_is_skipped_by_name() {
    run(async {
        let good = r#"{"name":"good","inputSchema":{"type":"object"}}"#;
        for bad in [
            r#"{"name":"bad","inputSchema":{"type":"object","maximum":NaN}}"#,
            r#"{"name":"bad","description":"\ud800","inputSchema":{"type":"object"}}"#,
        ] {
            let client = listing(&format!(r#"{{"tools":[{bad},{good}]}}"#)).await;
            let names: Vec<String> =
                client.tools().await.unwrap().iter().map(|tool| tool.name().to_owned()).collect();
            assert_eq!(names, ["hostile__good"]);
            let left_out = client.rejected_tools().await.unwrap();
            assert_eq!(left_out[0].tool, "bad");
            assert!(left_out[0].message.contains("cannot be parsed"), "{}", left_out[0]);
        }
        let error = listing(r#"{"tools":[]"#).await.list_tools().await.unwrap_err();
        assert!(error.to_string().contains("to `tools/list` cannot be parsed: it is not JSON"), "{error}");
    });
}

#[test]
fn invalid_cursor_is_reported() {
    run(async {
        for (next, message) in
            [("5", "`nextCursor` is 5, and not a string"), ("[]", "is [], and"), ("false", "is false, and")]
        {
            let error = listing(&format!(r#"{{"tools":[],"nextCursor":{next}}}"#))
                .await
                .list_tools()
                .await
                .unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
        let error = listing(r#"{"tools":[],"nextCursor":"a"}"#).await.list_tools().await.unwrap_err();
        assert!(error.to_string().contains("the same `nextCursor` was sent twice"), "{error}");
        let client = connect("legacy again").await;
        assert!(client.list_warnings().await.unwrap()[0].contains("ends with an empty `nextCursor`"));
        assert!(connect("legacy").await.list_warnings().await.unwrap().is_empty());
    });
}

#[test]
fn unsolicited_responses_are_reported_on_timeout() {
    run(async {
        for (idle, total) in
            [(Some(Duration::from_millis(300)), None), (None, Some(Duration::from_millis(300)))]
        {
            let server = McpServer { idle_timeout: idle, call_timeout: total, ..server("legacy") };
            let client = McpClient::connect(server, options()).await.unwrap();
            let error = call(&client, "strange", json!({})).await.unwrap_err();
            assert_eq!(error.code(), "TIMEOUT");
            let text = error.to_string();
            assert!(
                text.contains("4 responses with unknown IDs arrived, the first with `\"seven\"`"),
                "{text}"
            );
            // Responses to earlier requests, and late ones, are not responses to this request.
            let error = call(&client, "silence", json!({})).await.unwrap_err();
            assert!(error.code() == "TIMEOUT" && !error.to_string().contains("unknown ID"), "{error}");
        }
        let quick =
            options().probe_timeout(Duration::from_millis(200)).connect_timeout(Duration::from_millis(600));
        let error = McpClient::connect(server("legacy stranger"), quick).await.unwrap_err();
        assert!(
            error.to_string().contains("unknown ID arrived: `\"init\"` (error: what is this?)"),
            "{error}"
        );
    });
}

#[test]
fn non_mcp_program_error_shows_its_output() {
    run(async {
        let mut server = server("usage");
        if let McpTransport::Stdio { env, .. } = &mut server.transport {
            *env = env.iter().cloned().chain([("HOSTILE_TOKEN".into(), "s3cr3t-value".into())]).collect();
        }
        let error = McpClient::connect(server, options()).await.unwrap_err();
        let text = error.to_string();
        for part in
            ["exit status: 0", "usage: hostile --serve", "nothing to do with [REDACTED]", "see the manual"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        let quick = options().connect_timeout(Duration::from_secs(1));
        let error = McpClient::connect(self::server("elsewhere"), quick).await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains("within 1s") && text.contains("Listening on http://localhost:3000"), "{text}");
        // Output of a server before its first message is not part of the error at its exit.
        let error = call(&connect("legacy").await, "die", json!({})).await.unwrap_err();
        assert!(!error.to_string().contains("instead of messages"), "{error}");
    });
}

#[test]
fn title_is_one_short_line() {
    let server = Frozen::from(server("legacy"));
    let long = "x".repeat(100_000);
    for (descriptor, label) in [
        (json!({"title": "Finds\r\n\torders\u{1b}[31m  now"}), "Finds orders [31m now".to_owned()),
        (json!({"title": long}), format!("{}…", "x".repeat(120))),
        (json!({"annotations": {"title": " a\n\nb\u{202e} "}}), "a b".to_owned()),
        (json!({"title": "\u{7}\n"}), String::new()),
        (json!({"title": 5, "annotations": []}), String::new()),
    ] {
        let mut descriptor = descriptor;
        descriptor["name"] = "t".into();
        descriptor["inputSchema"] = json!({"type": "object"});
        let tool = spec::mcp::tool(&server, &descriptor, true).unwrap();
        assert_eq!(tool.spec.label.as_str(), label);
    }
    let info =
        spec::mcp::about(&json!({"name": "a\nb\u{1b}c", "title": long, "icons": [{"src": "\n"}], "n": 1}));
    assert_eq!(
        info,
        json!({"name": "a b c", "title": format!("{}…", "x".repeat(200)), "icons": [{"src": ""}], "n": 1})
    );
    let much = json!({"name": "a", "version": "1", "icons": vec![json!({"src": "data"}); 5000]});
    assert_eq!(spec::mcp::about(&much), json!({"name": "a", "version": "1"}));
    assert_eq!(spec::mcp::about(&json!("x")), Value::Null);
}

#[test]
fn unknown_protocol_version_is_reported() {
    run(async {
        for (words, message) in [
            ("legacy init=5", "does not state its protocol version"),
            ("legacy init=a\u{1b}x", "protocol version `a\\u{1b}x`"),
        ] {
            let error = McpClient::connect(server(words), options()).await.unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
    });
}

#[test]
fn invalid_descriptor_members_are_dropped_and_reported() {
    let server = Frozen::from(server("legacy"));
    let input = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let bad = json!({
        "name": "t", "inputSchema": input, "title": 1, "description": ["x"], "outputSchema": true, "_meta": "x", "icons": 5,
        "annotations": {"readOnlyHint": "true", "title": {}, "destructiveHint": 0, "idempotentHint": null},
    });
    let made = spec::mcp::tools(&server, &[bad], true).pop().unwrap().unwrap();
    let messages: Vec<String> =
        made.problems.iter().map(|problem| format!("{}: {}", problem.pointer, problem.message)).collect();
    assert_eq!(
        messages,
        [
            "/title: expected string, got number; it is ignored",
            "/description: expected string, got array; it is ignored",
            "/outputSchema: expected object, got boolean; it is ignored",
            "/annotations/title: expected string, got object; it is ignored",
            "/annotations/readOnlyHint: expected boolean, got string; it is ignored",
            "/annotations/destructiveHint: expected boolean, got number; it is ignored",
        ]
    );
    let spec = made.tool.spec;
    assert_eq!(
        (spec.description.as_str(), spec.output.is_none(), spec.effects.read_only),
        ("t", true, false)
    );
    // Several servers reject methods that they do not support like this.
    let nothing =
        json!({"name": "t", "inputSchema": input, "title": null, "outputSchema": null, "annotations": null});
    let made = spec::mcp::tools(&server, &[nothing], true).pop().unwrap().unwrap();
    assert!(made.problems.is_empty() && made.tool.spec.output.is_none(), "{:?}", made.problems);
}

#[test]
fn malformed_result_is_parsed_leniently() {
    run(async {
        for (given, text, failed) in [
            (r#"{"content":null}"#, "", false),
            (r#"{"content":{"type":"text","text":"one"}}"#, "one", false),
            (r#"{"content":[{"type":"text","text":"no"}],"isError":"false"}"#, "no", false),
            (r#"{"content":[{"type":"text","text":"no"}],"isError":0}"#, "no", false),
            (r#"{"content":[{"type":"text","text":"yes"}],"isError":"True"}"#, "yes", true),
            (
                r#"{"content":[{"type":"text","text":"t","annotations":5,"_meta":[]}],"_meta":"x","resultType":5}"#,
                "t",
                false,
            ),
            (
                r#"{"content":[{"type":"resource","resource":{"text":"t"}}]}"#,
                r#"{"type":"resource","resource":{"text":"t"}}"#,
                false,
            ),
        ] {
            let response = result(given).await;
            assert_eq!((response.text().as_str(), response.is_error()), (text, failed), "{given}");
        }
        let long = "x".repeat(20_000);
        let response = raw(&format!(r#"{{"id":$ID,"error":{{"code":"1","message":"{long}"}}}}"#)).await;
        assert!(
            response.text().len() < 11_000 && response.text().contains("xxx…"),
            "{}",
            response.text().len()
        );
    });
}

#[test]
fn progress_token_is_accepted_as_string_or_number() {
    run(async {
        let server = McpServer { idle_timeout: Some(Duration::from_secs(1)), ..server("legacy texts") };
        let client = McpClient::connect(server, options()).await.unwrap();
        assert_eq!(call(&client, "progress", json!({"steps": 8, "ms": 200})).await.unwrap(), "done");
    });
}

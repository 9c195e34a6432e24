//! Faults of vendors, gateways and networks: what is tried again, and what the program reads.

use std::io::{Read, Write};
use std::net::TcpListener;

use toolgen_runtime::agent::agent_loop::LoopError;
use toolgen_runtime::agent::model::RequestErrorKind;
use toolgen_test_support::http::{Step, nobody, reply};

use super::*;

const BAD_GATEWAY: &str = "<!doctype html><html><head><title>502</title><style>p {}</style></head><body>\
                           <h1>Bad gateway</h1><p>The origin is away.</p></body></html>";

fn page() -> Reply {
    reply("502 Bad Gateway", "Content-Type: text/html\r\n", BAD_GATEWAY)
}

fn error(run: Run) -> String {
    run.text().unwrap_err().to_string()
}

#[tokio::test]
async fn temporary_failure_is_retried() {
    let limited =
        || reply("429 Too Many Requests", "Content-Type: application/json\r\nRetry-After: 0\r\n", "{}");
    // Half of a reply.
    let cut = vec![Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"id\":".to_vec())];
    for case in cases() {
        for failure in [page(), limited(), cut.clone(), reply(529, "", "overloaded"), reply(500, "", "")] {
            let server = Server::in_turn([failure.clone(), case.answer()]);
            let run = ask(case.model(&server.url)).await;
            assert!(run.text().is_ok_and(|text| text.contains("sunny")), "{}: {failure:?}", case.name);
            assert_eq!(server.seen().len(), 2, "{}", case.name);
        }
    }
}

#[tokio::test]
async fn permanent_failure_is_explained_and_not_retried() {
    let refusals = [
        // As the vendors write them.
        ("anthropic", r#"{"type":"error","error":{"type":"authentication_error","message":"invalid KEY"}}"#),
        (
            "openai-responses",
            r#"{"error":{"message":"invalid KEY","type":"authentication_error","code":null}}"#,
        ),
        ("openai-chat", r#"{"error":"authentication_error: invalid KEY"}"#),
        ("gemini", r#"[{"error":{"code":401,"message":"invalid KEY","status":"authentication_error"}}]"#),
        ("bedrock", r#"{"message":"authentication_error: invalid KEY"}"#),
    ];
    for (name, body) in refusals {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let refused = reply(401, "Content-Type: application/json\r\n", body.replace("KEY", KEY));
        let server = Server::in_turn([refused]);
        let run = ask(case.model(&server.url)).await;
        let path = case.targets[0];
        assert_eq!(
            error(run),
            format!(
                "the request to the model failed: POST {}{path} → 401: authentication_error: invalid ****: check the key \
                 that `Model::with_key` sets",
                server.url
            ),
        );
        assert_eq!(server.seen().len(), 1, "{name}");
    }
}

#[tokio::test]
async fn exhausted_retries_tell_the_page_and_the_attempts() {
    for case in cases() {
        let server = Server::in_turn([page()]);
        let error = error(ask(case.model(&server.url)).await);
        assert!(error.ends_with("→ 502: 502 Bad gateway The origin is away. (after 3 attempts)"), "{error}");
    }
}

#[tokio::test]
async fn long_retry_after_is_not_waited_for() {
    let case = &cases()[0];
    let limited = reply(
        "429 Too Many Requests",
        "Content-Type: application/json\r\nRetry-After: 3600\r\n",
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"Try again in an hour."}}"#,
    );
    let server = Server::in_turn([limited]);
    let error = error(ask(case.model(&server.url)).await);
    assert!(error.ends_with("→ 429: rate_limit_error: Try again in an hour."), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn spent_credit_is_not_retried() {
    let case = &cases()[1];
    let body = r#"{"error":{"message":"You exceeded your quota.","type":"insufficient_quota"}}"#;
    let server = Server::in_turn([reply(429, "Content-Type: application/json\r\nRetry-After: 0\r\n", body)]);
    let error = error(ask(case.model(&server.url)).await);
    assert!(error.ends_with("→ 429: insufficient_quota: You exceeded your quota."), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn interrupted_stream_is_retried() {
    for case in cases() {
        let stream = case.stream();
        let half = ok(case.media_type, &stream[..stream.len() / 2]);
        // The connection breaks, or ends early.
        let broken = vec![Step::Send(
            [&b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"[..], &stream[..stream.len() / 2]].concat(),
        )];
        for failure in [half, broken] {
            let server = Server::in_turn([failure, ok(case.media_type, &stream)]);
            let (events, run) = watch(case.model(&server.url)).await;
            assert_eq!(server.seen().len(), 2, "{}", case.name);
            assert_eq!(run.transcript.turns().count(), 1, "{}", case.name);
            let retries = events.iter().filter_map(|event| match event {
                AgentEvent::Retry { reason, .. } => Some(reason.as_str()),
                _ => None,
            });
            assert_eq!(retries.collect::<Vec<_>>(), ["the reply was interrupted"], "{}", case.name);
        }
        let server = Server::in_turn([ok(case.media_type, &stream[..stream.len() / 2])]);
        let error = error(watch(case.model(&server.url)).await.1);
        assert!(error.contains("the reply was interrupted: "), "{}: {error}", case.name);
        assert!(error.ends_with("(after 3 attempts)"), "{}: {error}", case.name);
    }
}

#[tokio::test]
async fn temporary_error_within_a_stream_is_retried() {
    let case = &cases()[0];
    let overloaded =
        "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let invalid =
        "data: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"No.\"}}\n\n";
    let server = Server::in_turn([ok(case.media_type, overloaded), ok(case.media_type, invalid)]);
    let error = error(watch(case.model(&server.url)).await.1);
    assert!(error.ends_with("invalid_request_error: No."), "{error}");
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn failed_turn_is_an_error_with_the_vendors_words() {
    let failed = r#"{"id":"r","object":"response","status":"failed","error":{"code":"server_error","message":"Try later."},"output":[]}"#;
    let event = format!("data: {{\"type\":\"response.failed\",\"response\":{failed}}}\n\n");
    let case = &cases()[1];
    let whole = Server::in_turn([ok("application/json", failed)]);
    let streamed = Server::in_turn([ok(case.media_type, event)]);
    for (server, run) in
        [(&whole, ask(case.model(&whole.url)).await), (&streamed, watch(case.model(&streamed.url)).await.1)]
    {
        let error = error(run);
        assert!(error.ends_with("server_error: Try later."), "{error}");
        assert_eq!(server.seen().len(), 3, "it is temporary");
    }
    // Without a word of the vendor.
    let malformed = r#"{"candidates":[{"index":0,"content":{"role":"model","parts":[]},"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#;
    let server = Server::in_turn([ok("application/json", malformed)]);
    let error = error(ask(cases()[3].model(&server.url)).await);
    assert!(error.contains("the vendor ended the turn with `MALFORMED_FUNCTION_CALL`"), "{error}");
}

#[tokio::test]
async fn temporary_errors_are_known_by_their_names_and_numbers() {
    let error = |text: &str| format!(r#"{{"error":{text}}}"#);
    for (body, attempts) in [
        (error(r#"{"code":429,"message":"Rate limit exceeded"}"#), 3),
        (error(r#"{"code":503,"status":"UNAVAILABLE","message":"x y"}"#), 3),
        (error(r#"{"status":"RESOURCE_EXHAUSTED","message":"x y"}"#), 3),
        (error(r#"{"code":"insufficient_quota","type":"rate_limit_error","message":"x y"}"#), 1),
        // The prose does not count.
        (error(r#"{"type":"invalid_request_error","message":"the tool internal_search is unavailable"}"#), 1),
    ] {
        let server = Server::in_turn([ok("application/json", &body)]);
        assert!(ask(cases()[2].model(&server.url)).await.text().is_err());
        assert_eq!(server.seen().len(), attempts, "{body}");
    }
    let exception = r#"{"throttlingException":{"message":"Too many requests"}}"#;
    let server = Server::in_turn([ok("application/json", exception)]);
    let run = watch(cases()[4].model(&server.url)).await.1;
    assert!(
        run.text().is_err_and(|error| error.to_string().ends_with("throttlingException: Too many requests"))
    );
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn delay_of_a_vendor_is_read_where_the_vendor_writes_it() {
    const LONG: &str =
        r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"99.5s"}]}}"#;
    for (headers, body, attempts) in [
        ("retry-after-ms: 1.5\r\n", "{}", 3),
        ("retry-after: 0.001\r\n", "{}", 3),
        ("retry-after-ms: 99000\r\n", "{}", 1),
        ("x-should-retry: false\r\n", "{}", 1),
        ("", LONG, 1),
    ] {
        let server = Server::in_turn([reply(429, headers, body)]);
        assert!(ask(cases()[3].model(&server.url)).await.text().is_err());
        assert_eq!(server.seen().len(), attempts, "{headers}{body}");
    }
    let server = Server::in_turn([reply(400, "x-should-retry: true\r\n", "{}")]);
    assert!(ask(cases()[0].model(&server.url)).await.text().is_err());
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn ended_stream_on_an_open_connection_is_complete() {
    let runs = cases().into_iter().map(|case| {
        let media_type = case.media_type;
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: 1000000\r\n\r\n");
        let bytes = [head.as_bytes(), &case.stream()].concat();
        let server = Server::start(move |_| vec![Step::Send(bytes.clone()), Step::Hold]);
        (case.name, tokio::spawn(watch(case.model(&server.url))))
    });
    for (name, run) in runs.collect::<Vec<_>>() {
        let (_, run) = run.await.unwrap();
        assert_eq!(run.transcript.turns().count(), 1, "{name}: {run:?}");
    }
}

#[tokio::test]
async fn base_url_keeps_its_query() {
    let server = Server::in_turn([cases()[2].answer()]);
    let model = Model::compatible("m", format!("{}/openai/?api-version=1", server.url));
    assert!(ask(model).await.text().is_ok());
    assert_eq!(server.only().target(), "/openai/chat/completions?api-version=1");
    let server = Server::in_turn([cases()[3].answer()]);
    let model =
        Model::gemini("models/gemini-2.5-flash").with_base_url(&server.url).with_key(Secret::new(KEY));
    assert!(ask(model).await.text().is_ok());
    assert_eq!(server.only().target(), cases()[3].targets[0]);
}

#[test]
fn events_cannot_change_a_terminal() {
    let text = AgentEvent::Text("a\u{1b}[2Jb\n\u{9b}c".to_owned()).to_string();
    assert_eq!(text, "a [2Jb\n c");
    let call = AgentEvent::Call { id: "1".into(), tool: "x\n\u{1b}]52;c;\u{7}".into(), arguments: json!({}) };
    assert_eq!(call.to_string(), "> x ]52;c; {}\n");
}

#[tokio::test]
async fn dead_host_is_named_with_the_cause() {
    for case in cases() {
        let error = error(ask(case.model(&nobody())).await);
        assert!(error.contains("onnection refused"), "{error}");
        assert!(error.ends_with("(after 3 attempts)"), "{error}");
    }
}

#[tokio::test]
async fn refused_tls_is_not_retried() {
    // A server without TLS, which a client can only notice.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            count.fetch_add(1, Ordering::SeqCst);
            let mut stream = stream.unwrap();
            let mut hello = [0; 4096];
            assert!(stream.read(&mut hello).unwrap() > 0);
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        }
    });
    let run = ask(Model::anthropic("m").with_base_url(url).with_key(Secret::new(KEY))).await;
    let Err(LoopError::Model(ModelError::Send(error))) = &run.outcome else { panic!("{run:?}") };
    assert!(matches!(&error.kind, RequestErrorKind::Unreachable(_)), "{error:?}");
    assert_eq!((error.attempts, connections.load(Ordering::SeqCst)), (1, 1), "{error}");
}

#[tokio::test]
async fn page_instead_of_a_reply_is_shown() {
    let case = &cases()[0];
    let server =
        Server::in_turn([ok("text/html", "<html><body>Sign in to the hotel's network</body></html>")]);
    let error = error(ask(case.model(&server.url)).await);
    assert!(
        error.ends_with(
            "the response is not the JSON reply of a model, but text/html Sign in to the hotel's network"
        ),
        "{error}"
    );
}

#[tokio::test]
async fn missing_key_is_named_before_anything_is_sent() {
    let server = Server::ok();
    let model = Model::openai("gpt-5.1").with_base_url(&server.url).with_key_from("TOOLGEN_TEST_NO_SUCH_KEY");
    assert_eq!(
        error(ask(model).await),
        "the request to the model failed: set the environment variable TOOLGEN_TEST_NO_SUCH_KEY to the key of the model"
    );
    assert_eq!(server.connections(), 0);
    let unusable = Model::compatible("qwen3", "localhost:8000/v1");
    let error = error(ask(unusable).await);
    assert!(error.contains("the base URL of the model is not usable: "), "{error}");
}

#[tokio::test]
async fn silent_host_ends_at_the_time_limit() {
    let server = Server::start(|_| vec![Step::Hold]);
    let model = cases()[0].model(&server.url).with_timeout(Duration::from_millis(50));
    let error = error(ask(model).await);
    assert!(
        error.ends_with("no complete reply within 50ms; `Model::with_timeout` sets another limit"),
        "{error}"
    );
}

#[tokio::test]
async fn cancelled_agent_drops_its_request() {
    let server = Server::start(|_| vec![Step::Hold]);
    let token = CancellationToken::new();
    let (cancel, seen) = (token.clone(), server.clone());
    tokio::spawn(async move {
        while seen.seen().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        cancel.cancel();
    });
    let tools = tools();
    let mut agent =
        Agent::new(cases()[0].model(&server.url), &tools).with_turn(Turn::new("t").with_cancel(token));
    assert_eq!(error(agent.run("Hello").await), "Cancelled");
}

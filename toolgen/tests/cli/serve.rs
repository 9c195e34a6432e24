//! `cargo toolgen serve`, as a client of the Model Context Protocol sees it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use toolgen_runtime::layers::audit::{AuditReader, AuditStatus};

use toolgen_test_support::postgres;

fn specs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("specs")
}

fn start(words: &[&str], env: &[(&str, &str)]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-toolgen"));
    command.arg("serve").args(words).envs(env.iter().copied());
    let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    streams.spawn().unwrap()
}

fn message(id: u32, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn begin() -> [Value; 2] {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    [message(0, "initialize", &params), json!({"jsonrpc": "2.0", "method": "notifications/initialized"})]
}

/// Serves a session over standard streams. Returns the messages that came back, the rest of what was said, and whether
/// the program ended well.
fn session(words: &[&str], env: &[(&str, &str)], requests: &[Value]) -> (Vec<Value>, String, bool) {
    let mut child = start(words, env);
    let mut input = child.stdin.take().unwrap();
    for message in begin().iter().chain(requests) {
        // A program that refuses its words is gone already.
        let _ = writeln!(input, "{message}");
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    // Nothing but messages, one a line.
    let messages: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(messages.iter().all(|message| message["jsonrpc"] == "2.0"), "{lines}");
    (messages, told, output.status.success())
}

fn answer(messages: &[Value], id: u32) -> &Value {
    messages
        .iter()
        .find(|message| message["id"] == id)
        .unwrap_or_else(|| panic!("no answer {id}: {messages:?}"))
}

fn names(listed: &Value) -> Vec<&str> {
    listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// A service that answers each request with its first line. Returns its address.
fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            let key =
                lines.take_while(|line| !line.is_empty()).find(|line| line.starts_with("authorization"));
            let body =
                json!([{"id": 1, "title": format!("{first} {}", key.unwrap_or_default()), "status": "open"}])
                    .to_string();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
            let _ = write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        }
    });
    format!("http://{address}")
}

#[test]
fn a_document_is_served_and_its_calls_are_made_limited_and_recorded() {
    let (tasks, url) = (specs().join("tasks.yaml"), echo());
    let audit = Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve-audit.jsonl");
    let _ = fs::remove_file(&audit);
    let words = [
        tasks.to_str().unwrap(),
        "--read-only",
        "--deny",
        "get*",
        "--base-url",
        &url,
        "--auth",
        "token=TASKS_TOKEN",
        "--audit",
        audit.to_str().unwrap(),
    ];
    let requests = [
        message(1, "tools/list", &json!({})),
        message(2, "tools/call", &json!({"name": "listTasks", "arguments": {"status": "open"}})),
        message(3, "tools/call", &json!({"name": "createTask", "arguments": {"title": "x"}})),
    ];
    let (messages, told, fine) = session(&words, &[("TASKS_TOKEN", "s3cret")], &requests);
    assert!(fine, "{told}");
    assert!(told.contains("1 tool is served on the standard input and output"), "{told}");
    assert_eq!(answer(&messages, 0)["result"]["serverInfo"]["name"], "tasks");
    assert_eq!(names(answer(&messages, 1)), ["listTasks"]);
    let made = answer(&messages, 2).to_string();
    assert!(made.contains("GET /tasks?status=open") && made.contains("authorization: "), "{made}");
    let refused = &answer(&messages, 3)["result"];
    assert_eq!(refused["isError"], true, "{refused}");
    let records = fs::read_to_string(&audit).unwrap();
    assert!(records.lines().count() >= 3 && records.contains("listTasks"), "{records}");
    assert!(!records.contains("s3cret"), "{records}");
}

#[test]
fn records_go_to_a_database_that_is_named_like_one() {
    let audit = Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve-audit.sqlite");
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{ending}", audit.display()));
    }
    two_servers_record(audit.to_str().unwrap(), "", || AuditReader::open(&audit).unwrap());
}

#[cfg(target_os = "linux")]
#[test]
fn records_go_to_a_database_of_a_server() {
    let Some(server) = postgres::shared() else { return };
    let url = server.database("served");
    two_servers_record("env:SERVE_AUDIT", &url, || AuditReader::connect(&url).unwrap());
}

/// Two servers, one after the other, write to one log.
fn two_servers_record(audit: &str, variable: &str, open: impl Fn() -> AuditReader) {
    let (tasks, url) = (specs().join("tasks.yaml"), echo());
    let words = [tasks.to_str().unwrap(), "--base-url", &url, "--audit", audit, "--auth=token=TASKS_TOKEN"];
    let list = message(1, "tools/call", &json!({"name": "listTasks", "arguments": {"status": "open"}}));
    let delete = message(2, "tools/call", &json!({"name": "deleteTask", "arguments": {}}));
    for _ in 0..2 {
        let env = [("TASKS_TOKEN", "s3cret"), ("SERVE_AUDIT", variable)];
        let (_, told, fine) = session(&words, &env, &[list.clone(), delete.clone()]);
        assert!(fine && !told.contains("hunter2"), "{told}");
    }
    let mut records = Vec::new();
    open().changes(&mut |record| records.push(record)).unwrap();
    let mut seen: Vec<_> =
        records.iter().map(|record| (record.intent.tool_name.as_str(), record.status())).collect();
    seen.sort_by_key(|(name, _)| *name);
    let [ok, refused] = [AuditStatus::Ok, AuditStatus::Refused];
    assert_eq!(
        seen,
        [("deleteTask", refused), ("deleteTask", refused), ("listTasks", ok), ("listTasks", ok)]
    );
    assert!(!format!("{records:?}").contains("s3cret"), "{records:?}");
}

#[test]
fn tools_that_cannot_run_here_are_left_out_aloud() {
    let manifest = specs().join("manifest-program.yaml");
    let requests = [message(1, "tools/list", &json!({}))];
    let (messages, told, fine) = session(&[manifest.to_str().unwrap()], &[], &requests);
    assert!(fine, "{told}");
    assert!(told.contains("is left out: it is a function"), "{told}");
    assert!(!names(answer(&messages, 1)).is_empty());
}

#[test]
fn what_cannot_be_served_is_told_and_nothing_is_printed() {
    let tasks = specs().join("tasks.yaml");
    let tasks = tasks.to_str().unwrap();
    for (words, expected) in [
        (vec![tasks, "--allow", "nothing*"], "rule 'nothing*' fits no tool"),
        (vec![tasks, tasks], "createTask"),
        (vec![tasks, "--allow", "createTask", "--read-only"], "leave out all"),
        (vec![tasks, "--http", "127.0.0.1:0", "--token", "NO_SUCH_TOKEN"], "set NO_SUCH_TOKEN"),
        (vec![tasks, "--http", "0.0.0.0:0"], "set a bearer token with `--token VARIABLE`"),
        (vec![tasks, "--http", "nonsense"], "write it as 127.0.0.1:8080"),
        (vec![tasks, "--http", "127.0.0.1:0", "--stdio"], "cannot be used with"),
        (vec!["no-such-file.yaml"], "no-such-file.yaml"),
        (vec![tasks, "off"], "a document is missing"),
    ] {
        let (messages, told, fine) = session(&words, &[], &[]);
        assert!(!fine && messages.is_empty() && told.contains(expected), "{words:?}: {told}");
        assert!(!told.contains("served at"), "{words:?}: {told}");
    }
}

#[test]
fn no_file_is_sent_that_the_operator_does_not_allow() {
    let document = Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve-photos.json");
    let text = json!({
        "openapi": "3.1.0", "info": {"title": "Photos", "version": "1"},
        "paths": {"/photos": {"post": {
            "operationId": "addPhoto", "summary": "Adds a photo.",
            "requestBody": {"required": true, "content": {"image/png": {}}},
            "responses": {"204": {"description": "Added."}},
        }}},
    });
    fs::write(&document, text.to_string()).unwrap();
    let url = echo();
    // A file below the folder in which the tests run.
    let call = |path: &str, more: &[&str]| {
        let words = [&[document.to_str().unwrap(), "--base-url", &url], more].concat();
        let arguments = json!({"name": "addPhoto", "arguments": {"body": {"path": path}}});
        let (messages, told, fine) = session(&words, &[], &[message(1, "tools/call", &arguments)]);
        assert!(fine, "{told}");
        answer(&messages, 1)["result"].clone()
    };
    let refused = call("Cargo.toml", &[]);
    assert!(refused["isError"] == true && !refused.to_string().contains("POST /photos"), "{refused}");
    let sent = call("Cargo.toml", &["--files", "."]);
    assert!(sent["isError"] != true && sent.to_string().contains("POST /photos"), "{sent}");
    assert_eq!(call("../Cargo.toml", &["--files", "."])["isError"], true);
}

#[test]
fn the_operator_reads_which_credential_is_missing() {
    let (tasks, url) = (specs().join("tasks.yaml"), echo());
    let words = [tasks.to_str().unwrap(), "--base-url", &url, "--auth=token=NO_TASKS_TOKEN"];
    let call = message(1, "tools/call", &json!({"name": "listTasks", "arguments": {"status": "open"}}));
    let (messages, told, fine) = session(&words, &[], &[call]);
    assert!(fine, "{told}");
    assert_eq!(told.matches("note: there is no credential for `token`").count(), 1, "{told}");
    assert!(told.contains("set the environment variable NO_TASKS_TOKEN"), "{told}");
    let failed = "error: a call of `listTasks` failed: No credential is configured for `token` (set";
    assert!(told.contains(failed), "{told}");
    let read = &answer(&messages, 1)["result"];
    assert!(read["isError"] == true && !read.to_string().contains("NO_TASKS_TOKEN"), "{read}");

    let (_, told, _) = session(&words, &[("NO_TASKS_TOKEN", "s3cret")], &[]);
    assert!(!told.contains("no credential"), "{told}");
}

#[test]
fn the_operator_reads_which_host_is_not_opened() {
    let tasks = specs().join("tasks.yaml");
    let (_, told, _) = session(&[tasks.to_str().unwrap()], &[], &[]);
    assert!(told.contains("tools cannot be called: The host `localhost` may not be reached"), "{told}");
    assert!(told.contains("Open it with `--private-host localhost`."), "{told}");
    for opened in
        ["--private-host=localhost", "--base-url=http://localhost:8080", "--base-url=https://api.example.com"]
    {
        let (_, told, _) = session(&[tasks.to_str().unwrap(), opened], &[], &[]);
        assert!(told.contains("served") && !told.contains("may not be reached"), "{told}");
    }
}

#[test]
fn clients_over_http_take_no_more_than_the_operator_allows() {
    let tasks = specs().join("tasks.yaml");
    let words = [
        tasks.to_str().unwrap(),
        "--http",
        "127.0.0.1:0",
        "--max-connections",
        "1",
        "--max-sessions",
        "1",
        "--max-request",
        "20",
    ];
    let mut child = start(&words, &[]);
    let mut told = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut told).unwrap();
    let address = told.split("http://").nth(1).unwrap().split('/').next().unwrap();
    let status = |stream: &mut TcpStream| {
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    };
    let mut stream = TcpStream::connect(address).unwrap();
    let body = begin()[0].to_string();
    write!(stream, "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .unwrap();
    assert_eq!(status(&mut stream), "HTTP/1.1 413");
    // The first connection is still open.
    assert_eq!(status(&mut TcpStream::connect(address).unwrap()), "HTTP/1.1 503");
    child.kill().unwrap();
    child.wait().unwrap();

    let (_, told, fine) = session(&[tasks.to_str().unwrap(), "--max-sessions", "1"], &[], &[]);
    assert!(!fine && told.contains("--http"), "{told}");
}

#[test]
fn over_http_a_token_is_demanded() {
    let tasks = specs().join("tasks.yaml");
    let words = [tasks.to_str().unwrap(), "--http", "127.0.0.1:0", "--token", "SERVE_TOKEN"];
    let mut child = start(&words, &[("SERVE_TOKEN", "s3cret")]);
    let mut told = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut told).unwrap();
    let address = told.split("http://").nth(1).unwrap().split('/').next().unwrap();
    let status = |header: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        let body = begin()[0].to_string();
        let head = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nConnection: close";
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\n{header}{head}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    };
    assert_eq!(status(""), "HTTP/1.1 401");
    assert_eq!(status("Authorization: Bearer s3cret\r\n"), "HTTP/1.1 200");
    child.kill().unwrap();
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!(printed, "");
    child.wait().unwrap();
}

#[test]
fn a_client_finds_reads_and_calls_tools_that_are_not_listed() {
    let (tasks, url) = (specs().join("tasks.yaml"), echo());
    let audit = Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve-discovery.jsonl");
    let _ = fs::remove_file(&audit);
    let words = [
        tasks.to_str().unwrap(),
        "--discovery",
        "--pin=getTask",
        "--deny=deleteTask",
        "--base-url",
        &url,
        "--auth=token=TASKS_TOKEN",
        "--audit",
        audit.to_str().unwrap(),
    ];
    let call = |id, name: &str, arguments: Value| {
        message(id, "tools/call", &json!({ "name": name, "arguments": arguments }))
    };
    let requests = [
        message(1, "tools/list", &json!({})),
        call(2, "search_tools", json!({"query": "which tasks are open?", "limit": 1})),
        call(3, "describe_tool", json!({"names": ["listTasks"]})),
        call(4, "call_tool", json!({"name": "listTasks", "arguments": {"status": "open"}})),
        call(5, "call_tool", json!({"name": "listTask"})),
        call(6, "call_tool", json!({"name": "deleteTask", "arguments": {}})),
        call(7, "call_tool", json!({"name": "listTasks", "arguments": {"status": "opn"}})),
    ];
    let (messages, told, fine) = session(&words, &[("TASKS_TOKEN", "s3cret")], &requests);
    assert!(fine && told.contains("found by `search_tools`"), "{told}");
    assert_eq!(names(answer(&messages, 1)), ["call_tool", "describe_tool", "getTask", "search_tools"]);
    let text = |id| answer(&messages, id)["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text(2).starts_with("listTasks("), "{}", text(2));
    assert!(text(3).contains("\"enum\":["), "{}", text(3));
    assert!(text(4).contains("GET /tasks?status=open"), "{}", text(4));
    for (id, part) in [(5, "did you mean 'listTasks'?"), (6, "Tool not found: deleteTask"), (7, "status")] {
        let result = &answer(&messages, id)["result"];
        assert!(result["isError"] == true && text(id).contains(part), "{result}");
    }
    let records = fs::read_to_string(&audit).unwrap();
    assert!(records.contains("\"listTasks\"") && !records.contains("\"call_tool\""), "{records}");
}

#[test]
fn more_than_128_tools_are_discovered_unless_all_are_wanted() {
    let paths: serde_json::Map<String, Value> = (0..130)
        .map(|number| {
            let operation =
                json!({"operationId": format!("get{number}"), "responses": {"200": {"description": "x"}}});
            (format!("/things/{number}"), json!({ "get": operation }))
        })
        .collect();
    let document = json!({"openapi": "3.1.0", "info": {"title": "x", "version": "1"},
        "servers": [{"url": "https://example.com"}], "paths": paths});
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve-many.json");
    fs::write(&file, document.to_string()).unwrap();
    let list = [message(1, "tools/list", &json!({}))];
    for (word, count) in [("--discovery=auto", 3), ("--discovery=off", 130), ("--deny=get12*", 119)] {
        let (messages, told, fine) = session(&[file.to_str().unwrap(), word], &[], &list);
        assert!(fine, "{told}");
        assert_eq!(names(answer(&messages, 1)).len(), count, "{word}");
    }
}

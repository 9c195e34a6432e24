//! Tests of `cargo toolgen serve` with an MCP client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use toolgen_runtime::layers::audit::{AuditReader, AuditStatus};

use toolgen_test_support::http::{self, Server};
#[cfg(target_os = "linux")]
use toolgen_test_support::postgres;

use crate::support::{Client, Folder, Run as _, hello, spec};

/// Returns the first messages of a client.
fn begin() -> String {
    hello(&json!({})).map(|message| format!("{message}\n")).concat()
}

/// Starts `serve` with these arguments and the key of the service, and a client.
fn client(dir: &Folder, line: &str) -> Client {
    Client::start(dir.toolgen(format!("serve {line}")).env("TASKS_TOKEN", "s3cret"), &json!({}))
}

/// Returns the standard error of `serve`, which must succeed, for a client that sends no requests.
fn told(dir: &Folder, line: &str) -> String {
    let ran = dir.toolgen(format!("serve {line}")).env("TASKS_TOKEN", "s3cret").ran(&begin()).exits(0);
    ran.stderr
}

/// Returns the text of a result, and whether it is an error.
fn text(result: &Value) -> (&str, bool) {
    (result["content"][0]["text"].as_str().unwrap(), result["isError"] == true)
}

fn tasks() -> String {
    spec("tasks.yaml")
}

/// Starts a service that responds to each request with the request line. Returns its address.
fn echo() -> String {
    let server = Server::start(|request| {
        let key = request.header("authorization").map(|key| format!("authorization: {key}"));
        let title = format!("{} {}", request.line(), key.unwrap_or_default());
        http::json(&json!([{"id": 1, "title": title, "status": "open"}]))
    });
    server.url
}

#[test]
fn served_calls_are_limited_and_recorded() {
    let (dir, tasks, url) = (Folder::new("serve/calls"), tasks(), echo());
    let mut client = client(
        &dir,
        &format!(
            "'{tasks}' --read-only --deny get* --base-url {url} --auth token=TASKS_TOKEN --audit audit.jsonl"
        ),
    );
    let info = &client.server["serverInfo"];
    assert_eq!([&info["name"], &info["title"], &info["version"]], ["tasks", "Tasks", "1.0"]);
    assert_eq!(client.names(), ["listTasks"]);
    let made = client.call("listTasks", &json!({"status": "open"})).to_string();
    assert!(made.contains("GET /tasks?status=open") && made.contains("authorization: "), "{made}");
    let refused = client.call("createTask", &json!({"title": "x"}));
    assert_eq!(refused["isError"], true, "{refused}");
    let message = client.end();
    assert!(message.contains("1 tool is served on standard input and output"), "{message}");
    let records = dir.read("audit.jsonl");
    assert!(records.lines().count() >= 3 && records.contains("listTasks"), "{records}");
    assert!(!records.contains("s3cret"), "{records}");
}

#[test]
fn records_go_to_sqlite_by_file_extension() {
    let dir = Folder::new("serve/database");
    two_servers_record(&dir, "audit.sqlite", || {
        toolgen_runtime::store::audit::open(dir.join("audit.sqlite")).unwrap()
    });
}

#[cfg(target_os = "linux")]
#[test]
fn records_go_to_a_database_server() {
    let Some(server) = postgres::shared() else { return };
    let url = server.database("served");
    let dir = Folder::new("serve/postgres").variable("SERVE_AUDIT", &url);
    two_servers_record(&dir, "env:SERVE_AUDIT", || toolgen_runtime::store::audit::connect(&url).unwrap());
}

/// Checks that two servers, run sequentially, write to one log.
fn two_servers_record(dir: &Folder, audit: &str, open: impl Fn() -> AuditReader) {
    let (tasks, url) = (tasks(), echo());
    for _ in 0..2 {
        let line = format!("'{tasks}' --base-url {url} --audit {audit} --auth=token=TASKS_TOKEN");
        // The client does not wait for responses: requests sent before the end of input still run and get responses.
        let calls = [("listTasks", json!({"status": "open"})), ("deleteTask", json!({}))];
        let calls =
            calls.map(|(name, arguments)| ("tools/call", json!({"name": name, "arguments": arguments})));
        let (results, message) = client(dir, &line).leave_with(&calls);
        assert!(results[0]["isError"] != true && results[0]["content"].is_array(), "{results:?}");
        assert!(results[1]["isError"] == true && !message.contains("hunter2"), "{results:?} {message}");
    }
    let mut records = Vec::new();
    open().for_each_change(&mut |record| records.push(record)).unwrap();
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
fn unrunnable_tools_are_skipped_with_a_message() {
    let mut client = client(&Folder::new("serve/left-out"), &format!("'{}'", spec("manifest-program.yaml")));
    assert!(!client.names().is_empty());
    let message = client.end();
    assert!(message.contains("`: it is a function"), "{message}");
}

#[test]
fn unservable_document_is_reported_on_stderr_only() {
    let (dir, tasks) = (Folder::new("serve/refused"), tasks());
    for (words, expected) in [
        ("TASKS --allow nothing*", "rule 'nothing*' matches no tool"),
        ("TASKS TASKS", "createTask"),
        ("TASKS --allow createTask --read-only", "exclude all"),
        ("TASKS --http 127.0.0.1:0 --token NO_SUCH_TOKEN", "set NO_SUCH_TOKEN"),
        ("TASKS --http 0.0.0.0:0", "set a bearer token with `--token ENV_VAR`"),
        ("TASKS --http nonsense", "write it as 127.0.0.1:8080"),
        ("TASKS --http 127.0.0.1:0 --stdio", "cannot be used with"),
        ("no-such-file.yaml", "no-such-file.yaml"),
        ("TASKS off", "a document is missing"),
        ("--discovery TASKS sometimes", "a document is missing"),
    ] {
        let line = format!("serve {}", words.replace("TASKS", &format!("'{tasks}'")));
        let ran = dir.toolgen(line).ran(&begin()).printed("").tells(expected).tells_no("served at");
        assert_ne!(ran.code, Some(0), "{words}");
    }
}

#[test]
fn client_may_return_values_allowed_by_the_operator() {
    let manifest = "
toolgen: 1
defaults: {read_only: true, network: none}
tools:
  session_start:
    description: Starts a session, whose name later calls give back.
    command: {argv: [echo, s-42]}
  session_log:
    description: Reads what a session has logged so far.
    requires: [{context: session_id, message: Call session_start first.}]
    command: {argv: [echo, logged]}
  orders:
    description: Lists the orders of the workspace that is chosen.
    requires: [{context: workspace_id}]
    command: {argv: [echo, none]}
";
    let dir = Folder::new("serve/values").with("tools.yaml", manifest);
    let mut client = client(&dir, "tools.yaml --client-value session_id --client-value sesion_id");
    assert_eq!(client.names(), ["session_log", "session_start"]);
    let listed = client.request("tools/list", &json!({}));
    let described = &listed["tools"][0]["inputSchema"]["properties"]["session_id"];
    assert_eq!(described["type"], "string", "{listed}");
    let result = client.call("session_log", &json!({}));
    assert!(text(&result).0.ends_with("- Call session_start first.") && text(&result).1, "{result}");
    let id = client.call("session_start", &json!({}));
    let result = client.call("session_log", &json!({ "session_id": text(&id).0.trim() }));
    assert_eq!((text(&result).0.trim(), text(&result).1), ("logged", false));
    let described = client.end();
    for note in [
        "with `--client-value workspace_id`, clients may set it",
        "skipped `orders`: its requirement \"Context 'workspace_id' is required\"",
        "no tool requires `sesion_id`",
    ] {
        assert!(described.contains(note), "{note}: {described}");
    }
    assert!(!described.contains("--client-value session_id"), "{described}");
    // A discovered tool shows no such argument: its values come with the call.
    let mut client = self::client(&dir, "tools.yaml --discovery=on --client-value session_id");
    let call = json!({"name": "session_log", "arguments": {}});
    let result = client.call("call_tool", &call);
    assert!(text(&result).0.ends_with("- Call session_start first.") && text(&result).1, "{result}");
    let given = json!({"io.toolgen/context": {"session_id": "s-42"}});
    let call = json!({"name": "call_tool", "arguments": call, "_meta": given});
    assert_eq!(text(&client.request("tools/call", &call)).0.trim(), "logged");
    let described = client.end();
    assert!(
        described.contains("clients can pass `session_id` only in `io.toolgen/context` of `_meta`"),
        "{described}"
    );
}

#[test]
fn only_files_allowed_by_the_operator_are_sent() {
    let text = json!({
        "openapi": "3.1.0", "info": {"title": "Photos", "version": "1"},
        "paths": {"/photos": {"post": {
            "operationId": "addPhoto", "summary": "Adds a photo.",
            "requestBody": {"required": true, "content": {"image/png": {}}},
            "responses": {"204": {"description": "Added."}},
        }}},
    });
    let dir = &Folder::new("serve/files/in").with("photos.json", text.to_string()).with("in.txt", "");
    dir.write("../out.txt", "");
    let url = echo();
    let call = |path: &str, more: &str| {
        let mut client = client(dir, &format!("photos.json --base-url {url} {more}"));
        let result = client.call("addPhoto", &json!({"body": {"path": path}}));
        client.end();
        result
    };
    let refused = call("in.txt", "");
    assert!(refused["isError"] == true && !refused.to_string().contains("POST /photos"), "{refused}");
    let sent = call("in.txt", "--files .");
    assert!(sent["isError"] != true && sent.to_string().contains("POST /photos"), "{sent}");
    assert_eq!(call("../out.txt", "--files .")["isError"], true);
}

#[test]
fn missing_credential_is_reported_to_the_operator() {
    let (dir, tasks, url) = (Folder::new("serve/credential"), tasks(), echo());
    let line = format!("'{tasks}' --base-url {url} --auth=token=NO_TASKS_TOKEN");
    let mut client = client(&dir, &line);
    let read = client.call("listTasks", &json!({"status": "open"}));
    assert!(read["isError"] == true && !read.to_string().contains("NO_TASKS_TOKEN"), "{read}");
    let text = client.end();
    assert_eq!(text.matches("note: there is no credential for `token`").count(), 1, "{text}");
    assert!(text.contains("set the environment variable NO_TASKS_TOKEN"), "{text}");
    let failed = "error: a call of `listTasks` failed: No credential is configured for `token` (set";
    assert!(text.contains(failed), "{text}");

    let text = told(&dir.variable("NO_TASKS_TOKEN", "s3cret"), &line);
    assert!(!text.contains("no credential"), "{text}");
}

#[test]
fn blocked_host_is_reported_to_the_operator() {
    let (dir, tasks) = (Folder::new("serve/host"), tasks());
    let text = told(&dir, &format!("'{tasks}'"));
    assert!(text.contains("tools cannot be called: The host `localhost` is blocked"), "{text}");
    assert!(text.contains("Open it with `--private-host localhost`."), "{text}");
    for opened in
        ["--private-host=localhost", "--base-url=http://localhost:8080", "--base-url=https://api.example.com"]
    {
        let text = told(&dir, &format!("'{tasks}' {opened}"));
        assert!(text.contains("served") && !text.contains("is blocked"), "{text}");
    }
}

/// Starts a server over HTTP. Returns it, and the address that it prints.
fn over_http(name: &str, line: &str) -> (Child, String) {
    let mut command = Folder::new(&format!("serve/{name}"))
        .toolgen(format!("serve '{}' --http 127.0.0.1:0 {line}", tasks()));
    command.env("SERVE_TOKEN", "s3cret").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut message = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut message).unwrap();
    let address = message.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    (child, address)
}

/// Starts a session with these additional header lines, and returns the stream.
fn ask(address: &str, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let body = hello(&json!({}))[0].to_string();
    let length = body.len();
    write!(stream, "POST /mcp HTTP/1.1\r\nHost: {address}\r\n{head}Content-Length: {length}\r\n\r\n{body}")
        .unwrap();
    stream
}

fn status(stream: &mut TcpStream) -> String {
    let mut response = [0; 12];
    stream.read_exact(&mut response).unwrap();
    String::from_utf8_lossy(&response).into_owned()
}

#[test]
fn operator_limits_apply_to_http_clients() {
    let (mut child, address) = over_http("most", "--max-connections 1 --max-sessions 1 --max-request 20");
    let mut stream = ask(&address, "");
    assert_eq!(status(&mut stream), "HTTP/1.1 413");
    // The first connection is still open.
    assert_eq!(status(&mut TcpStream::connect(&address).unwrap()), "HTTP/1.1 503");
    child.kill().unwrap();
    child.wait().unwrap();

    let line = format!("serve '{}' --max-sessions 1", tasks());
    let ran = Folder::new("serve/sessions").toolgen(line).ran(&begin()).tells("--http");
    assert_ne!(ran.code, Some(0));
}

#[test]
fn http_server_requires_a_token() {
    let (mut child, address) = over_http("token", "--token SERVE_TOKEN");
    let head = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nConnection: close\r\n";
    assert_eq!(status(&mut ask(&address, head)), "HTTP/1.1 401");
    let known = format!("Authorization: Bearer s3cret\r\n{head}");
    assert_eq!(status(&mut ask(&address, &known)), "HTTP/1.1 200");
    child.kill().unwrap();
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!(printed, "");
    child.wait().unwrap();
}

#[test]
fn client_can_discover_and_call_unlisted_tools() {
    let (dir, tasks, url) = (Folder::new("serve/discovery"), tasks(), echo());
    let words = "--discovery --pin=getTask --deny=deleteTask --auth=token=TASKS_TOKEN --audit audit.jsonl";
    let mut client = client(&dir, &format!("'{tasks}' --base-url {url} {words}"));
    assert_eq!(client.names(), ["call_tool", "describe_tool", "getTask", "search_tools"]);
    for (name, arguments, failed, part) in [
        ("describe_tool", json!({"names": ["listTasks"]}), false, "\"enum\":["),
        (
            "call_tool",
            json!({"name": "listTasks", "arguments": {"status": "open"}}),
            false,
            "GET /tasks?status=open",
        ),
        ("call_tool", json!({"name": "listTask"}), true, "did you mean 'listTasks'?"),
        ("call_tool", json!({"name": "deleteTask", "arguments": {}}), true, "Tool not found: deleteTask"),
        ("call_tool", json!({"name": "listTasks", "arguments": {"status": "opn"}}), true, "status"),
    ] {
        let result = client.call(name, &arguments);
        let (text, is_error) = text(&result);
        assert!(is_error == failed && text.contains(part), "{result}");
    }
    let found = client.call("search_tools", &json!({"query": "which tasks are open?", "limit": 1}));
    assert!(text(&found).0.starts_with("listTasks("), "{found}");
    let message = client.end();
    assert!(message.contains("found by `search_tools`"), "{message}");
    let records = dir.read("audit.jsonl");
    assert!(records.contains("\"listTasks\"") && !records.contains("\"call_tool\""), "{records}");
}

#[test]
fn discovery_starts_above_128_tools_unless_disabled() {
    let paths: serde_json::Map<String, Value> = (0..130)
        .map(|number| {
            let operation =
                json!({"operationId": format!("get{number}"), "responses": {"200": {"description": "x"}}});
            (format!("/things/{number}"), json!({ "get": operation }))
        })
        .collect();
    let document = json!({"openapi": "3.1.0", "info": {"title": "x", "version": "1"},
        "servers": [{"url": "https://example.com"}], "paths": paths});
    let dir = Folder::new("serve/many").with("many.json", document.to_string());
    for (words, count) in [
        ("--discovery=auto many.json", 3),
        ("--discovery=off many.json", 130),
        ("many.json --discovery off", 130),
        ("--deny=get12* --discovery many.json", 3),
        ("many.json --deny=get12*", 119),
    ] {
        let mut client = client(&dir, words);
        assert_eq!(client.names().len(), count, "{words}");
        client.end();
    }
}

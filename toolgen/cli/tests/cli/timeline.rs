//! Tests of `cargo toolgen timeline`: the data of the page, and the access to it.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use toolgen_test_support::postgres;

use crate::support::{Folder, data};

fn folder(name: &str) -> Folder {
    Folder::new(&format!("timeline/{name}"))
}

/// Returns the lines that a sink writes for a call.
fn lines(number: u32, parent: Option<u32>, tool: &str, arguments: &Value, ended: bool) -> String {
    let mut intent = json!({
        "event": "intent", "call": format!("run-{number}"), "timestamp": "2026-11-22T22:00:00.250Z", "session_id": "s-1",
        "agent_id": "triage", "principal": "alice", "tool_name": tool, "tool_call_id": format!("call_{number}"),
        "parameters": arguments, "spec_hash": "ab", "attempt": 1, "approved": true, "approved_by": "carol", "turn": 3,
    });
    if let Some(parent) = parent {
        intent["parent"] = format!("run-{parent}").into();
    }
    let mut outcome = intent.clone();
    outcome["event"] = "outcome".into();
    outcome.as_object_mut().unwrap().shift_remove("parameters");
    let text = json!({"status": "error", "result": null, "error": "no </b> luck", "error_code": "E", "is_error": true, "duration_ms": 12});
    for (name, value) in text.as_object().unwrap() {
        outcome[name] = value.clone();
    }
    if ended { format!("{intent}\n{outcome}\n") } else { format!("{intent}\n") }
}

/// Returns a row, with shared strings instead of their indexes.
fn row(data: &Value, index: usize) -> Vec<Value> {
    let row = data["rows"][index].as_array().unwrap();
    let text = |place: &Value| data["strings"][usize::try_from(place.as_u64().unwrap()).unwrap()].clone();
    let shared = [2, 4, 5, 6, 7, 9, 11, 12, 16, 22, 23, 27];
    let each = row.iter().enumerate();
    each.map(|(at, value)| if shared.contains(&at) { text(value) } else { value.clone() }).collect()
}

#[test]
fn timeline_page_is_complete_and_escapes_the_log() {
    let hostile = json!({"html": "</script><script>alert(1)</script>", "long": "x".repeat(70_000)});
    let text = lines(1, None, "<b>act</b>", &hostile, true) + &lines(2, Some(1), "look", &json!({}), false);
    let dir = folder("page").with("log.jsonl", text);
    let line = "timeline log.jsonl api.yaml --out page.html";
    dir.run(line).exits(0).tells("shows 2 calls");
    let text = dir.read("page.html");
    // Only the elements of the page itself, none from the log.
    assert_eq!((text.matches("<script").count(), text.matches("</script>").count()), (2, 2));
    // Invisible characters are shown as escapes, by the shared table of such characters.
    assert!(text.contains(r"\u{e0000}-\u{e0fff}") && text.contains(r"\u{3164}-\u{3164}"));
    assert!(
        !text.contains("<b>act")
            && !text.contains("{{")
            && !text.contains("http://")
            && !text.contains("https://")
    );
    let data = data(&text);
    assert_eq!(
        row(&data, 0)[..16],
        json!([
            "run-1",
            null,
            "run",
            3,
            "s-1",
            "triage",
            "alice",
            "<b>act</b>",
            "call_1",
            "2026-11-22T22:00:00.250Z",
            12,
            "error",
            "E",
            "no </b> luck",
            1,
            true
        ])
        .as_array()
        .unwrap()[..]
    );
    let second = row(&data, 1);
    assert_eq!([&second[1], &second[10], &second[11]], [&json!("run-1"), &json!(null), &json!("started")]);
    assert_eq!(data["whole"]["run-1"]["error"], "no </b> luck");
    let cut = data["whole"]["run-1"]["parameters"].as_str().unwrap();
    assert!(cut.len() < 66_000 && cut.ends_with("bytes in all)"), "{}", cut.len());
    assert_eq!(data["documents"], json!(["api.yaml"]));

    dir.run(line).exits(1).tells("`--force` overwrites it");
}

#[test]
fn row_has_the_request_that_led_to_its_call_and_the_arguments_do_not() {
    let request = json!({
        "number": 4, "prompt": "Find it.", "model": "claude-sonnet-5-5", "input_tokens": 120, "output_tokens": 30, "cost_usd": 0.0125,
    });
    let arguments = json!({"word": "needle", "@request": request, "@program": "program-1"});
    let reason = "no luck ".repeat(100);
    let text = lines(1, None, "look", &arguments, true).replace("no </b> luck", &reason)
        + &lines(2, None, "look", &json!({}), true);
    let dir = folder("request").with("log.jsonl", text);
    dir.run("timeline log.jsonl --out page.html").exits(0);
    let data = data(&dir.read("page.html"));
    let first = row(&data, 0);
    assert_eq!(first[19], r#"{"word":"needle"}"#);
    assert_eq!(
        first[21..],
        *json!([4, "Find it.", "claude-sonnet-5-5", 120, 30, 0.0125, "program-1"]).as_array().unwrap()
    );
    assert_eq!(row(&data, 1)[21..], *json!([0, "", "", 0, 0, 0.0, ""]).as_array().unwrap());
    // A row has the whole reason, unless it is very long.
    assert_eq!(first[13], reason.as_str());
    assert_eq!(data["whole"]["run-1"]["parameters"], json!({"word": "needle"}));
}

#[test]
fn invalid_log_is_reported() {
    let dir = folder("other").with("other.txt", "hello\n").with("log.jsonl", "");
    dir.run("timeline other.txt").exits(1).tells("not an audit log");
    dir.run("timeline timeline.missing").exits(1).tells("timeline.missing");
    dir.run("timeline log.jsonl --listen 0.0.0.0:0").exits(1).tells("listen at 127.0.0.1");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn database_is_read_by_url_without_showing_its_password() {
    use toolgen_runtime::ToolResult;
    use toolgen_runtime::layers::audit::{Auditor, CallInfo};
    use toolgen_runtime::store::audit::PostgresSink;

    let Some(server) = postgres::shared() else { return };
    let url = server.database("night");
    let auditor = Auditor::builder(PostgresSink::open(&url).unwrap()).start().unwrap();
    for number in 0..3 {
        let info = || CallInfo::new(format!("call_{number}"), "find", json!({"number": number}));
        let mut record = auditor.record(info);
        record.intent().await.unwrap();
        record.finish(&Ok(ToolResult::text("found"))).await;
    }
    auditor.flush().await.unwrap();
    let dir = folder("database");
    let ran = dir.run(format!("timeline '{url}' --out page.html"));
    ran.exits(0).tells("shows 3 calls").tells_no("hunter2");
    let page = dir.read("page.html");
    assert!(page.contains("<title>Timeline of night<") && !page.contains("hunter2"));
    let data = data(&page);
    assert_eq!(data["whole"].as_object().unwrap().len(), 3);
    let row = row(&data, 0);
    assert_eq!((&row[7], &row[11]), (&json!("find"), &json!("ok")));

    // A served page shows new records.
    let served = Served::start(&dir, &url);
    let rows = |after: u64| served.json(&format!("/data?after={after}"))["rows"].as_array().unwrap().len();
    assert_eq!((rows(0), rows(1)), (3, 0));
    auditor.record(|| CallInfo::new("call_3", "find", json!({}))).finish(&Ok(ToolResult::text("no"))).await;
    auditor.flush().await.unwrap();
    assert_eq!(rows(1), 1);
    drop(served);

    let ran = dir.run(format!("timeline '{}'", server.url("nothing")));
    ran.exits(1).tells("\"nothing\" does not exist").tells_no("hunter2");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn stalled_database_blocks_neither_page_nor_shutdown() {
    use std::time::{Duration, Instant};
    use toolgen_runtime::layers::audit::Auditor;
    use toolgen_runtime::store::audit::PostgresSink;

    let Some(server) = postgres::Server::start(&["fsync=off"]) else { return };
    let url = server.database("still");
    Auditor::builder(PostgresSink::open(&url).unwrap()).start().unwrap().shutdown().await;
    let dir = folder("still");
    let mut served = Served::start(&dir, &url);
    let stalled = server.stall();
    let (host, key) = (served.1.clone(), served.2.clone());
    let mut asked = TcpStream::connect(&host).unwrap();
    write!(asked, "GET /call?id=1 HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n\r\n").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    assert_eq!(served.ask(&format!("/?token={key}"), &host, None).0, 200);
    Command::new("kill").args(["-INT", &served.0.id().to_string()]).status().unwrap();
    assert!(served.0.wait().unwrap().success());
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    dir.run(format!("timeline '{url}'")).tells("no response within").tells_no("hunter2");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    drop(stalled);
}

/// A server that is stopped at the end of the test.
struct Served(Child, String, String);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Served {
    fn start(dir: &Folder, log: &str) -> Served {
        let mut child = dir.toolgen(format!("timeline '{log}'")).stderr(Stdio::piped()).spawn().unwrap();
        let mut message = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut message).unwrap();
        let (_, address) = message.trim().split_once("http://").unwrap_or_else(|| panic!("{message}"));
        let (host, key) = address.split_once("/?token=").unwrap();
        Served(child, host.to_owned(), key.to_owned())
    }

    /// Requests a path with this host and key. Returns the status and the rest of the response.
    fn ask(&self, path: &str, host: &str, key: Option<&str>) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.1).unwrap();
        let key = key.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n{key}Connection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        (text.split(' ').nth(1).unwrap().parse().unwrap(), text)
    }

    fn json(&self, path: &str) -> Value {
        let (status, text) = self.ask(path, &self.1, Some(&self.2));
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

#[test]
fn served_timeline_requires_its_address_and_follows_the_log() {
    let log = lines(1, None, "act", &json!({"word": "needle"}), true);
    let dir = folder("live").with("log.jsonl", log);
    let served = Served::start(&dir, "log.jsonl");
    let (host, key) = (served.1.as_str(), served.2.as_str());
    let (status, page) = served.ask(&format!("/?token={key}"), host, None);
    assert_eq!(status, 200);
    assert!(
        page.contains("Timeline") && page.contains("frame-ancestors 'none'") && page.contains("no-store")
    );
    assert!(!page.contains("needle"));
    for (path, host, key, status) in [
        ("/", host, None, 401),
        ("/?token=", host, None, 401),
        ("/data", host, None, 401),
        ("/data", host, Some("0123456789abcdef0123456789abcdef"), 401),
        // A key in the URL of data could appear in the log of a proxy; the page sends it in a header.
        (&format!("/data?token={key}"), host, None, 401),
        ("/data", "evil.example", Some(key), 403),
        (&format!("/?token={key}"), &host.replace("127.0.0.1", "evil.example"), None, 403),
        ("/call?id=nothing", host, Some(key), 404),
    ] {
        let (given, output) = served.ask(path, host, key);
        assert_eq!(given, status, "{path} {host}: {output}");
        assert!(!output.contains("needle"));
    }

    let first = served.json("/data?after=0");
    assert_eq!(first["rows"].as_array().unwrap().len(), 1);
    let after = format!("/data?after={}", first["version"]);
    assert_eq!(served.json(&after)["rows"], json!([]));
    let mut out = OpenOptions::new().append(true).open(dir.join("log.jsonl")).unwrap();
    out.write_all(lines(2, None, "look", &json!({"word": "thread"}), false).as_bytes()).unwrap();
    let second = served.json(&after);
    assert_eq!((row(&second, 0)[0].as_str(), second["rows"].as_array().unwrap().len()), (Some("run-2"), 1));
    assert_eq!(served.json("/find?text=NEEDLE")["found"], json!(["run-1"]));
    assert_eq!(served.json("/call?id=run-2")["parameters"], json!({"word": "thread"}));
}

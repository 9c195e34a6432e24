//! Tests of files that calls upload, and of responses that are written to files.

use std::fs;
use std::process::Output;

use serde_json::Value;

use toolgen_test_support::http::{Server, Step, raw};

use crate::support::{Folder, Run as _};

const API: &str = r#"{"openapi": "3.0.3", "info": {"title": "x", "version": "1"}, "servers": [{"url": "/"}], "paths": {
    "/photo": {"put": {"operationId": "putPhoto", "requestBody": {"required": true, "content": {
        "image/*": {"schema": {"type": "string", "format": "binary"}}}}, "responses": {}}},
    "/form": {"post": {"operationId": "sendForm", "requestBody": {"content": {"multipart/form-data": {"schema": {
        "type": "object", "properties": {"note": {"type": "string"}, "photo": {"type": "string", "format": "binary"},
            "old[]": {"type": "array", "items": {"type": "string", "format": "binary"}},
            "files": {"type": "array", "items": {"type": "string", "format": "binary"}}}}}}}, "responses": {}}},
    "/report": {"get": {"operationId": "getReport", "responses": {"200": {"description": "x", "content": {
        "application/pdf": {"schema": {"type": "string", "format": "binary"}}}}}}}}}"#;

fn folder(name: &str) -> Folder {
    Folder::new(&format!("transfer/{name}"))
        .variable("TRANSFER_KEY", "hunter2-s3cr3t-9")
        .with("api.json", API)
        .with("cat.png", b"\x89PNG\r\n\x1a\n\xff")
        .with("more/b.txt", "b")
}

/// Runs the command, and returns its exit code, its standard output as bytes, and its standard error.
fn run(dir: &Folder, line: impl AsRef<str>, input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    let Output { status, stdout, stderr } = dir.toolgen(line).output_of(input);
    (status.code(), stdout, String::from_utf8(stderr).unwrap())
}

/// Starts a server that sends this response to each request.
fn serve(response: &'static [u8]) -> String {
    Server::start(move |_| raw(response)).url
}

/// Returns the body in the output of a dry run.
fn sent(dir: &Folder, words: &str, input: &[u8]) -> Result<(String, String), String> {
    let line = format!("call api.json {words} --dry-run --format json --base-url https://x.example");
    let (code, stdout, stderr) = run(dir, line, input);
    if code != Some(0) {
        return Err(stderr);
    }
    let request: Value = serde_json::from_slice(&stdout).unwrap();
    let headers = request["headers"].as_array().unwrap();
    let media_type = headers.iter().find(|header| header[0] == "Content-Type").unwrap()[1].as_str().unwrap();
    Ok((media_type.to_owned(), request["body"]["value"].as_str().unwrap().to_owned()))
}

#[test]
fn file_is_passed_by_its_path() {
    let dir = folder("given");
    let elsewhere = std::env::temp_dir().join(format!("toolgen-transfer-{}.png", std::process::id()));
    fs::write(&elsewhere, b"\x89PNG\r\n\x1a\n").unwrap();
    let png = "iVBORw0KGgr/";
    for (words, media_type, body) in [
        ("putPhoto body=@cat.png", "image/png", png),
        ("putPhoto body=@cat.png body.content_type=image/x-own", "image/x-own", png),
        ("putPhoto body.content_type=image/x-own body=@cat.png", "image/x-own", png),
        (r#"putPhoto 'body={"path": "cat.png"}'"#, "image/png", png),
        (&format!("putPhoto 'body=@{}'", elsewhere.display()), "image/png", "iVBORw0KGgo="),
        ("putPhoto body=@-", "image/gif", "GIF89a"),
    ] {
        assert_eq!(sent(&dir, words, b"GIF89a"), Ok((media_type.to_owned(), body.to_owned())), "{words:?}");
    }
    fs::remove_file(&elsewhere).unwrap();
    let words =
        "sendForm note=@more/b.txt files=@more/b.txt files=@api.json photo=@more/b.txt old[]=@more/b.txt";
    let (_, body) = sent(&dir, words, b"").unwrap();
    for part in [
        "name=\"note\"\r\nContent-Type: text/plain\r\n\r\nb\r\n",
        "name=\"files\"; filename=\"b.txt\"\r\n",
        "name=\"files\"; filename=\"api.json\"\r\n",
        "name=\"photo\"; filename=\"b.txt\"\r\n",
        "name=\"old[]\"; filename=\"b.txt\"\r\n",
    ] {
        assert!(body.contains(part), "{part}: {body}");
    }
    for (words, message) in [
        ("putPhoto body=cat.png", "`body` is a file; pass its path: body=@cat.png"),
        ("putPhoto body=@cat.png body=@cat.png", "`body` is given twice"),
        ("putPhoto body=@none.png", "none.png"),
        ("putPhoto body=@cat.png --max-file 3", "cat.png: the file is larger than 3 bytes"),
        (r#"putPhoto 'body={"path": "cat.png"}' --max-file 3"#, "larger than 3 bytes"),
        ("putPhoto", "`putPhoto` takes body=@FILE"),
    ] {
        let reason = sent(&dir, words, b"").unwrap_err();
        assert!(reason.contains(message), "{words:?}: {reason}");
    }
}

const PDF: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/pdf\r\n\
    Content-Disposition: attachment; filename=\"q1.pdf\"\r\nContent-Length: 6\r\n\r\n%PDF\0\xff";

#[test]
fn response_is_saved_to_a_file() {
    let dir = folder("answers");
    let address = serve(PDF);
    let call = |more: &str| run(&dir, format!("call api.json getReport --base-url {address} {more}"), b"");

    let (code, stdout, stderr) = call("--output -");
    assert_eq!((code, stdout.as_slice()), (Some(0), &b"%PDF\0\xff"[..]), "{stderr}");
    assert!(stderr.contains("200 [application/pdf, 6 bytes, saved as `-`"), "{stderr}");

    let (code, stdout, stderr) = call("--output more/mine.pdf");
    assert_eq!(
        (code, stdout.len(), fs::read(dir.join("more/mine.pdf")).unwrap()),
        (Some(0), 0, b"%PDF\0\xff".to_vec()),
        "{stderr}"
    );
    let (code, _, stderr) = call("--output more/mine.pdf");
    assert!(code == Some(2) && stderr.contains("the file exists"), "{stderr}");
    let (code, _, stderr) = call("--output small.pdf --max-file 5");
    assert!(
        code == Some(1) && stderr.contains("it is larger than 5 bytes") || !stderr.contains("saved"),
        "{stderr}"
    );
    assert!(!dir.join("small.pdf").exists());
    let (code, _, stderr) = call("--output - --format json");
    assert!(code == Some(2) && stderr.contains("cannot be used with `--format json`"), "{stderr}");

    let (code, stdout, stderr) = call("--save more");
    let stdout = String::from_utf8(stdout).unwrap();
    assert!(code == Some(0) && stdout.contains("saved as `q1.pdf`"), "{stdout} {stderr}");
    assert_eq!(fs::read(dir.join("more/q1.pdf")).unwrap(), b"%PDF\0\xff");
    let (_, stdout, _) = call("--save more --format json");
    let result: Value = serde_json::from_slice(&stdout).unwrap();
    assert_eq!(result["details"]["saved"]["path"], "q1-1.pdf");
    assert_eq!(result["content"][1]["type"], "resource_link");
}

#[cfg(unix)]
#[test]
fn killed_command_leaves_no_file_under_the_final_name() {
    let dir = folder("killed");
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: 1000000\r\n\r\n";
    let server = Server::start(|_| vec![Step::Send([&head[..], &[0; 500_000]].concat()), Step::Hold]);
    let line =
        |address: &str, file: &str| format!("call api.json getReport --base-url {address} --output {file}");
    let mut child = dir.toolgen(line(&server.url, "more/it.pdf")).spawn().unwrap();
    // Wait until a part of it is written.
    let written =
        || fs::read_dir(dir.join("more")).unwrap().any(|entry| entry.unwrap().metadata().unwrap().len() > 1);
    for _ in 0..500 {
        if written() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(written());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!dir.join("more/it.pdf").exists());
    // A leftover temporary file does not disturb the next call.
    let address = serve(PDF);
    let (code, _, stderr) = run(&dir, line(&address, "more/it.pdf"), b"");
    assert!(code == Some(0) && dir.join("more/it.pdf").exists(), "{stderr}");
    let (code, _, stderr) = run(&dir, line(&address, "gone/it.pdf"), b"");
    assert!(code == Some(2) && stderr.contains("there is no directory gone"), "{stderr}");
}

#[test]
fn response_with_an_echoed_credential_is_not_saved() {
    let dir = folder("echoed");
    let address = serve(
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\nyour key: hunter2-s3cr3t-9, keep it",
    );
    for output in ["-", "it.txt"] {
        let line = format!(
            "call api.json getReport --base-url {address} --output {output} --header X-Key=TRANSFER_KEY"
        );
        let (code, stdout, stderr) = run(&dir, line, b"");
        let displayed = String::from_utf8([stdout, stderr.into_bytes()].concat()).unwrap();
        assert!(
            code == Some(1) && displayed.contains("[not saved: it contains a credential]"),
            "{displayed}"
        );
        assert!(!displayed.contains("hunter2"), "{displayed}");
    }
    assert!(!dir.join("it.txt").exists());
}

#[test]
fn failed_response_is_not_saved() {
    let dir = folder("failures");
    let address = serve(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 4\r\n\r\ngone");
    for output in ["-", "it.pdf"] {
        let line = format!("call api.json getReport --base-url {address} --output {output}");
        let (code, stdout, stderr) = run(&dir, line, b"");
        let displayed =
            if output == "-" { stderr.clone() } else { String::from_utf8(stdout.clone()).unwrap() };
        assert!(code == Some(1) && displayed.contains("404") && displayed.contains("gone"), "{stderr}");
        assert!(output != "-" || stdout.is_empty());
    }
    assert!(!dir.join("it.pdf").exists());
}

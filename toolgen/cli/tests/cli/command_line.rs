//! Tests of documents from URLs, typed arguments, completions, manual pages, colors, and `doctor`.

use std::fs;
use std::process::Command;

use serde_json::json;

use toolgen_test_support::http::{Server, ok, raw, reply};

use crate::support::{Folder, Ran};

const API: &str = include_str!("../scripts/api.json");

fn folder(name: &str) -> Folder {
    Folder::new(&format!("command-line/{name}")).with("api.json", API)
}

#[test]
fn document_is_fetched_from_its_url() {
    let dir = folder("url");
    let server = Server::start(|_| ok("application/json", API));
    let address = &server.url;
    let url = format!("{address}/docs/api.json?key=s3cret");
    dir.run(format!("list {url} --private-host 127.0.0.1"))
        .exits(0)
        .printed("addThing  POST /things\n")
        .tells(&format!("note: fetched {address}/docs/api.json, {} bytes", API.len()))
        .tells_no("s3cret");

    // A relative server URL is resolved against the URL of the document.
    dir.run(format!("call {url} addThing name=x --dry-run --private-host 127.0.0.1"))
        .exits(0)
        .prints(&format!("POST {address}/v1/things\n"));
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn invalid_document_url_is_reported() {
    let dir = folder("no-url");
    // Loopback addresses are private.
    dir.run("check http://127.0.0.1:1/api.json").exits(1).tells("Open it with `--private-host 127.0.0.1`");

    let moved = reply("302 Found", "Location: http://127.0.0.2:1/\r\n", "");
    let large = raw("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 99999999999\r\n\r\n{");
    let page = ok("application/json", "<!doctype html><p>Docs");
    let server = Server::in_turn([moved, reply("404 Not Found", "", ""), page, large]);
    for message in ["`127.0.0.2` is blocked", "status 404", "this is an HTML page, not a document", ""] {
        let url = format!("{}/api.json", server.url);
        let stderr = dir.run(format!("list {url} --private-host 127.0.0.1")).exits(1).stderr;
        assert!(stderr.starts_with("error: ") && stderr.contains(message), "{message}: {stderr}");
    }
    assert_eq!(server.seen().len(), 4);
}

#[test]
fn completions_and_man_pages_cover_every_command() {
    let dir = folder("shells");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        dir.run(format!("completions {shell}")).exits(0).prints("doctor").prints("private-host");
    }
    dir.run("completions tcsh").exits(2).tells("bash");
    dir.run("man pages/man1").exits(0).starts("pages/man1: written");
    let page = dir.read("pages/man1/cargo-toolgen-call.1");
    assert!(page.contains("EXTRA") && page.contains("dry"), "{page}");
    assert!(dir.join("pages/man1/cargo-toolgen.1").is_file());
    assert!(dir.join("pages/man1/cargo-toolgen-mcp-lock.1").is_file());
}

#[test]
fn bash_completes_cargo_toolgen_with_and_without_hyphen() {
    let dir = folder("bash");
    let script = dir.run("completions bash").exits(0).stdout;
    dir.write("words.bash", &script);
    let ask = "_cargo() { COMPREPLY=(build); }\ncomplete -F _cargo cargo\nsource words.bash; source words.bash\n\
        ask() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _cargo_toolgen_word cargo; echo \"${COMPREPLY[*]}\"; }\n\
        ask cargo toolgen doc; ask cargo-toolgen x; ask cargo bu; ask cargo toolgen call --dry\n";
    let Ok(message) = Command::new("bash").args(["-c", ask]).current_dir(&*dir).output() else { return };
    let message = String::from_utf8(message.stdout).unwrap();
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines, ["docs doctor", "build", "build", "--dry-run"], "{message}");
}

#[test]
fn colors_are_used_on_terminals_or_on_request() {
    let dir = folder("colors");
    dir.write("broken.json", "{\"openapi\": 1}");
    let colored = |env: &[(&str, &str)]| {
        let Ran { stdout, stderr, .. } = dir.run_with("check broken.json nothing.json", env);
        let message = dir.run_with("list broken.json", env).stderr;
        assert_eq!(
            stdout.contains('\u{1b}'),
            message.contains('\u{1b}'),
            "{env:?}: {stdout}{stderr}{message}"
        );
        stdout.contains('\u{1b}')
    };
    assert!(!colored(&[]) && colored(&[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&[("CLICOLOR_FORCE", "0")]) && !colored(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

const MANIFEST: &str = "toolgen: 1
tools:
  say: {description: Says it., command: {argv: [printf, hello]}}
  fly:
    description: Flies.
    command: {argv: [no-such-program-anywhere], inherit: [NO_SUCH_VARIABLE]}
";

#[test]
fn doctor_reports_missing_parts_with_help() {
    let dir = folder("doctor");
    dir.run("doctor").exits(0).prints("+ api.json: openapi 3.1.0, 1 tool").ends("nothing is missing\n");

    fs::create_dir(dir.join("below")).unwrap();
    dir.write("below/tools.yaml", MANIFEST);
    dir.write("package.json", "{\"name\": \"x\"}");
    let keyed = API.replace("\"paths\"", "\"security\": [{\"key\": []}], \"paths\"").replace(
        "\"components\": {",
        "\"components\": {\"securitySchemes\": {\"key\": {\"type\": \"http\", \"scheme\": \"bearer\"}}, ",
    );
    dir.write("keyed.json", keyed);
    let stdout = dir.run("doctor").exits(1).stdout;
    for message in [
        "! no-such-program-anywhere is not found; needed by the tool `fly`\n      install it",
        "+ printf, for the tool `say`",
        "- NO_SUCH_VARIABLE is not set, for the tool `fly`",
        "- keyed.json: no credential for `key`, of 1 tool",
        "`--auth key=KEY`",
        "1 problem:",
    ] {
        assert!(stdout.contains(message), "{message}: {stdout}");
    }
    assert!(!stdout.contains("package.json"), "{stdout}");

    let report = dir.run("doctor below --format json --offline").json();
    assert_eq!((&report["problems"], &report["areas"][0]["area"]), (&json!(1), &json!("toolchain")));
    dir.run("doctor nowhere").exits(2).tells("nowhere is not a directory");
}

#[test]
fn doctor_compares_locks_with_their_documents() {
    let dir = folder("locks");
    dir.run("lock api.json").exits(0);
    dir.run("doctor --offline").exits(0).prints("+ toolgen.lock: lock 1, 1 tool, up to date");
    dir.write("api.json", API.replace("\"count\"", "\"number\""));
    dir.run("doctor --offline")
        .exits(1)
        .prints("! toolgen.lock")
        .prints("`cargo toolgen check api.json --lock toolgen.lock` shows them");
}

#[test]
fn plan_command_explains_how_each_tool_is_rendered() {
    let dir = folder("plan");
    let operations: Vec<String> = (0..130)
        .map(|number| {
            let optional: Vec<String> = (0..9)
                .map(|at| format!(r#"{{"name": "p{at}", "in": "query", "schema": {{"type": "string"}}}}"#))
                .collect();
            let optional = if number < 4 { optional.join(",") } else { String::new() };
            format!(r#""/t{number}": {{"get": {{"operationId": "tool{number}", "parameters": [{optional}], "responses": {{}}}}}}"#)
        })
        .collect();
    let many = format!(
        r#"{{"openapi": "3.1.0", "info": {{"title": "x", "version": "1"}}, "servers": [{{"url": "https://x.example"}}], "paths": {{{}}}}}"#,
        operations.join(",")
    );
    dir.write("many.json", many);
    let plan = |words: &str| dir.run(format!("schema many.json --plan {words}"));
    let wide = "--path /t0 --path /t1 --path /t2 --dialect anthropic-strict";
    plan(wide)
        .exits(0)
        .starts("tool0: anthropic-strict\ntool1: anthropic-strict\ntool2: anthropic, because strict")
        .ends("it needs 9, and 6 are left\n");
    let message = plan(&format!("{wide} --format json")).json();
    assert_eq!(message["decisions"][2]["dialect"], "anthropic");
    assert_eq!((&message["tools"][0]["strict"], message["tools"][2].get("strict")), (&json!(true), None));

    plan("--dialect openai")
        .exits(1)
        .printed("")
        .tells("which allows 128")
        .tells("`--cut`")
        .tells_no("PlanOptions");
    plan("--dialect openai --cut").exits(0).ends("tool99: omitted, because a request can have 128 tools\n");
}

#[test]
fn header_values_come_from_variables() {
    let dir = folder("headers");
    let server = Server::start(|_| ok("application/json", "{}"));
    let address = &server.url;
    let call = format!(
        "call api.json addThing name=x --base-url {address} --private-host 127.0.0.1 --header X-Organisation=ORGANISATION"
    );
    let dry = format!("{call} --dry-run");
    let set = [("ORGANISATION", "red-7\n")];
    dir.run_with(&dry, &set).exits(0).prints("\nX-Organisation: [REDACTED]\n");
    dir.run_with(format!("{dry} --show-secrets"), &set)
        .prints("\nX-Organisation: red-7\n\n{\n  \"name\": \"x\"\n}\n");

    for words in [&call, &dry] {
        dir.run(words)
            .tells("`--header X-Organisation=ORGANISATION` needs the environment variable ORGANISATION");
    }
    let Ran { code, stderr, .. } = dir.run_with(&call, &[("ORGANISATION", "a\nb")]);
    assert!(code != Some(0) && stderr.contains("the value of ORGANISATION cannot be sent"), "{stderr}");
    dir.run_with(&call, &set).exits(0);
    let request = server.only().head.to_ascii_lowercase();
    assert!(request.contains("\r\nx-organisation: red-7\r\n"), "{request}");
}

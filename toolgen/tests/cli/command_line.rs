//! What is convenient in a shell: documents by URL, typed arguments, completions, manual pages, colors, and `doctor`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const API: &str = r##"{"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "servers": [{"url": "../v1"}],
    "paths": {"/things": {"post": {"operationId": "addThing", "requestBody": {"required": true, "content": {"application/json": {"schema": {
        "type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "note": {"type": ["string", "null"]}, "count": {"type": "integer"},
            "ratio": {"type": "number"}, "live": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "sizes": {"type": "array", "items": {"type": "integer"}},
            "kind": {"enum": ["big", "small"]}, "id": {"type": ["string", "integer"]},
            "owner": {"$ref": "#/components/schemas/Owner"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "any": {}}}}}},
        "responses": {}}}},
    "components": {"schemas": {"Owner": {"type": "object", "additionalProperties": false, "properties": {
        "name": {"type": "string"}, "age": {"type": "integer"}, "boss": {"$ref": "#/components/schemas/Owner"}}}}}}"##;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command-line").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("api.json"), API).unwrap();
    folder
}

fn run(folder: &Path, words: &[&str], env: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-toolgen"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.args(words).current_dir(folder).envs(env.iter().copied()).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Answers as many requests with these answers.
fn serve(answers: Vec<String>) -> (String, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    (address, served)
}

/// Answers one request with this answer, and returns what was received.
fn heard(answer: &str) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let answer = answer.to_owned();
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let length = stream.read(&mut request).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    (address, heard)
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn a_document_is_fetched_by_its_url() {
    let place = folder("url");
    let (address, served) = serve(vec![ok(API), ok(API)]);
    let url = format!("{address}/docs/api.json?key=s3cret");
    let open = ["--private-host", "127.0.0.1"];
    let (code, stdout, stderr) = run(&place, &[&["list", &url][..], &open].concat(), &[]);
    assert_eq!((code, stdout.as_str()), (Some(0), "addThing  POST /things\n"), "{stderr}");
    assert!(
        stderr.contains(&format!("note: fetched {address}/docs/api.json, {} bytes", API.len())),
        "{stderr}"
    );
    assert!(!stderr.contains("s3cret"), "{stderr}");

    // A server that is relative to the document is found where the document was.
    let call = [&["call", &url, "addThing", "name=x", "--dry-run"][..], &open].concat();
    let (code, stdout, stderr) = run(&place, &call, &[]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains(&format!("\"{address}/v1/things\"")), "{stdout}");
    served.join().unwrap();
}

#[test]
fn what_is_no_document_at_a_url_is_told() {
    let place = folder("no-url");
    // Loopback is private.
    let (code, _, stderr) = run(&place, &["check", "http://127.0.0.1:1/api.json"], &[]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("Open it with `--private-host 127.0.0.1`"), "{stderr}");

    let moved = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:1/\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let missing = "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let large = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 99999999999\r\n\r\n{";
    let answers = [moved, missing, &ok("<!doctype html><p>Docs"), large].map(str::to_owned);
    let (address, served) = serve(answers.to_vec());
    for told in
        ["`127.0.0.2` may not be reached", "status 404", "this is a page to be read, not a document", ""]
    {
        let url = format!("{address}/api.json");
        let (code, _, stderr) = run(&place, &["list", &url, "--private-host", "127.0.0.1"], &[]);
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.starts_with("error: ") && stderr.contains(told), "{told}: {stderr}");
    }
    served.join().unwrap();
}

/// The arguments as they would be sent.
fn sent(place: &Path, words: &[&str]) -> Result<Value, String> {
    let call = ["call", "api.json", "addThing", "--dry-run", "--base-url", "https://x.example"];
    let (code, stdout, stderr) = run(place, &[&call, words].concat(), &[]);
    if code != Some(0) {
        return Err(stderr);
    }
    let request: Value = serde_json::from_str(&stdout).unwrap();
    Ok(serde_json::from_str(request["body"]["value"].as_str().unwrap()).unwrap())
}

#[test]
fn arguments_are_typed_by_the_schema() {
    let place = folder("typed");
    fs::write(place.join("note.txt"), "Two\nlines\n").unwrap();
    fs::write(place.join("owner.json"), "{\"name\": \"Ada\"}\n").unwrap();
    for (words, arguments) in [
        (
            &["name=7", "count=7", "ratio=0.5", "live=true"][..],
            json!({"name": "7", "count": 7, "ratio": 0.5, "live": true}),
        ),
        (&["name=true", "note=null", "id=7"], json!({"name": "true", "note": null, "id": 7})),
        (
            &["name=x", "note=7", "id=x7", "kind=big"],
            json!({"name": "x", "note": "7", "id": "x7", "kind": "big"}),
        ),
        (&["name=x", "tags=a,b", "sizes=1,2"], json!({"name": "x", "tags": ["a", "b"], "sizes": [1, 2]})),
        (&["name=x", "tags=a", "tags=b", "sizes=[]"], json!({"name": "x", "tags": ["a", "b"], "sizes": []})),
        (&["name=x", "tags=[\"a,b\", \"7\"]", "tags=7"], json!({"name": "x", "tags": ["a,b", "7", "7"]})),
        (
            &["name=x", "owner.name=7", "owner.boss.age=7", "labels.a.b=c"],
            json!({"name": "x", "owner": {"name": "7", "boss": {"age": 7}}, "labels": {"a.b": "c"}}),
        ),
        (&["name=@note.txt", "owner=@owner.json"], json!({"name": "Two\nlines\n", "owner": {"name": "Ada"}})),
        (&["name=@@ada", "any={\"a\": [1]}"], json!({"name": "@ada", "any": {"a": [1]}})),
        (&["name=x", "any=text"], json!({"name": "x", "any": "text"})),
        (&["{\"name\": \"x\", \"count\": 7}"], json!({"name": "x", "count": 7})),
    ] {
        assert_eq!(sent(&place, words), Ok(arguments), "{words:?}");
    }
    for (words, told) in [
        (&["name=x", "count=ten"][..], "/count: expected an integer, got the text \"ten\""),
        (&["name=x", "live=yes"], "/live: expected true or false, got the text \"yes\""),
        (&["name=x", "kind=huge"], "/kind: expected one of \"big\", \"small\""),
        (&["name=x", "sizes=1,b"], "/sizes/1: expected an integer, got the text \"b\""),
        (&["name=x", "owner.nme=x"], "did you mean `name`?"),
        (&["name=x", "owner.age=x"], "/owner/age: expected an integer"),
        (
            &["count=1"],
            "note: `addThing` takes name=TEXT [note=TEXT] [count=NUMBER] [ratio=NUMBER] [live=true|false]",
        ),
        (&["name=x", "name=y"], "`name` is given twice"),
        (&["name=x", "owner={}", "owner.age=1"], "`owner` is given as a whole, and again by `owner.age`"),
        (&["name=@nothing.txt"], "a text that begins with `@` is written name=@@nothing.txt"),
    ] {
        let why = sent(&place, words).unwrap_err();
        assert!(why.contains(told), "{words:?}: {why}");
    }
}

#[test]
fn without_a_tool_the_tools_are_named() {
    let place = folder("no-tool");
    let (code, _, stderr) = run(&place, &["call", "api.json"], &[]);
    assert_eq!((code, stderr.as_str()), (Some(2), "error: name a tool; there are addThing\n"));
    let (code, _, stderr) = run(&place, &["call", "api.json", "name=x"], &[]);
    let told = "error: the name of a tool comes before `name=x`\n";
    assert_eq!((code, stderr.as_str()), (Some(2), told));
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let place = folder("shells");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (code, stdout, _) = run(&place, &["completions", shell], &[]);
        assert!(code == Some(0) && stdout.contains("doctor") && stdout.contains("private-host"), "{shell}");
    }
    let (code, _, stderr) = run(&place, &["completions", "tcsh"], &[]);
    assert!(code == Some(2) && stderr.contains("bash"), "{stderr}");
    let (code, stdout, stderr) = run(&place, &["man", "pages/man1"], &[]);
    assert!(code == Some(0) && stdout.starts_with("pages/man1: written"), "{stderr}");
    let page = fs::read_to_string(place.join("pages/man1/cargo-toolgen-call.1")).unwrap();
    assert!(page.contains("EXTRA") && page.contains("dry"), "{page}");
    assert!(place.join("pages/man1/cargo-toolgen.1").is_file());
    assert!(place.join("pages/man1/cargo-toolgen-mcp-lock.1").is_file());
}

#[test]
fn colors_are_for_terminals_and_who_asks() {
    let place = folder("colors");
    fs::write(place.join("broken.json"), "{\"openapi\": 1}").unwrap();
    let colored = |env: &[(&str, &str)]| {
        let (_, stdout, stderr) = run(&place, &["check", "broken.json", "nothing.json"], env);
        let (_, _, told) = run(&place, &["list", "broken.json"], env);
        assert_eq!(stdout.contains('\u{1b}'), told.contains('\u{1b}'), "{env:?}: {stdout}{stderr}{told}");
        stdout.contains('\u{1b}')
    };
    assert!(!colored(&[]) && colored(&[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&[("CLICOLOR_FORCE", "0")]) && !colored(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn what_is_denied_fails_every_command() {
    let place = folder("denied");
    let filters = ["--operation", "addThing", "--operation", "addThink"];
    for words in [&["list", "api.json"][..], &["gen", "api.json", "--out", "out"]] {
        let words = [words, &filters].concat();
        assert_eq!(run(&place, &words, &[]).0, Some(0));
        let (code, _, stderr) = run(&place, &[&words[..], &["--deny", "warnings"]].concat(), &[]);
        assert!(code == Some(1) && stderr.contains("error[W0330]"), "{stderr}");
        let (code, _, stderr) = run(&place, &[&words[..], &["--allow", "W0330"]].concat(), &[]);
        assert!(code == Some(0) && stderr.is_empty(), "{stderr}");
    }
}

const MANIFEST: &str = "toolgen: 1
tools:
  say: {description: Says it., command: {argv: [printf, hello]}}
  fly:
    description: Flies.
    command: {argv: [no-such-program-anywhere], inherit: [NO_SUCH_VARIABLE]}
";

#[test]
fn the_doctor_says_what_is_missing_and_what_to_do() {
    let place = folder("doctor");
    let (code, stdout, _) = run(&place, &["doctor"], &[]);
    assert_eq!(code, Some(0), "{stdout}");
    assert!(
        stdout.contains("+ api.json: openapi 3.1.0, 1 tool") && stdout.ends_with("nothing is missing\n"),
        "{stdout}"
    );

    fs::create_dir(place.join("below")).unwrap();
    fs::write(place.join("below/tools.yaml"), MANIFEST).unwrap();
    fs::write(place.join("package.json"), "{\"name\": \"x\"}").unwrap();
    let keyed = API.replace("\"paths\"", "\"security\": [{\"key\": []}], \"paths\"").replace(
        "\"components\": {",
        "\"components\": {\"securitySchemes\": {\"key\": {\"type\": \"http\", \"scheme\": \"bearer\"}}, ",
    );
    fs::write(place.join("keyed.json"), keyed).unwrap();
    let (code, stdout, _) = run(&place, &["doctor"], &[]);
    assert_eq!(code, Some(1), "{stdout}");
    for told in [
        "! no-such-program-anywhere is not found, which is needed by the tool `fly`\n      install it",
        "+ printf, for the tool `say`",
        "- NO_SUCH_VARIABLE is not set, for the tool `fly`",
        "- keyed.json: no credential for `key`, of 1 tool",
        "`--auth key=KEY`",
        "1 problem:",
    ] {
        assert!(stdout.contains(told), "{told}: {stdout}");
    }
    assert!(!stdout.contains("package.json"), "{stdout}");

    let (_, stdout, _) = run(&place, &["doctor", "below", "--format", "json", "--offline"], &[]);
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&report["problems"], &report["areas"][0]["area"]), (&json!(1), &json!("toolchain")));
    let (code, _, stderr) = run(&place, &["doctor", "nowhere"], &[]);
    assert!(code == Some(2) && stderr.contains("nowhere is not a folder"), "{stderr}");
}

#[test]
fn the_doctor_compares_locks_with_their_documents() {
    let place = folder("locks");
    assert_eq!(run(&place, &["lock", "api.json"], &[]).0, Some(0));
    let (code, stdout, _) = run(&place, &["doctor", "--offline"], &[]);
    assert!(
        code == Some(0) && stdout.contains("+ toolgen.lock: lock 1, 1 tool, as its documents are"),
        "{stdout}"
    );
    fs::write(place.join("api.json"), API.replace("\"count\"", "\"number\"")).unwrap();
    let (code, stdout, _) = run(&place, &["doctor", "--offline"], &[]);
    assert!(code == Some(1) && stdout.contains("! toolgen.lock"), "{stdout}");
    assert!(stdout.contains("`cargo toolgen check api.json --lock toolgen.lock` tells them"), "{stdout}");
}

#[test]
fn a_plan_says_how_each_tool_is_shown_and_why() {
    let place = folder("plan");
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
    fs::write(place.join("many.json"), many).unwrap();
    let plan = |words: &[&str]| run(&place, &[&["schema", "many.json", "--plan"], words].concat(), &[]);
    let wide = ["--path", "/t0", "--path", "/t1", "--path", "/t2", "--dialect", "anthropic-strict"];
    let (code, stdout, stderr) = plan(&wide);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stdout.starts_with(
            "tool0: anthropic-strict\ntool1: anthropic-strict\ntool2: anthropic, because strict"
        )
    );
    assert!(stdout.ends_with("it needs 9, and 6 are left\n"), "{stdout}");
    let (_, stdout, _) = plan(&[&wide[..], &["--format", "json"]].concat());
    let told: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(told["decisions"][2]["dialect"], "anthropic");
    assert_eq!((&told["tools"][0]["strict"], told["tools"][2].get("strict")), (&json!(true), None));

    let (code, stdout, stderr) = plan(&["--dialect", "openai"]);
    assert!(code == Some(1) && stdout.is_empty() && stderr.contains("which takes 128"), "{stderr}");
    assert!(stderr.contains("`--cut`") && !stderr.contains("PlanOptions"), "{stderr}");
    let (code, stdout, _) = plan(&["--dialect", "openai", "--cut"]);
    assert!(
        code == Some(0) && stdout.ends_with("tool99: left out, because a request takes 128 tools\n"),
        "{stdout}"
    );
}

#[test]
fn what_is_no_code_is_refused_by_every_command() {
    let place = folder("no-code");
    for (words, meant) in [
        (["--deny", "warnngs"], "`--deny warnngs`: there is no such code; did you mean `warnings`?"),
        (["--allow", "n706"], "`--allow n706`: there is no such code; did you mean `N0706`?"),
        (["--warn", "N9999"], "`--warn N9999`: there is no such code; `cargo toolgen explain` lists"),
    ] {
        for command in [&["check", "api.json"][..], &["gen", "api.json", "--out", "out"]] {
            let (code, stdout, stderr) = run(&place, &[command, &words].concat(), &[]);
            assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
            assert!(stderr.contains(meant), "{stderr}");
        }
    }
    let (code, _, stderr) = run(&place, &["explain", "E303"], &[]);
    assert!(code == Some(2) && stderr.contains("did you mean `E0303`?"), "{stderr}");
}

#[test]
fn headers_of_every_request_come_from_variables() {
    let place = folder("headers");
    let (address, received) = heard(&ok("{}"));
    let header = ["--header", "X-Organisation=ORGANISATION"];
    let base = ["--base-url", &address, "--private-host", "127.0.0.1"];
    let call = [&["call", "api.json", "addThing", "name=x"][..], &base, &header].concat();
    let dry = [&call[..], &["--dry-run"]].concat();
    let set = [("ORGANISATION", "red-7\n")];
    let (code, stdout, stderr) = run(&place, &dry, &set);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("[\"X-Organisation\",\"[REDACTED]\"]"), "{stdout}");
    let (_, stdout, _) = run(&place, &[&dry[..], &["--show-secrets"]].concat(), &set);
    assert!(stdout.contains("[\"X-Organisation\",\"red-7\"]"), "{stdout}");

    for words in [&call, &dry] {
        let (code, _, stderr) = run(&place, words, &[]);
        assert!(
            stderr.contains(
                "`--header X-Organisation=ORGANISATION` needs the environment variable ORGANISATION"
            ),
            "{code:?} {stderr}"
        );
    }
    let (code, _, stderr) = run(&place, &call, &[("ORGANISATION", "a\nb")]);
    assert!(code != Some(0) && stderr.contains("what ORGANISATION holds cannot be sent"), "{stderr}");
    let (code, _, stderr) = run(&place, &call, &set);
    assert_eq!(code, Some(0), "{stderr}");
    let request = received.join().unwrap().to_ascii_lowercase();
    assert!(request.contains("\r\nx-organisation: red-7\r\n"), "{request}");
}

#[test]
fn a_secret_in_place_of_a_variable_is_not_repeated() {
    let place = folder("secret");
    let call = ["call", "api.json", "addThing", "name=x", "--dry-run", "--base-url", "https://x.example"];
    let serve = ["serve", "api.json", "--http", "127.0.0.1:0"];
    let lock = ["mcp", "lock", "--alias", "a", "--url", "http://127.0.0.1:1"];
    for (command, words, told) in [
        (&call[..], ["--auth", "key=s3cret"], "`--auth SCHEME=VARIABLE` takes the name"),
        (&call, ["--auth", "s3cret"], "is not of the form SCHEME=VARIABLE"),
        (&serve, ["--token", "s3cret"], "`--token VARIABLE` takes the name"),
        (&lock, ["--bearer", "s3cret"], "`--bearer VARIABLE` takes the name"),
        (&lock, ["--header", "x-key=s3cret"], "`--header NAME=VARIABLE` takes the name"),
    ] {
        let (code, stdout, stderr) = run(&place, &[command, &words].concat(), &[]);
        assert!(code == Some(2) && stderr.contains(told), "{words:?}: {stderr}");
        assert!(!stderr.contains("s3cret") && !stdout.contains("s3cret"), "{words:?}: {stderr}");
    }
    // A variable of any name may be given if it is there.
    let words = [&call[..], &["--auth", "key=my_key"]].concat();
    assert_eq!(run(&place, &words, &[("my_key", "x")]).0, Some(0));
}

#[test]
fn what_is_nearly_right_is_told_how_it_is_written() {
    let place = folder("nearly");
    fs::write(place.join("body.json"), "{}").unwrap();
    let call = ["call", "api.json", "addThing"];
    for (words, told) in [
        (&["1"][..], "`1` is neither a JSON object nor of the form NAME=VALUE, such as name=1"),
        (&["body.json"], "`@body.json` reads the file"),
        (&["name=x", "{\"count\": 2}"], "is all arguments as one JSON object, so nothing stands beside it"),
        (&["name=x", "--base-url", "127.0.0.1:1"], "as in `--base-url http://127.0.0.1:1`"),
        (&["name=x", "--private-host", "http://127.0.0.1"], "write `--private-host 127.0.0.1`"),
        (&["name=x", "--private-host", "db.example:80"], "write `--private-host db.example`"),
    ] {
        let (code, _, stderr) = run(&place, &[&call, words].concat(), &[]);
        assert!(code == Some(2) && stderr.contains(told), "{words:?}: {stderr}");
    }
    for host in ["::1", "[::1]", "*.example.com", "localhost"] {
        let words = ["call", "api.json", "addThing", "name=x", "--dry-run", "--private-host", host];
        let (code, _, stderr) = run(&place, &words, &[]);
        assert_eq!(code, Some(0), "{host}: {stderr}");
    }
    let (code, _, stderr) = run(&place, &["tokens", "api.json", "--out", "body.json"], &[]);
    assert!(
        code == Some(1) && stderr.contains("body.json is there already; `--force` replaces it"),
        "{stderr}"
    );
    assert_eq!(fs::read_to_string(place.join("body.json")).unwrap(), "{}");
    assert_eq!(run(&place, &["tokens", "api.json", "--out", "body.json", "--force"], &[]).0, Some(0));
}

#[test]
fn an_error_names_the_reference_that_caused_it() {
    let place = folder("cause");
    let lost = API.replace(
        "\"requestBody\"",
        "\"parameters\": [{\"$ref\": \"#/components/parameters/Nope\"}], \"requestBody\"",
    );
    fs::write(place.join("lost.json"), lost).unwrap();
    for command in ["list", "docs", "graph"] {
        let (_, _, stderr) = run(&place, &[command, "lost.json"], &[]);
        assert!(
            stderr.contains("cannot be sent: `#/components/parameters/Nope` leads to nothing"),
            "{stderr}"
        );
    }
}

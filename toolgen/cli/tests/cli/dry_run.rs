//! Tests of dry runs: what is printed can be pasted into a shell, which then does what the call would do.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use toolgen_test_support::http::{Server, ok};

use crate::support::{Folder, Ran, Run as _};

const API: &str = r##"{"openapi": "3.1.0", "info": {"title": "Notes", "version": "1"},
"servers": [{"url": "https://notes.example/v1"}],
"components": {"securitySchemes": {
    "token": {"type": "http", "scheme": "bearer"}, "user": {"type": "http", "scheme": "basic"},
    "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "api key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"}}},
"paths": {
    "/token": {"get": {"operationId": "token", "security": [{"token": []}], "parameters": [
        {"name": "q", "in": "query", "schema": {"type": "string"}},
        {"name": "X-Note", "in": "header", "schema": {"type": "string"}}], "responses": {}}},
    "/user": {"delete": {"operationId": "user", "security": [{"user": []}], "responses": {}}},
    "/two": {"head": {"operationId": "two", "security": [{"header": [], "query": []}], "parameters": [
        {"name": "ids", "in": "query", "style": "deepObject", "schema": {"type": "object"}}], "responses": {}}},
    "/cookie": {"put": {"operationId": "cookie", "security": [{"cookie": []}], "requestBody": {"content":
        {"application/json": {"schema": {"type": "object"}}}}, "responses": {}}},
    "/text": {"post": {"operationId": "text", "security": [{"query": []}], "requestBody": {"content":
        {"text/plain": {"schema": {"type": "string"}}}}, "responses": {}}},
    "/bytes": {"post": {"operationId": "bytes", "requestBody": {"content": {"multipart/form-data": {"schema":
        {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}}}}, "responses": {}}}}}"##;

const SECRETS: [(&str, &str); 5] =
    [("TOKEN", "t-0 $x"), ("LOGIN", "eve:p w"), ("HEADER", "h'1"), ("QUERY", "q&2"), ("SESSION", "s=3")];

const AUTH: &str =
    "--auth token=TOKEN --auth user=LOGIN --auth header=HEADER --auth query=QUERY --auth cookie=SESSION";

/// The tools of the document with arguments that a shell would change if they were not quoted.
const CALLS: [(&str, &str); 10] = [
    ("token", "{}"),
    ("token", r#"{"q": "a b&c=$HOME", "X-Note": "it's \"!\" `id`"}"#),
    ("token", r#"{"X-Note": ""}"#),
    ("user", "{}"),
    ("two", r#"{"ids": {"a": "1", "b": "[x]"}}"#),
    ("cookie", r#"{"body": {"text": "it's $HOME\n \\n \"!!\""}}"#),
    ("text", r#"{"body": "one\n\n'two' \\ %s $(id)\n"}"#),
    ("text", r#"{"body": "-bell \u0007 tab\t\u0000\r\n"}"#),
    ("text", r#"{"body": ""}"#),
    ("bytes", r#"{"file": {"filename": "a.bin", "base64": "/wAlcyc="}}"#),
];

fn folder(name: &str) -> Folder {
    Folder::new(&format!("dry-run/{name}")).with("api.json", API)
}

/// Prints a call in a format, with all credentials.
fn dry_run(dir: &Folder, (tool, arguments): (&str, &str), more: &str) -> Ran {
    dir.write("arguments.json", arguments);
    dir.run_with(format!("call api.json {tool} @arguments.json --dry-run {AUTH} {more}"), &SECRETS)
}

/// Runs a line in a shell with these functions and all credentials.
fn sh(dir: &Folder, functions: &str, line: &str) -> Vec<u8> {
    let mut command = Command::new("sh");
    let script = format!("{functions}\n{line}");
    let output = command.args(["-c", &script]).envs(SECRETS).current_dir(&**dir).output_of(b"");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Returns the arguments of `curl` in a printed line, as a shell passes them, and the standard input.
fn arguments_of(dir: &Folder, line: &str) -> (Vec<String>, Vec<u8>) {
    const END: &[u8] = b"=end of words=\0";
    let function = "curl() { printf '%s\\0' \"$@\" '=end of words='; case \"$*\" in *@-*) cat;; esac; }";
    let printed = sh(dir, function, line);
    let end = printed.windows(END.len()).position(|bytes| bytes == END).unwrap();
    // Each word ends in a zero byte.
    let words = printed[..end].strip_suffix(b"\0").unwrap_or_default().split(|byte| *byte == 0);
    let words = words.map(|word| String::from_utf8(word.to_vec()).unwrap()).collect();
    (words, printed[end + END.len()..].to_vec())
}

#[test]
fn shells_pass_the_request_to_curl() {
    let dir = folder("arguments");
    for call in CALLS {
        let line = dry_run(&dir, call, "--format curl").exits(0).stdout;
        for (_, secret) in SECRETS {
            assert!(!line.contains(secret), "{line}");
        }
        // The JSON of the same call is the expectation.
        let request = dry_run(&dir, call, "--format json --show-secrets").exits(0).json();
        let (words, input) = arguments_of(&dir, &line);
        let after = |option: &str| {
            let pairs = words.windows(2).filter(move |pair| pair[0] == option);
            pairs.map(|pair| pair[1].clone()).collect::<Vec<_>>()
        };
        for header in request["headers"].as_array().unwrap() {
            let (name, value) = (header[0].as_str().unwrap(), header[1].as_str().unwrap());
            let expected = match (name, value) {
                ("Accept", "*/*") => continue,
                ("Authorization", value) if value.starts_with("Basic ") => {
                    assert_eq!(after("--user"), ["eve:p w"]);
                    continue;
                }
                (name, "") => format!("{name};"),
                (name, value) => format!("{name}: {value}"),
            };
            assert!(after("-H").contains(&expected), "{expected:?}: {line}");
        }
        let url = request["url"].as_str().unwrap();
        let (url, key) = url.split_once("api%20key=").map_or((url, None), |(url, key)| (url, Some(key)));
        let url = url.trim_end_matches(['?', '&']);
        assert!(words.iter().any(|word| word == url), "{url}: {line}");
        if let Some(key) = key {
            assert_eq!(key, "q%262");
            let query = [after("--data-urlencode"), after("--url-query")].concat();
            assert_eq!(query, ["api%20key=q&2"], "{line}");
        }
        let body = &request["body"];
        match (body["kind"].as_str().unwrap(), after("--data-raw").first()) {
            ("none", None) => assert!(!line.contains("--data-binary"), "{line}"),
            ("text", Some(text)) => assert_eq!(*text, body["value"], "{line}"),
            ("text", None) => assert_eq!(String::from_utf8(input).unwrap(), body["value"], "{line}"),
            _ => assert!(input.windows(5).any(|bytes| bytes == b"\xff\0%s'"), "{line}"),
        }
    }
}

#[test]
fn curl_sends_what_the_call_sends() {
    let is_there = Command::new("curl").arg("--version").stdout(Stdio::null()).status();
    if !is_there.is_ok_and(|status| status.success()) {
        return;
    }
    let dir = folder("sent");
    let server = Server::start(|_| ok("application/json", "{}"));
    let base = format!("--base-url {}/v1 --private-host 127.0.0.1", server.url);
    for call in CALLS {
        dir.write("arguments.json", call.1);
        let line = format!("call api.json {} @arguments.json {AUTH} {base}", call.0);
        dir.run_with(line, &SECRETS).exits(0);
        let line = dry_run(&dir, call, &format!("--format curl {base}")).exits(0).stdout;
        sh(&dir, "set -f", &line.replacen("curl ", "curl -sS ", 1));
        let requests = server.take();
        let [by_call, by_curl] = requests.as_slice() else { panic!("{requests:?}") };
        // `curl` encodes a space in a form as `+`, or as `%20`.
        assert_eq!(by_curl.line().replace('+', "%20"), by_call.line(), "{line}");
        assert_eq!(by_curl.body, by_call.body, "{line}");
        for name in ["authorization", "cookie", "x-key", "x-note", "content-type", "accept"] {
            let (curl, call) = (by_curl.header(name), by_call.header(name));
            assert!(curl == call, "{name}: {curl:?} is not {call:?}: {line}");
        }
    }
}

#[test]
fn curl_shows_which_variables_it_needs() {
    let dir = folder("variables");
    let call = |more: &str| dir.run(format!("call api.json token --dry-run --format curl {more}"));
    call("--auth token=NOT_SET")
        .printed("curl https://notes.example/v1/token \\\n  -H \"Authorization: Bearer $NOT_SET\"\n")
        .told("note: there is no credential for `token`: set NOT_SET\n");
    call("").printed("curl https://notes.example/v1/token\n").tells("name it: `--auth token=NOTES_TOKEN`");
    call("--auth token=NOT_SET --header X-Organisation=ORG").prints("-H \"X-Organisation: $ORG\"");
    call("--oauth token=https://notes.example/token")
        .prints("Bearer $TOKEN_ACCESS_TOKEN\"")
        .tells("set TOKEN_ACCESS_TOKEN to one before you run the command");
    call("--client-cert 'my cert.pem' --client-key key.pem").prints("--cert 'my cert.pem' --key key.pem");
    let with_scheme = [("TOKEN", "Bearer abc")];
    dir.run_with("call api.json token --dry-run --format curl --auth token=TOKEN", &with_scheme)
        .prints("-H \"Authorization: $TOKEN\"");
    dry_run(&dir, ("token", "{}"), "--format curl --show-secrets")
        .prints("-H 'Authorization: Bearer t-0 $x'");
    dir.run("call api.json token --format curl").exits(2).tells("add `--dry-run`");
}

const TOOLS: &str = r#"toolgen: 1
tools:
  show:
    description: Shows its arguments.
    parameters:
      texts: string[] - What is shown.
      input: string? = "" - What is read.
    command:
      argv: [sh, -c, 'printf "<%s>" "$@" "$KIND" "$SECRET_NAME"; pwd | sed "s,.*/,,"; cat', sh, "{texts*}"]
      env: {KIND: "a 'b' $c"}
      inherit: [SECRET_NAME]
      cwd: some place
      stdin: {text: "{input}"}
  both:
    description: Shows a text twice.
    parameters: {text: string - What is shown.}
    compose: {steps: [{id: a, call: show, with: {texts: ["{text}"]}}, {id: b, call: show, with: {texts: ["{text}"]}}]}
  ask:
    description: Asks a person.
    parameters: {text: string - What is asked.}
    effect: {name: ask}
"#;

#[test]
fn shells_run_the_printed_command() {
    let dir =
        Folder::new("dry-run/command").with("tools.yaml", TOOLS).variable("SECRET_NAME", "s3cret value");
    dir.write("some place/file", "");
    for (texts, input) in [
        (json!(["plain"]), json!("")),
        (json!(["it's", "$HOME `id` \\ \"x\"", "*", "~", "", "a=b"]), json!("in 'put' $x\n\n")),
        (json!(["two\nlines", "tab\t", "\u{1b}[2J\n\n", "\u{202e}!"]), json!("%s \\n\u{7}")),
    ] {
        dir.write("arguments.json", json!({"texts": texts, "input": input}).to_string());
        let called = dir.run("call tools.yaml show @arguments.json").exits(0).stdout;
        let line = dir.run("call tools.yaml show @arguments.json --dry-run").exits(0).stdout;
        assert!(!line.contains("s3cret") && line.contains("SECRET_NAME=\"$SECRET_NAME\""), "{line}");
        let mut command = Command::new("sh");
        command.args(["-c", &line]).env("SECRET_NAME", "s3cret value").current_dir(&*dir);
        let printed = command.ran("").exits(0).stdout;
        // A result shows no inherited value.
        assert_eq!(printed.replace("s3cret value", "[REDACTED]").trim_end(), called.trim_end(), "{line}");
        assert!(texts.as_array().unwrap().iter().all(|text| printed.contains(text.as_str().unwrap())));
    }
    let json = dir.run("call tools.yaml show @arguments.json --dry-run --format json").exits(0).json();
    assert_eq!(json["env"], json!({"KIND": "a 'b' $c", "SECRET_NAME": "****"}));
    for (call, message) in [
        (
            "show @arguments.json --dry-run --format curl",
            "`--format curl` prints an HTTP request, and `show` runs a command",
        ),
        ("both text=a --dry-run", "`both` calls `show`; show calls of these"),
        ("ask text=a --dry-run", "`ask` is the effect `ask`, which a program handles"),
    ] {
        dir.run(format!("call tools.yaml {call}")).exits(1).printed("").tells(message);
    }
}

#[test]
fn mcp_call_is_printed_with_its_server() {
    let lock = crate::support::spec("mcp/shop.lock.json");
    let dir = Folder::new("dry-run/mcp");
    let call = |more: &str| dir.run(format!("call '{lock}' shop__find_orders customer=3 --dry-run {more}"));
    call("").exits(0).starts("tools/call find_orders\nServer: shop\n").ends("\n\n{\n  \"customer\": 3\n}\n");
    let json: Value = call("--format json").exits(0).json();
    assert_eq!(json["arguments"], json!({"customer": 3}));
    call("--format curl")
        .exits(1)
        .printed("")
        .tells("`shop__find_orders` is a tool of the MCP server `shop`");
}

//! Runs the real command line on each directory of `cases/`.
//!
//! A case has `args` (one per line; the command runs in the directory), `exit` (the exit code) and `stdout`. Optional
//! files are `stdin`, `env` (one `NAME=VALUE` per line) and `stderr` (lines that must occur, in order). To rewrite
//! `stdout`, run `TOOLGEN_UPDATE=1 cargo test -p cargo-toolgen --test cli`, and review the difference.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use toolgen_test_support::golden::{self, cases};
use toolgen_test_support::http::{Server, raw};

use crate::support::{Folder, Ran, Run as _, documents};

#[test]
fn all_cases_give_their_expected_output() {
    let cases = cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"));
    let failures: Vec<String> = cases.iter().filter_map(|dir| run(dir).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn run(dir: &Path) -> Result<(), String> {
    let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_default();
    let (args, env) = (read("args"), read("env"));
    let env = env.lines().filter_map(|line| line.split_once('='));
    let Ran { code, stdout, stderr, .. } =
        Folder::at(dir).toolgen("").args(args.lines()).envs(env).ran(&read("stdin"));
    let fail = |what: &str| {
        let name = dir.file_name().unwrap().to_string_lossy();
        Err(format!("== {name}: {what}\n-- stdout\n{stdout}-- stderr\n{stderr}"))
    };
    if code != read("exit").trim().parse().ok() {
        return fail(&format!("exit {code:?}, not {}", read("exit").trim()));
    }
    if let Err(difference) = golden::compare(&dir.join("stdout"), &stdout) {
        return fail(&difference);
    }
    let mut rest = stderr.as_str();
    for line in read("stderr").lines() {
        match rest.find(line) {
            Some(at) => rest = &rest[at + line.len()..],
            None => return fail(&format!("no `{line}` in stderr")),
        }
    }
    Ok(())
}

/// Returns the codes of the diagnostics that `check` reports for a document, and its exit code.
fn codes_of(name: &str, document: &[u8]) -> (Vec<String>, Option<i32>) {
    let dir = Folder::new(&format!("cases/{name}")).with(name, document);
    let ran = dir.run(format!("check --format json {name}"));
    let report = ran.json();
    let problems = report["documents"][0]["problems"].as_array().unwrap();
    let codes = problems.iter().map(|problem| {
        assert!(problem["line"].as_u64().unwrap() > 0 && problem["column"].as_u64().unwrap() > 0);
        assert_eq!(problem["file"], name);
        problem["code"].as_str().unwrap().to_owned()
    });
    (codes.collect(), ran.code)
}

#[test]
fn resource_exhaustion_documents_are_rejected() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", format!("*a{}, ", level - 1).repeat(10)));
    }
    let nested_yaml: String = (0..10_000).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    let nested_json = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    for (name, document, code) in [
        ("bomb.yaml", bomb, "E0109"),
        ("nested.yaml", nested_yaml, "E0107"),
        ("nested.json", nested_json, "E0107"),
        ("lists.json", "[".repeat(10_000_000), "E0107"),
    ] {
        let begin = std::time::Instant::now();
        assert_eq!(codes_of(name, document.as_bytes()), (vec![code.to_owned()], Some(1)), "{name}");
        assert!(begin.elapsed().as_secs() < 20, "{name}");
    }
}

#[test]
fn invalid_documents_are_rejected() {
    for (name, bytes, code) in [
        ("empty.yaml", &b""[..], "E0103"),
        ("binary.json", b"\x7fELF\x02\x01\x01\0\0\0", "E0102"),
        ("utf16.json", b"\xff\xfe{\0}\0", "E0102"),
    ] {
        assert_eq!(codes_of(name, bytes), (vec![code.to_owned()], Some(1)), "{name}");
    }
    let dir = Folder::new("cases/none");
    for name in [".", "there-is-no-such-file.yaml"] {
        let report = dir.run(format!("check {name} --format json")).exits(1).json();
        assert_eq!(report["documents"][0]["problems"][0]["code"], "E0101");
    }
}

#[test]
fn no_arguments_print_help_and_exit_with_2() {
    let mut ran = documents().run("").exits(2);
    for word in ["check", "list", "schema", "docs", "gen", "call", "explain", "Examples:", "Exit codes:"] {
        ran = ran.tells(word);
    }
}

#[test]
fn cargo_subcommand_form_is_accepted() {
    let direct = documents().run("explain").exits(0);
    documents().run("toolgen explain").printed(&direct.stdout);
}

fn call_pets(address: &str, more: &str) -> Ran {
    let line =
        format!("call pets.yaml listPets '{{\"limit\": 3}}' --auth token=PETS --base-url {address} {more}");
    documents().run_with(line, &[("PETS", "s3cret")])
}

#[test]
fn call_command_sends_and_prints_the_result() {
    let text = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"a\": 1}\n";
    let server = Server::start(move |_| raw(text));
    let address = format!("{}/v1", server.url);
    call_pets(&address, "").exits(0).prints("200").prints("{\"a\":1}").prints_no("s3cret");
    server.only();
    let request = server.take().remove(0);
    assert_eq!(request.line(), "GET /v1/pets?limit=3 HTTP/1.1");
    assert_eq!(request.header("authorization").map(str::to_lowercase).as_deref(), Some("bearer s3cret"));

    let result = call_pets(&address, "--format json").exits(0).json();
    assert_eq!(result["details"]["status"], json!(200));
    server.only();
}

#[test]
fn unset_credential_variable_gets_a_note() {
    let call = |more: &str| {
        documents().run(format!("call pets.yaml listPets {{}} --base-url http://127.0.0.1:1 {more}"))
    };
    let note = "note: there is no credential for `token`: set TT_TOKEN\n";
    call("--dry-run --auth token=TT_TOKEN").told(note);
    call("--auth token=TT_TOKEN").tells("set the environment variable TT_TOKEN").tells_no("--auth");
    call("").tells("`--auth SCHEME=ENV_VAR` names");
}

#[test]
fn failed_call_prints_the_reason() {
    let server = Server::start(|_| raw("HTTP/1.1 404 Not Found\r\nContent-Length: 8\r\n\r\nno pets\n"));
    call_pets(&format!("{}/v1", server.url), "").exits(1).prints("404").prints("no pets");
    server.only();
    call_pets("http://127.0.0.1:1", "").exits(1).printed("").tells("error: HTTP request failed");
}

#[test]
fn generated_crate_is_deterministic() {
    let out = Folder::new("cases/pets").path("crate");
    let gen_pets = |more: &str| documents().run(format!("gen pets.yaml --out '{out}' --crate pets {more}"));
    gen_pets("--check").exits(1);
    gen_pets("").exits(0).printed(&format!("{out}: 4 tools; 2 files written, 0 unchanged\n"));
    gen_pets("").exits(0).printed(&format!("{out}: 4 tools; 0 files written, 2 unchanged\n"));
    gen_pets("--check").exits(0);
    gen_pets("--check --no-deprecated").exits(1);
}

#[test]
fn foreign_files_are_not_overwritten() {
    let own = "[package]\nname = \"mine\"\n";
    let out = Folder::new("cases/own").with("Cargo.toml", own);
    let gen_pets =
        |more: &str| documents().run(format!("gen pets.yaml --out '{}' --crate pets {more}", out.display()));
    gen_pets("").exits(1).tells("Cargo.toml; nothing is written").tells("`--force`");
    assert_eq!(out.read("Cargo.toml"), own);
    assert!(!out.join("src").exists(), "nothing is written");
    let forced = gen_pets("--force").exits(0);
    forced.tells("no registry has toolgen-runtime yet").tells("`--toolgen-path DIR`");
    // Generated files are overwritten.
    gen_pets("--no-types").exits(0);
    let manifest = out.read("Cargo.toml");
    assert!(!manifest.contains("[workspace]"), "it can be a member of a workspace: {manifest}");
}

#[test]
fn closed_output_pipe_is_not_an_error() {
    let mut command = documents().toolgen("explain");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// Documents may contain escape sequences, which a terminal must not interpret.
#[test]
fn terminal_escapes_of_a_document_are_escaped() {
    let evil = "\\u001b[2J\\u009b31m\\u0007red";
    let openapi = format!(
        r#"{{"openapi": "3.1.0", "info": {{"title": "{evil}", "version": "1"}}, "paths": {{"/a{evil}": {{"get": {{
            "operationId": "get{evil}", "summary": "Gets{evil}.", "tags": ["{evil}"],
            "parameters": [{{"name": "q", "in": "query", "description": "{evil}", "schema": {{"$ref": "{evil}"}}}}],
            "responses": {{}}}}}}}}}}"#
    );
    let manifest = format!(
        r#"{{"toolgen": 1, "tools": {{"t": {{"description": "Does{evil}.", "requires": ["{evil}"], "function": {{}}}},
            "u": {{"description": "{evil}", "effect": "x{evil}", "reads": ["{evil}"]}}}}}}"#
    );
    let dir = Folder::new("cases/escapes").with("api.json", openapi).with("tools.json", manifest);
    let mut message = 0;
    for document in ["api.json", "tools.json"] {
        for line in [
            "list FILE",
            "docs FILE",
            "graph FILE",
            "check FILE --notes",
            "call FILE --tool \u{1b}[2J",
            "explain \u{1b}[2J",
            "list FILE --include \u{1b}[2J",
        ] {
            let ran = dir.run(line.replace("FILE", document));
            for text in [ran.stdout, ran.stderr] {
                let obeyed = text.chars().find(|char| char.is_control() && !matches!(char, '\n' | '\t'));
                assert_eq!(obeyed, None, "{line} {document}: {text:?}");
                message += text.len();
            }
        }
    }
    assert!(message > 2_000, "the commands say something: {message}");
}

//! Runs the real command line, one folder of `cases/` a test.
//!
//! A case has `args` (one a line; the command runs in the folder), `exit` (the code) and `stdout`; and, where they
//! matter, `stdin`, `env` (`NAME=VALUE` a line) and `stderr` (lines that must occur in it, in order). Write `stdout`
//! anew with `TOOLGEN_UPDATE=1 cargo test -p toolgen --test cli`, and read the difference.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use toolgen_test_support::golden;

fn cargo_toolgen(folder: &Path, args: &[&str], stdin: &str, env: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-toolgen"));
    command.args(args).current_dir(folder).envs(env.iter().copied()).env_remove("NO_COLOR");
    let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = streams.spawn().unwrap();
    // A command that does not read its input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn every_case_gives_what_it_should() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut folders: Vec<PathBuf> = fs::read_dir(cases).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    let failures: Vec<String> = folders.iter().filter_map(|folder| run(folder).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn run(folder: &Path) -> Result<(), String> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    let (args, env) = (read("args"), read("env"));
    let args: Vec<&str> = args.lines().collect();
    let env: Vec<(&str, &str)> = env.lines().filter_map(|line| line.split_once('=')).collect();
    let output = cargo_toolgen(folder, &args, &read("stdin"), &env);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let fail = |what: &str| {
        let name = folder.file_name().unwrap().to_string_lossy();
        Err(format!("== {name}: {what}\n-- stdout\n{stdout}-- stderr\n{stderr}"))
    };
    if output.status.code() != read("exit").trim().parse().ok() {
        return fail(&format!("exit {:?}, not {}", output.status.code(), read("exit").trim()));
    }
    if let Err(difference) = golden::compare(&folder.join("stdout"), &stdout) {
        return fail(&difference);
    }
    let mut rest = &*stderr;
    for line in read("stderr").lines() {
        match rest.find(line) {
            Some(at) => rest = &rest[at + line.len()..],
            None => return fail(&format!("no `{line}` in stderr")),
        }
    }
    Ok(())
}

/// The codes of the problems that `check` finds in a document, and its exit code.
fn codes_of(name: &str, document: &[u8]) -> (Vec<String>, Option<i32>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::write(folder.join(name), document).unwrap();
    let output = cargo_toolgen(folder, &["check", "--format", "json", name], "", &[]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let problems = report["documents"][0]["problems"].as_array().unwrap();
    let codes = problems.iter().map(|problem| {
        assert!(problem["line"].as_u64().unwrap() > 0 && problem["column"].as_u64().unwrap() > 0);
        assert_eq!(problem["file"], name);
        problem["code"].as_str().unwrap().to_owned()
    });
    (codes.collect(), output.status.code())
}

#[test]
fn documents_made_to_exhaust_a_reader_are_refused() {
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
fn files_that_are_no_documents_are_refused() {
    for (name, bytes, code) in [
        ("empty.yaml", &b""[..], "E0103"),
        ("binary.json", b"\x7fELF\x02\x01\x01\0\0\0", "E0102"),
        ("utf16.json", b"\xff\xfe{\0}\0", "E0102"),
    ] {
        assert_eq!(codes_of(name, bytes), (vec![code.to_owned()], Some(1)), "{name}");
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for name in [".", "there-is-no-such-file.yaml"] {
        let output = cargo_toolgen(folder, &["check", name, "--format", "json"], "", &[]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["documents"][0]["problems"][0]["code"], "E0101");
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn without_arguments_there_is_help_and_code_2() {
    let output = cargo_toolgen(Path::new("."), &[], "", &[]);
    assert_eq!(output.status.code(), Some(2));
    let help = String::from_utf8(output.stderr).unwrap();
    for word in ["check", "list", "schema", "docs", "gen", "call", "explain", "Examples:", "Exit codes:"] {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn it_is_a_subcommand_of_cargo_too() {
    let direct = cargo_toolgen(Path::new("."), &["explain"], "", &[]);
    let by_cargo = cargo_toolgen(Path::new("."), &["toolgen", "explain"], "", &[]);
    assert_eq!(direct.status.code(), Some(0));
    assert_eq!(direct.stdout, by_cargo.stdout);
}

/// A server for one request: gives its address, and what it was sent once that has come.
fn serve_once(answer: &'static str) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let length = stream.read(&mut request).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    (address, served)
}

fn call_pets(address: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
    let args =
        ["call", "pets.yaml", "listPets", "{\"limit\": 3}", "--auth", "token=PETS", "--base-url", address];
    let output = cargo_toolgen(&folder, &[&args, more].concat(), "", &[("PETS", "s3cret")]);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_call_is_sent_and_its_result_shown() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"a\": 1}\n";
    let (address, served) = serve_once(answer);
    let (code, stdout, _) = call_pets(&address, &[]);
    assert_eq!(code, Some(0));
    assert!(stdout.contains("200") && stdout.contains("{\"a\":1}") && !stdout.contains("s3cret"), "{stdout}");
    let request = served.join().unwrap();
    assert!(request.starts_with("GET /v1/pets?limit=3 HTTP/1.1\r\n"), "{request}");
    assert!(request.to_lowercase().contains("authorization: bearer s3cret"), "{request}");

    let (address, served) = serve_once(answer);
    let (code, stdout, _) = call_pets(&address, &["--format", "json"]);
    let result: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &result["details"]["status"]), (Some(0), &serde_json::json!(200)));
    served.join().unwrap();
}

#[test]
fn a_variable_that_is_not_set_is_to_be_set() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
    let call = |more: &[&str]| {
        let args = ["call", "pets.yaml", "listPets", "{}", "--base-url", "http://127.0.0.1:1"];
        String::from_utf8(cargo_toolgen(&folder, &[&args, more].concat(), "", &[]).stderr).unwrap()
    };
    let note = call(&["--dry-run", "--auth", "token=TT_TOKEN"]);
    assert_eq!(note, "note: there is no credential for `token`: set TT_TOKEN\n");
    let error = call(&["--auth", "token=TT_TOKEN"]);
    assert!(error.contains("set the environment variable TT_TOKEN") && !error.contains("--auth"), "{error}");
    assert!(call(&[]).contains("`--auth SCHEME=VARIABLE` names"));
}

#[test]
fn a_call_that_fails_says_why() {
    let (address, served) = serve_once("HTTP/1.1 404 Not Found\r\nContent-Length: 8\r\n\r\nno pets\n");
    let (code, stdout, _) = call_pets(&address, &[]);
    assert_eq!(code, Some(1));
    assert!(stdout.contains("404") && stdout.contains("no pets"), "{stdout}");
    served.join().unwrap();

    let (code, stdout, stderr) = call_pets("http://127.0.0.1:1", &[]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains("error: HTTP request failed"), "{stderr}");
}

#[test]
fn variables_of_the_server_are_checked_in_a_dry_run_too() {
    let document = r#"{"openapi": "3.1.0", "servers": [{"url": "https://{region}.example.com",
        "variables": {"region": {"default": "eu", "enum": ["eu", "us"]}}}],
        "paths": {"/q": {"get": {"operationId": "q", "responses": {}}}}}"#;
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("regions.json");
    fs::write(&file, document).unwrap();
    let call = |more: &[&str]| {
        let args = ["call", file.to_str().unwrap(), "q", "{}"];
        let output = cargo_toolgen(Path::new("."), &[&args, more].concat(), "", &[]);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, stdout, _) = call(&["--dry-run", "--server-variable", "region=us"]);
    assert!(code == Some(0) && stdout.contains("https://us.example.com/q"), "{stdout}");
    for more in [&["--dry-run"][..], &[]] {
        let (code, stdout, stderr) = call(&[more, &["--server-variable", "region=evil"]].concat());
        assert_eq!((code, stdout.as_str()), (Some(1), ""));
        assert!(stderr.contains("Server variable `region` must be one of: eu, us"), "{stderr}");
        let (code, stdout, stderr) = call(&[more, &["--server-variable", "regoin=us"]].concat());
        assert_eq!((code, stdout.as_str()), (Some(2), ""));
        assert!(
            stderr.contains("the server has no variable `regoin`; it has `region`; did you mean `region`?"),
            "{stderr}"
        );
    }
}

#[test]
fn a_call_to_a_private_address_needs_a_base_url() {
    let document = r#"{"openapi": "3.1.0", "servers": [{"url": "http://127.0.0.1:1"}],
        "paths": {"/q": {"get": {"operationId": "q", "responses": {}}}}}"#;
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("private.json");
    fs::write(&file, document).unwrap();
    let output = cargo_toolgen(Path::new("."), &["call", file.to_str().unwrap(), "q", "{}"], "", &[]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains("of the range Loopback") && stderr.contains("`--base-url URL`"), "{stderr}");
}

#[test]
fn a_generated_crate_is_the_same_each_time() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pets-crate");
    let _ = fs::remove_dir_all(&out);
    let out = out.to_str().unwrap();
    let gen_pets = |more: &[&str]| {
        let args = ["gen", "pets.yaml", "--out", out, "--crate", "pets"];
        let output = cargo_toolgen(&folder, &[&args, more].concat(), "", &[]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(gen_pets(&["--check"]).0, Some(1));
    assert_eq!(gen_pets(&[]), (Some(0), format!("{out}: 4 tools; 2 files written, 0 unchanged\n")));
    assert_eq!(gen_pets(&[]), (Some(0), format!("{out}: 4 tools; 0 files written, 2 unchanged\n")));
    assert_eq!(gen_pets(&["--check"]).0, Some(0));
    assert_eq!(gen_pets(&["--check", "--no-deprecated"]).0, Some(1));
}

#[test]
fn files_that_were_not_generated_are_not_replaced() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-crate");
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(&out).unwrap();
    let own = "[package]\nname = \"mine\"\n";
    fs::write(out.join("Cargo.toml"), own).unwrap();
    let gen_pets = |more: &[&str]| {
        let args = ["gen", "pets.yaml", "--out", out.to_str().unwrap(), "--crate", "pets"];
        let output = cargo_toolgen(&folder, &[&args, more].concat(), "", &[]);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, stderr) = gen_pets(&[]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("Cargo.toml; nothing is written") && stderr.contains("`--force`"), "{stderr}");
    assert_eq!(fs::read_to_string(out.join("Cargo.toml")).unwrap(), own);
    assert!(!out.join("src").exists(), "nothing is written");
    let (code, stderr) = gen_pets(&["--force"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stderr.contains("no registry has toolgen-runtime yet") && stderr.contains("`--runtime-path DIR`")
    );
    assert_eq!(gen_pets(&["--no-types"]).0, Some(0), "what was generated is replaced");
    let manifest = fs::read_to_string(out.join("Cargo.toml")).unwrap();
    assert!(!manifest.contains("[workspace]"), "it can be a member of a workspace: {manifest}");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-toolgen"));
    let mut child = command.arg("explain").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// Documents put anything into texts, and a terminal must not obey it.
#[test]
fn no_escape_of_a_document_reaches_a_terminal() {
    let folder = std::env::temp_dir().join(format!("toolgen-escapes-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
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
    fs::write(folder.join("api.json"), openapi).unwrap();
    fs::write(folder.join("tools.json"), manifest).unwrap();
    let mut said = 0;
    for document in ["api.json", "tools.json"] {
        for args in [
            &["list", document][..],
            &["docs", document],
            &["graph", document],
            &["check", document, "--notes"],
            &["call", document, "--tool", "\u{1b}[2J"],
            &["explain", "\u{1b}[2J"],
            &["list", document, "--include", "\u{1b}[2J"],
        ] {
            let output = cargo_toolgen(&folder, args, "", &[]);
            for stream in [&output.stdout, &output.stderr] {
                let text = String::from_utf8_lossy(stream);
                let obeyed = text.chars().find(|char| char.is_control() && !matches!(char, '\n' | '\t'));
                assert_eq!(obeyed, None, "{args:?}: {text:?}");
                said += text.len();
            }
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    assert!(said > 2_000, "the commands say something: {said}");
}

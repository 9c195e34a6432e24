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

/// Runs bash with completions of cargo, and those of the command after them. `ask` prints what completes words.
fn bash(dir: &Folder, cargo: &str, asks: &str) -> Option<Vec<String>> {
    dir.write("words.bash", dir.run("completions bash").exits(0).stdout);
    let script = format!(
        "{cargo}\nsource words.bash; source words.bash\n\
        ask() {{ COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=()\n\
        local name=$(complete -p cargo | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n\
        \"$name\" cargo \"${{@: -1}}\" \"${{@: -2:1}}\"; echo \"${{COMPREPLY[*]}}\"; }}\n{asks}"
    );
    let output = Command::new("bash").args(["--norc", "-c", &script]).current_dir(&**dir).output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn bash_completes_cargo_toolgen_and_other_subcommands_of_cargo() {
    let dir = folder("bash");
    let cargo = "_cargo() { COMPREPLY=(\"build $2\"); }\ncomplete -o nospace -F _cargo cargo";
    let asks = "complete -p cargo; ask cargo toolgen ch; ask cargo toolgen doc; ask cargo +nightly toolgen doc\n\
        ask cargo-toolgen x; ask cargo toolgen; ask cargo bu; ask cargo toolgen call --dry; ask cargo toolgen mcp l";
    let Some(lines) = bash(&dir, cargo, asks) else { return };
    // The options of cargo's completions stay.
    let hook = "complete -o nospace -F _cargo_toolgen_word cargo";
    let toolgen = ["check", "docs doctor", "docs doctor"];
    let cargo = ["build x", "build toolgen", "build bu"];
    assert_eq!(lines, [&[hook][..], &toolgen, &cargo, &["--dry-run", "lock"]].concat());

    // bash-completion sets the completions of cargo when they are first needed.
    let lazy = "_comp_load() { _cargo() { COMPREPLY=(\"$1 $2\"); }; complete -F _cargo \"$1\"; }";
    let lines = bash(&dir, lazy, "ask cargo bu; ask cargo toolgen doc; ask cargo te").unwrap();
    assert_eq!(lines, ["cargo bu", "docs doctor", "cargo te"]);
    let lines = bash(&dir, "", "ask cargo bu; ask cargo toolgen doc").unwrap();
    assert_eq!(lines, ["", "docs doctor"]);
}

#[test]
fn fish_completes_cargo_toolgen_and_other_subcommands_of_cargo() {
    let dir = folder("fish");
    let script = dir.run("completions fish").exits(0).stdout;
    dir.write("fish/conf.d/cargo-toolgen.fish", &script);
    let ask = "for line in 'cargo toolgen ch' 'cargo +nightly toolgen doc' 'cargo-toolgen doc'\n\
        complete -C $line | string replace -r '\\t.*' ''\nend\n\
        complete -C 'cargo buil' | string match -q 'build*'; and echo cargo";
    let home = dir.display().to_string();
    let mut fish = Command::new("fish");
    fish.args(["-c", ask]).env("XDG_CONFIG_HOME", &home).env("XDG_DATA_HOME", &home).current_dir(&*dir);
    let Ok(output) = fish.output() else { return };
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().collect::<Vec<_>>(), ["check", "docs", "doctor", "docs", "doctor", "cargo"]);
}

#[test]
fn zsh_script_ends_in_the_completion_itself() {
    let script = folder("zsh").run("completions zsh").exits(0).starts("#compdef cargo-toolgen\n").stdout;
    let hook = script.find("compdef _cargo_toolgen_word cargo\n").unwrap();
    let end = script
        .find("\nif [ \"$funcstack[1]\" = \"_cargo-toolgen\" ]; then\n    _cargo-toolgen \"$@\"")
        .unwrap();
    assert!(hook < end && script[end..].lines().count() <= 6, "{}", &script[hook..]);
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
    dir.run("doctor").exits(0).prints("+ api.json: openapi 3.1.0, 1 tool").ends("\n\nready\n");

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
        "! NO_SUCH_VARIABLE is not set, for the tool `fly`",
        "! keyed.json: no credential for `key`, of 1 tool",
        "`--auth key=KEY`",
        "\n\nnot ready: 3 things to do, on the lines that begin with `!`\n",
    ] {
        assert!(stdout.contains(message), "{message}: {stdout}");
    }
    assert!(!stdout.contains("package.json"), "{stdout}");

    let report = dir.run("doctor below --format json --offline").json();
    assert_eq!((&report["problems"], &report["ready"]), (&json!(2), &json!(false)));
    assert_eq!(report["areas"][0]["area"], "toolchain");
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

/// Returns the verdict of `doctor`, and asserts that it agrees with the marks, the exit code and the JSON.
fn verdict(dir: &Folder) -> (String, String) {
    let ran = dir.run("doctor --offline");
    let marked = ran.stdout.lines().filter(|line| line.starts_with("  ! ")).count();
    let last = ran.stdout.lines().last().unwrap().to_owned();
    assert_eq!((last == "ready", ran.code), (marked == 0, Some(i32::from(marked > 0))), "{}", ran.stdout);
    let things = if marked == 1 { "1 thing".to_owned() } else { format!("{marked} things") };
    assert!(marked == 0 || last.starts_with(&format!("not ready: {things} to do")), "{}", ran.stdout);
    let json = dir.run("doctor --offline --format json").json();
    assert_eq!((&json["problems"], &json["ready"]), (&json!(marked), &json!(marked == 0)));
    (last, ran.stdout)
}

#[test]
fn doctor_reads_crates_overlays_and_documents() {
    let dir = Folder::new("command-line/doctor-crate");
    let (_, stdout) = verdict(&dir);
    assert!(stdout.contains("! nothing here: ") && stdout.contains("cargo toolgen init"), "{stdout}");

    dir.write(
        "Cargo.toml",
        "[dependencies]\ntoolgen-runtime = { version = \"1\", features = [\"typed\"] }\n",
    );
    dir.write(
        "build.rs",
        "// Build::new(\"old\").document(\"old.yaml\")\nfn main() {\n    \
        toolgen::Build::new(\"tools\").document(\"tools.yaml\").document(\"api.yaml\").emit();\n}\n",
    );
    dir.write("src/main.rs", "mod tools { toolgen_runtime::include_tools!(\"tolos\"); }\n");
    dir.write(
        "tools.yaml",
        "toolgen: 1\ntools:\n  say: {description: Says it., command: {argv: [printf, hello]}}\n",
    );
    let (_, stdout) = verdict(&dir);
    for line in [
        "+ Cargo.toml: depends on toolgen-runtime\n",
        "! Cargo.toml: toolgen is not in [build-dependencies], and build.rs uses it\n",
        "! build.rs compiles api.yaml, which does not exist\n",
        "! src/main.rs includes the tools `tolos`, which build.rs does not compile\n",
        "- build.rs compiles the tools `tools`, which the code does not include\n",
        "! Cargo.toml: toolgen-runtime lacks the feature `process`, which `say` of tools.yaml needs\n",
    ] {
        assert!(stdout.contains(line), "{line}: {stdout}");
    }
    assert!(!stdout.contains("old.yaml"), "{stdout}");

    // What the lines say to do.
    let cargo = "[dependencies]\ntoolgen-runtime = { version = \"1\", features = [\"typed\", \"process\", \"http\"] }\n\
        [build-dependencies]\ntoolgen = \"1\"\n";
    dir.write("Cargo.toml", cargo);
    dir.write("src/main.rs", "mod tools { toolgen_runtime::include_tools!(\"tools\"); }\n");
    let api = "openapi: 3.1.0\ninfo: {title: Pets, version: '1'}\nservers: [{url: 'https://pets.example'}]\n\
        security: [{key: []}, {token: []}]\npaths: {/pets: {get: {operationId: pets, summary: Lists the pets., \
        responses: {'200': {description: The pets.}}}}}\ncomponents: {securitySchemes: {\
        key: {type: apiKey, in: header, name: X-Key}, token: {type: http, scheme: bearer}}}\n";
    dir.write("api.yaml", api);
    let (last, stdout) = verdict(&dir);
    assert!(stdout.contains("! api.yaml: no credential for `key`, or `token`, of 1 tool\n"), "{stdout}");
    assert_eq!(last, "not ready: 1 thing to do, on the lines that begin with `!`");
    // The build script or the program may name the variable; `PATH` is always set.
    let build = dir
        .read("build.rs")
        .replace(".emit()", ".options(toolgen::Options::default().credential(\"key\", \"PATH\")).emit()");
    dir.write("build.rs", build);
    assert_eq!(verdict(&dir).0, "ready");

    let overlay = "overlay: 1.0.0\ninfo: {title: Short, version: '1'}\nextends: api.yaml\nactions:\n\
        - {target: $.info, update: {title: P}}\n";
    dir.write("short.yaml", overlay);
    assert!(verdict(&dir).1.contains("+ short.yaml: overlay 1.0.0, of api.yaml\n"));
    dir.write("short.yaml", overlay.replace("$.info", "$.nowhere"));
    let (last, stdout) = verdict(&dir);
    assert!(
        last == "ready" && stdout.contains("- short.yaml: overlay 1.0.0, of api.yaml, 1 warning\n"),
        "{stdout}"
    );
    dir.write("short.yaml", overlay.replace("api.yaml", "gone.yaml"));
    assert!(verdict(&dir).1.contains("! short.yaml: overlay 1.0.0, of gone.yaml, which cannot be read\n"));
    dir.write("short.yaml", overlay.replace("extends: api.yaml\n", ""));
    assert!(verdict(&dir).1.contains("- short.yaml: overlay 1.0.0, not applied: it extends no file\n"));
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

//! The commands about a whole project, with real crates where it matters.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const MANIFEST: &str = "# yaml-language-server: $schema=manifest.schema.json
toolgen: 1
tools:
  greet: # the first
    description: Greets somebody.
    parameters:
      name: string - Who is greeted.
    examples:
      - {summary: A friend, arguments: {name: Ada}}
    command:
      argv: [printf, \"Hello, %s.\", \"{name}\"]
  shout:
    description: Greets somebody loudly.
    parameters:
      name: string - Who is greeted.
    compose:
      steps:
        - {id: quiet, call: greet, with: {name: \"{name}!\"}}
  look_up:
    description: Looks somebody up.
    parameters:
      name: string - Who is looked up.
    requires:
      - {tool: greet, message: Greet them first.}
    function: {}
  research:
    description: Finds out about somebody.
    agent:
      system_prompt: You research.
      tools: [greet]
";

/// An empty folder of the test of this name.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("project").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents")
}

/// Makes builds of this test quick, and keeps them from the network and from the target of the workspace, which may be
/// locked by the build that runs this test. What projects of other tests build, too, is built once.
fn with_environment(command: &mut Command) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("projects-target");
    command.env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true").env_remove("RUSTFLAGS");
    command.env("CARGO", env!("CARGO")).env("CARGO_PROFILE_DEV_DEBUG", "0").env_remove("NO_COLOR");
    // A release is run once, too, and would take minutes to optimise.
    command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");
}

fn run(command: &mut Command, input: &str) -> (Option<i32>, String, String) {
    with_environment(command);
    let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = streams.spawn().unwrap();
    // A command that does not read its input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn cargo_toolgen(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    run(Command::new(env!("CARGO_BIN_EXE_cargo-toolgen")).args(words).current_dir(folder), "")
}

fn cargo(folder: &Path, words: &[&str], input: &str) -> (Option<i32>, String, String) {
    run(Command::new(env!("CARGO")).args(words).current_dir(folder), input)
}

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

#[test]
fn every_command_takes_every_kind_of_document() {
    let place = folder("commands");
    fs::write(place.join("tools.yaml"), MANIFEST).unwrap();
    fs::copy(documents().join("pets.yaml"), place.join("pets.yaml")).unwrap();
    fs::copy(checkout().join("specs/mcp/shop.lock.json"), place.join("shop.lock.json")).unwrap();
    let runtime = checkout().join("runtime");
    for (document, tool, arguments) in [
        ("pets.yaml", "listPets", r#"{"limit": 3}"#),
        ("tools.yaml", "greet", r#"{"name": "Ada"}"#),
        ("shop.lock.json", "shop__find_orders", r#"{"customer": 3}"#),
    ] {
        let out = format!("out-{document}");
        let program = format!("program-{document}");
        let commands: [(&[&str], &str); 13] = [
            (&["check", document], "0 errors"),
            (&["check", document, "--format", "json"], "\"problems\":["),
            (&["list", document], tool),
            (&["list", document, "--format", "json"], "\"input_schema\""),
            (&["schema", document, "--tool", tool], "\"schema\""),
            (&["schema", document, "--envelope", "--dialect", "anthropic"], "\"input_schema\""),
            (&["docs", document], tool),
            (&["graph", document], "flowchart LR"),
            (&["graph", document, "--format", "dot"], "digraph tools {"),
            (&["call", document, tool, arguments, "--dry-run"], "{"),
            (&["gen", document, "--out", &out], "1 file written"),
            (
                &["bin", document, "--out", &program, "--runtime-path", runtime.to_str().unwrap()],
                "3 files written",
            ),
            (&["test", document, "--tool", tool], "0 failures"),
        ];
        for (words, part) in commands {
            let (code, stdout, stderr) = cargo_toolgen(&place, words);
            assert_eq!(code, Some(0), "{words:?}\n{stdout}{stderr}");
            assert!(stdout.contains(part), "{words:?}\n{stdout}{stderr}");
        }
    }
    let (code, stdout, _) = cargo_toolgen(&place, &["check", "tools.yaml", "pets.yaml"]);
    assert!(code == Some(0) && stdout.contains("manifest 1") && stdout.contains("openapi 3"), "{stdout}");
}

#[test]
fn the_graph_shows_what_is_required_and_what_is_called() {
    let place = folder("graph");
    fs::write(place.join("tools.yaml"), MANIFEST).unwrap();
    let (_, mermaid, _) = cargo_toolgen(&place, &["graph", "tools.yaml"]);
    for line in [
        "  tool_greet --> tool_look_5f_up\n",
        "  tool_shout ==>|calls| tool_greet\n",
        "  tool_research ==>|calls| tool_greet\n",
    ] {
        assert!(mermaid.contains(line), "{mermaid}");
    }
    let (_, dot, _) = cargo_toolgen(&place, &["graph", "tools.yaml", "--format", "dot"]);
    assert!(dot.contains("\"tool_shout\" -> \"tool_greet\" [style=bold, label=\"calls\"];\n"), "{dot}");
    let (code, mermaid, stderr) = cargo_toolgen(&documents(), &["graph", "pets.yaml"]);
    assert_eq!((code, mermaid.as_str()), (Some(0), "flowchart LR\n"));
    assert!(stderr.contains("no tool requires or calls another"), "{stderr}");
}

#[test]
fn tools_of_every_kind_are_called_from_the_shell() {
    let place = folder("call");
    fs::write(place.join("tools.yaml"), MANIFEST).unwrap();
    let call = |words: &[&str]| cargo_toolgen(&place, &[&["call", "tools.yaml"], words].concat());
    let (code, stdout, stderr) = call(&["greet", r#"{"name": "$(id) Ada"}"#]);
    assert_eq!((code, stdout.as_str()), (Some(0), "Hello, $(id) Ada.\n"), "{stderr}");
    let (code, stdout, stderr) = call(&["shout", r#"{"name": "Ada"}"#]);
    assert_eq!((code, stdout.as_str()), (Some(0), "Hello, Ada!.\n"), "{stderr}");
    let (code, stdout, _) = call(&["greet", r#"{"name": "Ada"}"#, "--dry-run"]);
    let shown: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &shown["argv"]), (Some(0), &json!(["printf", "Hello, %s.", "Ada"])));
    for (words, part) in [
        (&["look_up", r#"{"name": "Ada"}"#][..], "look_up"),
        (&["research", r#"{"task": "x"}"#], "research"),
        (&["greet", "{}"], "/name: missing"),
        (&["greet", "{}", "--dry-run"], "/name: missing"),
        (&["greet", r#"{"name": "-x"}"#, "--dry-run"], "/name: must not begin with"),
        (&["shout", r#"{"name": "x"}"#, "--dry-run"], "neither a request nor a command"),
    ] {
        let (code, stdout, stderr) = call(words);
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{words:?} {stderr}");
        assert!(stderr.contains(part), "{words:?} {stderr}");
    }
}

#[test]
fn new_tools_are_added_and_nothing_else_changes() {
    let place = folder("new");
    let read = || fs::read_to_string(place.join("tools.yaml")).unwrap();
    let (code, stdout, stderr) = cargo_toolgen(&place, &["new", "one"]);
    assert_eq!((code, stdout.as_str()), (Some(0), "tools.yaml:3: added one (fill it in)\n"), "{stderr}");
    for kind in ["http", "function", "complete", "effect", "agent"] {
        let (code, _, stderr) = cargo_toolgen(&place, &["new", &format!("a_{kind}"), "--kind", kind]);
        assert_eq!(code, Some(0), "{stderr}");
    }
    let (code, stdout, stderr) = cargo_toolgen(&place, &["check", "tools.yaml"]);
    assert!(code == Some(0) && stdout.contains("6 tools (0 errors, 0 warnings"), "{stdout}{stderr}");
    let (code, stdout, _) = cargo_toolgen(&place, &["test", "tools.yaml"]);
    assert!(code == Some(0) && stdout.contains("6 tools, 0 failures, 0 not known"), "{stdout}");
    let before = read();
    let (code, _, stderr) = cargo_toolgen(&place, &["new", "one", "--kind", "http"]);
    assert!(code == Some(1) && stderr.contains("there is a tool `one` already"), "{stderr}");
    let (code, _, stderr) = cargo_toolgen(&place, &["new", "no name"]);
    assert!(code == Some(2) && stderr.contains("`no name` is not a name for a tool"), "{stderr}");
    let (code, _, stderr) = cargo_toolgen(&place, &["new", "x", "--kind", "magic"]);
    assert!(code == Some(2) && stderr.contains("magic"), "{stderr}");
    assert_eq!(read(), before);

    fs::write(
        place.join("tools.yaml"),
        MANIFEST.replace("shout:", "find_items:") + "\n# the end\nschemas: {}\n",
    )
    .unwrap();
    let (code, _, stderr) = cargo_toolgen(&place, &["new", "all", "--kind", "compose"]);
    assert_eq!(code, Some(0), "{stderr}");
    let (head, tail) = MANIFEST.split_once("shout:").unwrap();
    let text = read();
    assert!(
        text.starts_with(head) && text.contains(tail) && text.ends_with("\n# the end\nschemas: {}\n"),
        "{text}"
    );
    let (code, _, stderr) = cargo_toolgen(&place, &["check", "tools.yaml", "-q"]);
    assert_eq!(code, Some(1), "its steps are to be filled in: {stderr}");
    assert!(text.contains("find_items and read_item are to be replaced"), "the file says so: {text}");

    for (text, why) in [
        ("{\"toolgen\": 1, \"tools\": {}}", "add the tool below to `tools` by hand"),
        ("toolgen: 1\ntools: {a: {}}\n", "add the tool below to `tools` by hand"),
        ("openapi: 3.1.0\n", "this is not a tool manifest"),
    ] {
        fs::write(place.join("other.yaml"), text).unwrap();
        let (code, _, stderr) = cargo_toolgen(&place, &["new", "b", "--manifest", "other.yaml"]);
        assert!(code == Some(1) && stderr.contains(why), "{stderr}");
        assert_eq!(fs::read_to_string(place.join("other.yaml")).unwrap(), text);
    }
}

#[test]
fn a_test_shows_what_does_not_hold() {
    let place = folder("test");
    fs::write(place.join("good.yaml"), MANIFEST).unwrap();
    let (code, stdout, stderr) = cargo_toolgen(&place, &["test", "good.yaml"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    for line in [
        "greet     ok        ok (3)    ok        -\n",
        "look_up   ok        ok (3)    -         ok\n",
        "research  ok        ok (2)    -         -\n",
        "shout     ok        ok (3)    ok        -\n",
    ] {
        assert!(stdout.contains(line), "{stdout}");
    }
    let bad = "toolgen: 1\ntools:\n  odd:\n    description: Is odd.\n    parameters: {text: string - A text.}\n    \
               command: {argv: [\"true\", \"{text}\"], exit_codes: {0: {success: false}, 1: {success: true}}}\n  \
               twice:\n    description: Is odd, and does not care.\n    parameters: {text: string - A text.}\n    \
               compose: {steps: [{id: a, call: odd, with: {text: \"{text}\"}, on_error: continue}]}\n";
    fs::write(place.join("odd.yaml"), bad).unwrap();
    let (code, stdout, _) = cargo_toolgen(&place, &["test", "odd.yaml"]);
    assert!(code == Some(0) && stdout.contains("twice  ok        ok (3)    -         -\n"), "{stdout}");
    let needs = "toolgen: 1\ntools:\n  log:\n    description: Shows the log.\n    \
                 command: {argv: [no-such-program, log], programs: [no-such-tool]}\n";
    fs::write(place.join("needs.yaml"), needs).unwrap();
    let (code, stdout, _) = cargo_toolgen(&place, &["test", "needs.yaml"]);
    assert!(code == Some(0) && stdout.contains("log   ok        ok        ok        -\n"), "{stdout}");
    let (code, stdout, _) = cargo_toolgen(&place, &["call", "needs.yaml", "log", "{}", "--dry-run"]);
    assert!(code == Some(0) && stdout.contains("[\"no-such-program\",\"log\"]"), "{stdout}");
    // Its own example is refused, and its file is not there.
    let failing = "toolgen: 1\ntools:\n  fails:\n    description: Fails.\n    read_only: true\n    \
                   parameters: {file: string - A file.}\n    examples: [{arguments: {file: EXAMPLE}}]\n    \
                   command: {argv: [cat, \"{file}\"]}\n";
    for (example, words, part) in [
        (
            "-x",
            &[][..],
            "accepts: FAILED: its example {\"file\":\"-x\"}: Invalid arguments: /file: must not begin",
        ),
        ("no-such-file", &["--run"], "accepts: FAILED: its example {\"file\":\"no-such-file\"}: "),
    ] {
        fs::write(place.join("failing.yaml"), failing.replace("EXAMPLE", example)).unwrap();
        let (code, stdout, stderr) = cargo_toolgen(&place, &[&["test", "failing.yaml"], words].concat());
        assert_eq!(code, Some(1), "{stdout}{stderr}");
        assert!(stdout.contains(part) && stdout.ends_with("1 tool, 1 failure, 0 not known\n"), "{stdout}");
    }
}

/// From an empty crate to a called tool, and to tests of it.
#[test]
#[ignore = "heavy: cargo"]
fn a_fresh_crate_has_a_tool_in_no_time() {
    let place = folder("fresh");
    fs::create_dir_all(place.join("src")).unwrap();
    fs::write(place.join("src/main.rs"), "fn main() {}\n").unwrap();
    let manifest = "[package]\nname = \"fresh\" # mine\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(place.join("Cargo.toml"), manifest).unwrap();
    fs::copy(checkout().join("Cargo.lock"), place.join("Cargo.lock")).unwrap();

    let root = checkout();
    let (code, stdout, stderr) = cargo_toolgen(&place, &["init", "--toolgen-path", root.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let text = fs::read_to_string(place.join("Cargo.toml")).unwrap();
    assert!(text.contains("name = \"fresh\" # mine") && text.contains("one-shot"), "{text}");
    let path = format!("path = \"{}\"", root.join("runtime").display());
    assert!(text.contains(&path), "the path stays as it was given: {text}");
    let yaml = fs::read_to_string(place.join("tools.yaml")).unwrap();
    assert!(
        yaml.starts_with("# yaml-language-server: $schema=https://") && yaml.lines().count() <= 12,
        "{yaml}"
    );

    // What it says is to be written.
    let main = stdout.split("Write in src/main.rs:").nth(1).unwrap();
    let main = main.split("\n2. ").next().unwrap();
    let main: String =
        main.lines().map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect();
    fs::write(place.join("src/main.rs"), main).unwrap();
    fs::write(place.join("three.txt"), "1\n2\n3\n").unwrap();
    let (code, stdout, stderr) = cargo(&place, &["run", "--", "count_lines"], r#"{"path": "three.txt"}"#);
    assert_eq!((code, stdout.as_str()), (Some(0), "{\"result\":\"3 three.txt\\n\"}\n"), "{stderr}");
    assert!(!stderr.contains("warning"), "{stderr}");

    let (code, stdout, stderr) = cargo_toolgen(&place, &["init"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("tools.yaml exists and stays as it is") && !stdout.contains("wrote"), "{stdout}");
    let (code, _, stderr) = cargo_toolgen(&place, &["test", "tools.yaml", "--emit", "tests/tools.rs"]);
    assert_eq!(code, Some(0), "{stderr}");
    with_new_tools_of_every_kind(&place);
}

/// Adds a tool of each kind, does what is said, and checks the crate.
fn with_new_tools_of_every_kind(place: &Path) {
    let read = |file: &str| fs::read_to_string(place.join(file)).unwrap();
    // The lines that are to be written, each after four spaces.
    let lines = |said: &str| -> Vec<String> {
        said.lines().filter_map(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
    };
    let mut engines = String::from("Engines::new()");
    let mut main = read("src/main.rs");
    for kind in ["command", "http", "function", "complete", "effect", "agent"] {
        let (code, stdout, stderr) = cargo_toolgen(place, &["new", &format!("a_{kind}"), "--kind", kind]);
        assert_eq!(code, Some(0), "{stderr}");
        match (kind, lines(&stdout).as_slice()) {
            ("command" | "complete", []) => {}
            ("effect", [line]) => {
                let line = line.replace("handler", "no_effect");
                main = main
                    .replace("Provider::builder(&registry)", &format!("Provider::builder(&registry){line}"));
            }
            ("http" | "function" | "agent", [line]) => engines.push_str(line),
            (_, lines) => panic!("{kind}: {lines:?}"),
        }
        let feature = format!("added the feature `{kind}` of toolgen-runtime to Cargo.toml");
        assert_eq!(stdout.contains(&feature), ["http", "agent"].contains(&kind), "{stdout}");
    }
    let (code, stdout, stderr) = cargo_toolgen(place, &["new", "repeat", "--kind", "rust"]);
    assert!(code == Some(0) && place.join("src/tools/repeat.rs").is_file(), "{stderr}");
    let said = lines(&stdout);
    let [path, module, registry] = said.as_slice() else { panic!("{stdout}") };
    let registry =
        registry.replace("Engines::new()", &engines.replace("runner", "Idle").replace("your_type", "Own"));
    main = main.replace("Registry::new(Engines::new().tools(tools::TOOLS)?)?", &registry);
    let own = r#"
use toolgen_runtime::agent::sub_agent::{AgentFailure, AgentMonitor, AgentRunner, AgentTask};
use toolgen_runtime::{BoxFuture, ToolContext, ToolError, ToolResult};

struct Idle;

impl AgentRunner for Idle {
    fn run<'a>(&'a self, task: AgentTask, _: &'a AgentMonitor) -> BoxFuture<'a, Result<String, AgentFailure>> {
        Box::pin(async move { Ok(task.task) })
    }
}

struct Own;

impl tools::Functions for Own {
    async fn a_function(&self, arguments: tools::AFunction, _: &ToolContext) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::text(arguments.id.to_string()))
    }
}

async fn no_effect(_: toolgen_runtime::Effect, _: ToolContext) -> Result<ToolResult, ToolError> {
    Ok(ToolResult::text("done"))
}
"#;
    fs::write(place.join("src/main.rs"), format!("{main}\n{path}\n{module}\n{own}")).unwrap();
    let more = "\n[dev-dependencies]\nserde_json = \"1\"\ntokio = { version = \"1\", features = [\"macros\", \"rt\"] }\n";
    fs::write(place.join("Cargo.toml"), read("Cargo.toml") + more).unwrap();
    let (code, stdout, stderr) = cargo(place, &["run", "--", "count_lines"], r#"{"path": "three.txt"}"#);
    assert_eq!((code, stdout.as_str()), (Some(0), "{\"result\":\"3 three.txt\\n\"}\n"), "{stderr}");
    let (code, stdout, stderr) = cargo(place, &["test"], "");
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("test count_lines ... ok"), "{stdout}");
    assert!(stdout.contains("test repeat::tests::a_text_is_repeated ... ok"), "{stdout}");
}

#[test]
fn without_a_checkout_init_says_which_lines_to_add() {
    let place = folder("init");
    let (code, _, stderr) = cargo_toolgen(&place, &["init"]);
    assert!(code == Some(1) && stderr.contains("is not the folder of a crate"), "{stderr}");
    fs::create_dir_all(place.join("src")).unwrap();
    fs::write(place.join("src/lib.rs"), "").unwrap();
    let manifest = "[package]\nname = \"fresh\"\n\n[workspace]\n";
    fs::write(place.join("Cargo.toml"), manifest).unwrap();
    let script = "fn main() {\n    other();\n}\n";
    fs::write(place.join("build.rs"), script).unwrap();
    let (code, stdout, stderr) = cargo_toolgen(&place, &["init", "--lib"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(fs::read_to_string(place.join("Cargo.toml")).unwrap(), manifest);
    assert_eq!(fs::read_to_string(place.join("build.rs")).unwrap(), script);
    for part in [
        "toolgen::Build::new(\"tools\").document(\"tools.yaml\").emit();",
        "toolgen-runtime = { version = \"=",
        "[build-dependencies]",
        "Write in src/lib.rs:",
        "`--toolgen-path DIR`",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    for (path, refused) in [("Cargo.toml", false), ("/etc/passwd", true), ("../Cargo.toml", true)] {
        let words = ["call", "tools.yaml", "count_lines", &format!("path={path}"), "--dry-run"];
        let (code, stdout, stderr) = cargo_toolgen(&place, &words);
        assert_eq!(code, Some(i32::from(refused)), "{path}: {stdout}{stderr}");
        assert_eq!(refused, stderr.contains("/path: "), "{stderr}");
    }
    let (code, _, stderr) = cargo_toolgen(&place, &["init", "--toolgen-path", "src"]);
    assert!(code == Some(1) || stderr.contains("is not a checkout of toolgen"), "{stderr}");
}

#[test]
#[ignore = "heavy: cargo"]
fn a_program_is_built_and_answers_calls() {
    let place = folder("bin");
    fs::write(place.join("tools.yaml"), MANIFEST).unwrap();
    fs::create_dir_all(place.join("hello")).unwrap();
    fs::copy(checkout().join("Cargo.lock"), place.join("hello/Cargo.lock")).unwrap();
    let runtime = checkout().join("runtime");
    let words = ["bin", "tools.yaml", "--out", "hello", "--name", "hello", "--build", "--runtime-path"];
    let (code, stdout, stderr) = cargo_toolgen(&place, &[&words[..], &[runtime.to_str().unwrap()]].concat());
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    for note in [
        "`look_up` is left out: its requirement \"Greet them first.\"",
        "`research` is left out: it is an agent, which needs a model",
    ] {
        assert!(stderr.contains(note), "{stderr}");
    }
    let program = stdout.lines().find_map(|line| line.strip_suffix(": built")).unwrap();
    let hello = |words: &[&str], input: &str| {
        let (code, stdout, _) = run(Command::new(program).args(words), input);
        (code, serde_json::from_str::<Value>(&stdout).unwrap())
    };
    assert_eq!(hello(&["greet"], r#"{"name": "Ada"}"#), (Some(0), json!({"result": "Hello, Ada."})));
    assert_eq!(hello(&["shout"], r#"{"name": "Ada"}"#), (Some(0), json!({"result": "Hello, Ada!."})));
    let (code, answer) = hello(&["greet"], "{}");
    assert_eq!((code, &answer["error"]), (Some(1), &json!("name is required")));
    let (_, list) = hello(&["--list"], "");
    assert_eq!(list["tools"].as_array().unwrap().len(), 2);
    assert_eq!(hello(&["--schema", "greet"], "").1["required"], json!(["name"]));
}

#[test]
fn the_pages_know_the_commands_and_the_commands_know_the_pages() {
    let pages = ["README.md", "docs/cli.md"].map(|page| fs::read_to_string(checkout().join(page)).unwrap());
    let pages = pages.concat();
    let place = folder("readme");
    let (_, help, _) = cargo_toolgen(&place, &["--help"]);
    let commands = help.split("Options:").next().unwrap().lines().filter_map(|line| line.strip_prefix("  "));
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 10, "{help}");
    for command in commands.iter().filter(|command| **command != "help") {
        let row = pages.lines().any(|line| line.starts_with("| ") && line.contains(&format!("`{command}`")));
        assert!(row, "no row says what `{command}` does");
    }
    for line in pages.lines().filter_map(|line| line.trim().strip_prefix("cargo toolgen ")) {
        let words = line.split('#').next().unwrap().split_whitespace();
        // What comes after `--` is for another program.
        let words: Vec<&str> = words.take_while(|word| *word != "--").collect();
        let (mut code, mut help, _) = cargo_toolgen(&place, &[words[0], "--help"]);
        if help.contains("Commands:") {
            (code, help, _) = cargo_toolgen(&place, &[words[0], words[1], "--help"]);
        }
        assert_eq!(code, Some(0), "there is no command {}", words[0]);
        for option in words.iter().filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "{} has no option {option}", words[0]);
        }
    }
}

//! Tests of the commands for whole projects, with real crates where necessary.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::support::{Folder, Ran, Run as _, checkout, documents, offline};

const MANIFEST: &str = include_str!("../scripts/tools.yaml");

/// Creates an empty directory for a test.
fn folder(name: &str) -> Folder {
    Folder::new(&format!("project/{name}"))
}

fn cargo(dir: &Folder, words: &[&str], input: &str) -> Ran {
    offline(Command::new(env!("CARGO")).args(words).current_dir(&**dir)).env_remove("NO_COLOR").ran(input)
}

#[test]
fn every_command_accepts_every_kind_of_document() {
    let dir = folder("commands");
    dir.write("tools.yaml", MANIFEST);
    fs::copy(documents().join("pets.yaml"), dir.join("pets.yaml")).unwrap();
    fs::copy(checkout().join("specs/mcp/shop.lock.json"), dir.join("shop.lock.json")).unwrap();
    let toolgen = checkout().display().to_string();
    for (document, tool, arguments) in [
        ("pets.yaml", "listPets", r#"{"limit": 3}"#),
        ("tools.yaml", "greet", r#"{"name": "Ada"}"#),
        ("shop.lock.json", "shop__find_orders", r#"{"customer": 3}"#),
    ] {
        for (line, part) in [
            ("check FILE", "0 errors"),
            ("check FILE --format json", "\"problems\":["),
            ("list FILE", tool),
            ("list FILE --format json", "\"input_schema\""),
            ("schema FILE --tool TOOL", "\"schema\""),
            ("schema FILE --envelope --dialect anthropic", "\"input_schema\""),
            ("docs FILE", tool),
            ("graph FILE", "flowchart LR"),
            ("graph FILE --format dot", "digraph tools {"),
            (&format!("call FILE TOOL '{arguments}' --dry-run --format json"), "{"),
            ("gen FILE --out out-FILE", "1 file written"),
            (&format!("bin FILE --out program-FILE --toolgen-path '{toolgen}'"), "3 files written"),
            ("test FILE --tool TOOL", "0 failures"),
        ] {
            dir.run(line.replace("FILE", document).replace("TOOL", tool)).exits(0).prints(part);
        }
    }
    dir.run("check tools.yaml pets.yaml").exits(0).prints("manifest 1").prints("openapi 3");
}

/// From an empty crate to a tool that is called and tested.
#[test]
#[ignore = "heavy: cargo"]
fn fresh_crate_gets_a_working_tool_and_tests() {
    let dir = folder("fresh");
    fs::create_dir_all(dir.join("src")).unwrap();
    dir.write("src/main.rs", "fn main() {}\n");
    let manifest = "[package]\nname = \"fresh\" # mine\nedition = \"2024\"\n\n[workspace]\n";
    dir.write("Cargo.toml", manifest);
    fs::copy(checkout().join("Cargo.lock"), dir.join("Cargo.lock")).unwrap();

    let root = checkout();
    let stdout = dir.run(format!("init --toolgen-path '{}'", root.display())).exits(0).stdout;
    let text = dir.read("Cargo.toml");
    assert!(text.contains("name = \"fresh\" # mine") && text.contains("one-shot"), "{text}");
    let path = format!("path = \"{}\"", root.join("runtime").display());
    assert!(text.contains(&path), "the path stays as it was given: {text}");
    let yaml = dir.read("tools.yaml");
    assert!(
        yaml.starts_with("# yaml-language-server: $schema=https://") && yaml.lines().count() <= 12,
        "{yaml}"
    );

    // The code that `init` says to write.
    let main = stdout.split("Write in src/main.rs:").nth(1).unwrap();
    let main = main.split("\n2. ").next().unwrap();
    let main: String =
        main.lines().map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect();
    dir.write("src/main.rs", main);
    dir.write("three.txt", "1\n2\n3\n");
    cargo(&dir, &["run", "--", "count_lines"], r#"{"path": "three.txt"}"#)
        .exits(0)
        .printed("{\"result\":\"3 three.txt\\n\"}\n")
        .tells_no("warning");

    let main = dir.read("src/main.rs");
    dir.write("src/main.rs", main.replace("include_tools!(\"tools\")", "include_tools!(\"tolos\")"));
    cargo(&dir, &["check"], "")
        .exits(101)
        .tells("the build script compiles `tools`, and no tools `tolos`: write the name")
        .tells_no("couldn't read");
    dir.write("src/main.rs", main);

    dir.run("init").exits(0).tells("tools.yaml exists and is unchanged").prints_no("wrote");
    dir.run("test tools.yaml --emit tests/tools.rs").exits(0);
    with_new_tools_of_every_kind(&dir);
}

#[test]
#[ignore = "heavy: cargo"]
fn new_agent_runs_without_a_key_and_passes_its_tests() {
    let dir = folder("agent");
    dir.run(format!("new --agent shopper --toolgen-path '{}'", checkout().display()))
        .exits(0)
        .prints("wrote shopper/src/main.rs")
        .prints("cd shopper");
    dir.run("new --agent shopper").exits(1).tells("shopper exists and is not empty");
    let dir = Folder::at(&dir.join("shopper"));
    let manifest = dir.read("Cargo.toml");
    dir.write("Cargo.toml", format!("{manifest}\n[workspace]\n"));
    fs::copy(checkout().join("Cargo.lock"), dir.join("Cargo.lock")).unwrap();
    cargo(&dir, &["test"], "").exits(0).prints("2 passed").tells_no("warning");
    // Nobody is at the terminal, so the call waits.
    cargo(&dir, &["run", "-q"], "")
        .exits(0)
        .prints("> add_item {\"item\":\"apples\",\"count\":5}")
        .prints("x add_item")
        .tells("a scripted model answers");
}

#[test]
fn name_of_a_new_agent_is_checked() {
    let dir = folder("agent-names");
    for name in ["9lives", "a b", "..", "a.b"] {
        dir.run(format!("new --agent '{name}'")).exits(2).tells("is not the name of a crate");
    }
    dir.run("new").exits(2).tells("required");
    dir.run("new greet --agent shopper").exits(2).tells("cannot be used with");
    dir.run("new --agent shopper").exits(0).tells("no registry has toolgen yet").prints("ANTHROPIC_API_KEY");
    let manifest = dir.read("shopper/Cargo.toml");
    assert!(manifest.contains("name = \"shopper\"") && manifest.contains("version = \"=0"), "{manifest}");
}

/// Adds a tool of each kind, follows the printed steps, and checks the crate.
fn with_new_tools_of_every_kind(dir: &Folder) {
    // The lines to write are indented by four spaces.
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
    };
    let mut engines = String::from("Engines::new()");
    let mut main = dir.read("src/main.rs");
    for kind in ["command", "http", "function", "complete", "effect", "agent"] {
        let stdout = dir.run(format!("new a_{kind} --kind {kind}")).exits(0).stdout;
        match (kind, lines(&stdout).as_slice()) {
            ("command" | "complete", []) => {}
            ("effect", [line]) => {
                let line = line.replace("handler", "no_effect");
                main = main
                    .replace("Toolbox::builder(&registry)", &format!("Toolbox::builder(&registry){line}"));
            }
            ("http" | "function" | "agent", [line]) => engines.push_str(line),
            (_, lines) => panic!("{kind}: {lines:?}"),
        }
        let feature = format!("added the feature `{kind}` of toolgen-runtime to Cargo.toml");
        assert_eq!(stdout.contains(&feature), ["http", "agent"].contains(&kind), "{stdout}");
    }
    let Ran { code, stdout, stderr, .. } = dir.run("new repeat --kind rust");
    assert!(code == Some(0) && dir.join("src/tools/repeat.rs").is_file(), "{stderr}");
    let messages = lines(&stdout);
    let [path, module, registry] = messages.as_slice() else { panic!("{stdout}") };
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
    dir.write("src/main.rs", format!("{main}\n{path}\n{module}\n{own}"));
    let more = "\n[dev-dependencies]\nserde_json = \"1\"\ntokio = { version = \"1\", features = [\"macros\", \"rt\"] }\n";
    dir.write("Cargo.toml", dir.read("Cargo.toml") + more);
    cargo(dir, &["run", "--", "count_lines"], r#"{"path": "three.txt"}"#)
        .exits(0)
        .printed("{\"result\":\"3 three.txt\\n\"}\n");
    cargo(dir, &["test"], "")
        .exits(0)
        .prints("test count_lines ... ok")
        .prints("test repeat::tests::a_text_is_repeated ... ok");
}

#[test]
fn init_writes_main_rs_of_a_new_crate_only() {
    let dir = folder("new-crate");
    fs::create_dir_all(dir.join("src")).unwrap();
    dir.write("Cargo.toml", "[package]\nname = \"fresh\"\n\n[workspace]\n");
    dir.write("src/main.rs", "fn main() {\n    println!(\"Hello, world!\");\n}\n");
    // `init` reports what it did not do.
    dir.run("init")
        .exits(0)
        .prints("wrote ./src/main.rs")
        .prints("cargo add tokio")
        .prints("docs/conversation.md");
    assert!(dir.read("src/main.rs").contains("include_tools!(\"tools\")"));
    dir.write("src/main.rs", "fn main() { mine(); }\n");
    dir.run("init").exits(0).prints("Write in src/main.rs:").prints_no("wrote");
    assert_eq!(dir.read("src/main.rs"), "fn main() { mine(); }\n");
}

#[test]
fn init_without_a_checkout_prints_the_lines_to_add() {
    let dir = folder("init");
    dir.run("init").exits(1).tells("is not the directory of a crate");
    fs::create_dir_all(dir.join("src")).unwrap();
    dir.write("src/lib.rs", "");
    let manifest = "[package]\nname = \"fresh\"\n\n[workspace]\n";
    dir.write("Cargo.toml", manifest);
    let script = "fn main() {\n    other();\n}\n";
    dir.write("build.rs", script);
    let stdout = dir.run("init --lib").exits(0).stdout;
    assert_eq!(dir.read("Cargo.toml"), manifest);
    assert_eq!(dir.read("build.rs"), script);
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
        let ran = dir.run(format!("call tools.yaml count_lines path={path} --dry-run"));
        let stderr = ran.exits(i32::from(refused)).stderr;
        assert_eq!(refused, stderr.contains("/path: "), "{stderr}");
    }
    let Ran { code, stderr, .. } = dir.run("init --toolgen-path src");
    assert!(code == Some(1) || stderr.contains("is not a checkout of toolgen"), "{stderr}");
}

#[test]
#[ignore = "heavy: cargo"]
fn built_program_answers_calls() {
    let dir = folder("bin");
    dir.write("tools.yaml", MANIFEST);
    fs::create_dir_all(dir.join("hello")).unwrap();
    fs::copy(checkout().join("Cargo.lock"), dir.join("hello/Cargo.lock")).unwrap();
    let Ran { stdout, stderr, .. } = dir
        .run(format!(
            "bin tools.yaml --out hello --name hello --build --toolgen-path '{}'",
            checkout().display()
        ))
        .exits(0);
    for note in [
        "skipped `look_up`: its requirement \"Greet them first.\"",
        "skipped `research`: it is an agent, which needs a model",
    ] {
        assert!(stderr.contains(note), "{stderr}");
    }
    let program = stdout.lines().find_map(|line| line.strip_suffix(": built")).unwrap();
    let hello = |words: &[&str], input: &str| {
        let ran = Command::new(program).args(words).ran(input);
        (ran.code, ran.json())
    };
    assert_eq!(hello(&["greet"], r#"{"name": "Ada"}"#), (Some(0), json!({"result": "Hello, Ada."})));
    assert_eq!(hello(&["shout"], r#"{"name": "Ada"}"#), (Some(0), json!({"result": "Hello, Ada!."})));
    let (code, response) = hello(&["greet"], "{}");
    assert_eq!((code, &response["error"]), (Some(1), &json!("name is required")));
    let (_, list) = hello(&["--list"], "");
    assert_eq!(list["tools"].as_array().unwrap().len(), 2);
    assert_eq!(hello(&["--schema", "greet"], "").1["required"], json!(["name"]));
}

#[test]
fn pages_and_commands_mention_each_other() {
    let pages = ["README.md", "docs/cli.md"].map(|page| fs::read_to_string(checkout().join(page)).unwrap());
    let pages = pages.concat();
    let dir = folder("readme");
    let help = dir.run("--help").stdout;
    let commands = help.split("Options:").next().unwrap().lines().filter_map(|line| line.strip_prefix("  "));
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 10, "{help}");
    for command in commands.iter().filter(|command| **command != "help") {
        let row = pages.lines().any(|line| line.starts_with("| ") && line.contains(&format!("`{command}`")));
        assert!(row, "`{command}` has no row");
    }
    for line in pages.lines().filter_map(|line| line.trim().strip_prefix("cargo toolgen ")) {
        let words = line.split('#').next().unwrap().split_whitespace();
        // Arguments after `--` are for another program.
        let words: Vec<&str> = words.take_while(|word| *word != "--").collect();
        let mut ran = dir.run(format!("{} --help", words[0]));
        if ran.stdout.contains("Commands:") {
            ran = dir.run(format!("{} {} --help", words[0], words[1]));
        }
        let help = ran.exits(0).stdout;
        for option in words.iter().filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "{} has no option {option}", words[0]);
        }
    }
}

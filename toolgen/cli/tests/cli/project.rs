//! The commands about a whole project, with real crates where it matters.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Folder, Ran, Run as _, checkout, documents, offline};

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
fn folder(name: &str) -> Folder {
    Folder::new(&format!("project/{name}"))
}

fn cargo(folder: &Folder, words: &[&str], input: &str) -> Ran {
    offline(Command::new(env!("CARGO")).args(words).current_dir(&**folder)).env_remove("NO_COLOR").ran(input)
}

#[test]
fn every_command_takes_every_kind_of_document() {
    let place = folder("commands");
    place.write("tools.yaml", MANIFEST);
    fs::copy(documents().join("pets.yaml"), place.join("pets.yaml")).unwrap();
    fs::copy(checkout().join("specs/mcp/shop.lock.json"), place.join("shop.lock.json")).unwrap();
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
            place.run(line.replace("FILE", document).replace("TOOL", tool)).exits(0).prints(part);
        }
    }
    place.run("check tools.yaml pets.yaml").exits(0).prints("manifest 1").prints("openapi 3");
}

#[test]
fn the_graph_shows_what_is_required_and_what_is_called() {
    let place = folder("graph");
    place.write("tools.yaml", MANIFEST);
    let mermaid = place.run("graph tools.yaml").stdout;
    for line in [
        "  tool_greet --> tool_look_5f_up\n",
        "  tool_shout ==>|calls| tool_greet\n",
        "  tool_research ==>|calls| tool_greet\n",
    ] {
        assert!(mermaid.contains(line), "{mermaid}");
    }
    place
        .run("graph tools.yaml --format dot")
        .prints("\"tool_shout\" -> \"tool_greet\" [style=bold, label=\"calls\"];\n");
    documents()
        .run("graph pets.yaml")
        .exits(0)
        .printed("flowchart LR\n")
        .tells("no tool requires or calls another");
}

#[test]
fn tools_of_every_kind_are_called_from_the_shell() {
    let place = folder("call");
    place.write("tools.yaml", MANIFEST);
    let call = |words: &str| place.run(format!("call tools.yaml {words}"));
    call(r#"greet '{"name": "$(id) Ada"}'"#).exits(0).printed("Hello, $(id) Ada.\n");
    call(r#"shout '{"name": "Ada"}'"#).exits(0).printed("Hello, Ada!.\n");
    let Ran { code, stdout, .. } = call(r#"greet '{"name": "Ada"}' --dry-run --format json"#);
    let shown: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &shown["argv"]), (Some(0), &json!(["printf", "Hello, %s.", "Ada"])));
    for (words, part) in [
        (r#"look_up '{"name": "Ada"}'"#, "look_up"),
        (r#"research '{"task": "x"}'"#, "research"),
        ("greet {}", "/name: missing"),
        ("greet {} --dry-run", "/name: missing"),
        (r#"greet '{"name": "-x"}' --dry-run"#, "/name: must not begin with"),
        (r#"shout '{"name": "x"}' --dry-run"#, "neither a request nor a command"),
    ] {
        call(words).exits(1).printed("").tells(part);
    }
}

#[test]
fn new_tools_are_added_and_nothing_else_changes() {
    let place = folder("new");
    let read = || place.read("tools.yaml");
    place.run("new one").exits(0).printed("tools.yaml:3: added one (fill it in)\n");
    for kind in ["http", "function", "complete", "effect", "agent"] {
        place.run(format!("new a_{kind} --kind {kind}")).exits(0);
    }
    place.run("check tools.yaml").exits(0).prints("6 tools (0 errors, 0 warnings");
    place.run("test tools.yaml").exits(0).prints("6 tools, 0 failures, 0 not known");
    let before = read();
    place.run("new one --kind http").exits(1).tells("there is a tool `one` already");
    place.run("new 'no name'").exits(2).tells("`no name` is not a name for a tool");
    place.run("new x --kind magic").exits(2).tells("magic");
    assert_eq!(read(), before);

    place.write("tools.yaml", MANIFEST.replace("shout:", "find_items:") + "\n# the end\nschemas: {}\n");
    place.run("new all --kind compose").exits(0);
    let (head, tail) = MANIFEST.split_once("shout:").unwrap();
    let text = read();
    assert!(
        text.starts_with(head) && text.contains(tail) && text.ends_with("\n# the end\nschemas: {}\n"),
        "{text}"
    );
    place.run("check tools.yaml -q").exits(1);
    assert!(text.contains("find_items and read_item are to be replaced"), "the file says so: {text}");

    for (text, why) in [
        ("{\"toolgen\": 1, \"tools\": {}}", "add the tool below to `tools` by hand"),
        ("toolgen: 1\ntools: {a: {}}\n", "add the tool below to `tools` by hand"),
        ("openapi: 3.1.0\n", "this is not a tool manifest"),
    ] {
        place.write("other.yaml", text);
        place.run("new b --manifest other.yaml").exits(1).tells(why);
        assert_eq!(place.read("other.yaml"), text);
    }
}

#[test]
fn a_test_shows_what_does_not_hold() {
    let place = folder("test");
    place.write("good.yaml", MANIFEST);
    let stdout = place.run("test good.yaml").exits(0).stdout;
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
    place.write("odd.yaml", bad);
    place.run("test odd.yaml").exits(0).prints("twice  ok        ok (3)    -         -\n");
    let needs = "toolgen: 1\ntools:\n  log:\n    description: Shows the log.\n    \
                 command: {argv: [no-such-program, log], programs: [no-such-tool]}\n";
    place.write("needs.yaml", needs);
    place.run("test needs.yaml").exits(0).prints("log   ok        ok        ok        -\n");
    place
        .run("call needs.yaml log {} --dry-run --format json")
        .exits(0)
        .prints("[\"no-such-program\",\"log\"]");
    // Its own example is refused, and its file is not there.
    let failing = "toolgen: 1\ntools:\n  fails:\n    description: Fails.\n    read_only: true\n    \
                   parameters: {file: string - A file.}\n    examples: [{arguments: {file: EXAMPLE}}]\n    \
                   command: {argv: [cat, \"{file}\"]}\n";
    for (example, words, part) in [
        (
            "-x",
            "",
            "accepts: FAILED: its example {\"file\":\"-x\"}: Invalid arguments: /file: must not begin",
        ),
        ("no-such-file", "--run", "accepts: FAILED: its example {\"file\":\"no-such-file\"}: "),
    ] {
        place.write("failing.yaml", failing.replace("EXAMPLE", example));
        place
            .run(format!("test failing.yaml {words}"))
            .exits(1)
            .prints(part)
            .ends("1 tool, 1 failure, 0 not known\n");
    }
}

#[test]
fn commands_under_test_run_in_the_folder_that_is_given() {
    let place = folder("test_work_dir");
    fs::create_dir_all(place.join("data")).unwrap();
    place.write("data/note.txt", "in data\n");
    place.write(
        "tools.yaml",
        "toolgen: 1\ntools:\n  show:\n    description: Shows a file.\n    read_only: true\n    \
         parameters: {file: string - A file.}\n    examples: [{arguments: {file: note.txt}}]\n    \
         command: {argv: [cat, \"{file}\"]}\n",
    );
    place.run("test tools.yaml --run --work-dir data").exits(0).ends("1 tool, 0 failures, 0 not known\n");
    place.run("test tools.yaml --run").exits(1);
    place.run("test tools.yaml --run --work-dir nowhere").exits(2).tells("there is no such folder");
    // Of `call`, too, and what its own words name counts from here, not from there.
    place.run("call tools.yaml show file=note.txt --work-dir data").exits(0).prints("in data");
    place.run("call tools.yaml show file=@name.txt --work-dir data").exits(2).tells("name.txt: No such file");
    place.write("name.txt", "note.txt");
    place.run("call tools.yaml show file=@name.txt --work-dir data").exits(0).prints("in data");
}

/// From an empty crate to a called tool, and to tests of it.
#[test]
#[ignore = "heavy: cargo"]
fn a_fresh_crate_has_a_tool_in_no_time() {
    let place = folder("fresh");
    fs::create_dir_all(place.join("src")).unwrap();
    place.write("src/main.rs", "fn main() {}\n");
    let manifest = "[package]\nname = \"fresh\" # mine\nedition = \"2024\"\n\n[workspace]\n";
    place.write("Cargo.toml", manifest);
    fs::copy(checkout().join("Cargo.lock"), place.join("Cargo.lock")).unwrap();

    let root = checkout();
    let stdout = place.run(format!("init --toolgen-path '{}'", root.display())).exits(0).stdout;
    let text = place.read("Cargo.toml");
    assert!(text.contains("name = \"fresh\" # mine") && text.contains("one-shot"), "{text}");
    let path = format!("path = \"{}\"", root.join("runtime").display());
    assert!(text.contains(&path), "the path stays as it was given: {text}");
    let yaml = place.read("tools.yaml");
    assert!(
        yaml.starts_with("# yaml-language-server: $schema=https://") && yaml.lines().count() <= 12,
        "{yaml}"
    );

    // What it says is to be written.
    let main = stdout.split("Write in src/main.rs:").nth(1).unwrap();
    let main = main.split("\n2. ").next().unwrap();
    let main: String =
        main.lines().map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect();
    place.write("src/main.rs", main);
    place.write("three.txt", "1\n2\n3\n");
    cargo(&place, &["run", "--", "count_lines"], r#"{"path": "three.txt"}"#)
        .exits(0)
        .printed("{\"result\":\"3 three.txt\\n\"}\n")
        .tells_no("warning");

    let main = place.read("src/main.rs");
    place.write("src/main.rs", main.replace("include_tools!(\"tools\")", "include_tools!(\"tolos\")"));
    cargo(&place, &["check"], "")
        .exits(101)
        .tells("the build script compiles `tools`, and no tools `tolos`: write the name")
        .tells_no("couldn't read");
    place.write("src/main.rs", main);

    place.run("init").exits(0).tells("tools.yaml exists and stays as it is").prints_no("wrote");
    place.run("test tools.yaml --emit tests/tools.rs").exits(0);
    with_new_tools_of_every_kind(&place);
}

/// Adds a tool of each kind, does what is said, and checks the crate.
fn with_new_tools_of_every_kind(place: &Folder) {
    // The lines that are to be written, each after four spaces.
    let lines = |said: &str| -> Vec<String> {
        said.lines().filter_map(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
    };
    let mut engines = String::from("Engines::new()");
    let mut main = place.read("src/main.rs");
    for kind in ["command", "http", "function", "complete", "effect", "agent"] {
        let stdout = place.run(format!("new a_{kind} --kind {kind}")).exits(0).stdout;
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
    let Ran { code, stdout, stderr, .. } = place.run("new repeat --kind rust");
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
    place.write("src/main.rs", format!("{main}\n{path}\n{module}\n{own}"));
    let more = "\n[dev-dependencies]\nserde_json = \"1\"\ntokio = { version = \"1\", features = [\"macros\", \"rt\"] }\n";
    place.write("Cargo.toml", place.read("Cargo.toml") + more);
    cargo(place, &["run", "--", "count_lines"], r#"{"path": "three.txt"}"#)
        .exits(0)
        .printed("{\"result\":\"3 three.txt\\n\"}\n");
    cargo(place, &["test"], "")
        .exits(0)
        .prints("test count_lines ... ok")
        .prints("test repeat::tests::a_text_is_repeated ... ok");
}

#[test]
fn init_writes_the_program_of_a_new_crate_and_leaves_any_other_alone() {
    let place = folder("new-crate");
    fs::create_dir_all(place.join("src")).unwrap();
    place.write("Cargo.toml", "[package]\nname = \"fresh\"\n\n[workspace]\n");
    place.write("src/main.rs", "fn main() {\n    println!(\"Hello, world!\");\n}\n");
    // What it did not do is told.
    place
        .run("init")
        .exits(0)
        .prints("wrote ./src/main.rs")
        .prints("cargo add tokio")
        .prints("docs/conversation.md");
    assert!(place.read("src/main.rs").contains("include_tools!(\"tools\")"));
    place.write("src/main.rs", "fn main() { mine(); }\n");
    place.run("init").exits(0).prints("Write in src/main.rs:").prints_no("wrote");
    assert_eq!(place.read("src/main.rs"), "fn main() { mine(); }\n");
}

#[test]
fn without_a_checkout_init_says_which_lines_to_add() {
    let place = folder("init");
    place.run("init").exits(1).tells("is not the folder of a crate");
    fs::create_dir_all(place.join("src")).unwrap();
    place.write("src/lib.rs", "");
    let manifest = "[package]\nname = \"fresh\"\n\n[workspace]\n";
    place.write("Cargo.toml", manifest);
    let script = "fn main() {\n    other();\n}\n";
    place.write("build.rs", script);
    let stdout = place.run("init --lib").exits(0).stdout;
    assert_eq!(place.read("Cargo.toml"), manifest);
    assert_eq!(place.read("build.rs"), script);
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
        let ran = place.run(format!("call tools.yaml count_lines path={path} --dry-run"));
        let stderr = ran.exits(i32::from(refused)).stderr;
        assert_eq!(refused, stderr.contains("/path: "), "{stderr}");
    }
    let Ran { code, stderr, .. } = place.run("init --toolgen-path src");
    assert!(code == Some(1) || stderr.contains("is not a checkout of toolgen"), "{stderr}");
}

#[test]
#[ignore = "heavy: cargo"]
fn a_program_is_built_and_answers_calls() {
    let place = folder("bin");
    place.write("tools.yaml", MANIFEST);
    fs::create_dir_all(place.join("hello")).unwrap();
    fs::copy(checkout().join("Cargo.lock"), place.join("hello/Cargo.lock")).unwrap();
    let Ran { stdout, stderr, .. } = place
        .run(format!(
            "bin tools.yaml --out hello --name hello --build --toolgen-path '{}'",
            checkout().display()
        ))
        .exits(0);
    for note in [
        "`look_up` is left out: its requirement \"Greet them first.\"",
        "`research` is left out: it is an agent, which needs a model",
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
    let help = place.run("--help").stdout;
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
        let mut ran = place.run(format!("{} --help", words[0]));
        if ran.stdout.contains("Commands:") {
            ran = place.run(format!("{} {} --help", words[0], words[1]));
        }
        let help = ran.exits(0).stdout;
        for option in words.iter().filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "{} has no option {option}", words[0]);
        }
    }
}

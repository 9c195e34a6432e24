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
    dir.write("src/main.rs", CARGO_MAIN);
    let manifest = "[package]\nname = \"fresh\" # mine\nedition = \"2024\"\n\n[workspace]\n";
    dir.write("Cargo.toml", manifest);
    fs::copy(checkout().join("Cargo.lock"), dir.join("Cargo.lock")).unwrap();

    let root = checkout();
    let init = || dir.run(format!("init --toolgen-path '{}'", root.display())).exits(0);
    let stdout = init().stdout;
    assert!(stdout.contains("as a model would") && stdout.contains("docs/conversation.md"), "{stdout}");
    let text = dir.read("Cargo.toml");
    assert!(text.contains("name = \"fresh\" # mine") && text.contains("rt-multi-thread"), "{text}");
    let path = format!("path = \"{}\"", root.join("runtime").display());
    assert!(text.contains(&path), "the path stays as it was given: {text}");
    let yaml = dir.read("tools.yaml");
    assert!(
        yaml.starts_with("# yaml-language-server: $schema=https://") && yaml.lines().count() <= 12,
        "{yaml}"
    );

    let lines = fs::read_to_string(dir.join("Cargo.toml")).unwrap().lines().count();
    cargo(&dir, &["run"], "").exits(0).printed(&format!("{lines} Cargo.toml\n\n")).tells_no("warning");
    let main = dir.read("src/main.rs");
    dir.write("src/main.rs", main.replace("include_tools!(\"tools\")", "include_tools!(\"tolos\")"));
    cargo(&dir, &["check"], "")
        .exits(101)
        .tells("the build script compiles `tools`, and no tools `tolos`: write the name")
        .tells_no("couldn't read");
    dir.write("src/main.rs", main);

    init()
        .tells("tools.yaml exists and is unchanged")
        .prints_no("wrote")
        .prints_no("added")
        .prints_no("Add to");
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
    cargo(dir, &["run"], "").exits(0).prints(" Cargo.toml\n");
    cargo(dir, &["test"], "")
        .exits(0)
        .prints("test count_lines ... ok")
        .prints("test repeat::tests::a_text_is_repeated ... ok");
}

/// The sources of `cargo new` and `cargo new --lib`.
const CARGO_MAIN: &str = "fn main() {\n    println!(\"Hello, world!\");\n}\n";
const CARGO_LIB: &str = "pub fn add(left: u64, right: u64) -> u64 {\n    left + right\n}\n\n#[cfg(test)]\nmod tests {\n    \
    use super::*;\n\n    #[test]\n    fn it_works() {\n        let result = add(2, 2);\n        \
    assert_eq!(result, 4);\n    }\n}\n";

/// Returns the code of the printed step whose title begins with this.
fn code_of_step(stdout: &str, title: &str) -> String {
    let step = stdout.split(&format!(". {title}")).nth(1).unwrap_or_else(|| panic!("{title}: {stdout}"));
    let lines = step.lines().skip_while(|line| !line.is_empty()).skip(1);
    let lines = lines.take_while(|line| line.is_empty() || line.starts_with("    "));
    lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect()
}

/// After `init` and the steps that it prints, a crate with its own code compiles, and its code is still there.
#[test]
#[ignore = "heavy: cargo"]
fn libraries_and_programs_compile_after_init() {
    let init = format!("init --toolgen-path '{}'", checkout().display());
    let crate_with = |name: &str, files: &[(&str, &str)]| {
        let dir = folder(name);
        let manifest =
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n");
        dir.write("Cargo.toml", manifest + "\n[dependencies]\n");
        fs::copy(checkout().join("Cargo.lock"), dir.join("Cargo.lock")).unwrap();
        files.iter().for_each(|(file, text)| dir.write(file, text));
        dir
    };
    let check = |dir: &Folder| cargo(dir, &["check", "--all-targets"], "").exits(0).tells_no("warning");

    let library = crate_with("init-lib", &[("src/lib.rs", CARGO_LIB)]);
    library.run(&init).exits(0).prints("wrote ./src/lib.rs").prints("toolbox()?.call(name, arguments)");
    assert!(!library.read("Cargo.toml").contains("tokio"), "a library leaves the runtime to its program");
    check(&library);

    let own_lib = "//! Mine.\n\npub fn mine() {}\n";
    let library = crate_with("init-own-lib", &[("src/lib.rs", own_lib)]);
    let stdout = library.run(&init).exits(0).stdout;
    assert_eq!(library.read("src/lib.rs"), own_lib);
    library.write("src/lib.rs", own_lib.to_owned() + &code_of_step(&stdout, "Add to src/lib.rs:"));
    check(&library);

    let own_main = "#[tokio::main(flavor = \"current_thread\")]\nasync fn main() -> Result<(), Box<dyn std::error::Error>> {\n    \
        mine();\n    Ok(())\n}\n\nfn mine() {}\n";
    let own_build = "fn main() {\n    println!(\"cargo::rerun-if-changed=build.rs\");\n}\n";
    let program = crate_with("init-own-main", &[("src/main.rs", own_main), ("build.rs", own_build)]);
    let stdout = program.run(&init).exits(0).stdout;
    assert_eq!(
        (program.read("src/main.rs"), program.read("build.rs")),
        (own_main.to_owned(), own_build.to_owned())
    );
    let statement = code_of_step(&stdout, "Add to `main` in ./build.rs:");
    program.write("build.rs", own_build.replace("}\n", &format!("    {statement}}}\n")));
    let call =
        code_of_step(&stdout, "Call a tool in `main`, which must be async, such as below `#[tokio::main]`:");
    let main = own_main.replace("mine();\n    Ok", &format!("mine();\n{call}    Ok"));
    program.write("src/main.rs", main + &code_of_step(&stdout, "Add to src/main.rs:"));
    check(&program);
    program.run("doctor --offline").exits(0).ends("\nready\n");
}

#[test]
fn init_replaces_only_the_sources_of_cargo_new() {
    let dir = folder("new-crate");
    dir.write("Cargo.toml", "[package]\nname = \"fresh\"\n\n[workspace]\n");
    dir.write("src/main.rs", CARGO_MAIN);
    let stdout = dir.run("init").exits(0).prints("wrote ./src/main.rs").prints("docs/conversation.md").stdout;
    // The code needs them, and nothing has added them.
    for line in
        ["serde_json = \"1\"", "tokio = { version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }"]
    {
        assert!(stdout.contains(line), "{line}: {stdout}");
    }
    assert!(dir.read("src/main.rs").contains("include_tools!(\"tools\")"));
    dir.run("init").exits(0).prints_no("wrote").prints_no("Add to");

    for (file, new, own) in [
        ("src/main.rs", CARGO_MAIN, "fn main() { mine(); }\n"),
        ("src/lib.rs", CARGO_LIB, "pub fn add(left: u64, right: u64) -> u64 { left * right }\n"),
    ] {
        fs::remove_dir_all(dir.join("src")).unwrap();
        dir.write(file, new);
        dir.run("init").exits(0).prints(&format!("wrote ./{file}"));
        dir.write(file, own);
        dir.run("init").exits(0).prints(&format!("Add to {file}:")).prints_no("wrote");
        assert_eq!(dir.read(file), own);
    }
}

#[test]
fn init_adds_dependencies_with_a_checkout() {
    let dir = folder("new-dependencies");
    dir.write("Cargo.toml", "[workspace]\nmembers = [\"app\"]\n");
    dir.write("app/src/main.rs", CARGO_MAIN);
    dir.run("init").exits(1).tells("is a workspace without a package");
    let manifest =
        "[package]\nname = \"app\"\nbuild = \"make.rs\"\n\n[dependencies]\ntokio = \"1\"\n\n[lints]\n";
    dir.write("app/Cargo.toml", manifest);
    for file in ["runtime/Cargo.toml", "toolgen/Cargo.toml"] {
        dir.write(&format!("checkout/{file}"), "");
    }
    let stdout = dir.run("init app --toolgen-path checkout").exits(0).stdout;
    assert!(stdout.contains("wrote app/make.rs") && !stdout.contains("Make sure"), "{stdout}");
    let expected = "[package]\nname = \"app\"\nbuild = \"make.rs\"\n\n[dependencies]\n\
        tokio = { version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }\nserde_json = \"1\"\n\
        toolgen-runtime = { path = \"../checkout/runtime\", features = [\"process\", \"typed\"] }\n\n[lints]\n\n\
        [build-dependencies]\ntoolgen = { path = \"../checkout/toolgen\" }\n";
    assert_eq!(dir.read("app/Cargo.toml"), expected);
    dir.run("init app --toolgen-path checkout").exits(0).prints_no("added").prints_no("wrote");
    assert_eq!(dir.read("app/Cargo.toml"), expected);
}

#[test]
fn init_without_a_checkout_prints_the_lines_to_add() {
    let dir = folder("init");
    dir.run("init").exits(1).tells("is not the directory of a crate");
    fs::create_dir_all(dir.join("src")).unwrap();
    dir.write("src/lib.rs", "pub fn mine() {}\n");
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
        "Add to src/lib.rs:",
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

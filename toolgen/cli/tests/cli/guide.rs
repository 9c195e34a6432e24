//! Runs the commands of the guide: each exists, and the steps of a page work in an empty directory.
//!
//! A page is replayed as one script: a block that starts with a file path becomes that file, and the shell blocks run
//! in order, in one shell. CONTRIBUTING.md describes the marks.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use toolgen_test_support::http::{Server, reply};
use toolgen_test_support::pages::{self, Block, blocks, blocks_of, guide, root};

use crate::support::{Client, Run as _, documents, offline};

/// The directory of the replays: outside the repository, whose workspace cargo would find, and always the same, so that
/// nothing is compiled twice.
fn workspace() -> PathBuf {
    let mut hasher = DefaultHasher::new();
    root().hash(&mut hasher);
    std::env::temp_dir().join(format!("toolgen-guide-{:x}", hasher.finish()))
}

/// Which programs a page finds.
#[derive(Clone, Copy, PartialEq)]
enum Installed {
    /// The command line is installed already, and cannot be installed again.
    All,
    /// A page has to install the command line before it uses it.
    Nothing,
}

/// Writes stubs of the programs that a page uses, and returns their directory: the checkout and this build replace a
/// clone and an installation.
fn programs(path: &Path, installed: Installed) -> PathBuf {
    let bin = path.join("bin");
    let _ = fs::remove_dir_all(&bin);
    fs::create_dir_all(&bin).unwrap();
    let write = |name: &str, script: &str| {
        let file = bin.join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let (checkout, cargo) = (root().display().to_string(), env!("CARGO"));
    write("git", &format!("[ \"$1\" = clone ] && ln -sfn '{checkout}' toolgen"));
    write("installed-toolgen", &format!("exec '{}' \"$@\"", env!("CARGO_BIN_EXE_cargo-toolgen")));
    let copy = format!("cp '{0}/installed-toolgen' '{0}/cargo-toolgen'", bin.display());
    // An installation needs the sources. With the lock file of the checkout, a crate uses the available versions; cargo
    // removes unused ones from it, so a crate with a new dependency needs it again.
    write(
        "cargo",
        &format!(
            "case $1 in\ninstall) [ -f \"$3/Cargo.toml\" ] && {copy}; exit;;\n\
             new) name=$2; shift 2; mkdir \"$name\"; cp '{checkout}/Cargo.lock' \"$name\"; cd \"$name\"\n  \
             set -- init \"$@\";;\n\
             add) [ ! -f Cargo.lock ] || cp '{checkout}/Cargo.lock' .;;\n\
             test|run) [ -f Cargo.lock ] || cp '{checkout}/Cargo.lock' .;;\nesac\nexec '{cargo}' \"$@\""
        ),
    );
    if installed == Installed::All {
        fs::rename(bin.join("installed-toolgen"), bin.join("cargo-toolgen")).unwrap();
    }
    bin
}

/// Returns the script of a page.
fn script(found: &[Block]) -> String {
    let mut script = "set -eu\n".to_owned();
    for block in found {
        let text = &block.text;
        if block.marked("not run").is_some() {
            continue;
        }
        let location = block.place();
        match (block.file(), block.kind.as_str()) {
            (Some(file), _) => {
                let quoted = format!(
                    "mkdir -p \"$(dirname {file})\"\ncat > {file} <<'END OF FILE'\n{text}END OF FILE\n"
                );
                script.push_str(&quoted);
            }
            (None, "sh") if block.marked("fails").is_some() => {
                script.push_str(&format!(
                    "echo '==> {location}'\nif (\n{text}\n); then echo 'it succeeds'; exit 1; fi\n"
                ));
            }
            (None, "sh") => script.push_str(&format!("echo '==> {location}'\n{text}\n")),
            (None, _) => {}
        }
    }
    script
}

/// Runs a script in a directory, with the programs of another. Returns its output.
fn run(dir: &Path, bin: &Path, script: &str) -> Result<String, String> {
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    // A command that waits for input would wait forever.
    let mut command = Command::new("timeout");
    offline(command.args(["900", "bash", "-s"]).current_dir(dir)).env("PATH", path).env("NO_COLOR", "1");
    // The shell reads the whole script first, so that no command consumes it as input.
    let whole = format!("main() {{\n{script}\n}}\nmain </dev/null\n");
    let Output { status, stdout, stderr } = command.output_of(whole.as_bytes());
    let (message, errors) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    if status.success() { Ok(message.into_owned()) } else { Err(format!("{message}\n{errors}")) }
}

/// Creates an empty directory.
fn empty(name: &str) -> PathBuf {
    let dir = workspace().join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// Creates a directory with only the documents that the pages mention.
fn folder(name: &str) -> PathBuf {
    let dir = empty(name);
    let specs = root().join("specs");
    for (from, to) in [
        ("petstore.yaml", "petstore.yaml"),
        ("petstore.yaml", "api.yaml"),
        ("manifest-shared/notes.yaml", "tools.yaml"),
        ("mcp/shop.lock.json", "shop.lock.json"),
    ] {
        fs::copy(specs.join(from), dir.join(to)).unwrap();
    }
    dir
}

/// Pages whose programs cargo builds: a heavy test of each replays it.
const BUILT: [&str; 2] = ["docs/start.md", "docs/large-apis.md"];

#[test]
fn shell_blocks_of_the_guide_run() {
    let mut failed = Vec::new();
    let bin = programs(&workspace(), Installed::All);
    for page in guide() {
        let found = blocks_of(&page);
        let runs = found.iter().any(|block| block.kind == "sh" && block.marked("not run").is_none());
        let name = pages::relative(&page);
        if !runs || BUILT.contains(&name.as_str()) {
            continue;
        }
        let dir = folder(&name.replace(['/', '.'], "-"));
        match run(&dir, &bin, &script(&found)) {
            Err(error) => failed.push(format!("{}\n{error}", page.display())),
            Ok(_) => fs::remove_dir_all(dir).unwrap(),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// Starts a service that accepts one token. Returns its address.
fn service() -> String {
    let server = Server::start(|request| {
        let known =
            request.header("authorization").is_some_and(|key| key.eq_ignore_ascii_case("bearer your-token"));
        let (status, body) = if known && request.line().starts_with("GET /user ") {
            ("200 OK", r#"{"login":"ada"}"#)
        } else {
            ("401 Unauthorized", r#"{"message":"Bad credentials"}"#)
        };
        reply(status, "Content-Type: application/json\r\n", body)
    });
    server.url
}

/// Adapts commands of a page: the service is on this machine, which `--private-host` must allow.
fn here(text: &str, service: &str) -> String {
    text.replace("https://api.github.com", service)
        .replace("cargo toolgen call", "cargo toolgen call --private-host 127.0.0.1")
        .replace("HttpEngine::builder()", "HttpEngine::builder().private_host(\"127.0.0.1\")")
}

/// Starts a server from the configuration of a client, and calls one of its tools.
fn called_by_a_client(dir: &Path, bin: &Path, server: &Value, tool: &str) -> Value {
    let words = server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    let variables: BTreeMap<String, String> =
        serde_json::from_value(server["env"].clone()).unwrap_or_default();
    let program = server["command"].as_str().unwrap();
    let program = if program.contains('/') { dir.join(program) } else { bin.join(program) };
    let mut command = Command::new(program);
    command.args(words).envs(variables).current_dir(dir);
    let mut client = Client::start(&mut command, &json!({}));
    let response = client.call(tool, &json!({}));
    client.end();
    response
}

/// Returns the first block of a kind.
fn shown<'b>(found: &'b [Block], kind: &str) -> &'b str {
    &found.iter().find(|block| block.kind == kind).unwrap().text
}

/// The first page, verbatim, in an empty directory where nothing is installed: a function, an API with a credential, an
/// MCP client, an agent.
#[test]
#[ignore = "heavy: cargo"]
fn start_page_runs() {
    let dir = empty("start");
    let bin = programs(&dir, Installed::Nothing);
    let service = service();
    let mut found = blocks_of(&root().join("docs/start.md"));
    for block in &mut found {
        block.text = here(&block.text, &service);
    }
    let message = run(&dir, &bin, &script(&found)).unwrap_or_else(|reason| panic!("{reason}"));
    assert!(message.contains(shown(&found, "text")), "{message}");
    assert_eq!(
        message.matches(r#""login":"ada""#).count() + message.matches("\nada\n").count(),
        3,
        "{message}"
    );
    assert!(!message.contains("your-token"), "{message}");
    assert!(message.contains("2 passed") && message.contains("> add_item"), "{message}");

    let clients: Value = serde_json::from_str(shown(&found, "json")).unwrap();
    let mut server = clients["mcpServers"]["github"].clone();
    server["args"].as_array_mut().unwrap().extend([json!("--private-host"), json!("127.0.0.1")]);
    let response = called_by_a_client(&dir.join("first"), &bin, &server, "whoAmI");
    assert_eq!(response["structuredContent"]["login"], "ada", "{response}");
    fs::remove_dir_all(dir).unwrap();
}

/// The first part of the first page is complete: it needs only a clone and default features, and installs nothing.
#[test]
#[ignore = "heavy: cargo"]
fn function_of_the_start_page_needs_no_installation() {
    let dir = empty("start-function");
    let bin = programs(&dir, Installed::Nothing);
    let page = root().join("docs/start.md");
    let text = fs::read_to_string(&page).unwrap();
    let mut parts = text.lines().enumerate().filter(|(_, line)| line.starts_with("## "));
    let end = parts.nth(1).unwrap().0;
    let found: Vec<_> = blocks_of(&page).into_iter().filter(|block| block.line <= end).collect();
    assert!(
        found
            .iter()
            .all(|block| !block.text.contains("install") && !block.text.contains("features = [\"http"))
    );

    let message = run(&dir, &bin, &script(&found)).unwrap_or_else(|reason| panic!("{reason}"));
    assert!(message.ends_with(shown(&found, "text")), "{message}");
    assert!(!bin.join("cargo-toolgen").exists());
    let lock = fs::read_to_string(dir.join("first/Cargo.lock")).unwrap();
    for absent in ["toolgen", "toolgen-http", "ring"] {
        assert!(!lock.contains(&format!("\nname = \"{absent}\"\n")), "it needs {absent}");
    }
    fs::remove_dir_all(dir).unwrap();
}

/// The code of an API in its own crate is compiled once: an edit of the agent does not compile it again.
#[test]
#[ignore = "heavy: cargo"]
fn large_api_page_runs() {
    let dir = folder("large-apis");
    let bin = programs(&dir, Installed::All);
    std::os::unix::fs::symlink(root(), dir.join("toolgen")).unwrap();
    let found = blocks_of(&root().join("docs/large-apis.md"));
    run(&dir, &bin, &script(&found)).unwrap_or_else(|reason| panic!("{reason}"));

    let edited = "cd agent && echo '// An edit.' >> src/main.rs && cargo build -v 2>&1";
    let message = run(&dir, &bin, edited).unwrap_or_else(|reason| panic!("{reason}"));
    let crates = |word: &str| {
        let lines = message.lines().filter_map(|line| line.trim_start().strip_prefix(word));
        lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(crates("Compiling "), ["agent"], "{message}");
    assert!(crates("Fresh ").contains(&"petstore-api".to_owned()), "{message}");
    fs::remove_dir_all(dir).unwrap();
}

/// Every command and option that a page names exists.
#[test]
fn commands_in_the_guide_exist() {
    let mut helps: BTreeMap<Vec<String>, String> = BTreeMap::new();
    let mut help = |words: &[&str]| {
        let key = words.iter().map(|word| (*word).to_owned()).collect();
        let text = helps
            .entry(key)
            .or_insert_with(|| documents().run(format!("{} --help", words.join(" "))).exits(0).stdout);
        text.clone()
    };
    let mut wrong = Vec::new();
    for block in blocks(&guide()).iter().filter(|block| block.kind == "sh" || block.kind == "console") {
        for line in block.text.lines() {
            let Some((_, rest)) = line.split_once("cargo toolgen ") else { continue };
            let words = rest.split('#').next().unwrap().split_whitespace();
            // Arguments after `--` are for another program.
            let words: Vec<&str> = words.take_while(|word| *word != "--" && *word != "|").collect();
            let mut text = help(&words[..1]);
            if text.contains("Commands:") && words.len() > 1 {
                text = help(&words[..2]);
            }
            let options = words.iter().filter(|word| word.starts_with("--"));
            let missing = options.filter(|word| !text.contains(word.split('=').next().unwrap()));
            wrong.extend(missing.map(|word| format!("{}: `{}` has no {word}", block.place(), words[0])));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! Tests of shell usage: arguments without JSON, errors in other tools than the called one, private hosts, functions
//! next to manifests.

use std::fs;

use toolgen_test_support::http::{Server, ok};

use crate::support::Folder;

const MANIFEST: &str = r#"toolgen: 1
tools:
  greet:
    description: Greets a person.
    parameters:
      name: string - Who is greeted.
      times: integer? = 1 - How many times.
      loud: boolean? = false - Whether it is loud.
      to: string[]? - Who is addressed.
    command:
      argv: [printf, "%s,", "{name}", "{times}", "{loud}", "{to*?}"]
  now:
    description: Says that it is now.
    command: {argv: [printf, now]}
  ask:
    description: Asks a person.
    parameters: {text: string - What is asked.}
    effect: {name: ask}
  broken:
    description: Greets no one.
    command: {argv: [printf, "{no_one}"]}
"#;

fn folder(name: &str) -> Folder {
    Folder::new(&format!("shell/{name}")).with("tools.yaml", MANIFEST)
}

#[test]
fn arguments_are_passed_by_name() {
    let dir = folder("names");
    let call = |words: &str| dir.run(format!("call tools.yaml {words}"));
    for (words, message) in [
        ("greet name=Ada", "Ada,1,false,\n"),
        // Strings stay strings, regardless of their content; other values are JSON.
        (r#"greet name=7 times=3 loud=true to=["Bob"]"#, "7,3,true,Bob,\n"),
        (r#"greet 'name={"a=b": 1}'"#, "{\"a=b\": 1},1,false,\n"),
        ("greet name= --timeout 9", ",1,false,\n"),
        ("now", "now\n"),
    ] {
        call(words).exits(0).printed(message);
    }
    for (words, code, message) in [
        ("greet", 1, "/name: missing"),
        ("greet name=Ada times=often", 1, "/times: expected an integer, got the string \"often\""),
        ("greet nam=Ada", 1, "did you mean `name`?"),
        ("greet name=Ada loud", 2, "`loud` is neither a JSON object nor of the form NAME=VALUE"),
        ("greet name=Ada name=Bob", 2, "`name` is given twice"),
        (r#"greet '{"name": "Ada"}' times=3"#, 2, "add the others to it"),
    ] {
        call(words).exits(code).printed("").tells(message);
    }
}

#[test]
fn errors_elsewhere_do_not_hide_the_requested_tool() {
    let dir = folder("elsewhere");
    for words in ["call tools.yaml now", "docs tools.yaml --tool now", "schema tools.yaml --tool now"] {
        dir.run(words)
            .exits(0)
            .told("note: 1 error elsewhere; `cargo toolgen check tools.yaml` has the details\n");
    }
    dir.run("call tools.yaml broken")
        .exits(1)
        .tells("[E0423]")
        .tells_last("error: the tool `broken` has errors, see above\n");
    dir.run("call tools.yaml borken")
        .tells_last("error: there is no tool `borken`; did you mean `broken`?\n");
}

#[test]
fn list_command_shows_what_manifest_tools_do() {
    let rows = "ask    Asks a person.\ngreet  Greets a person.\nnow    Says that it is now.\n";
    folder("list").run("list tools.yaml").printed(rows);
}

#[test]
fn private_hosts_are_allowed_one_by_one() {
    let dir = folder("private");
    let server = Server::start(|_| ok("text/plain", "pong"));
    let manifest = format!(
        "toolgen: 1\ntools:\n  ping:\n    description: Pings.\n    http: {{url: '{}/'}}\n",
        server.url
    );
    dir.write("tools.yaml", manifest);
    dir.run("call tools.yaml ping").exits(1).tells("`--private-host HOST`");
    dir.run("call tools.yaml ping --private-host 127.0.0.1").exits(0).prints("pong");
    server.only();

    dir.run("bin tools.yaml --out ping --private-host 127.0.0.1").exits(0);
    let main = dir.read("ping/src/main.rs");
    assert!(main.contains(".private_host(\"127.0.0.1\")"), "{main}");
}

#[test]
fn program_omits_tools_it_cannot_run() {
    let dir = folder("effect");
    dir.run("bin tools.yaml --out program").tells("skipped `ask`: it is the effect `ask`").prints("2 tools");
}

#[test]
fn function_is_added_next_to_existing_tools() {
    let dir = folder("function");
    fs::create_dir_all(dir.join("src")).unwrap();
    dir.run("new one --kind rust").prints("#[path = \"tools/one.rs\"]\n    mod one;");
    dir.write("src/main.rs", "pub mod tools {\n    include_tools!(\"tools\");\n}\n");
    let stdout = dir.run("new two --kind rust").stdout;
    // The code of `init` has a module for the tools of the manifest, whose name must not collide.
    assert!(
        stdout.contains("Add to src/main.rs") && stdout.contains("#[path = \"tools/two.rs\"]"),
        "{stdout}"
    );
    assert!(stdout.contains("toolset![two::two, Engines::new().tools(tools::TOOLS)?]"), "{stdout}");
}

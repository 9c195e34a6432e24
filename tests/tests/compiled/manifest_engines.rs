//! Tests of manifest tools that are loaded, run by the engines and called through a toolbox.

#![cfg(unix)]
use serde_json::{Value, json};
use toolgen::dynamic::Loader;
use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::http::HttpEngine;
use toolgen_runtime::{Control, Registry, ToolCall, ToolResponse, Toolbox, ToolboxContext, Turn};
use toolgen_test_support::http::{Server, reply};
use toolgen_test_support::scratch::Folder;

const COMMANDS: &str = r#"
toolgen: 1
title: Files
tools:
  count:
    description: Counts the lines of a file.
    parameters: {path: string - The file.}
    command: {argv: [wc, -l, --, '{path}']}
  search:
    description: Finds the lines with a word.
    parameters:
      word: string - The word.
      most: integer = 2 - The most lines.
      paths: string[]? - The files.
      ignore_case: boolean? - Whether case does not matter.
    command:
      argv:
        - grep
        - --max-count={most}
        - {if: '{ignore_case}', args: [--ignore-case]}
        - {if: {not: {given: paths}}, args: [-r]}
        - --
        - '{word}'
        - '{paths?*}'
      exit_codes: {1: {success: true, message: No line holds the word.}, 2: A file cannot be read.}
      stream: true
  scripted:
    description: Shows what a script gets.
    parameters: {a: string - One., b: 'string? - Another.'}
    command: {shell: true, script: 'printf "%s|%s|%s" "$1" "$B" "$#"', args: ['{a}'], env: {B: '<{b?}>'}}
  list:
    description: Lists the files.
    output: string[]
    command: {argv: [echo, '["a.txt", "b.txt"]'], output: json}
  where:
    description: Tells the directory.
    parameters: {dir: 'string? - A directory.'}
    command: {argv: [pwd], cwd: '{dir?}'}
  sizes:
    description: Counts the lines of all files.
    compose:
      steps:
        - {id: files, call: list}
        - {id: sizes, call: count, for_each: '{steps.files}', with: {path: '{item}'}, parallel: 2}
      result: {first: '{steps.files.0?}', sizes: '{steps.sizes}'}
  submit:
    description: Ends the work.
    parameters: {plan: string - The plan.}
    complete: {next_state: REVIEW, message: 'Submitted {plan}.', data: {plan: '{plan}'}}
"#;

async fn call(toolbox: &Toolbox, name: &str, arguments: Value) -> ToolResponse {
    toolbox.run(ToolCall::new("1", name, arguments), &Turn::new("turn")).await
}

#[tokio::test]
async fn manifest_commands_run_as_declared() {
    let folder = Folder::new(&[("a.txt", "x\nY\nx\nx\n"), ("b.txt", "x\n"), ("sub/c", "")]);
    let root = folder.canonicalize().unwrap();
    let loaded = Loader::from_str(COMMANDS).unwrap().tools_with_engines(&Engines::new()).unwrap();
    assert!(loaded.problems.is_empty(), "{}", loaded.problems);
    let tools = loaded.tools;
    let toolbox = Registry::new(tools).unwrap().toolbox(ToolboxContext::new().with_work_dir(&root));
    let gone = "A file cannot be read.\nexit code 2\nstderr:\ngrep: gone: No such file or directory";
    let below = format!("{}/sub\n", root.display());
    for (name, arguments, expected) in [
        ("count", json!({"path": "a.txt"}), "4 a.txt\n"),
        ("search", json!({"word": "x", "paths": ["a.txt"]}), "x\nx\n"),
        ("search", json!({"word": "y", "ignore_case": true, "most": 1}), "a.txt:Y\n"),
        ("search", json!({"word": "-x"}), "No line holds the word."),
        ("search", json!({"word": "x", "paths": ["gone"]}), gone),
        ("scripted", json!({"a": "$(id)"}), "$(id)||1"),
        ("list", json!({}), r#"["a.txt","b.txt"]"#),
        ("sizes", json!({}), r#"{"first":"a.txt","sizes":["4 a.txt\n","1 b.txt\n"]}"#),
        ("where", json!({"dir": "sub"}), below.as_str()),
        (
            "where",
            json!({"dir": "../sub"}),
            "Invalid arguments: /dir: path traversal not allowed: it contains `..`; write a path inside the directory, \
             without `..`",
        ),
    ] {
        assert_eq!(call(&toolbox, name, arguments.clone()).await.text(), expected, "{name} {arguments}");
    }
    let submitted = call(&toolbox, "submit", json!({"plan": "p"})).await;
    assert_eq!(submitted.text(), "Submitted p.");
    assert_eq!(submitted.control(), Control::complete("REVIEW", json!({"plan": "p"})));
}

/// Starts a server that responds to every request with its request line and its body.
fn echo() -> Server {
    Server::start(|request| reply(200, "", format!("{} {}", request.line(), request.text())))
}

/// A default of a manifest is sent, in any location of the request.
#[tokio::test]
async fn manifest_defaults_are_sent() {
    let text = "
toolgen: 1
title: Service
tools:
  get:
    description: Gets a page.
    parameters: {id: string - The ID., page: integer = 3 - The page.}
    http: {url: 'https://h.example.com/{id}/{page}', query: {page: '{page}'}}
  post:
    description: Posts a note.
    parameters: {id: string - The ID., note: string = hi - The note.}
    http: {method: POST, url: 'https://h.example.com/{id}'}
";
    let engine = HttpEngine::builder().base_url(echo().url).build().unwrap();
    let tools =
        Loader::from_str(text).unwrap().tools_with_engines(&Engines::new().with(engine)).unwrap().tools;
    let toolbox = Registry::new(tools).unwrap().toolbox(ToolboxContext::new());
    for (name, expected) in
        [("get", "GET /a/3?page=3 HTTP/1.1 "), ("post", r#"POST /a HTTP/1.1 {"note":"hi"}"#)]
    {
        let output = call(&toolbox, name, json!({"id": "a"})).await.text();
        assert!(output.ends_with(expected), "{output}");
    }
}

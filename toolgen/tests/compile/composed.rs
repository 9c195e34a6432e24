//! Manifests of several documents, read and run when the program runs.

use serde_json::{Value, json};
use toolgen::Options;
use toolgen::dynamic::{LoadError, Loader};
use toolgen_runtime::engine::http::HttpEngine;
use toolgen_runtime::engine::{Engines, FunctionTable};
use toolgen_runtime::toolbox::ToolboxContext;
use toolgen_runtime::{Registry, ToolCall, ToolContext, ToolError, ToolResponse, Toolbox, Turn};
use toolgen_test_support::scratch::Folder;

const MAIN: &str = "\
toolgen: 1
imports: [{manifest: parts/files.yaml, namespace: fs}]
tools:
  lines:
    description: Counts the lines of the files that fit a pattern.
    parameters: {pattern: string - Which files., most: integer? = 2 - The most., more: boolean? - Whether to go on.}
    compose:
      steps:
        - {id: find, call: fs__find, with: {pattern: '{pattern}', most: '{most}'}}
        - {id: count, call: fs__count, for_each: '{steps.find.files}', parallel: 2, on_error: continue, with: {path: '{item.path}'}}
        - {id: rest, call: fs__find, if: '{more}', with: {pattern: 'not {pattern}'}}
      result: {found: '{steps.find.total}', lines: '{steps.count}', rest: '{steps.rest?}'}
toolsets:
  counting: {context: quiet, include: [finding], tools: ['fs__c*']}
contexts:
  quiet: {scopes: [read]}
";

const FILES: &str = "\
toolgen: 1
schemas:
  File: {type: object, required: [path], properties: {path: {type: string}}}
tools:
  find:
    description: Finds files.
    read_only: true
    parameters: {pattern: string - Which., most: integer? = 9 - The most.}
    output: {type: object, required: [files, total], properties: {total: {type: integer}, files: {type: array, items: {$ref: '#/schemas/File'}}}}
    function: {}
  count:
    description: Counts lines.
    parameters: {path: string - The file.}
    output: {type: integer}
    function: {}
toolsets: {finding: {tools: [find]}}
";

/// A folder with a manifest and one that it imports.
fn folder() -> Folder {
    Folder::new(&[("main.yaml", MAIN), ("parts/files.yaml", FILES)])
}

fn load(dir: &Folder) -> Loader {
    Loader::from_file(dir.join("main.yaml")).unwrap()
}

fn engines() -> Engines {
    let find = |arguments: Value, _: ToolContext| async move {
        let max = arguments["most"].as_u64().unwrap();
        let files: Vec<Value> = (0..max).map(|number| json!({"path": format!("{number}.rs")})).collect();
        Ok(json!({"files": files, "total": max}))
    };
    let count = |arguments: Value, _: ToolContext| async move {
        match arguments["path"].as_str() {
            Some("1.rs") => Err(ToolError::failed("gone")),
            path => Ok(json!(path.unwrap().len())),
        }
    };
    Engines::new().with(FunctionTable::new().with("fs__find", find).with("fs__count", count))
}

async fn call(toolbox: &Toolbox, arguments: Value) -> ToolResponse {
    toolbox.run(ToolCall::new("1", "lines", arguments), &Turn::new("turn")).await
}

#[tokio::test]
async fn composed_tool_runs_its_steps() {
    let dir = folder();
    let loaded = load(&dir).tools_with_engines(&engines()).unwrap();
    assert_eq!(loaded.problems.to_string(), "");
    let names: Vec<&str> = loaded.tools.iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["fs__count", "fs__find", "lines"]);
    let toolbox = Registry::new(loaded.tools).unwrap().toolbox(ToolboxContext::default());
    let result = |response: ToolResponse| serde_json::from_str::<Value>(&response.text()).unwrap();

    let some = call(&toolbox, json!({"pattern": "*.rs"})).await;
    assert_eq!(result(some), json!({"found": 2, "lines": [4, null]}));
    let more = call(&toolbox, json!({"pattern": "*.rs", "most": 1, "more": true})).await;
    let more = result(more);
    assert_eq!((&more["lines"], &more["rest"]["total"]), (&json!([4]), &json!(9)));
}

#[tokio::test]
async fn compiled_toolset_restricts_a_toolbox() {
    let dir = folder();
    let (program, _) = load(&dir).compile().unwrap();
    let tools = load(&dir).tools_with_engines(&engines()).unwrap().tools;
    let registry = Registry::new(tools).unwrap();
    let set = program.toolsets.iter().find(|set| *set.name == *"counting").unwrap();
    assert_eq!(set.members.iter().map(|name| name.as_str()).collect::<Vec<_>>(), ["fs__find", "fs__count"]);
    let toolbox = Toolbox::builder(&registry).toolset(set).build().unwrap();
    // Counting declares no effects, so it needs the scope `write`, which the context does not have.
    let names: Vec<String> = toolbox.list().iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["fs__find"]);
}

#[test]
fn selected_tools_include_exactly_their_dependencies() {
    let dir = folder();
    let names = |options: Options| {
        let (program, problems) = load(&dir).options(options).compile().unwrap();
        assert!(problems.as_slice().is_empty(), "{problems}");
        let tools: Vec<String> = program.all_tools().iter().map(|tool| tool.spec.name.to_string()).collect();
        let sets = program.toolsets.iter().flat_map(|set| set.members.iter().map(ToString::to_string));
        (tools, sets.collect::<Vec<_>>())
    };
    let all = ["fs__count", "fs__find", "lines"].map(String::from).to_vec();
    assert_eq!(names(Options::default().include("lines")).0, all);
    let one = vec!["fs__find".to_owned()];
    let (tools, members) = names(Options::default().include("fs__find"));
    assert_eq!((tools, members.first()), (one.clone(), one.first()));
    assert_eq!(names(Options::default().exclude("lines")).0, all[..2]);
}

/// A document that comes by several ways, with the same options, is one part.
#[test]
fn document_imported_twice_is_included_once() {
    let dir = folder();
    let way = "toolgen: 1\nimports: [{manifest: parts/files.yaml, namespace: fs}]\ncontexts: {quiet: {scopes: [read]}}\n";
    dir.write("way.yaml", way);
    let twice = "imports: [{manifest: way.yaml}, {manifest: parts/files.yaml, namespace: fs}, ";
    dir.write("main.yaml", MAIN.replace("imports: [", twice));
    let (program, problems) = load(&dir).compile().unwrap();
    assert_eq!(problems.to_string(), "");
    let names: Vec<&str> = program.all_tools().iter().map(|tool| tool.spec.name.as_str()).collect();
    assert_eq!(names, ["fs__count", "fs__find", "lines"]);
    assert_eq!(program.parts.len(), 1, "the two others have nothing else");
    assert_eq!(program.all_operations(), 3);
    assert!(program.toolsets.iter().any(|set| *set.name == *"counting"));
    // With other options it is another part.
    let other = twice.replace("namespace: fs", "namespace: files");
    dir.write("main.yaml", MAIN.replace("imports: [", &other));
    let (program, problems) = load(&dir).compile().unwrap();
    assert!(problems.to_string().contains("there are two toolsets `finding`"), "{problems}");
    assert_eq!((program.parts.len(), program.all_tools().len()), (2, 5));
}

#[test]
fn program_lists_its_source_files() {
    let dir = folder();
    let (program, _) = load(&dir).compile().unwrap();
    assert_eq!(program.sources, [dir.join("parts/files.yaml")]);
    let built = toolgen::Build::new("main").document(dir.join("main.yaml")).compile();
    assert_eq!(built.sources, program.sources);
}

#[test]
fn only_manifests_on_disk_read_other_files() {
    let error =
        Loader::from_str(MAIN).unwrap().tools_with_engines(&engines()).err().map(|error| error.to_string());
    let (_, problems) = Loader::from_str(MAIN).unwrap().compile().unwrap();
    let message = "`parts/files.yaml` cannot be found: this manifest was not read from a directory";
    assert!(problems.to_string().contains(message), "{problems} {error:?}");
}

#[test]
fn non_http_tools_require_their_engines() {
    let dir = folder();
    let engine = HttpEngine::builder().build().unwrap();
    let error = load(&dir).tools(&engine).unwrap_err();
    assert!(matches!(error, LoadError::NoRequests(_)));
    let message =
        "no HTTP requests: `fs__count`, `fs__find`, `lines`; load the document with `tools_with_engines`";
    assert_eq!(error.to_string(), message);
    let error = load(&dir).tools_with_engines(&Engines::new()).unwrap_err();
    assert!(error.to_string().contains("`fs__count`, `fs__find`: "), "{error}");
}

/// The rules of `#[arg(…)]` that JSON Schema does not have.
#[tokio::test]
async fn deny_patterns_and_path_rules_apply() {
    let manifest = r"
toolgen: 1
tools:
  open:
    description: Opens files of a branch.
    parameters:
      file: {type: string, path: true, description: The file.}
      others: {type: array, items: string, path: true, optional: true, description: More files.}
      branch: {type: string, deny_pattern: '^-', deny_message: no dash at the start, default: main, description: Which.}
    function: {}
";
    let opened = |arguments: Value, _: ToolContext| async move { Ok(arguments) };
    let engines = Engines::new().with(FunctionTable::new().with("open", opened));
    let loaded = Loader::from_str(manifest).unwrap().tools_with_engines(&engines).unwrap();
    assert_eq!(loaded.problems.to_string(), "");
    let toolbox = Registry::new(loaded.tools).unwrap().toolbox(ToolboxContext::default());
    let call = async |arguments: Value| {
        toolbox.run(ToolCall::new("1", "open", arguments), &Turn::new("turn")).await.text()
    };
    for fine in ["a", "a/b.txt", "..a", "a..", "a/.../b", ".", "./a", "C", "~a"] {
        let message = call(json!({"file": fine, "others": [fine], "branch": "a-b"})).await;
        assert!(!message.starts_with("Invalid"), "{fine}: {message}");
    }
    let up = "it contains `..`; write a path inside the directory, without `..`";
    for (wrong, reason) in [
        ("..", up),
        ("../a", up),
        ("a/..", up),
        ("a/../b", up),
        ("a\\..\\b", up),
        ("/etc/passwd", "it is absolute; write it relative to the directory, without the `/` at its start"),
        ("\\a", "it is absolute; write it relative to the directory, without the `\\` at its start"),
        ("C:x", "it begins with a drive; write a path relative to the directory"),
        ("~/a", "`~` does not stand for a home directory here; write a path relative to the directory"),
        ("a\0", "it contains a NUL character; remove it"),
    ] {
        let message = call(json!({ "file": wrong })).await;
        assert_eq!(
            message,
            format!("Invalid arguments: /file: path traversal not allowed: {reason}"),
            "{wrong}"
        );
        let message = call(json!({"file": "a", "others": ["b", wrong]})).await;
        assert_eq!(
            message,
            format!("Invalid arguments: /others/1: path traversal not allowed: {reason}"),
            "{wrong}"
        );
    }
    let message = call(json!({"file": "a", "branch": "-x"})).await;
    assert_eq!(message, "Invalid arguments: /branch: no dash at the start");
    let schema = &toolbox.list()[0].input_schema["properties"];
    assert_eq!(schema["file"]["description"], "The file. A relative path without `..`.");
    assert_eq!(schema["branch"]["not"], json!({"pattern": "^-"}));
}

//! Documents of several files. One folder a case: `files/CASE/api.yaml` compiles to what `expected.json` says.
//!
//! `TOOLGEN_UPDATE=1` writes the files anew; read the difference before you keep it. The first line of a document may
//! be `# roots: FOLDER FOLDER`, relative to the folder of the case.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolgen::{Build, Document, Options, Problems, Program, Tool};

use toolgen_test_support::{golden, scratch::Folder};

use crate::support::{compiled, compiled_file, names, of_shape, set};

/// The folder of the cases, from where tests run.
const CASES: &str = "tests/files";

fn entry(case: &Path) -> PathBuf {
    let names = ["api.yaml", "index.yaml", "api/api.yaml"].map(|name| case.join(name));
    names.into_iter().find(|path| path.is_file()).unwrap()
}

#[test]
fn multi_file_documents_snapshot() {
    golden::assert_cases(&golden::cases(Path::new(CASES)), "expected.json", |case| {
        let path = entry(case);
        let text = fs::read_to_string(&path).unwrap();
        let roots = set(&text, "roots").split_whitespace().map(|root| case.join(root));
        let (program, problems) = compiled_file(&path, &roots.fold(Options::default(), Options::root));
        format!("{:#}\n", told(&program.unwrap(), &problems))
    });
}

fn told(program: &Program, problems: &Problems) -> Value {
    let defs = program.defs.iter().map(|def| (def.name.to_string(), of_shape(def.schema.shape())));
    let sources = program.sources.iter().map(|path| path.display().to_string());
    let problems = problems.placed().into_iter().map(|(at, one)| {
        let file = one.source.path.display();
        format!("{file}:{}:{}: {} {}; {}", at.line, at.column, one.code, one.message, one.help)
    });
    json!({
        "tools": program.tools.iter().map(of_tool).collect::<Vec<_>>(),
        "defs": Value::Object(defs.collect()),
        "sources": sources.collect::<Vec<_>>(),
        "problems": problems.collect::<Vec<_>>(),
    })
}

fn of_tool(tool: &Tool) -> Value {
    let plan = tool.call.http().unwrap();
    let origin = format!("{}#{}", tool.origin.source.path.display(), tool.origin.pointer);
    let parameters = plan.parameters.iter().map(|one| format!("{:?} {}", one.location, one.name));
    let schemes = plan.security.iter().flat_map(|one| &one.schemes).map(|scheme| scheme.id.to_string());
    json!({
        "name": tool.spec.name.as_str(),
        "description": tool.spec.description.as_str(),
        "returns": tool.spec.returns.as_str(),
        "input": of_shape(tool.spec.input.shape()),
        "output": tool.spec.output.as_ref().map(|output| of_shape(output.shape())),
        "examples": tool.spec.examples.iter().map(|one| one.arguments.to_string()).collect::<Vec<_>>(),
        "servers": plan.servers.iter().map(|server| server.url.to_string()).collect::<Vec<_>>(),
        "parameters": parameters.collect::<Vec<_>>(),
        "security": schemes.collect::<Vec<_>>(),
        "origin": origin,
    })
}

#[test]
fn overlay_changes_the_document_but_not_its_parts() {
    let mut problems = Problems::new();
    let path = Path::new(CASES).join("schemas/api.yaml");
    let document = Document::load(&path, &mut problems).unwrap();
    let overlay = "overlay: 1.0.0\ninfo: {title: a, version: '1'}\n\
                   actions: [{target: \"$.paths['/owners']\", remove: true}]";
    let overlay = Document::parse(Path::new("overlay.yaml"), overlay, &mut problems).unwrap();
    let changed = std::sync::Arc::new(document.overlaid(&overlay, &mut problems));
    let program = toolgen::compile(&changed, &Options::default(), &mut problems).unwrap();
    assert_eq!(names(&program), ["add"], "{problems}");
    assert!(problems.is_empty() && program.defs.iter().any(|def| def.name == "pet"), "{problems}");
}

#[test]
fn build_lists_the_files_it_depends_on() {
    let built = Build::new("a").document(Path::new(CASES).join("schemas/api.yaml")).compile();
    let names: Vec<_> =
        built.sources.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["all.json", "pet.yaml", "add pet.md"]);
}

#[test]
fn in_memory_document_resolves_against_the_first_root() {
    let text = "openapi: 3.1.0\npaths: {/a: {post: {operationId: a, requestBody: {required: true, content: \
                {application/json: {schema: {$ref: schemas/pet.yaml}}}}}}}";
    let compiled = |options: &Options| {
        let (program, problems) = compiled(text, options);
        (program.unwrap().defs.len(), problems.to_string())
    };
    let (_, message) = compiled(&Options::default());
    assert!(message.contains("[E0304]") && message.contains("was not read from a file"), "{message}");
    assert_eq!(compiled(&Options::default().root(Path::new(CASES).join("schemas"))), (3, String::new()));
}

/// A document of someone who wants to read what they must not, or to keep the compiler busy.
#[cfg(unix)]
#[test]
fn hostile_document_cannot_read_outside_or_hang() {
    let dir = Folder::new(&[("secret.yaml", "type: string\nenum: [secret]\n"), ("inside/folder/x", "")]);
    let inside = dir.join("inside");
    std::os::unix::fs::symlink(dir.join("secret.yaml"), inside.join("link.yaml")).unwrap();
    std::os::unix::fs::symlink(&*dir, inside.join("up")).unwrap();
    std::os::unix::fs::symlink("loop.yaml", inside.join("loop.yaml")).unwrap();
    fs::File::create(inside.join("sparse.yaml")).unwrap().set_len(1 << 30).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(inside.join("pipe.yaml")).status();
    let mut names =
        vec!["link.yaml", "up/secret.yaml", "loop.yaml", "sparse.yaml", "folder", "../secret.yaml"];
    names.extend(pipe.is_ok_and(|status| status.success()).then_some("pipe.yaml"));
    names.extend(["..%2Fsecret.yaml", "%2e%2e/secret.yaml", "up/../../secret.yaml", "a\0b.yaml"]);
    let fields = names.iter().map(|name| json!({"$ref": name}));
    let schema = json!({"type": "object", "properties": {"a": {"oneOf": fields.collect::<Vec<_>>()}}});
    let body = json!({"content": {"application/json": {"schema": schema}}});
    let document =
        json!({"openapi": "3.1.0", "paths": {"/a": {"post": {"operationId": "a", "requestBody": body}}}});
    fs::write(inside.join("api.json"), document.to_string()).unwrap();
    let (program, problems) = compiled_file(&inside.join("api.json"), &Options::default());
    let program = program.unwrap();
    assert_eq!(program.sources, Vec::<PathBuf>::new(), "{problems}");
    assert!(!format!("{:?}", program.tools).contains("enum"), "{problems}");
    let messages: Vec<&str> = problems.as_slice().iter().map(|problem| problem.code.id()).collect();
    let expected: Vec<&str> = names.iter().map(|_| "E0304").chain(["E0303"]).collect();
    assert_eq!(messages, expected, "{problems}");
}

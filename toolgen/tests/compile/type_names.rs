//! The names of generated types: titles name what has no name, and no name is a number of ours where the document has words.
//!
//! `types/CASE.yaml` becomes the types that `types/CASE.txt` lists. A case is a document, or `results`, the schema that
//! each operation answers with, `tags` of them and `components`. `TOOLGEN_UPDATE=1` writes the lists anew; read the
//! difference before you keep it.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use toolgen::emit::{self, ModuleStyle};
use toolgen::{Document, Options, Problems};
use toolgen_test_support::golden;

use crate::support::program_of;

/// The text of the module of a case.
fn module(case: &Value) -> String {
    let mut document = case.clone();
    if let Some(results) = case.get("results").and_then(Value::as_object) {
        let operation = |(id, schema): (&String, &Value)| {
            let response = json!({"description": "", "content": {"application/json": {"schema": schema}}});
            let tags: Vec<&Value> = case["tags"].get(id).into_iter().collect();
            let operation = json!({"operationId": id, "tags": tags, "responses": {"200": response}});
            (format!("/{id}"), json!({ "get": operation }))
        };
        let paths: Map<String, Value> = results.iter().map(operation).collect();
        document = json!({"paths": paths, "components": {"schemas": case["components"]}});
    }
    let program = program_of(&document, &Options::default().types(true));
    emit::module(&program, &ModuleStyle { types: true, ..ModuleStyle::new("api.json") })
}

/// The types of a module with their fields and variants, and what is documented of either.
fn types(module: &str) -> String {
    let begins =
        |line: &str| ["pub struct ", "pub enum ", "pub type "].iter().any(|kind| line.starts_with(kind));
    let mut out = String::new();
    let (mut documentation, mut within) = (String::new(), false);
    for line in module.lines() {
        let text = line.trim_start();
        if text.starts_with("/// ") {
            documentation.push_str(line);
            documentation.push('\n');
            continue;
        }
        let is_member = within && !text.starts_with(['#', '}']);
        if begins(text) || is_member {
            out.push_str(&documentation);
            out.push_str(line);
            out.push('\n');
        }
        within = (within || begins(text)) && !text.ends_with(['}', ';']);
        if !text.starts_with('#') {
            documentation.clear();
        }
    }
    out
}

#[test]
fn type_names_snapshot() {
    let mut cases = golden::cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/types"));
    cases.retain(|case| case.extension().is_some_and(|ending| ending == "yaml"));
    let wrong = cases.iter().filter_map(|case| {
        let text = fs::read_to_string(case).unwrap();
        let document = Document::parse(case, &text, &mut Problems::new()).unwrap();
        let module = module(&document.root);
        assert!(!module.contains("x-title"), "a model is told no titles");
        golden::compare(&case.with_extension("txt"), &types(&module)).err()
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn object(title: &str, field: &str) -> Value {
    json!({"type": "object", "title": title, "properties": {field: {"type": "string"}}})
}

#[test]
fn type_names_do_not_depend_on_other_schemas() {
    let pet = json!({"properties": {"owner": object("Pet owner", "name"), "tag": object("", "a")}});
    let shop = json!({"properties": {"owner": object("Shop owner", "name2"), "tag": object("", "b")}});
    let before = module(&json!({"results": {"getPet": pet}}));
    let unused = json!({"Unused": object("Pet owner", "other")});
    let after = module(&json!({"results": {"addShop": shop, "getPet": pet}, "components": unused}));
    let names = |module: &str| -> Vec<String> {
        let heads = module.lines().map(str::trim_start).filter(|line| line.starts_with("pub struct "));
        heads.map(str::to_owned).collect()
    };
    let after = names(&after);
    assert!(names(&before).iter().all(|name| after.contains(name)), "{before}");
}

#[test]
fn renamed_operation_does_not_rename_types_of_others() {
    let owner =
        json!({"type": "object", "properties": {"name": {"type": "string"}, "home": object("", "street")}});
    let list = |renamed: &str| {
        let one = json!({"type": "object", "properties": {"owner": owner, "age": {"type": "integer"}}});
        let other = json!({"type": "object", "properties": {"owner": owner, "count": {"type": "integer"}}});
        let text = module(&json!({"results": {renamed: one, "listPets": other}}));
        text.split_once("pub struct ListPetsOutput {").unwrap().1.split_once('}').unwrap().0.to_owned()
    };
    assert_eq!(list("getPet"), list("fetchPet"));
}

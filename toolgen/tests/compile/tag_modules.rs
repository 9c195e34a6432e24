//! Modules by tags: what one tag alone uses stands in its module, what several share stands around them.

use serde_json::{Value, json};
use toolgen::emit::{self, ModuleStyle, Modules, RuntimeDependency};
use toolgen::{Options, Program};

use crate::support::program_of;

fn program(document: &Value) -> Program {
    program_of(document, &Options::default())
}

fn text(document: &Value, modules: Modules) -> String {
    emit::module(&program(document), &ModuleStyle { modules, ..ModuleStyle::new("api.json") })
}

fn operation(id: &str, tags: &[&str], schema: &str) -> Value {
    let schema = json!({"$ref": format!("#/components/schemas/{schema}")});
    let response = json!({"description": "", "content": {"application/json": {"schema": schema}}});
    json!({"operationId": id, "tags": tags, "responses": {"200": response}})
}

fn document() -> Value {
    let of = |field: &str, ty: &Value| json!({"type": "object", "properties": {field: ty}});
    json!({
        "paths": {
            "/pets": {"get": operation("listPets", &["Pet care"], "Pet")},
            "/shops": {"get": operation("listShops", &["shops", "Pet care"], "Shop")},
            "/types": {"get": operation("listTypes", &["types"], "Shop")},
            "/Types": {"get": operation("listMore", &["Types"], "Pet")},
            "/health": {"get": operation("getHealth", &[], "Health")},
        },
        "components": {"schemas": {
            "Pet": of("owner", &json!({"$ref": "#/components/schemas/Person"})),
            "Shop": of("owner", &json!({"$ref": "#/components/schemas/Person"})),
            "Person": of("name", &json!({"type": "string"})),
            "Health": of("well", &json!({"type": "boolean"})),
        }},
    })
}

/// The text of a module in another.
fn inner<'t>(text: &'t str, name: &str) -> &'t str {
    let start = format!("\npub mod {name} {{\n");
    text.split_once(&start).unwrap().1.split_once("\n}\n").unwrap().0
}

#[test]
fn types_used_by_one_tag_are_in_its_module() {
    let text = text(&document(), Modules::ByTag);
    let (pets, shops, types) = (inner(&text, "pet_care"), inner(&text, "shops"), inner(&text, "types"));
    for (of, module) in [("LIST_PETS", pets), ("LIST_SHOPS", shops)] {
        assert!(module.contains(&format!("pub static {of}: ")), "{module}");
        assert!(module.contains(&format!("    pub static TOOLS: &[&::toolgen_runtime::Tool] = &[&{of}];\n")));
    }
    assert!(pets.contains("pub struct ListPets {") && shops.contains("pub struct ListShops {"), "{text}");
    let shared = ["Person", "Pet", "Shop", "Health", "GetHealth"];
    for name in shared {
        assert!(types.contains(&format!("    pub struct {name} {{")), "{name}: {types}");
        assert_eq!(text.matches(&format!("pub struct {name} {{")).count(), 1, "{name}");
    }
    assert!(pets.contains("use super::super::types::*;"), "{pets}");
}

#[test]
fn duplicate_module_names_are_resolved_and_reported() {
    let text = text(&document(), Modules::ByTag);
    assert!(inner(&text, "types_3").contains("LIST_MORE"), "{text}");
    assert!(inner(&text, "types_2").contains("LIST_TYPES"));
    assert!(text.contains("The tools of the tag `Types`, and the types that only they use. The name `types` is that of another module."));
}

#[test]
fn root_tool_list_equals_that_of_a_single_module() {
    let order = |modules| {
        let text = text(&document(), modules);
        let list = text.split_once("pub static TOOLS").unwrap().1.split_once(" = ").unwrap().1;
        let paths = list.split_once(';').unwrap().0.trim_matches(['&', '[', ']', '\n']).split(',');
        let idents = paths.map(|path| path.trim().rsplit(['&', ':']).next().unwrap().to_owned());
        idents.filter(|ident| !ident.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(order(Modules::ByTag), order(Modules::One));
    assert_eq!(order(Modules::One).len(), 5);
    assert!(!text(&document(), Modules::ByTag).contains("pub mod categories"), "they are the modules");
}

#[test]
fn links_to_tools_include_their_modules() {
    let list = |key: &str| json!({"type": "object", "properties": {key: {"type": "integer"}}});
    let response = |key| json!({"description": "", "content": {"application/json": {"schema": list(key)}}});
    let of = |id: &str, tag: &str, key| json!({"get": {"operationId": id, "tags": [tag], "responses": {"200": response(key)}}});
    // The most common one is `SharedOutput`; the other has the name of its first place, and its documentation.
    let document = json!({"paths": {
        "/a": of("getA", "a", "x"), "/b": of("getB", "b", "x"), "/c": of("getC", "c", "x"),
        "/d": of("countD", "a", "y"), "/e": of("countE", "b", "y"),
    }});
    let text = text(&document, Modules::ByTag);
    assert!(inner(&text, "types").contains("pub struct SharedOutput {"), "{text}");
    assert!(inner(&text, "types").contains("](super::a::COUNT_D)"), "{text}");
    assert!(inner(&text, "a").contains("[`COUNT_D`](super::COUNT_D)"), "{text}");
}

#[test]
fn each_tag_of_a_crate_has_its_own_file() {
    let style = ModuleStyle { modules: Modules::ByTag, ..ModuleStyle::new("api.json") };
    let module = |name: &str| (name.to_owned(), emit::module(&program(&document()), &style));
    let package = |modules: &[(String, String)]| {
        emit::package("all", modules, &["typed"], &RuntimeDependency::Version, Modules::ByTag)
    };
    let files = package(&[module("api")]);
    let paths: Vec<_> = files.iter().map(|(path, _)| path).collect();
    let tags = ["pet_care", "shops", "types_2", "types_3"];
    let expected = ["lib", tags[0], tags[1], tags[2], tags[3]].map(|name| format!("src/{name}.rs"));
    assert_eq!(paths, [&["Cargo.toml".to_owned()], &expected[..]].concat());
    let text = |wanted: &str| files.iter().find(|(path, _)| *path == wanted).unwrap().1;
    assert!(text("src/lib.rs").contains("\npub mod pet_care;\n"));
    assert!(text("src/pet_care.rs").starts_with("// Generated by toolgen "));
    assert!(text("src/pet_care.rs").contains("\npub static LIST_PETS: "));
    let files = package(&[module("api"), module("other")]);
    assert!(files.iter().any(|(path, _)| path == "src/other/pet_care.rs"));
    assert!(files.iter().any(|(_, text)| text.contains("pub mod types {")));
}

#[test]
fn thousands_of_tags_compile_in_linear_time() {
    let schema =
        |index: usize| json!({"type": "object", "properties": {format!("f{index}"): {"type": "string"}}});
    let path = |index: usize| {
        let mut operation = operation(&format!("get{index}"), &[&format!("tag{index}")], "");
        operation["responses"]["200"]["content"]["application/json"]["schema"] = schema(index);
        (format!("/p{index}"), json!({ "get": operation }))
    };
    let program =
        |tags: usize| program(&json!({"paths": (0..tags).map(path).collect::<serde_json::Map<_, _>>()}));
    let style = ModuleStyle { modules: Modules::ByTag, ..ModuleStyle::new("api.json") };
    let time = |program: &Program| {
        let start = std::time::Instant::now();
        assert!(emit::module(program, &style).contains("pub mod tag1 {"));
        start.elapsed()
    };
    let (few, many) = (program(1_000), program(8_000));
    // Half of what a square would take; the least of several, for a machine may be busy.
    let ratio = (0..3).map(|_| time(&many).as_secs_f64() / time(&few).as_secs_f64()).fold(f64::MAX, f64::min);
    assert!(ratio < 20.0, "{ratio}");
}

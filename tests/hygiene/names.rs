//! Documents whose names are identifiers of generated code, of the macros that it calls, and of its imports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The sources of the macros that generated code calls, and of its imports.
const MACROS: [&str; 6] = [
    "engine/typed.rs",
    "engine/typed/json.rs",
    "engine/typed/json/build.rs",
    "engine/typed/json/choice.rs",
    "engine/typed/link.rs",
    "private.rs",
];

/// The modules of `private.rs` for generated code.
const PRIVATE: [&str; 2] = ["mod types_prelude {", "mod functions {"];

/// Names of Rust that generated code does not use.
const RUST: &str = "Item Output Target Owned Error Iterator IntoIter Rhs Box Vec String Send Sync Sized Drop Fn FnMut \
    FnOnce Iterator Extend Into From TryFrom TryInto AsRef AsMut ToOwned ToString Ordering std core alloc self Self \
    super crate bool char str i8 i32 i64 i128 u64 usize f64 ALL a-l-l";

/// Returns the identifiers of most of these modules, and of the macros. Identifiers of only one module come from its
/// document.
fn words(modules: &[String]) -> BTreeSet<String> {
    let runtime = Path::new("../../runtime/kernel/src");
    let mut modules_with: BTreeMap<String, usize> = BTreeMap::new();
    for text in modules {
        for word in of(text) {
            *modules_with.entry(word).or_default() += 1;
        }
    }
    let mut found: BTreeSet<String> =
        modules_with.into_iter().filter(|(_, count)| *count >= 5).map(|(word, _)| word).collect();
    for file in MACROS {
        println!("cargo::rerun-if-changed=../../runtime/kernel/src/{file}");
        let text = fs::read_to_string(runtime.join(file)).expect("a source of the runtime");
        // Definitions and imports; the functions between them have their own scope.
        let parts = text.split("\n}\n").filter(|part| match file {
            "private.rs" => PRIVATE.iter().any(|module| part.contains(module)),
            _ => part.contains("macro_rules!"),
        });
        parts.for_each(|part| found.extend(of(part)));
    }
    found.extend(RUST.split(' ').map(str::to_owned));
    // One spelling per identifier: names that differ only in case get a number, and then prove nothing.
    let mut spellings: BTreeMap<String, String> = BTreeMap::new();
    for word in found {
        spellings.entry(word.to_ascii_lowercase().replace('_', "")).or_insert(word);
    }
    spellings.into_values().collect()
}

/// Returns the identifiers of a text, without its comments and literals.
fn of(text: &str) -> BTreeSet<String> {
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n").replace("\\\"", "");
    let code: String = code.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    let words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic())).map(str::to_owned).collect()
}

/// Writes the documents, and returns their paths: one for each kind of named type and direction, and those whose tools
/// have the names.
pub(crate) fn documents(modules: &[String], dir: &Path) -> Vec<PathBuf> {
    let words = words(modules);
    let all =
        |what: &dyn Fn(&str) -> String| words.iter().map(|word| what(word)).collect::<Vec<_>>().join(", ");
    // Type names are capitalized identifiers, or names of Rust.
    let is_of_types = |word: &&String| {
        word.starts_with(char::is_uppercase) || RUST.split(' ').any(|own| own == word.as_str())
    };
    let of_types: Vec<&String> = words.iter().filter(is_of_types).collect();
    let each =
        |what: &dyn Fn(&str) -> String| of_types.iter().map(|word| what(word)).collect::<Vec<_>>().join(", ");
    let quoted = all(&|word| format!("\"{word}\""));
    type Write<'a> = &'a dyn Fn(&str) -> String;
    let types: [(&str, Write<'_>); 4] = [
        ("structs", &|word| format!(r#"{{"properties": {{"{word}": {{"type": "string"}}, "b": {{}}}}}}"#)),
        ("texts", &|word| format!(r#"{{"type": "string", "enum": ["{word}", "b"]}}"#)),
        ("numbers", &|word| {
            format!(r#"{{"type": "integer", "enum": [1, 2], "x-enum-varnames": ["{word}", "b"]}}"#)
        }),
        ("unions", &|word| {
            let object =
                format!(r#"{{"type": "object", "title": "{word}", "properties": {{"{word}": {{}}}}}}"#);
            format!(
                r#"{{"oneOf": [{object}, {{"type": "array", "items": {{"type": "integer"}}}}, {{"type": "string"}}]}}"#
            )
        }),
    ];
    let mut written = Vec::new();
    let mut write = |name: &str, text: String| {
        let path = dir.join(name);
        fs::write(&path, text).expect("a document");
        written.push(path);
    };
    let count = words.len();
    let numbers: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    for (kind, of_word) in types {
        // Types of responses are open; only structs are the same in both directions.
        for replies in if kind == "structs" { &[true][..] } else { &[false, true] } {
            let defs = each(&|word| format!("\"{word}\": {}", of_word(word)));
            let fields = each(&|word| format!("\"{word}\": {{\"$ref\": \"#/components/schemas/{word}\"}}"));
            let variants = each(&|word| {
                format!(
                    r#"{{"type": "object", "required": ["kind"], "properties": {{"kind": {{"const": "{word}"}}}}}}"#
                )
            });
            let texts = all(&|word| format!(r#""{word}": {{"type": ["string", "null"]}}"#));
            // Every name is also once a variant, and a required or optional field.
            let listed = match kind {
                "structs" => format!(
                    r#"{fields}, "ListedTexts": {{"type": "string", "enum": [{quoted}]}},
                    "ListedNumbers": {{"type": "integer", "enum": [{}], "x-enum-varnames": [{quoted}]}},
                    "ListedForms": {{"oneOf": [{variants}]}},
                    "ListedFields": {{"type": "object", "properties": {{{texts}}}}}"#,
                    numbers.join(", ")
                ),
                _ => fields,
            };
            let required = each(&|word| format!("\"{word}\""));
            let schema =
                format!(r#"{{"type": "object", "required": [{required}], "properties": {{{listed}}}}}"#);
            let content = format!(r#""content": {{"application/json": {{"schema": {schema}}}}}"#);
            let reply = if *replies { format!(", {content}") } else { String::new() };
            let text = format!(
                r#"{{"openapi": "3.1.0", "info": {{"title": "t", "version": "1"}}, "servers": [{{"url": "https://a.example"}}],
                "paths": {{"/x": {{"post": {{"operationId": "send", "requestBody": {{"required": true, {content}}},
                "responses": {{"200": {{"description": "d"{reply}}}}}}}}}}},
                "components": {{"schemas": {{{defs}}}}}}}"#
            );
            write(&format!("{kind}_{}.json", if *replies { "answered" } else { "given" }), text);
        }
    }
    let tools = all(&|word| {
        format!(
            r#""/{word}": {{"get": {{"operationId": "{word}", "tags": ["{word}"],
            "parameters": [{{"name": "{word}", "in": "query", "schema": {{"type": "string"}}}}],
            "responses": {{"200": {{"description": "d"}}}}}}}}"#
        )
    });
    let head = r#""openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "servers": [{"url": "https://a.example"}]"#;
    write("operations.json", format!("{{{head}, \"paths\": {{{tools}}}}}"));
    let functions = words.iter().map(|word| {
        let word = word.replace('-', "_");
        format!("  {word}: {{description: Does it., parameters: {{{word}: 'string - A text.'}}, output: {{type: object, properties: {{{word}: {{type: string}}}}}}, function: {{}}}}\n")
    });
    write("functions.yaml", format!("toolgen: 1\ntools:\n{}", functions.collect::<String>()));
    written
}

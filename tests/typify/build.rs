//! Generates types for the same schemas with toolgen and typify.
//!
//! A sample of the schemas of each document is selected, with their references. Schemas that typify rejects (with an
//! error or a panic) are skipped, with those that refer to them. For the others, both generate a module, and a table
//! maps the types of one to those of the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_json::{Map, Value, json};
use toolgen::emit::{ModuleStyle, module};
use toolgen::{Document, Options, Problems};
use typify::{TypeDetails, TypeSpace, TypeSpaceSettings};

type Schemas = BTreeMap<String, Value>;

/// Number of schemas selected per document, unless `TOOLGEN_TYPIFY_TYPES` is set.
const CHOSEN: usize = 8;

const PREFIX: &str = "#/components/schemas/";

fn main() {
    println!("cargo::rerun-if-env-changed=TOOLGEN_TYPIFY_TYPES");
    println!("cargo::rerun-if-env-changed=TOOLGEN_TYPIFY_COUNT");
    println!("cargo::rerun-if-env-changed=TOOLGEN_CORPUS");
    println!("cargo::rerun-if-changed=build.rs");
    // typify often panics on schemas that it does not support.
    std::panic::set_hook(Box::new(|_| {}));
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let chosen = env::var("TOOLGEN_TYPIFY_TYPES").map_or(CHOSEN, |text| text.parse().unwrap());
    let count_only = env::var_os("TOOLGEN_TYPIFY_COUNT").is_some();
    let (mut modules, mut table) = (String::new(), String::from("pub const CASES: &[crate::Case] = &[\n"));
    let (mut documents, mut all, mut taken) = (0, 0, 0);
    for path in paths() {
        let Some(schemas) = schemas(&path) else { continue };
        let wanted = if count_only { schemas.clone() } else { sample(&schemas, chosen) };
        let kept = accepted(&wanted);
        let at = documents;
        documents += 1;
        all += wanted.len();
        taken += kept.len();
        if kept.is_empty() || count_only {
            continue;
        }
        let Some(mut space) = space_of(&kept) else { continue };
        let theirs = space.to_stream().to_string();
        fs::write(out.join(format!("theirs_{at}.rs")), theirs).unwrap();
        fs::write(out.join(format!("ours_{at}.rs")), ours(&kept)).unwrap();
        let root = json!({"components": {"schemas": kept}});
        fs::write(out.join(format!("schemas_{at}.json")), root.to_string()).unwrap();
        let file = |name: &str| format!("include!(concat!(env!(\"OUT_DIR\"), \"/{name}_{at}.rs\"));");
        let _ = writeln!(
            modules,
            "pub mod d{at} {{ pub mod ours {{ {} }} pub mod theirs {{ {} }} }}",
            file("ours"),
            file("theirs")
        );
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for (index, schema) in kept.keys().enumerate() {
            let reference = serde_json::from_value(json!({"$ref": format!("{PREFIX}{schema}")})).unwrap();
            let id = space.add_type(&reference).unwrap();
            let ident = space.get_type(&id).unwrap().ident().to_string();
            // Their names have no path, and paths start with `::`.
            let theirs = theirs_path(&ident, at);
            let ours = format!(
                "<d{at}::ours::types::Check{index} as toolgen_runtime::engine::typed::TypedTool>::Output"
            );
            let _ = writeln!(
                table,
                "    crate::Case {{ document: {name:?}, schema: {schema:?}, root: include_str!(concat!(env!(\"OUT_DIR\"), \
                 \"/schemas_{at}.json\")), ours: crate::through::<{ours}>, theirs: crate::through::<{theirs}> }},"
            );
        }
    }
    table.push_str("];\n");
    let _ = writeln!(
        table,
        "pub const DOCUMENTS: usize = {documents};\npub const SCHEMAS: usize = {all};\npub const TAKEN: usize = {taken};"
    );
    fs::write(out.join("cases.rs"), modules + &table).unwrap();
}

/// Prefixes each type without a path with the module.
fn theirs_path(ident: &str, at: usize) -> String {
    let mut out = String::new();
    let mut after_colon = false;
    for word in ident.split_whitespace() {
        let own = word.chars().next().is_some_and(|first| first.is_uppercase()) && !after_colon;
        if own {
            let _ = write!(out, "d{at}::theirs::");
        }
        out.push_str(word);
        after_colon = word.ends_with(':');
    }
    out
}

fn paths() -> Vec<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let corpus =
        env::var_os("TOOLGEN_CORPUS").map_or_else(|| repository.join("../shared/corpus"), PathBuf::from);
    let mut paths = Vec::new();
    for folder in [repository.join("specs"), corpus.join("openapi")] {
        println!("cargo::rerun-if-changed={}", folder.display());
        let entries = fs::read_dir(folder).into_iter().flatten();
        let mut here: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        here.retain(|path| path.extension().is_some_and(|kind| kind == "yaml" || kind == "json"));
        here.sort();
        paths.extend(here);
    }
    paths
}

/// Returns the named schemas of an OpenAPI 3 document as JSON Schema draft 7, which typify supports.
fn schemas(path: &Path) -> Option<Schemas> {
    let document = Document::load(path, &mut Problems::new())?;
    document.root.get("openapi")?.as_str().filter(|version| version.starts_with("3."))?;
    let schemas = document.root.get("components")?.get("schemas")?.as_object()?;
    Some(schemas.iter().map(|(name, schema)| (name.clone(), draft_7(schema))).collect())
}

/// Translates OpenAPI keywords to JSON Schema, and omits annotations.
fn draft_7(schema: &Value) -> Value {
    const REMARKS: [&str; 8] = [
        "example",
        "examples",
        "xml",
        "externalDocs",
        "discriminator",
        "deprecated",
        "readOnly",
        "writeOnly",
    ];
    let Value::Object(schema) = schema else { return schema.clone() };
    if let Some(reference) = schema.get("$ref") {
        return json!({"$ref": reference});
    }
    let mut out = Map::new();
    for (keyword, value) in schema {
        let value = match (keyword.as_str(), value) {
            (keyword, _) if REMARKS.contains(&keyword) || keyword.starts_with("x-") => continue,
            ("nullable", _) => continue,
            ("properties" | "patternProperties", Value::Object(members)) => {
                Value::Object(members.iter().map(|(name, schema)| (name.clone(), draft_7(schema))).collect())
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(parts)) => parts.iter().map(draft_7).collect(),
            ("items" | "additionalProperties" | "not", value) => draft_7(value),
            (_, value) => value.clone(),
        };
        out.insert(keyword.clone(), value);
    }
    for (limit, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        match out.get(exclusive) {
            Some(Value::Bool(true)) => {
                let value = out.remove(limit).unwrap_or_default();
                out.insert(exclusive.to_owned(), value);
            }
            Some(Value::Bool(false)) => drop(out.remove(exclusive)),
            _ => {}
        }
    }
    if schema.get("nullable") != Some(&Value::Bool(true)) {
        return Value::Object(out);
    }
    match out.get_mut("type") {
        Some(kind @ Value::String(_)) => {
            *kind = json!([kind.take(), "null"]);
            if let Some(Value::Array(values)) = out.get_mut("enum")
                && !values.contains(&Value::Null)
            {
                values.push(Value::Null);
            }
            Value::Object(out)
        }
        _ => json!({"anyOf": [out, {"type": "null"}]}),
    }
}

/// Collects the names that a schema refers to.
fn references(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                found.insert(reference.strip_prefix(PREFIX).unwrap_or(reference).to_owned());
            }
            members.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

/// Returns the transitive references of each schema, including itself.
fn closures(schemas: &Schemas) -> BTreeMap<String, BTreeSet<String>> {
    let mut direct: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, schema) in schemas {
        references(schema, direct.entry(name).or_default());
    }
    let closure = |name: &String| {
        let (mut found, mut open) = (BTreeSet::new(), vec![name.clone()]);
        while let Some(name) = open.pop() {
            if found.insert(name.clone()) {
                open.extend(direct.get(name.as_str()).into_iter().flatten().cloned());
            }
        }
        (name.clone(), found)
    };
    schemas.keys().map(closure).collect()
}

/// Selects schemas from all parts of a document, with their references.
fn sample(schemas: &Schemas, chosen: usize) -> Schemas {
    let closures = closures(schemas);
    let step = (schemas.len() / chosen.max(1)).max(1);
    let mut names: BTreeSet<&String> = BTreeSet::new();
    let whole = |name: &&String| closures[*name].iter().all(|part| schemas.contains_key(part));
    for name in schemas.keys().step_by(step).filter(whole) {
        let more = closures[name].iter().filter(|part| !names.contains(part)).count();
        if names.len() + more <= chosen {
            names.extend(&closures[name]);
        }
    }
    names.into_iter().map(|name| (name.clone(), schemas[name].clone())).collect()
}

/// Returns the types of typify for schemas, if it supports them.
fn space_of(schemas: &Schemas) -> Option<TypeSpace> {
    let read = |(name, schema): (&String, &Value)| {
        Some((name.clone(), serde_json::from_value::<schemars::schema::Schema>(schema.clone()).ok()?))
    };
    let types = schemas.iter().map(read).collect::<Option<Vec<_>>>()?;
    let mut space = TypeSpace::new(&TypeSpaceSettings::default());
    let added = catch_unwind(AssertUnwindSafe(|| {
        space.add_ref_types(types).is_ok() && !space.to_stream().is_empty()
    }));
    (added.is_ok_and(|added| added) && !has_twins(&space)).then_some(space)
}

/// Whether typify generated duplicate fields or variants, which rustc rejects.
fn has_twins(space: &TypeSpace) -> bool {
    space.iter_types().any(|ty| {
        let names: Vec<String> = match ty.details() {
            TypeDetails::Struct(of) => of.properties().map(|(name, _)| name.to_owned()).collect(),
            TypeDetails::Enum(of) => of.variants().map(|(name, _)| name.to_owned()).collect(),
            _ => return false,
        };
        names.iter().collect::<BTreeSet<_>>().len() < names.len()
    })
}

/// Tries each schema with its references, and returns those that typify supports.
fn accepted(schemas: &Schemas) -> Schemas {
    let closures = closures(schemas);
    let mut order: Vec<&String> = schemas.keys().collect();
    order.sort_by_key(|name| closures[*name].len());
    let (mut kept, mut refused) = (Schemas::new(), BTreeSet::new());
    for name in order {
        if kept.contains_key(name) {
            continue;
        }
        let whole = &closures[name];
        let parts = whole.iter().map(|part| Some((part.clone(), schemas.get(part)?.clone())));
        match parts.collect::<Option<Schemas>>().filter(|_| whole.is_disjoint(&refused)) {
            Some(parts) if space_of(&parts).is_some() => kept.extend(parts),
            _ => drop(refused.insert(name.clone())),
        }
    }
    kept
}

/// Returns the code of toolgen for operations whose responses have these schemas.
fn ours(schemas: &Schemas) -> String {
    let mut paths = Map::new();
    for (index, name) in schemas.keys().enumerate() {
        let schema = json!({"$ref": format!("{PREFIX}{name}")});
        let answer = json!({"200": {"description": "", "content": {"application/json": {"schema": schema}}}});
        paths.insert(
            format!("/{index}"),
            json!({"get": {"operationId": format!("check{index}"), "responses": answer}}),
        );
    }
    // The keywords of draft 7 used here mean the same in OpenAPI 3.1.
    let document = json!({"openapi": "3.1.0", "info": {"title": "", "version": ""}, "paths": paths,
        "components": {"schemas": schemas}});
    let mut problems = Problems::new();
    let document = Document::parse(Path::new("schemas.json"), &document.to_string(), &mut problems).unwrap();
    let program = toolgen::compile(&document, &Options::default(), &mut problems).unwrap();
    assert_eq!(program.tools.len(), schemas.len(), "{problems}");
    module(&program, &ModuleStyle::new("schemas.json"))
}

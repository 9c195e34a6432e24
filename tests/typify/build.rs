//! Lets toolgen and typify write types for the same schemas.
//!
//! Of each document some schemas are chosen, with all that they refer to. What typify does not take (it reports an error, or
//! panics) is left out, with what refers to it. For the rest both write a module, and a table says which type of the one
//! belongs to which of the other.

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

/// The schemas that are chosen of each document, if `TOOLGEN_TYPIFY_TYPES` does not say how many.
const CHOSEN: usize = 8;

const PREFIX: &str = "#/components/schemas/";

fn main() {
    println!("cargo::rerun-if-env-changed=TOOLGEN_TYPIFY_TYPES");
    println!("cargo::rerun-if-env-changed=TOOLGEN_TYPIFY_COUNT");
    println!("cargo::rerun-if-env-changed=TOOLGEN_CORPUS");
    println!("cargo::rerun-if-changed=build.rs");
    // What typify does not take, it often says by a panic, which is expected here.
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
            // Their names stand alone, and paths begin with `::`.
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

/// Puts the module before each type that typify names without a path.
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

/// The named schemas of an OpenAPI 3 document, as JSON Schema of draft 7, which is what typify reads.
fn schemas(path: &Path) -> Option<Schemas> {
    let document = Document::load(path, &mut Problems::new())?;
    document.root.get("openapi")?.as_str().filter(|version| version.starts_with("3."))?;
    let schemas = document.root.get("components")?.get("schemas")?.as_object()?;
    Some(schemas.iter().map(|(name, schema)| (name.clone(), draft_7(schema))).collect())
}

/// Writes what only OpenAPI has in the words of JSON Schema, and leaves out what is not a rule.
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

/// The names that a schema refers to.
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

/// All that each schema refers to, directly or not, itself included.
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

/// Chooses schemas from all over a document, with what they refer to.
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

/// What typify makes of schemas, if it takes them.
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

/// Whether typify gave two fields of a struct, or two variants of an enum, one name: rustc does not take that.
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

/// Gives typify each schema, with what it refers to, and returns those that it takes.
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

/// What toolgen writes for operations that answer with these schemas.
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
    // Draft 7 is read by the rules of 3.1, of which it is a part as far as it is used here.
    let document = json!({"openapi": "3.1.0", "info": {"title": "", "version": ""}, "paths": paths,
        "components": {"schemas": schemas}});
    let mut problems = Problems::new();
    let document = Document::parse(Path::new("schemas.json"), &document.to_string(), &mut problems).unwrap();
    let program = toolgen::compile(&document, &Options::default(), &mut problems).unwrap();
    assert_eq!(program.tools.len(), schemas.len(), "{problems}");
    module(&program, &ModuleStyle::new("schemas.json"))
}

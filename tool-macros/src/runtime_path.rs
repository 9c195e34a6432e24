//! Finds `toolgen-runtime` in the user's crate, even if its manifest gives it another name.

use std::path::Path;
use std::sync::Mutex;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// The package that generated code uses.
const PACKAGE: &str = "toolgen-runtime";

/// Returns the path of the runtime in the user's crate, without a trailing `::`.
pub(crate) fn path() -> TokenStream {
    let name = Ident::new(&runtime_name(), Span::call_site());
    quote!(::#name)
}

fn runtime_name() -> String {
    static CACHE: Mutex<Option<(String, String)>> = Mutex::new(None);
    // Only the location of the user's manifest depends on the environment.
    let dir = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let mut cache = CACHE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    match &*cache {
        Some((cached_dir, name)) if *cached_dir == dir => name.clone(),
        _ => {
            let name = find_name(Path::new(&dir)).unwrap_or_else(|| PACKAGE.replace('-', "_"));
            *cache = Some((dir, name.clone()));
            name
        }
    }
}

fn find_name(dir: &Path) -> Option<String> {
    let manifest = std::fs::read_to_string(dir.join("Cargo.toml")).ok()?;
    let mut inherited = Vec::new();
    if let Some(name) = find_renamed(&manifest, &mut inherited) {
        return Some(name);
    }
    if inherited.is_empty() {
        return None;
    }
    // `name = { workspace = true }`: the manifest of the workspace defines the name.
    let ancestors =
        dir.ancestors().skip(1).filter_map(|dir| std::fs::read_to_string(dir.join("Cargo.toml")).ok());
    let workspace = ancestors.into_iter().find(|manifest| manifest.contains("[workspace"))?;
    let name = find_renamed(&workspace, &mut Vec::new())?;
    inherited.contains(&name).then_some(name)
}

/// Returns the name of the dependency whose `package` is the runtime. Adds the names that
/// the workspace defines to `inherited`.
fn find_renamed(manifest: &str, inherited: &mut Vec<String>) -> Option<String> {
    let mut table = Table::Other;
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            table = Table::of(header.trim_end_matches(']'));
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim().trim_matches('"'), value.trim());
        match &table {
            Table::Dependencies => {
                let name = key.strip_suffix(".workspace").or(key.strip_suffix(".package")).unwrap_or(key);
                let package = if key.ends_with(".package") {
                    string_value(value)
                } else {
                    inline_value(value, "package").and_then(string_value)
                };
                if package == Some(PACKAGE) {
                    return Some(name.replace('-', "_"));
                }
                if key.ends_with(".workspace") || inline_value(value, "workspace").is_some() {
                    inherited.push(name.replace('-', "_"));
                }
            }
            Table::Dependency(name) if key == "package" && string_value(value) == Some(PACKAGE) => {
                return Some(name.replace('-', "_"));
            }
            Table::Dependency(name) if key == "workspace" => inherited.push(name.replace('-', "_")),
            Table::Dependency(_) | Table::Other => {}
        }
    }
    None
}

enum Table {
    /// `[dependencies]`, also of a target, of tests or of the workspace.
    Dependencies,
    /// `[dependencies.NAME]`
    Dependency(String),
    Other,
}

impl Table {
    fn of(header: &str) -> Table {
        if header.ends_with("dependencies") {
            return Table::Dependencies;
        }
        match header.rsplit_once('.') {
            Some((before, name)) if before.ends_with("dependencies") => {
                Table::Dependency(name.trim_matches('"').to_owned())
            }
            _ => Table::Other,
        }
    }
}

/// Returns the value of a key in an inline table.
fn inline_value<'a>(table: &'a str, key: &str) -> Option<&'a str> {
    let entries = table.strip_prefix('{')?.split([',', '}']);
    entries
        .filter_map(|entry| entry.split_once('='))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
}

fn string_value(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renamed_dependency_is_found_in_every_form() {
        let cases = [
            ("[dependencies]\nrt = { package = \"toolgen-runtime\", version = \"1\" }", Some("rt")),
            ("[dependencies.my-rt]\nversion = \"1\"\npackage = \"toolgen-runtime\"", Some("my_rt")),
            (
                "[target.'cfg(unix)'.dev-dependencies]\nrt = { version = \"1\", package = \"toolgen-runtime\" }",
                Some("rt"),
            ),
            ("[workspace.dependencies]\nrt = { path = \"x\", package = \"toolgen-runtime\" }", Some("rt")),
            ("[dependencies]\nrt.package = \"toolgen-runtime\"", Some("rt")),
            ("[dependencies]\ntoolgen-runtime = \"1\"\nx = { package = \"y\" }", None),
            ("[package]\nrt = { package = \"toolgen-runtime\" }", None),
        ];
        for (manifest, name) in cases {
            assert_eq!(find_renamed(manifest, &mut Vec::new()).as_deref(), name, "{manifest}");
        }
        let mut inherited = Vec::new();
        assert_eq!(
            find_renamed("[dependencies]\na = { workspace = true }\nb.workspace = true", &mut inherited),
            None
        );
        assert_eq!(inherited, ["a", "b"]);
    }
}

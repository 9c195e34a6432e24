//! The public surface of `toolgen-runtime` with its default features, as rustdoc shows it, is the listing in
//! `public-api.txt`. A change of the surface is a change of that file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolgen_test_support::golden::assert_golden;
use toolgen_tests::pages::root;

/// Maximum number of public types, traits, functions and constants.
const MAX_ITEMS: usize = 300;

/// The crates whose types may be in signatures, besides the standard library and the project's own.
const ALLOWED_CRATES: [&str; 5] = ["http", "serde", "serde_core", "serde_json", "tokio_util"];

/// Traits that most types implement, which the listing omits.
const COMMON_TRAITS: [&str; 8] =
    ["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "PartialEq", "StructuralPartialEq"];

#[test]
#[ignore = "heavy: cargo"]
fn public_surface_is_the_listed_one() {
    let pages = documentation();
    let items = items(&pages);
    let mut definitions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut listing = String::from(
        "# The public surface of toolgen-runtime with default features. Written by\n\
         # `TOOLGEN_UPDATE=1 cargo test --workspace --test repository surface -- --ignored`.\n",
    );
    let mut foreign = BTreeSet::new();
    for Item { path, kind, file } in &items {
        let html = fs::read_to_string(pages.join(file)).unwrap();
        let signatures = signatures(&html);
        foreign.extend(
            signatures.iter().flat_map(|html| foreign_types(html)).map(|name| format!("{path}: {name}")),
        );
        let name = path.rsplit("::").next().unwrap();
        let text = signatures.iter().map(|html| format!("    {}\n", plain(html))).collect::<String>();
        definitions.entry(format!("{kind} {name}\n{text}")).or_default().push(path.clone());
    }
    let counted = definitions.keys().filter(|text| !text.starts_with("macro") && !text.starts_with("attr"));
    let count = counted.count();
    let mut entries: Vec<String> = definitions.into_iter().map(|(text, paths)| entry(&text, paths)).collect();
    entries.sort();
    listing.extend(entries);
    assert_golden(&root().join("tests/tests/repository/public-api.txt"), &listing);
    assert!(foreign.is_empty(), "types of other crates: {foreign:#?}");
    assert!(count <= MAX_ITEMS, "{count} public items; at most {MAX_ITEMS} are allowed");
}

/// Returns the entry of a definition: its shortest path, the others, and its signatures.
fn entry(text: &str, mut paths: Vec<String>) -> String {
    paths.sort_by_key(|path| (path.matches("::").count(), path.clone()));
    let (head, signatures) = text.split_once('\n').unwrap();
    let kind = head.split(' ').next().unwrap();
    let others = paths[1..].iter().map(|path| format!(" = {path}")).collect::<String>();
    format!("{} ({kind}){others}\n{signatures}", paths[0])
}

/// An item that has a page.
struct Item {
    path: String,
    kind: String,
    file: String,
}

/// Builds the documentation, and returns its directory.
fn documentation() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let pages = target.join("doc/toolgen_runtime");
    // Pages of another set of features must not remain.
    let _ = fs::remove_dir_all(&pages);
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["doc", "-q", "-p", "toolgen-runtime", "--lib", "--no-deps", "--locked"]).current_dir(root());
    assert!(cargo.status().unwrap().success(), "the documentation cannot be built");
    pages
}

fn items(pages: &Path) -> Vec<Item> {
    let all = fs::read_to_string(pages.join("all.html")).unwrap();
    let links = all.split("<li><a href=\"").skip(1).filter_map(|rest| {
        let (file, rest) = rest.split_once("\">")?;
        let (path, _) = rest.split_once("</a>")?;
        // Other links lead to headings.
        let kind = file.strip_suffix(".html")?.rsplit('/').next()?.split('.').next()?;
        Some(Item { path: path.to_owned(), kind: kind.to_owned(), file: file.to_owned() })
    });
    links.collect()
}

/// Returns the signatures of a page, as HTML: the declaration, the methods, and the implemented traits.
fn signatures(html: &str) -> Vec<String> {
    let within = |text: &str, begin: &str, end: &str| -> Vec<String> {
        let parts = text.split(begin).skip(1);
        parts.filter_map(|part| part.split_once(end).map(|(part, _)| part.to_owned())).collect()
    };
    let mut all: Vec<String> =
        within(html, "<pre class=\"rust item-decl\"><code>", "</code></pre>").into_iter().take(1).collect();
    for section in html.split("<h2 id=\"").skip(1) {
        let (id, _) = section.split_once('"').unwrap_or_default();
        match id {
            "implementations" | "required-methods" | "provided-methods" => {
                all.extend(within(section, "<h4 class=\"code-header\">", "</h4>"));
            }
            "trait-implementations" => {
                let impls = within(section, "<h3 class=\"code-header\">", "</h3>");
                let common = |html: &String| {
                    let text = plain(html);
                    let name =
                        text.split(" for ").next().unwrap_or_default().rsplit(' ').next().unwrap_or_default();
                    COMMON_TRAITS.contains(&name)
                };
                all.extend(impls.into_iter().filter(|html| !common(html)));
            }
            _ => {}
        }
    }
    all
}

/// Returns the text of HTML, in one line.
fn plain(html: &str) -> String {
    let mut text = String::new();
    for (index, part) in html.split('<').enumerate() {
        text.push_str(if index == 0 { part } else { part.split_once('>').map_or("", |(_, text)| text) });
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'").replace("&quot;", "\"");
    text.replace("&amp;", "&").replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the types of crates that must not be in signatures.
fn foreign_types(html: &str) -> Vec<String> {
    let titles =
        html.split("title=\"").skip(1).filter_map(|rest| rest.split_once('"')).map(|(title, _)| title);
    let paths = titles.filter_map(|title| title.split_once(' ').map(|(_, path)| path));
    let is_foreign = |path: &&str| {
        let name = path.split("::").next().unwrap_or_default();
        !name.starts_with("toolgen")
            && !["alloc", "core", "std"].contains(&name)
            && !ALLOWED_CRATES.contains(&name)
    };
    paths.filter(is_foreign).map(str::to_owned).collect()
}

//! Checks the guide: its Rust is compiled, its YAML and JSON are parsed, and its links resolve.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use toolgen::dynamic::Loader;
use toolgen::{Document, Problems};

use toolgen_tests::pages::{Block, blocks, files, guide, relative, root};

/// Returns code without whitespace and other formatting.
fn plain(code: &str) -> String {
    let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    code.replace(",)", ")").replace(",}", "}").replace(",]", "]")
}

/// Returns code with each `page!` replaced by its block, which is found as in `toolgen_test_macros::page`.
fn expanded(code: &str, visible: &[Block]) -> String {
    let mut parts = code.split("page!");
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let words: Vec<&str> = part.splitn(5, '"').collect();
        if let [_, page, _, start, _] = words[..] {
            let named = visible.iter().find(|block| block.page == page && block.text.contains(start));
            text.push_str(&named.map(|block| block.text.as_str()).unwrap_or_default());
        }
        text.push_str(part);
    }
    text
}

/// Returns the Rust code that `cargo test --workspace` compiles.
fn compiled(visible: &[Block]) -> Vec<String> {
    let dirs = ["tests/tests", "tests/examples", "runtime", "toolgen", "examples"];
    let dirs = dirs.map(|dir| root().join(dir));
    let sources = dirs.iter().filter(|dir| dir.is_dir()).flat_map(|dir| files(dir, ".rs"));
    let sources = sources.filter(|path| !path.ends_with("check.rs"));
    sources.map(|path| plain(&expanded(&fs::read_to_string(path).unwrap(), visible))).collect()
}

#[test]
fn rust_blocks_are_compiled() {
    let rust: Vec<_> = blocks(&guide()).into_iter().filter(|block| block.kind == "rust").collect();
    let compiled = compiled(&rust);
    let missing = rust.iter().filter(|block| {
        let code = plain(&block.text);
        block.marked("not compiled").is_none() && !compiled.iter().any(|source| source.contains(&code))
    });
    // The first is a doc test, the second shows documentation of the adapters, see `runtime/adapters/tests`.
    let elsewhere = ["tool-macros/README.md", "docs/adapters.md"];
    // `toolgen/cli/tests/cli/guide.rs` builds and runs the files of these pages.
    let built = ["docs/start.md", "docs/large-apis.md"];
    let missing = missing.filter(|block| {
        let page = block.page.as_str();
        !(elsewhere.contains(&page) || built.contains(&page) && block.file().is_some())
    });
    let missing: Vec<_> = missing
        .map(|block| format!("{}: not compiled by any test:\n{}", block.place(), block.text))
        .collect();
    assert!(
        missing.is_empty(),
        "{}\nA test such as tests/tests/guide/*.rs has a `page!` for the code of a page, and what it needs.",
        missing.join("\n")
    );
}

/// The README of a crate, its crate documentation and the guide have a line for each feature.
#[test]
fn feature_tables_are_complete() {
    for package in ["runtime", "toolgen"] {
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        let features = manifest.split("[features]\n").nth(1).unwrap().split("\n[").next().unwrap();
        let names = features.lines().filter_map(|line| line.split_once(" = [")).map(|(name, _)| name);
        for (file, row) in [("README.md", 0), ("src/lib.rs", 0), ("../docs/features.md", 1)] {
            let text = fs::read_to_string(root().join(package).join(file)).unwrap();
            let cells = text.lines().filter_map(|line| line.trim_start_matches("//! ").strip_prefix("| "));
            let message: String = cells.filter_map(|cells| cells.split(" | ").nth(row)).collect();
            for name in names.clone().filter(|name| *name != "default") {
                assert!(message.contains(&format!("`{name}`")), "{package}/{file} has no line for `{name}`");
            }
        }
    }
}

#[test]
fn readme_examples_are_short() {
    for block in blocks(&[root().join("README.md")]) {
        assert!(block.kind != "rust" || block.text.lines().count() <= 24, "{}", block.place());
    }
}

/// Returns the parse error of a data block.
fn mistake(block: &Block) -> Option<String> {
    if block.marked("not read").is_some() {
        return None;
    }
    match block.kind.as_str() {
        "json" => serde_json::from_str::<serde_json::Value>(&block.text).err().map(|error| error.to_string()),
        "yaml" => {
            let mut problems = Problems::default();
            Document::parse(Path::new("page.yaml"), &block.text, &mut problems);
            let is_manifest = block.text.lines().any(|line| line == "toolgen: 1");
            if !problems.as_slice().is_empty() || !is_manifest || block.marked("not compiled").is_some() {
                return (!problems.as_slice().is_empty()).then(|| problems.to_string());
            }
            match Loader::from_str(&block.text).and_then(|loader| loader.compile()) {
                Err(reason) => Some(reason.to_string()),
                Ok((_, problems)) if !problems.as_slice().is_empty() => Some(problems.to_string()),
                Ok((program, _)) => program.all_tools().is_empty().then(|| "it has no tools".to_owned()),
            }
        }
        "toml" => unknown_feature(&block.text),
        _ => None,
    }
}

/// Returns a feature of the runtime that a `Cargo.toml` enables and that does not exist.
fn unknown_feature(text: &str) -> Option<String> {
    let manifest = fs::read_to_string(root().join("runtime/Cargo.toml")).unwrap();
    let line = text.lines().find(|line| line.starts_with("toolgen-runtime = "))?;
    let features = line.split("features = [").nth(1)?.split(']').next()?;
    let mut names = features.split(',').map(|name| name.trim().trim_matches('"'));
    let unknown = names.find(|name| !manifest.lines().any(|line| line.starts_with(&format!("{name} = ["))));
    unknown.map(|name| format!("there is no feature `{name}`"))
}

#[test]
fn data_blocks_are_parsed() {
    let found = blocks(&guide());
    let manifests = found.iter().filter(|block| block.kind == "yaml" && block.text.contains("toolgen: 1"));
    assert!(manifests.count() > 10);
    let wrong: Vec<_> =
        found.iter().filter_map(|block| Some(format!("{}: {}", block.place(), mistake(block)?))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Readers copy examples: a command tool must not read files outside of the work directory.
#[test]
fn command_paths_are_confined() {
    let manifests = blocks(&guide()).into_iter().filter(|block| block.kind == "yaml");
    for block in manifests.filter(|block| block.text.contains("command:")) {
        for name in ["path", "paths", "file", "files"] {
            let open = format!(" {name}: string");
            assert!(!block.text.contains(&open), "{}: `{name}` has no `path: true`", block.place());
        }
    }
}

/// Blocks that are not compiled, parsed or run have a reason.
#[test]
fn skip_markers_have_reasons() {
    for block in blocks(&guide()) {
        let known = ["not compiled", "not read", "not run", "fails"];
        let is_mark = known.iter().any(|word| block.mark.starts_with(word));
        let has_reason = known.iter().any(|word| block.marked(word).is_some_and(|reason| reason.len() > 10));
        assert!(!is_mark || has_reason, "{}: `{}` does not say why", block.place(), block.mark);
    }
}

/// The book lists every page once.
#[test]
fn book_contains_every_page() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for page in files(&docs, ".md") {
        let name = relative(&page).replacen("docs/", "", 1);
        let listed = summary.matches(&format!("]({name})")).count();
        assert_eq!(listed, usize::from(name != "SUMMARY.md"), "docs/SUMMARY.md lists {name}");
    }
}

/// The URL of files of the repository, for links of the book to files outside of `docs`.
const REPOSITORY: &str = "https://github.com/toolgen/toolgen/";

/// Returns the anchors of the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in prose(text) {
        let Some(title) = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim()) else {
            continue;
        };
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let name = kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase();
        let again = (1..).map(|number| format!("{name}-{number}")).find(|name| !found.contains(name));
        found.insert(if found.contains(&name) { again.unwrap_or(name) } else { name });
    }
    found
}

/// Returns the lines of a page outside of code blocks.
fn prose(text: &str) -> Vec<&str> {
    let mut code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        if !code && !fence {
            lines.push(line);
        }
    }
    lines
}

/// Returns the link targets in a line, except for those in code.
fn links(line: &str) -> Vec<&str> {
    let in_code = |at: usize| line[..at].matches('`').count() % 2 == 1;
    let starts = line.match_indices("](").map(|(at, _)| at).filter(|at| !in_code(*at));
    starts.filter_map(|at| line[at + 2..].split(')').next()).collect()
}

/// Returns why a link of a page is dangling.
fn dead(page: &Path, link: &str) -> Option<String> {
    let (target, anchor) = link.split_once('#').map_or((link, None), |(target, name)| (target, Some(name)));
    let ours =
        target.strip_prefix(REPOSITORY).and_then(|rest| rest.split_once("/main/")).map(|(_, path)| path);
    let file = match ours {
        Some(path) => root().join(path),
        None if target.starts_with("https://") => {
            let host = target["https://".len()..].split('/').next().unwrap_or_default();
            let is_host = host.contains('.') && !target.contains(char::is_whitespace);
            return (!is_host).then(|| "is not a URL".to_owned());
        }
        None if target.contains("://") => return Some("is not https".to_owned()),
        None if target.is_empty() => page.to_path_buf(),
        None => page.parent().unwrap().join(target),
    };
    let docs = root().join("docs");
    let leaves = |file: &Path| file.canonicalize().is_ok_and(|file| !file.starts_with(&docs));
    if !file.exists() {
        return Some("leads to no file".to_owned());
    }
    if ours.is_none() && page.starts_with(&docs) && leaves(&file) {
        return Some(format!("leads out of the book: write {REPOSITORY}blob/main/…"));
    }
    let text = anchor.map(|_| fs::read_to_string(&file).unwrap_or_default())?;
    (!anchors(&text).contains(anchor?)).then(|| "leads to no heading".to_owned())
}

#[test]
fn links_resolve() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for page in files(&root(), ".md") {
        let text = fs::read_to_string(&page).unwrap();
        for link in prose(&text).into_iter().flat_map(links) {
            seen += 1;
            wrong.extend(dead(&page, link).map(|reason| format!("{}: {link} {reason}", relative(&page))));
        }
    }
    assert!(seen > 50 && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn dead_links_are_detected() {
    let page = root().join("docs/lock.md");
    for link in
        ["nowhere.md", "#nothing", "mcp.md#nothing", "../README.md", "http://example.com", "https://x"]
    {
        assert!(dead(&page, link).is_some(), "{link}");
    }
    for link in ["mcp.md", "#classes", "mcp.md#the-lock", "https://example.com/a"] {
        assert_eq!(dead(&page, link), None, "{link}");
    }
    let line = "[a](b.md), `[c](d)` and [e](f#g)";
    assert_eq!(links(line), ["b.md", "f#g"]);
}

/// The members of types, by the name of the type: functions, constants, variants and fields.
fn members() -> BTreeMap<String, BTreeSet<String>> {
    let dirs = ["runtime", "toolgen", "tool-macros"].map(|dir| root().join(dir));
    let sources = dirs.iter().flat_map(|dir| files(dir, ".rs"));
    let mut members: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in sources {
        let text = fs::read_to_string(path).unwrap();
        let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for (index, line) in code.iter().enumerate() {
            let Some(name) = type_of_block(line, &code[index..]) else { continue };
            let indent = line.len() - line.trim_start().len();
            let inside = code[index + 1..].iter().take_while(|line| {
                line.trim().is_empty()
                    || line.len() - line.trim_start().len() > indent
                    || line.trim() == "where"
            });
            let words = inside.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
            members.entry(name).or_default().extend(words.map(str::to_owned));
        }
    }
    members
}

/// Returns the type whose members a block contains: of an `impl`, an `enum`, a `struct` or a `trait`.
fn type_of_block(line: &str, rest: &[&str]) -> Option<String> {
    let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
    let (keyword, _) = line.split_once([' ', '<'])?;
    if !["impl", "enum", "struct", "trait"].contains(&keyword) {
        return None;
    }
    let head = rest.iter().take(4).map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    let head = head
        .split(['{', ';'])
        .next()?
        .strip_prefix(keyword)
        .or_else(|| head.split_once(keyword).map(|(_, rest)| rest))?;
    let of = head.rsplit(" for ").next()?;
    // The parameters of the `impl` come before the type.
    let of = if of.starts_with('<') { of.split_once("> ").map_or(of, |(_, of)| of) } else { of };
    let of = of.trim().split(['<', ' ', '(']).next()?;
    of.rsplit("::").next().map(str::to_owned)
}

/// Types of the guide's examples, of generated code and of other projects, and one that a macro writes.
const NOT_OURS: [&str; 14] = [
    "AgentBuilder",
    "CallToolResult",
    "Client",
    "Content",
    "CreatePet",
    "Dog",
    "Duration",
    "ErrorData",
    "GetPetError",
    "ListPets",
    "ServerHandler",
    "WrittenCall",
    "WireFormat",
    "Unit",
];

#[test]
fn names_in_the_text_exist() {
    let members = members();
    let mut unknown = Vec::new();
    for page in guide() {
        let text = fs::read_to_string(&page).unwrap();
        let mut in_block = false;
        for (index, line) in text.lines().enumerate() {
            in_block ^= line.trim_start().starts_with("```");
            // Every second part is between backticks.
            for code in line.split('`').skip(1).step_by(2).filter(|_| !in_block) {
                let words: Vec<&str> =
                    code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').collect();
                for (of, member) in words.iter().filter_map(|word| word.rsplit_once("::")) {
                    let of = of.rsplit("::").next().unwrap();
                    let is_type = of.starts_with(|c: char| c.is_ascii_uppercase()) && !NOT_OURS.contains(&of);
                    if is_type && !members.get(of).is_some_and(|names| names.contains(member)) {
                        unknown.push(format!("{}:{}: {of}::{member}", relative(&page), index + 1));
                    }
                }
            }
        }
    }
    assert!(unknown.is_empty(), "these do not exist:\n{}", unknown.join("\n"));
}

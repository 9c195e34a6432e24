//! Checks of repository rules: sizes of files and functions, module documentation, access to the outside world.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Maximum number of lines of a source file. A flat table may be longer if it is listed here with the reason.
const MAX_FILE_LINES: usize = 800;
const LONG_FILES: &[(&str, &str)] = &[];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Returns all files of the repository with one of these extensions, without build output.
pub(super) fn files(endings: &[&str]) -> Vec<PathBuf> {
    fn walk(dir: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
        let mut entries: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && name != ".git" {
                    walk(&path, endings, found);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root(), endings, &mut found);
    assert!(!found.is_empty(), "no file with {endings:?} found");
    found
}

pub(super) fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_string_lossy().into_owned()
}

pub(super) fn is_test(path: &Path) -> bool {
    let path = relative(path);
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("tests.rs")
}

#[test]
fn files_are_short() {
    let mut long = Vec::new();
    for path in files(&[".rs"]) {
        let name = relative(&path);
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        let listed = LONG_FILES.iter().any(|(file, _)| *file == name);
        if lines > MAX_FILE_LINES && !listed && !is_test(&path) {
            long.push(format!("{name}: {lines} lines, more than {MAX_FILE_LINES}"));
        }
        assert!(lines > MAX_FILE_LINES || !listed, "{name} is short again: take it off the list");
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn modules_have_docs() {
    let silent: Vec<_> = files(&[".rs"])
        .into_iter()
        .filter(|path| !is_test(path))
        .filter(|path| !fs::read_to_string(path).unwrap().trim_start().starts_with("//!"))
        .map(|path| relative(&path))
        .collect();
    assert!(silent.is_empty(), "these start without module documentation:\n{}", silent.join("\n"));
}

/// The repository mentions only the product, no local paths.
#[test]
fn repository_names_no_local_paths() {
    // In pieces, so that this file does not match.
    let words = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
    let mut found = Vec::new();
    for path in files(&[".rs", ".md", ".toml", ".py", ".sh", ".yaml", ".yml", ".json"]) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for (number, line) in text.lines().enumerate() {
            if words.iter().any(|word| line.contains(word)) {
                found.push(format!("{}:{}: {line}", relative(&path), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Whether a file is code of a published crate.
fn is_published(file: &str) -> bool {
    ["runtime/", "tool-macros/", "toolgen/"].iter().any(|of| file.starts_with(of))
        && file.contains("/src/")
        && !file.starts_with("runtime/adapters/")
}

/// Whether a file is library code, for programs and build scripts.
fn is_library(file: &str) -> bool {
    is_published(file) && !["tool-macros/", "toolgen/cli/"].iter().any(|of| file.starts_with(of))
}

/// Only the command line and the directives of build scripts may print.
#[test]
fn libraries_do_not_print() {
    let mut found = Vec::new();
    for path in files(&[".rs"]) {
        let name = relative(&path);
        if !is_library(&name) || name.starts_with("toolgen/src/build.rs") || is_test(&path) {
            continue;
        }
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            let code = line.trim_start();
            let prints = ["println!(", "print!(", "eprintln!(", "eprint!(", "dbg!("]
                .iter()
                .any(|macro_call| code.starts_with(macro_call));
            if prints && !code.contains("cargo::") {
                found.push(format!("{name}:{}: {code}", number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A `main` that returns an error prints it with `{:?}`, so that `Debug` of errors must be readable.
#[test]
fn errors_returned_from_main_are_readable() {
    let mut found = Vec::new();
    for path in files(&[".rs"]).iter().filter(|path| !is_test(path)) {
        let (name, text) = (relative(path), fs::read_to_string(path).unwrap());
        if !is_published(&name) {
            continue;
        }
        for line in text.lines().filter(|line| line.starts_with("impl")) {
            let Some((_, error)) = line.split_once("Error for ") else { continue };
            let error = error.trim_end_matches([' ', '{', '}']);
            let is_error = line.contains("std::error::Error for") || line.starts_with("impl Error for");
            let readable = [format!("__readable_debug!({error})"), format!("fmt::Debug for {error} ")];
            if is_error && !readable.iter().any(|readable| text.contains(readable)) {
                found.push(format!("{name}: {error}"));
            }
        }
    }
    assert!(found.is_empty(), "without `toolgen_core::__readable_debug!`: {}", found.join("\n"));
}

/// `compiled/equivalence.rs` includes and compares a module for every document in `specs/`, with types and without.
#[test]
fn every_example_is_compiled() {
    let compared = include_str!("../compiled/equivalence.rs");
    let mut documents = 0;
    for path in files(&[".yaml", ".json"]) {
        let name = relative(&path);
        let Some(file) = name.strip_prefix("specs/") else { continue };
        // Files that examples refer to, and the manifest schema for editors.
        if file.contains('/') || file.ends_with(".schema.json") {
            continue;
        }
        documents += 1;
        let module = path.file_stem().unwrap().to_string_lossy().replace('-', "_");
        for module in [module.clone(), format!("{module}_untyped")] {
            let generated = Path::new(env!("OUT_DIR")).join(format!("{module}.rs"));
            let text = fs::read_to_string(&generated).unwrap_or_default();
            assert!(text.contains("TOOLS"), "tests/build.rs does not compile specs/{file} to {module}");
            // On its own, or as a row of the macro there.
            let forms = [format!("include_tools!(\"{module}\")"), format!(" \"{module}\",")];
            let included = forms.iter().any(|form| compared.contains(form));
            assert!(included, "tests/compiled/equivalence.rs does not include {module}, of specs/{file}");
        }
        assert!(
            compared.contains(&format!("(\"{file}\", ")),
            "tests/compiled/equivalence.rs does not compare specs/{file}"
        );
    }
    assert!(documents > 0);
}

/// All published crates have the same version.
#[test]
fn sibling_versions_are_exact() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = "))
        .expect("the workspace has a version")
        .trim_matches('"');
    for name in ["toolgen", "toolgen-core", "toolgen-macros", "toolgen-runtime"] {
        let wanted = format!("{name} = {{ version = \"={version}\"");
        assert!(manifest.lines().any(|line| line.starts_with(&wanted)), "{name} is not pinned to ={version}");
    }
}

/// Maximum number of lines of a function, from its signature to its end.
const MAX_FUNCTION_LINES: usize = 80;

/// The files that may access the outside world, with the modules they use and the reason. Tests are exempt.
const OUTSIDE: &[(&str, &[&str], &str)] = &[
    (
        "runtime/kernel/src/base/private.rs",
        &["std::fs"],
        "creates the files of records, which contain arguments and results, readable only by their owner",
    ),
    (
        "runtime/builtin/src/work_dir.rs",
        &["cap_std::fs", "std::fs"],
        "opens, reads and writes files below a directory, for tools",
    ),
    ("runtime/builtin/src/walk.rs", &["std::fs"], "lists directories below one, for tools"),
    (
        "runtime/kernel/src/call/beneath.rs",
        &["cap_std::fs", "std::fs"],
        "opens files inside an open directory",
    ),
    (
        "runtime/kernel/src/call/roots.rs",
        &["std::fs"],
        "follows links, so that none leads out of a session's directories",
    ),
    ("runtime/exec/src/command.rs", &["std::env"], "passes the variables that a tool's program inherits"),
    (
        "runtime/exec/src/programs/container/removal.rs",
        &["std::process::Command"],
        "removes a container when a call is dropped",
    ),
    (
        "runtime/exec/src/programs/descriptors.rs",
        &["std::fs", "std::process::Command"],
        "keeps the open files of this process from programs",
    ),
    (
        "runtime/exec/src/programs/process.rs",
        &["std::env", "std::fs", "tokio::process"],
        "finds and starts programs, with the inherited environment",
    ),
    (
        "runtime/exec/src/programs/sandbox/linux.rs",
        &["std::env", "std::fs"],
        "creates a program's directory for temporary files",
    ),
    ("runtime/exec/src/programs/sandbox/linux/group.rs", &["std::fs"], "creates control groups"),
    (
        "runtime/exec/src/programs/sandbox/linux/landlock.rs",
        &["std::fs"],
        "lists the directories that stay open to a program",
    ),
    ("runtime/http/src/env.rs", &["std::env"], "reads credentials"),
    (
        "runtime/http/src/files.rs",
        &["cap_std::fs", "std::fs"],
        "reads the files that arguments name, and writes responses to files",
    ),
    ("runtime/mcp/src/client/stdio.rs", &["tokio::process"], "communicates with MCP server processes"),
    ("runtime/mcp/src/client/stdio/input.rs", &["tokio::process"], "writes to MCP server processes"),
    ("runtime/record/src/audit/jsonl.rs", &["std::fs"], "writes records"),
    ("runtime/record/src/audit/reader/jsonl.rs", &["std::fs"], "reads the records of a file"),
    ("runtime/record/src/cassette.rs", &["std::fs"], "reads and writes the file of a cassette"),
    ("runtime/record/src/replay/run.rs", &["std::fs"], "reads and writes the file of a recorded run"),
    (
        "runtime/kernel/src/registry/contract.rs",
        &["std::env", "std::fs"],
        "reads the lock of a test, and writes it if the variable asks for it",
    ),
    ("runtime/store/src/audit.rs", &["std::fs"], "reads the start of a log file"),
    ("runtime/store/src/audit/sqlite/owner.rs", &["std::fs"], "locks a file while a writer is alive"),
    ("runtime/store/src/postgres/tls.rs", &["std::fs"], "reads the certificates that a URL names"),
    ("toolgen/src/build.rs", &["std::env"], "gets the directory of generated code from cargo"),
    (
        "toolgen/src/frontend/manifest/files.rs",
        &["std::fs"],
        "follows links, so that no file outside of a manifest's directory is read",
    ),
    ("toolgen/src/frontend/openapi/files.rs", &["std::fs"], "looks for the parts of a document"),
    ("toolgen/src/overlay/sources.rs", &["std::fs"], "looks for the document that an overlay extends"),
    ("toolgen/src/source.rs", &["std::fs"], "reads documents"),
    ("toolgen/src/source/archive.rs", &["std::fs"], "finds the archive in a path"),
    ("toolgen/src/source/archive/unpack.rs", &["std::fs"], "asks whether an entry of an archive is a file"),
    ("toolgen/src/write.rs", &["std::fs"], "writes generated code"),
    ("toolgen/src/write/stale_files.rs", &["std::fs"], "finds generated code that is no longer written"),
];

/// The modules for access to the outside world.
const WAYS_OUT: [&str; 6] =
    ["cap_std::fs", "std::env", "std::fs", "std::process::Command", "tokio::fs", "tokio::process"];

/// Methods of paths that access the file system.
const ASK_THE_DISK: [&str; 9] = [
    "canonicalize",
    "exists",
    "is_dir",
    "is_file",
    "metadata",
    "read_dir",
    "read_link",
    "symlink_metadata",
    "try_exists",
];

/// The findings of a source file, without code for tests only.
#[derive(Default)]
struct Code {
    /// Long functions: the line, the name and the length.
    long: Vec<(usize, String, usize)>,
    /// The accesses to the outside world, with their lines.
    out: Vec<(&'static str, usize)>,
}

impl Code {
    fn of(text: &str) -> Code {
        let mut code = Code::default();
        code.visit_file(&syn::parse_file(text).unwrap());
        code
    }

    fn function(&mut self, signature: &syn::Signature, end: proc_macro2::Span) {
        let first = signature.span().start().line;
        let lines = end.end().line - first + 1;
        if lines > MAX_FUNCTION_LINES {
            self.long.push((first, signature.ident.to_string(), lines));
        }
    }

    /// Records a path to one of these modules, to an item in it, or, in a `use`, to a parent module.
    fn path(&mut self, path: &str, is_use: bool, line: usize) {
        let below =
            |path: &str, above: &str| path.strip_prefix(above).is_some_and(|rest| rest.starts_with("::"));
        let leads = |out: &&&str| {
            path == **out || below(path, out) || (is_use && path.contains("::") && below(out, path))
        };
        self.out.extend(WAYS_OUT.iter().filter(leads).map(|out| (*out, line)));
    }

    fn tree(&mut self, above: &str, tree: &syn::UseTree) {
        let line = tree.span().start().line;
        match tree {
            syn::UseTree::Path(path) => self.tree(&format!("{above}{}::", path.ident), &path.tree),
            syn::UseTree::Name(name) if name.ident == "self" => {
                self.path(above.trim_end_matches(':'), true, line);
            }
            syn::UseTree::Name(name) => self.path(&format!("{above}{}", name.ident), true, line),
            syn::UseTree::Rename(name) => self.path(&format!("{above}{}", name.ident), true, line),
            syn::UseTree::Glob(_) => self.path(above.trim_end_matches(':'), true, line),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(above, tree)),
        }
    }
}

fn for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_test = |list: &syn::MetaList| list.path.is_ident("cfg") && list.tokens.to_string() == "test";
        attribute.path().is_ident("test") || attribute.meta.require_list().is_ok_and(is_test)
    })
}

impl<'ast> Visit<'ast> for Code {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !for_tests(&item.attrs) {
            self.function(&item.sig, item.block.span());
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !for_tests(&item.attrs) {
            self.function(&item.sig, item.block.span());
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block.span());
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !for_tests(&item.attrs) {
            self.tree("", &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.path(&names.join("::"), false, path.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.args.is_empty() && ASK_THE_DISK.iter().any(|name| call.method == name) {
            self.out.push(("std::fs", call.method.span().start().line));
        }
        visit::visit_expr_method_call(self, call);
    }

    /// Macro arguments are not parsed, so their text is searched.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let text = call.tokens.to_string().replace(' ', "");
        let is_named = |out: &&&str| text.contains(**out);
        self.out.extend(WAYS_OUT.iter().filter(is_named).map(|out| (*out, call.span().start().line)));
        visit::visit_macro(self, call);
    }
}

/// Returns the code of published crates, with file names.
fn shipped() -> Vec<(String, String)> {
    let files = files(&[".rs"]).into_iter().filter(|path| !is_test(path));
    let files = files.map(|path| (relative(&path), fs::read_to_string(path).unwrap()));
    files.filter(|(name, _)| name.contains("/src/")).collect()
}

#[test]
fn functions_are_short() {
    let mut long = Vec::new();
    for (name, text) in shipped() {
        for (line, function, lines) in Code::of(&text).long {
            long.push(format!(
                "{name}:{line}: `{function}` has {lines} lines, more than {MAX_FUNCTION_LINES}"
            ));
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn io_happens_only_in_allowlisted_files() {
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for (name, text) in shipped() {
        // The command line may access it.
        if !name.starts_with("runtime/") && !name.starts_with("toolgen/src/") {
            continue;
        }
        let allowed =
            OUTSIDE.iter().find(|(file, ..)| *file == name).map_or(&[][..], |(_, allowed, _)| allowed);
        for (out, line) in Code::of(&text).out {
            match allowed.iter().find(|allowed| **allowed == out) {
                Some(allowed) => drop(used.insert((name.clone(), *allowed))),
                None => wrong.push(format!("{name}:{line}: {out}")),
            }
        }
    }
    for (file, allowed, reason) in OUTSIDE {
        assert!(!reason.is_empty());
        let idle = allowed.iter().filter(|out| !used.contains(&((*file).to_owned(), **out)));
        wrong.extend(idle.map(|out| format!("{file}: {out} is on the list, and not used")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tidy_checks_detect_violations() {
    let long = format!("impl A {{ fn a() {{ {} }} }} fn b() {{}}", "a();\n".repeat(MAX_FUNCTION_LINES));
    assert_eq!(Code::of(&long).long, [(1, "a".to_owned(), MAX_FUNCTION_LINES + 1)]);
    for text in [
        "use std::{fs, io};",
        "use std::fs::{self, File};",
        "use std::fs::*;",
        "fn a() { std::fs::read(p); }",
        "fn a() { let b = p.canonicalize(); }",
        "fn a() { b!(std::fs::read(p)); }",
    ] {
        assert!(Code::of(text).out.iter().any(|(out, _)| *out == "std::fs"), "{text}");
    }
    for text in ["use std::process;", "fn a(b: &mut std::process::Command) {}"] {
        assert_eq!(Code::of(text).out.len(), 1, "{text}");
    }
    for text in
        ["use std::process::ExitCode;", "#[cfg(test)] mod tests { use std::fs; }", "fn a() { fs(env) }"]
    {
        assert_eq!(Code::of(text).out, [], "{text}");
    }
}

/// A crate is published alone: its code must not include files of another crate.
#[test]
fn packages_contain_the_files_they_include() {
    let mut wrong = Vec::new();
    for path in files(&[".rs"]) {
        let name = relative(&path);
        let Some((package, _)) = name.split_once("/src/").filter(|_| is_published(&name)) else { continue };
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            for mark in ["include_str!(\"", "include_bytes!(\"", "include!(\"", "#[path = \""] {
                let Some((_, rest)) = line.split_once(mark) else { continue };
                let file = path.parent().unwrap().join(rest.split('"').next().unwrap());
                let inside = file.canonicalize().is_ok_and(|file| file.starts_with(root().join(package)));
                if !line.trim_start().starts_with("//") && !inside {
                    wrong.push(format!("{name}:{}: {}", number + 1, line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// clippy uses the minimum supported Rust version, and no dependency declares a newer one.
#[test]
fn msrv_is_consistent() {
    let version = |text: &str| {
        let mut parts: Vec<u32> = text.split('.').map(|part| part.parse().unwrap()).collect();
        parts.resize(3, 0);
        parts
    };
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let oldest =
        manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap().trim_matches('"');
    let clippy = fs::read_to_string(root().join("clippy.toml")).unwrap();
    assert!(
        clippy.lines().any(|line| line == format!("msrv = \"{oldest}\"")),
        "clippy.toml names another `msrv`"
    );

    let output = |command: &mut Command| {
        let output = command.current_dir(root()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // Dependencies of other platforms are possibly not downloaded.
    let about = output(Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV"));
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let mut metadata = Command::new(env!("CARGO"));
    metadata.args(["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", host]);
    let metadata: serde_json::Value = serde_json::from_str(&output(&mut metadata)).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let newer = packages.iter().filter_map(|package| {
        let needed = package["rust_version"].as_str()?;
        (version(needed) > version(oldest))
            .then(|| format!("{} {} needs {needed}", package["name"], package["version"]))
    });
    let newer: Vec<String> = newer.collect();
    assert!(packages.len() > 50 && newer.is_empty(), "{}", newer.join("\n"));
}

/// Dependencies that a program and its build script share are compiled once if their features are equal.
#[test]
fn project_compiles_the_core_crate_once() {
    let tree = |words: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["tree", "--offline", "--locked", "--prefix", "none"]).args(words).current_dir(root());
        let output = cargo.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect::<BTreeSet<_>>()
    };
    let name = |line: &str| line.split(' ').next().unwrap().to_owned();
    let shared: BTreeSet<String> =
        tree(&["-p", "toolgen-core", "-e", "normal"]).iter().map(|line| name(line)).collect();
    let project = tree(&["-p", "quickstart", "-e", "normal,build", "-f", "{p} [{f}]"]);
    let mut seen = BTreeSet::new();
    let twice: Vec<&String> =
        project.iter().filter(|line| shared.contains(&name(line)) && !seen.insert(name(line))).collect();
    assert!(seen.contains("toolgen-core") && twice.is_empty(), "compiled twice: {twice:?}");
}

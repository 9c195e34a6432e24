//! Checks of the crates in a directory: dependencies, build scripts, and the tools that their code includes.

use std::fs;
use std::path::{Path, PathBuf};

use toolgen::Program;
use toolgen_runtime::ExecutionPlan;

use super::Finding;

/// Maximum number of source files of a crate that are read.
const MAX_SOURCES: usize = 500;
/// Maximum depth of the directories of sources.
const MAX_DEPTH: usize = 6;

/// A crate that uses toolgen.
pub(super) struct Package {
    cargo: PathBuf,
    manifest: String,
    build_file: PathBuf,
    /// The text of the build script; empty if there is none.
    build: String,
    /// The sources, without the build script.
    sources: Vec<(PathBuf, String)>,
}

impl Package {
    /// Reads the crate of a `Cargo.toml`. `None` if it is none, or does not use toolgen.
    pub(super) fn read(cargo: &Path) -> Option<Package> {
        let manifest = fs::read_to_string(cargo).ok()?;
        let build_file = cargo.with_file_name("build.rs");
        let build = code(&fs::read_to_string(&build_file).unwrap_or_default());
        let uses = |name| dependency(&manifest, name).is_some();
        if !uses("toolgen") && !uses("toolgen-runtime") && !build.contains("toolgen::") {
            return None;
        }
        let (mut sources, src) = (Vec::new(), cargo.with_file_name("src"));
        collect_sources(&src, 0, &mut sources);
        Some(Package { cargo: cargo.to_path_buf(), manifest, build_file, build, sources })
    }

    /// Returns the environment variables that the code names for security schemes, by the names of the schemes.
    pub(super) fn credentials(&self) -> Vec<(String, String)> {
        let texts = self.sources.iter().map(|(_, text)| text).chain([&self.build]);
        let pairs = texts.flat_map(|text| {
            let calls = [".credential(", ".variable("].into_iter().flat_map(|call| arguments(text, call));
            calls.filter_map(|arguments| <[String; 2]>::try_from(arguments).ok())
        });
        pairs.map(|[scheme, variable]| (scheme, variable)).collect()
    }

    /// Returns the documents that the build script compiles.
    fn documents(&self) -> Vec<PathBuf> {
        let dir = self.cargo.parent().unwrap_or(Path::new(""));
        let paths = arguments(&self.build, ".document(").into_iter().flatten();
        paths.map(|path| dir.join(path)).collect()
    }

    /// Checks the crate. The documents in the directory are compiled already.
    pub(super) fn findings(&self, compiled: &[(PathBuf, Program)]) -> Vec<Finding> {
        let names = ["toolgen-runtime", "toolgen"];
        let used: Vec<&str> =
            names.into_iter().filter(|name| dependency(&self.manifest, name).is_some()).collect();
        let cargo = self.cargo.display();
        let mut findings = Vec::new();
        if !used.is_empty() {
            findings.push(Finding::fine(format!("{cargo}: depends on {}", used.join(" and "))));
        }
        let build_file = self.build_file.display();
        let missing = |name: &str, reason: &str, table: &str| {
            let is_missing = dependency(&self.manifest, name).is_none();
            is_missing.then(|| {
                let help = "`cargo toolgen init` prints the line, or adds it with `--toolgen-path`";
                Finding::problem(format!("{cargo}: {name} is not in [{table}], and {reason}"), help)
            })
        };
        let includes: Vec<(&PathBuf, String)> = self.includes();
        if self.build.contains("toolgen::") {
            findings.extend(missing("toolgen", &format!("{build_file} uses it"), "build-dependencies"));
        }
        if !includes.is_empty() {
            findings.extend(missing("toolgen-runtime", "the code includes tools", "dependencies"));
        }
        for document in self.documents().iter().filter(|path| !path.is_file()) {
            findings.push(Finding::problem(
                format!("{build_file} compiles {}, which does not exist", document.display()),
                "write the file, or correct its path in the build script; paths are relative to the crate",
            ));
        }
        findings.extend(self.unmatched_names(&includes));
        findings.extend(self.missing_features(compiled));
        findings
    }

    /// Returns the names in `include_tools!`, each with its file.
    fn includes(&self) -> Vec<(&PathBuf, String)> {
        let names = |text: &str| arguments(text, "include_tools!(").into_iter().flatten();
        self.sources.iter().flat_map(|(path, text)| names(text).map(move |name| (path, name))).collect()
    }

    /// Compares the names of tools that the code includes with those that the build script compiles.
    fn unmatched_names(&self, includes: &[(&PathBuf, String)]) -> Vec<Finding> {
        let built: Vec<String> = arguments(&self.build, "Build::new(").into_iter().flatten().collect();
        // The build script may compute its names.
        if built.is_empty() && self.build.contains("Build::new(") {
            return Vec::new();
        }
        let build_file = self.build_file.display();
        let unknown = includes.iter().filter(|(_, name)| !built.contains(name)).map(|(path, name)| {
            let help = format!(
                "add `toolgen::Build::new(\"{name}\")` to `main` in {build_file}, or correct the name"
            );
            let path = path.display();
            Finding::problem(
                format!("{path} includes the tools `{name}`, which {build_file} does not compile"),
                help,
            )
        });
        let unused = built.iter().filter(|name| !includes.iter().any(|(_, included)| included == *name));
        let unused = unused.map(|name| {
            let help = format!("`toolgen_runtime::include_tools!(\"{name}\");` in a module includes them");
            Finding::note(
                format!("{build_file} compiles the tools `{name}`, which the code does not include"),
                help,
            )
        });
        unknown.chain(unused).collect()
    }

    /// Returns a finding for each feature that the engines of the compiled tools need and the dependency lacks.
    fn missing_features(&self, compiled: &[(PathBuf, Program)]) -> Vec<Finding> {
        let Some(Features::Listed(features)) = dependency(&self.manifest, "toolgen-runtime") else {
            return Vec::new();
        };
        let documents = self.documents();
        let programs = compiled.iter().filter(|(path, _)| documents.contains(path));
        let mut needed: Vec<(&str, &Path, &str)> = Vec::new();
        for (path, program) in programs {
            for tool in program.all_tools() {
                let feature = match &tool.call {
                    ExecutionPlan::Http(_) => "http",
                    ExecutionPlan::Command(_) => "process",
                    ExecutionPlan::Mcp(_) => "mcp",
                    ExecutionPlan::Agent(_) => "agent",
                    _ => continue,
                };
                let is_enabled = |enabled: &String| enabled == feature || implies(enabled, feature);
                let is_known = needed.iter().any(|(known, _, _)| *known == feature);
                if !is_known && !features.iter().any(is_enabled) {
                    needed.push((feature, path, tool.spec.name.as_str()));
                }
            }
        }
        let cargo = self.cargo.display();
        let finding = |(feature, path, tool): &(&str, &Path, &str)| {
            let path = path.display();
            Finding::problem(
                format!(
                    "{cargo}: toolgen-runtime lacks the feature `{feature}`, which `{tool}` of {path} needs"
                ),
                format!("add \"{feature}\" to the features of toolgen-runtime"),
            )
        };
        needed.iter().map(finding).collect()
    }
}

/// Whether a feature of toolgen-runtime enables another one.
fn implies(enabled: &str, feature: &str) -> bool {
    match feature {
        "http" => ["compression", "mcp-oauth"].contains(&enabled),
        "process" => ["mcp", "mcp-oauth", "rmcp"].contains(&enabled),
        "mcp" => ["mcp-oauth", "rmcp"].contains(&enabled),
        "agent" => enabled == "builtin",
        _ => false,
    }
}

/// The features of a dependency.
#[derive(Debug, PartialEq, Eq)]
enum Features {
    Listed(Vec<String>),
    /// Another file has them, such as that of the workspace.
    Elsewhere,
}

/// Returns the features of a dependency. `None` if the text does not have the dependency.
fn dependency(manifest: &str, name: &str) -> Option<Features> {
    if !super::super::init::has_dependency(manifest, name) {
        return None;
    }
    let mut lines = manifest.lines().map(str::trim);
    let is_line = |line: &str| {
        let rest = line.strip_prefix(name).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with('='))
    };
    let is_table = |line: &str| line.starts_with('[') && line.ends_with(&format!(".{name}]"));
    let Some(start) = lines.find(|line| is_line(line) || is_table(line)) else {
        return Some(Features::Elsewhere);
    };
    let mut value = String::new();
    if is_table(start) {
        value.extend(lines.take_while(|line| !line.starts_with('[')).flat_map(|line| [line, " "]));
    } else {
        let is_open = |text: &str| text.matches(['[', '{']).count() > text.matches([']', '}']).count();
        value.push_str(start);
        while is_open(&value) {
            let Some(line) = lines.next() else { break };
            value.push_str(line);
        }
    }
    if value.contains("workspace") {
        return Some(Features::Elsewhere);
    }
    let list = value.split_once("features").and_then(|(_, rest)| rest.split_once('['));
    let list = list.and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
    let names = list.split(',').map(|item| item.trim().trim_matches('"')).filter(|item| !item.is_empty());
    Some(Features::Listed(names.map(str::to_owned).collect()))
}

fn collect_sources(dir: &Path, depth: usize, sources: &mut Vec<(PathBuf, String)>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let is_link = path.symlink_metadata().is_ok_and(|data| data.is_symlink());
        if path.is_dir() && depth < MAX_DEPTH && !is_link {
            collect_sources(&path, depth + 1, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") && sources.len() < MAX_SOURCES {
            let text = fs::read_to_string(&path).unwrap_or_default();
            sources.push((path, code(&text)));
        }
    }
}

/// Returns Rust code without lines that are comments.
fn code(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Returns the string literals at the start of the arguments of each call: `["a", "b"]` for `f("a", "b", c)`.
fn arguments(code: &str, call: &str) -> Vec<Vec<String>> {
    let literals = |rest: &str| {
        let (mut rest, mut literals) = (rest, Vec::new());
        while let Some((text, end)) =
            rest.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'))
        {
            literals.push(text.to_owned());
            rest = end.trim_start().strip_prefix(',').unwrap_or_default();
        }
        literals
    };
    code.split(call).skip(1).map(literals).filter(|literals| !literals.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_a_dependency_are_read_in_each_form() {
        let features = |text: &str| dependency(text, "a");
        let list =
            |names: &[&str]| Some(Features::Listed(names.iter().map(|name| (*name).to_owned()).collect()));
        assert_eq!(features("[dependencies]\nab = \"1\"\n"), None);
        assert_eq!(features("[dependencies]\na = \"1\"\n"), list(&[]));
        assert_eq!(
            features("[dependencies]\na = { path = \"x\", features = [\"b\", \"c\"] }\n"),
            list(&["b", "c"])
        );
        assert_eq!(
            features(
                "[dependencies]\na = { path = \"x\", features = [\n  \"b\",\n  \"c\",\n] }\nd = [\"e\"]\n"
            ),
            list(&["b", "c"])
        );
        assert_eq!(
            features("[dependencies.a]\nversion = \"1\"\nfeatures = [\"b\"]\n[lints]\n"),
            list(&["b"])
        );
        for shared in [
            "[dependencies]\na.workspace = true\n",
            "[dependencies]\na = { workspace = true }\n",
            "[dependencies.a]\nworkspace = true\n",
        ] {
            assert_eq!(features(shared), Some(Features::Elsewhere), "{shared}");
        }
    }

    #[test]
    fn literal_arguments_are_read_from_code() {
        let text = "x.f(\"a\", \"b\"). f( \"c\" , d).f(e); // y\n   // .f(\"g\")\n";
        assert_eq!(
            arguments(&code(text), "f("),
            [vec!["a".to_owned(), "b".to_owned()], vec!["c".to_owned()]]
        );
    }
}

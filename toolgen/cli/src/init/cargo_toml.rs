//! Edits a `Cargo.toml` as text, so that its formatting and comments stay.

use super::super::new::needs::with_feature;

/// A dependency that the written code needs.
pub(super) struct Dependency {
    /// `dependencies` or `build-dependencies`.
    pub(super) table: &'static str,
    pub(super) name: &'static str,
    /// Where it comes from: `version = "1"` or `path = "…"`.
    location: String,
    pub(super) features: &'static [&'static str],
}

impl Dependency {
    pub(super) fn new(
        table: &'static str,
        name: &'static str,
        location: String,
        features: &'static [&'static str],
    ) -> Dependency {
        Dependency { table, name, location, features }
    }

    /// Returns the line of the dependency.
    pub(super) fn line(&self) -> String {
        let features: Vec<String> = self.features.iter().map(|feature| format!("\"{feature}\"")).collect();
        match (self.location.strip_prefix("version = "), features.as_slice()) {
            (Some(version), []) => format!("{} = {version}", self.name),
            (_, []) => format!("{} = {{ {} }}", self.name, self.location),
            _ => format!("{} = {{ {}, features = [{}] }}", self.name, self.location, features.join(", ")),
        }
    }
}

/// The result of adding a dependency.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// The file has the dependency with its features.
    Unchanged,
    Added(String),
    FeaturesAdded(String),
    /// The file has the dependency in a form that is not edited.
    Impossible,
}

/// Adds a dependency, or the features that it lacks.
pub(super) fn with_dependency(text: &str, dependency: &Dependency) -> Edit {
    let Dependency { table, name, features, .. } = dependency;
    if has_dependency_in(text, table, name) {
        let changed =
            features.iter().try_fold(text.to_owned(), |text, feature| with_feature(&text, name, feature));
        return match changed {
            Some(changed) if changed == text => Edit::Unchanged,
            Some(changed) => Edit::FeaturesAdded(changed),
            None => Edit::Impossible,
        };
    }
    // `dependencies.a = …` and `dependencies = { … }` exclude a table of the same name.
    if text.lines().any(|line| {
        line.trim_start().strip_prefix(table).is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
    }) {
        return Edit::Impossible;
    }
    let mut lines: Vec<&str> = text.lines().collect();
    let line = dependency.line();
    let header = format!("[{table}]");
    let is_header = |line: &&str| line.split('#').next().unwrap_or_default().trim() == header;
    if let Some(start) = lines.iter().position(is_header) {
        let is_next = |line: &&str| line.trim_start().starts_with('[');
        // Lines of an array also begin with `[`, but only within a value of several lines.
        let end = lines.iter().skip(start + 1).position(is_next).map_or(lines.len(), |at| start + 1 + at);
        let last = (start..end).rev().find(|at| {
            let line = lines.get(*at).map_or("", |line| line.trim());
            !line.is_empty() && (*at == start || !line.starts_with('#'))
        });
        lines.insert(last.unwrap_or(start) + 1, &line);
    } else {
        if lines.last().is_some_and(|line| !line.trim().is_empty()) {
            lines.push("");
        }
        lines.extend([header.as_str(), line.as_str()]);
    }
    Edit::Added(lines.join("\n") + "\n")
}

/// Whether a `Cargo.toml` has a dependency, in any table.
pub(in super::super) fn has_dependency(text: &str, name: &str) -> bool {
    ["dependencies", "build-dependencies", "dev-dependencies"]
        .iter()
        .any(|table| has_dependency_in(text, table, name))
}

fn has_dependency_in(text: &str, table: &str, name: &str) -> bool {
    let mut current = "";
    text.lines().map(str::trim).any(|line| {
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            current = header.trim();
            let path = format!("{table}.{name}");
            return current == path
                || current.starts_with("target.") && current.ends_with(&format!(".{path}"));
        }
        let key = line.split(['=', '.']).next().unwrap_or_default().trim().trim_matches('"');
        // `[target.'cfg(unix)'.dependencies]`; a workspace only offers its dependencies.
        let is_table =
            current == table || current.starts_with("target.") && current.ends_with(&format!(".{table}"));
        is_table && key == name
    })
}

/// Returns the file of the build script: `package.build`, or `build.rs`.
pub(super) fn build_script(text: &str) -> &str {
    let mut table = "";
    let values = text.lines().map(str::trim).filter_map(|line| {
        if line.starts_with('[') {
            table = line;
        }
        let value = line.strip_prefix("build")?.trim_start().strip_prefix('=')?.trim();
        (table == "[package]").then(|| value.split('"').nth(1)).flatten()
    });
    values.into_iter().next().unwrap_or("build.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokio() -> Dependency {
        Dependency::new("dependencies", "tokio", "version = \"1\"".to_owned(), &["macros"])
    }

    #[test]
    fn dependency_is_added_without_other_changes() {
        let line = "tokio = { version = \"1\", features = [\"macros\"] }";
        for (before, after) in [
            ("[package]\nname = \"a\" # mine\n", "[package]\nname = \"a\" # mine\n\n[dependencies]\nLINE\n"),
            ("[package]\n\n[dependencies]\n", "[package]\n\n[dependencies]\nLINE\n"),
            (
                "[dependencies] # ours\na = \"1\"\n\n# About lints.\n[lints]\nx = 1\n",
                "[dependencies] # ours\na = \"1\"\nLINE\n\n# About lints.\n[lints]\nx = 1\n",
            ),
            (
                "[dependencies.a]\nversion = \"1\"\n",
                "[dependencies.a]\nversion = \"1\"\n\n[dependencies]\nLINE\n",
            ),
            (
                "[dev-dependencies]\ntokio = \"1\"\n",
                "[dev-dependencies]\ntokio = \"1\"\n\n[dependencies]\nLINE\n",
            ),
        ] {
            let expected = after.replace("LINE", line);
            assert_eq!(with_dependency(before, &tokio()), Edit::Added(expected.clone()), "{before}");
            assert_eq!(with_dependency(&expected, &tokio()), Edit::Unchanged, "{before}");
        }
    }

    #[test]
    fn features_are_added_to_an_existing_dependency() {
        let before = "[dependencies]\ntokio = { version = \"1.40\", features = [\"net\"] }\n";
        let after = "[dependencies]\ntokio = { version = \"1.40\", features = [\"net\", \"macros\"] }\n";
        assert_eq!(with_dependency(before, &tokio()), Edit::FeaturesAdded(after.to_owned()));
        for text in [
            "[dependencies]\ntokio.workspace = true\n",
            "[dependencies.tokio]\nversion = \"1\"\n",
            "dependencies.tokio = \"1\"\n",
        ] {
            assert_eq!(with_dependency(text, &tokio()), Edit::Impossible, "{text}");
        }
    }

    #[test]
    fn build_script_has_the_name_that_the_package_sets() {
        assert_eq!(build_script("[package]\nname = \"a\"\nbuild = \"src/make.rs\"\n"), "src/make.rs");
        assert_eq!(build_script("[package]\nbuild-x = \"a\"\n[other]\nbuild = \"b\"\n"), "build.rs");
    }
}

//! Enables the feature that a kind of tool needs in a crate, and prints the code that remains to be written.

use std::fs;
use std::io;
use std::path::Path;

use toolgen::write::write_if_changed;

use super::super::init::has_dependency;
use super::super::output::Output;

const RUNTIME: &str = "toolgen-runtime";

/// The requirements of a program that runs tools of one kind.
struct Needs {
    /// Feature of `toolgen-runtime`; empty if none is needed.
    feature: &'static str,
    /// Where to add the code of `line`; empty if no code is needed.
    location: &'static str,
    line: &'static str,
}

fn of_kind(kind: &str) -> Needs {
    const ENGINES: &str = "after `Engines::new()`, or no tool of the manifest can run";
    let (feature, location, line) = match kind {
        "command" => ("process", "", ""),
        "http" => ("http", ENGINES, ".with(toolgen_runtime::engine::http::HttpEngine::builder().build()?)"),
        "agent" => (
            "agent",
            "after `Engines::new()`, with an `AgentRunner` that talks to your model, or no tool of the manifest can run",
            ".with(toolgen_runtime::agent::sub_agent::AgentEngine::new(runner))",
        ),
        "function" => (
            "typed",
            "after `Engines::new()`, with a type that implements the trait `tools::Functions`, or no tool of the \
             manifest can run",
            ".with(tools::functions(your_type))",
        ),
        "effect" => (
            "",
            "after `Toolbox::builder(…)`, with an `EffectHandler`, or calls of the tool fail",
            ".effect(\"ask\", handler)",
        ),
        _ => ("", "", ""),
    };
    Needs { feature, location, line }
}

/// Adds the feature to the crate in the directory of the manifest, and prints the code to write. Without a crate,
/// prints nothing, because then the command line runs the tools.
pub(super) fn enable_feature(kind: &str, manifest: &Path, output: &mut Output) -> io::Result<()> {
    let cargo = manifest.with_file_name("Cargo.toml");
    let before = fs::read_to_string(&cargo).unwrap_or_default();
    if !has_dependency(&before, RUNTIME) {
        return Ok(());
    }
    let Needs { feature, location, line } = of_kind(kind);
    if !feature.is_empty() {
        let file = cargo.display();
        match with_feature(&before, RUNTIME, feature) {
            Some(after) if after == before => {}
            Some(after) if write_if_changed(&cargo, &after).is_ok() => {
                output.line(&format!("added the feature `{feature}` of {RUNTIME} to {file}"))?;
            }
            _ => {
                output.line(&format!("\nMake sure that {file} has the feature `{feature}` of {RUNTIME}."))?;
            }
        }
    }
    if !line.is_empty() {
        output.line(&format!("\nWrite {location}:\n\n    {line}\n"))?;
    }
    Ok(())
}

/// Returns the text of a `Cargo.toml` with a feature added to a dependency; everything else is unchanged. `None` if the
/// dependency is not written in one line.
pub(in super::super) fn with_feature(text: &str, name: &str, feature: &str) -> Option<String> {
    let mut table = "";
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with('[') {
            table = line.split('#').next().unwrap_or_default().trim();
        }
        let value = line.strip_prefix(name).map(str::trim_start).and_then(|rest| rest.strip_prefix('='));
        if let Some(value) = value.filter(|_| table == "[dependencies]") {
            let value = value.trim();
            let changed = if let Some((head, list)) = value.split_once("features = [") {
                let (list, tail) = list.split_once(']')?;
                if list.split(',').any(|item| item.trim().trim_matches('"') == feature) {
                    return Some(text.to_owned());
                }
                let comma = if list.trim().is_empty() { "" } else { ", " };
                format!("{head}features = [{}{comma}\"{feature}\"]{tail}", list.trim_end_matches([',', ' ']))
            } else if let Some(inner) = value.strip_suffix('}') {
                format!("{}, features = [\"{feature}\"] }}", inner.trim_end())
            } else if value.starts_with('"') && value.ends_with('"') {
                format!("{{ version = {value}, features = [\"{feature}\"] }}")
            } else {
                return None;
            };
            let (before, rest) = text.split_at_checked(start)?;
            let after = rest.get(line.len()..)?;
            let end = line.get(line.trim_end().len()..)?;
            return Some(format!("{before}{name} = {changed}{end}{after}"));
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::with_feature;

    #[test]
    fn feature_is_added_without_other_changes() {
        for (value, expected) in [
            ("\"1\"", "{ version = \"1\", features = [\"http\"] }"),
            ("{ path = \"../x\" }", "{ path = \"../x\", features = [\"http\"] }"),
            (
                "{ path = \"/x\", features = [\"typed\"] }",
                "{ path = \"/x\", features = [\"typed\", \"http\"] }",
            ),
            ("{ features = [], path = \"/x\" } # mine", "{ features = [\"http\"], path = \"/x\" } # mine"),
            ("{ features = [\"http\"] }", "{ features = [\"http\"] }"),
        ] {
            let text = |value: &str| {
                format!("[package]\nname = \"a\"\n[dependencies]\nb = \"1\"\nx = {value}\n[lints]\n")
            };
            let changed = with_feature(&text(value), "x", "http");
            assert_eq!(changed.as_deref(), Some(&*text(expected)), "{value}");
        }
    }

    #[test]
    fn multi_line_dependency_is_not_edited() {
        for text in [
            "[dependencies.x]\nversion = \"1\"\n",
            "[dependencies]\nx.workspace = true\n",
            "[dependencies]\nx = { features = [\n  \"a\",\n] }\n",
            "[build-dependencies]\nx = \"1\"\n",
        ] {
            assert_eq!(with_feature(text, "x", "http"), None, "{text}");
        }
    }
}

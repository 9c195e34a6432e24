//! `new`: adds a tool template to a manifest, or writes a crate with an agent.

mod agent;
mod insert;
pub(super) mod needs;

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;
use toolgen::write::write_if_changed;
use toolgen::{Document, Problems};
use toolgen_runtime::ToolName;

use super::Outcome;
use super::args::New;
use super::output::Output;

/// The placeholder that the name of the new tool replaces.
const NAME: &str = "TOOL";

/// A manifest without tools.
const EMPTY: &str = "toolgen: 1\ntools:\n";

/// The help if the file cannot be changed; the text of the tool follows.
const BY_HAND: &str = "add the tool below to `tools` by hand";

/// Adds the tool. If the tool exists or the file cannot be changed, prints the text of the tool and returns `Problems`.
pub(super) fn run(task: &New, output: &mut Output) -> io::Result<Outcome> {
    if let Some(name) = &task.agent {
        return agent::run(name, &task.checkout, output);
    }
    // One of both is required.
    let Some(name) = &task.tool else { return Ok(Outcome::Usage) };
    if task.checkout.toolgen_path.is_some() {
        output.error("`--toolgen-path` is for `--agent`: a manifest has no dependencies");
        return Ok(Outcome::Usage);
    }
    if let Err(error) = ToolName::parse(name.clone()) {
        output.error(&format!("`{name}` is not a valid tool name: {error}"));
        return Ok(Outcome::Usage);
    }
    if task.kind == "rust" {
        return rust(name, output);
    }
    let tool = skeleton(&task.kind).replace(NAME, name);
    let file = task.manifest.display();
    let text = match fs::read_to_string(&task.manifest) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => EMPTY.to_owned(),
        Err(error) => {
            output.error(&format!("{file}: {error}"));
            return Ok(Outcome::Problems);
        }
    };
    let changed = match with_new_tool(&task.manifest, &text, name, &tool) {
        Ok(changed) => changed,
        Err(message) => {
            output.error(&format!("{file}: {message}"));
            if message.ends_with(BY_HAND) {
                output.write(&tool)?;
            }
            return Ok(Outcome::Problems);
        }
    };
    if let Err(error) = write_if_changed(&task.manifest, &changed) {
        output.error(&error.to_string());
        return Ok(Outcome::Problems);
    }
    let line = changed.lines().position(|line| line.trim_start().starts_with(&format!("{name}:")));
    output.line(&format!("{file}:{}: added {name} (fill it in)", line.unwrap_or(0) + 1))?;
    needs::enable_feature(&task.kind, &task.manifest, output)?;
    output.note(&format!("replace its examples, then run `cargo toolgen check {file}`"));
    Ok(Outcome::Fine)
}

/// Returns the text of a manifest with the new tool. `Err` is the reason why the text cannot be changed.
fn with_new_tool(path: &Path, text: &str, name: &str, tool: &str) -> Result<String, String> {
    let parse = |text: &str| {
        let document = Document::parse(path, text, &mut Problems::new());
        document.map(|document| document.root.clone())
    };
    let mut original = parse(text).ok_or_else(|| format!("this cannot be read; {BY_HAND}"))?;
    if original.get("toolgen").is_none() {
        return Err("this is not a tool manifest: it has no `toolgen: 1`".to_owned());
    }
    if original["tools"].get(name).is_some() {
        return Err(format!("there is a tool `{name}` already; choose another name, or change that one"));
    }
    let changed = insert::with_tool(text, tool)
        .ok_or_else(|| format!("`tools` is not written as a block with a line for each name; {BY_HAND}"))?;
    let mut edited = parse(&changed).unwrap_or_default();
    let added =
        edited.get_mut("tools").and_then(Value::as_object_mut).and_then(|tools| tools.shift_remove(name));
    // A missing `tools` and an empty one are equal.
    for document in [&mut original, &mut edited] {
        if document["tools"].as_object().is_none_or(serde_json::Map::is_empty) {
            document["tools"] = Value::Null;
        }
    }
    if added.is_some() && original == edited {
        Ok(changed)
    } else {
        Err(format!("this cannot be changed safely; {BY_HAND}"))
    }
}

fn skeleton(kind: &str) -> &'static str {
    match kind {
        "http" => include_str!("new/http.yaml"),
        "function" => include_str!("new/function.yaml"),
        "compose" => include_str!("new/compose.yaml"),
        "complete" => include_str!("new/complete.yaml"),
        "effect" => include_str!("new/effect.yaml"),
        "agent" => include_str!("new/agent.yaml"),
        _ => include_str!("new/command.yaml"),
    }
}

/// Writes a function with `#[tool]` and its test, or prints them if there is no crate or the file exists.
fn rust(tool: &str, output: &mut Output) -> io::Result<Outcome> {
    let name = tool.replace('-', "_").to_lowercase();
    let text = include_str!("new/rust.rs.txt").replace("my_tool", &name);
    let path = Path::new("src/tools").join(format!("{name}.rs"));
    if !Path::new("src").is_dir() {
        output.write(&text)?;
        return Ok(Outcome::Fine);
    }
    if path.exists() {
        output.error(&format!("{} exists and is unchanged; the function would be:", path.display()));
        output.write(&text)?;
        return Ok(Outcome::Problems);
    }
    if let Err(error) = write_if_changed(&path, &text) {
        output.error(&error.to_string());
        return Ok(Outcome::Problems);
    }
    output.line(&format!("wrote {}", path.display()))?;
    // Not `tools`: that module contains the tools of the manifest, as `init` suggests.
    let file = if Path::new("src/main.rs").is_file() { "src/main.rs" } else { "src/lib.rs" };
    let existing = fs::read_to_string(file).unwrap_or_default();
    let others = match existing.contains("include_tools!") || Path::new("tools.yaml").is_file() {
        true => ", Engines::new().tools(tools::TOOLS)?",
        false => "",
    };
    output.line(&format!(
        "\nAdd to {file}, next to its other modules:\n\n    #[path = \"tools/{name}.rs\"]\n    mod {name};\n\n\
         and the tool to the registry, next to others:\n\n    \
         Registry::new(toolgen_runtime::toolset![{name}::{name}{others}])?\n\nThe test needs \
         `cargo add --dev serde_json` and `cargo add --dev tokio --features macros,rt`."
    ))?;
    Ok(Outcome::Fine)
}

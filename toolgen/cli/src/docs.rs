//! `docs`: prints tool documentation for a system prompt, or compares it with a file.

use std::fs;
use std::io;
use std::path::Path;

use toolgen::Tool;
use toolgen::selector::suggestion;
use toolgen_runtime::spec::docs::{self, Group, Level, Style};
use toolgen_runtime::spec::toolset::Toolset;
use toolgen_runtime::{ToolSpec, printable};

use super::Outcome;
use super::args::{Docs, DocsFormat, Groups};
use super::compile::{Compiled, compile_all, find_tools};
use super::discovery;
use super::output::Output;

/// Prints the tools at a level of detail, or compares the text with a file. Without a level, prints the list of tools
/// and then each tool in full.
pub(super) fn run(task: &Docs, output: &mut Output) -> io::Result<Outcome> {
    let (compiled, complete) = compile_all(&task.selection, &task.filter.tools, output);
    let selected = find_tools(&compiled, &task.filter.tools)
        .and_then(|tools| Ok((tools, toolsets(&compiled, &task.toolsets)?)));
    let (tools, sets) = match selected {
        Ok(selected) => selected,
        Err(message) => {
            output.error(&message);
            return Ok(Outcome::Problems);
        }
    };
    let is_member = |tool: &&Tool| {
        let name = tool.spec.name.as_str();
        sets.iter().any(|set| set.members.iter().any(|member| **member == *name))
    };
    let tools = tools.into_iter().filter(|tool| task.toolsets.is_empty() || is_member(tool));
    let visible = discovery::visible_specs(task.discovery.discovery, &tools.collect::<Vec<_>>());
    let specs: Vec<&ToolSpec> = visible.iter().collect();
    let groups = match task.groups {
        None => vec![Group { name: "", description: "", specs }],
        Some(Groups::Category) => docs::by_category(specs),
        Some(Groups::Toolset) => docs::by_toolset(specs, sets),
    };
    let text = text(task, &groups);
    let outcome = match &task.check {
        Some(file) => compare(file, &text, output)?,
        None => {
            output.write(&text)?;
            Outcome::Fine
        }
    };
    Ok(if complete { outcome } else { Outcome::Problems })
}

/// Maximum number of lines of a difference to print, per side.
const MAX_LINES: usize = 20;

/// Compares the documentation with the content of a file.
fn compare(file: &Path, text: &str, output: &mut Output) -> io::Result<Outcome> {
    let current = match fs::read_to_string(file) {
        Ok(current) => current,
        Err(error) => {
            output.error(&format!("{} cannot be read: {error}", file.display()));
            return Ok(Outcome::Problems);
        }
    };
    // A checkout may have different line endings.
    let (current, new): (Vec<&str>, Vec<&str>) = (current.lines().collect(), text.lines().collect());
    if current == new {
        return Ok(Outcome::Fine);
    }
    let is_same = |(one, other): &(&&str, &&str)| one == other;
    let prefix = current.iter().zip(&new).take_while(is_same).count();
    let (current, new) = (current.get(prefix..).unwrap_or_default(), new.get(prefix..).unwrap_or_default());
    let suffix = current.iter().rev().zip(new.iter().rev()).take_while(is_same).count();
    output.line(&format!("{}:{}: not the documentation of these tools", file.display(), prefix + 1))?;
    for (sign, lines) in [('-', current), ('+', new)] {
        let lines = lines.get(..lines.len() - suffix).unwrap_or_default();
        for line in lines.iter().take(MAX_LINES) {
            output.line(&format!("{sign}{line}"))?;
        }
        if lines.len() > MAX_LINES {
            output.line(&format!("{sign}… {} more lines", lines.len() - MAX_LINES))?;
        }
    }
    Ok(Outcome::Problems)
}

/// Returns the toolsets of these names, or all toolsets without names. `Err` names the first that does not exist.
fn toolsets<'a>(compiled: &'a [Compiled], names: &[String]) -> Result<Vec<&'a Toolset>, String> {
    let all = || {
        compiled.iter().filter_map(|compiled| compiled.program.as_ref()).flat_map(|program| &program.toolsets)
    };
    if names.is_empty() {
        return Ok(all().collect());
    }
    let find = |name: &String| {
        all().find(|set| *set.name == **name).ok_or_else(|| {
            let hint = suggestion(name, all().map(|set| set.name.as_str()));
            let hint = hint.map(|similar| format!("; did you mean `{similar}`?"));
            let default_hint = || "; a manifest names its sets under `toolsets`".to_owned();
            format!("there is no toolset `{name}`{}", hint.unwrap_or_else(default_hint))
        })
    };
    names.iter().map(find).collect()
}

/// Returns the documentation, with a final line break.
fn text(task: &Docs, groups: &[Group<'_>]) -> String {
    let style =
        Style { level: task.level.unwrap_or(Level::Full), dialect: task.dialect, results: task.results };
    if task.format == DocsFormat::Json {
        return format!("{}\n", docs::json(groups, &style));
    }
    let printed = |text: &str| format!("{}\n", printable(text.trim_end()));
    if task.summary && task.groups.is_some() {
        return printed(&docs::grouped(groups, &Style { level: Level::Summary, ..style }));
    }
    if task.level.is_some_and(|level| level != Level::Full) || task.groups.is_some() {
        return printed(&docs::grouped(groups, &style));
    }
    let specs = || groups.iter().flat_map(|group| group.specs.iter().copied());
    let mut parts = Vec::new();
    if task.summary || task.filter.tools.is_empty() {
        parts.push(docs::summary(specs()));
    }
    if !task.summary {
        parts.extend(specs().map(|spec| docs::docs_at([spec], &style)));
    }
    printed(&parts.iter().map(|part| part.trim_end()).collect::<Vec<_>>().join("\n\n"))
}

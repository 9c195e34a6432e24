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
use super::compile::{Compiled, choose, compile_all};
use super::discovery;
use super::output::Output;

/// Prints the tools at a level of detail, or compares the text with a file. Without a level, prints the list of tools
/// and then each tool in full.
pub(super) fn run(task: &Docs, output: &mut Output) -> io::Result<Outcome> {
    let (compiled, complete) = compile_all(&task.selection, &task.only.tools, output);
    let chosen = choose(&compiled, &task.only.tools)
        .and_then(|tools| Ok((tools, toolsets(&compiled, &task.toolsets)?)));
    let (tools, sets) = match chosen {
        Ok(chosen) => chosen,
        Err(message) => {
            output.complain(&message);
            return Ok(Outcome::Problems);
        }
    };
    let is_member = |tool: &&Tool| {
        let name = tool.spec.name.as_str();
        sets.iter().any(|set| set.members.iter().any(|member| **member == *name))
    };
    let tools = tools.into_iter().filter(|tool| task.toolsets.is_empty() || is_member(tool));
    let visible = discovery::visible_specs(task.shown.discovery, &tools.collect::<Vec<_>>());
    let specs: Vec<&ToolSpec> = visible.iter().collect();
    let groups = match task.groups {
        None => vec![Group { name: "", description: "", specs }],
        Some(Groups::Category) => docs::by_category(specs),
        Some(Groups::Toolset) => docs::by_toolset(specs, sets),
    };
    let text = text(task, &groups);
    let done = match &task.check {
        Some(file) => compare(file, &text, output)?,
        None => {
            output.write(&text)?;
            Outcome::Fine
        }
    };
    Ok(if complete { done } else { Outcome::Problems })
}

/// Maximum number of lines of a difference to print, per side.
const MAX_LINES: usize = 20;

/// Compares the documentation with the content of a file.
fn compare(file: &Path, text: &str, output: &mut Output) -> io::Result<Outcome> {
    let held = match fs::read_to_string(file) {
        Ok(held) => held,
        Err(error) => {
            output.complain(&format!("{} cannot be read: {error}", file.display()));
            return Ok(Outcome::Problems);
        }
    };
    // A checkout may have different line endings.
    let (held, new): (Vec<&str>, Vec<&str>) = (held.lines().collect(), text.lines().collect());
    if held == new {
        return Ok(Outcome::Fine);
    }
    let same = |(one, other): &(&&str, &&str)| one == other;
    let before = held.iter().zip(&new).take_while(same).count();
    let (held, new) = (held.get(before..).unwrap_or_default(), new.get(before..).unwrap_or_default());
    let after = held.iter().rev().zip(new.iter().rev()).take_while(same).count();
    output.line(&format!("{}:{}: not the documentation of these tools", file.display(), before + 1))?;
    for (sign, lines) in [('-', held), ('+', new)] {
        let lines = lines.get(..lines.len() - after).unwrap_or_default();
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
    let all = || compiled.iter().filter_map(|one| one.program.as_ref()).flat_map(|program| &program.toolsets);
    if names.is_empty() {
        return Ok(all().collect());
    }
    let find = |name: &String| {
        all().find(|set| *set.name == **name).ok_or_else(|| {
            let known = suggestion(name, all().map(|set| set.name.as_str()));
            let known = known.map(|known| format!("; did you mean `{known}`?"));
            let none = || "; a manifest names its sets under `toolsets`".to_owned();
            format!("there is no toolset `{name}`{}", known.unwrap_or_else(none))
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
    let lines = |text: &str| format!("{}\n", printable(text.trim_end()));
    if task.summary && task.groups.is_some() {
        return lines(&docs::grouped(groups, &Style { level: Level::Summary, ..style }));
    }
    if task.level.is_some_and(|level| level != Level::Full) || task.groups.is_some() {
        return lines(&docs::grouped(groups, &style));
    }
    let specs = || groups.iter().flat_map(|group| group.specs.iter().copied());
    let mut parts = Vec::new();
    if task.summary || task.only.tools.is_empty() {
        parts.push(docs::summary(specs()));
    }
    if !task.summary {
        parts.extend(specs().map(|spec| docs::docs_at([spec], &style)));
    }
    lines(&parts.iter().map(|part| part.trim_end()).collect::<Vec<_>>().join("\n\n"))
}

//! `docs`: prints the documentation of tools for a prompt.

use std::io;

use toolgen::Tool;
use toolgen::select::did_you_mean;
use toolgen_runtime::ToolSpec;
use toolgen_runtime::spec::docs::{self, Group, Level, Style};
use toolgen_runtime::spec::toolset::Toolset;

use super::Outcome;
use super::args::{Docs, Groups};
use super::compile::{Compiled, choose, compile_all};
use super::discovery;
use super::output::Output;

/// Prints the tools at a level. Without one, prints the list of tools, then each of them in full.
pub(super) fn run(task: &Docs, output: &mut Output) -> io::Result<Outcome> {
    let (compiled, complete) = compile_all(&task.selection, &task.tools, output);
    let chosen =
        choose(&compiled, &task.tools).and_then(|tools| Ok((tools, toolsets(&compiled, &task.toolsets)?)));
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
    let shown = discovery::shown(&task.selection, &tools.collect::<Vec<_>>());
    let specs: Vec<&ToolSpec> = shown.iter().collect();
    let groups = match task.groups {
        Groups::None => vec![Group { name: "", description: "", specs }],
        Groups::Category => docs::by_category(specs),
        Groups::Toolset => docs::by_toolset(specs, sets),
    };
    print(task, &groups, output)?;
    Ok(if complete { Outcome::Fine } else { Outcome::Problems })
}

/// Returns the toolsets of these names, or all if none is named. An error names the first that does not exist.
fn toolsets<'a>(compiled: &'a [Compiled], names: &[String]) -> Result<Vec<&'a Toolset>, String> {
    let all = || compiled.iter().filter_map(|one| one.program.as_ref()).flat_map(|program| &program.toolsets);
    if names.is_empty() {
        return Ok(all().collect());
    }
    let find = |name: &String| {
        all().find(|set| *set.name == **name).ok_or_else(|| {
            let known = did_you_mean(name, all().map(|set| set.name.as_str()));
            let known = known.map(|known| format!("; did you mean `{known}`?"));
            let none = || "; a manifest names its sets under `toolsets`".to_owned();
            format!("there is no toolset `{name}`{}", known.unwrap_or_else(none))
        })
    };
    names.iter().map(find).collect()
}

fn print(task: &Docs, groups: &[Group<'_>], output: &mut Output) -> io::Result<()> {
    let style =
        Style { level: task.level.unwrap_or(Level::Full), dialect: task.dialect, results: task.results };
    if task.json {
        output.json(&docs::json(groups, &style))?;
        return output.line("");
    }
    if task.summary && task.groups != Groups::None {
        let style = Style { level: Level::Summary, ..style };
        return output.line(docs::grouped(groups, &style).trim_end());
    }
    if task.level.is_some_and(|level| level != Level::Full) || task.groups != Groups::None {
        return output.line(docs::grouped(groups, &style).trim_end());
    }
    let specs = || groups.iter().flat_map(|group| group.specs.iter().copied());
    if task.summary || task.tools.is_empty() {
        output.line(docs::summary(specs()).trim_end())?;
    }
    if !task.summary {
        for (index, spec) in specs().enumerate() {
            if index > 0 || task.tools.is_empty() {
                output.line("")?;
            }
            output.line(docs::docs_at([spec], &style).trim_end())?;
        }
    }
    Ok(())
}

//! Prints a module for each category of tools.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toolgen_core::ToolSpec;

use super::idents::{Names, snake};
use super::literal::visible;
use super::{Listed, ModuleStyle, write_list, write_module};

/// Writes the modules, unless no tool has an explicit category.
pub(super) fn write(tools: &[Listed<'_>], style: &ModuleStyle, out: &mut String) {
    let mut categories: BTreeMap<&str, Vec<&Listed<'_>>> = BTreeMap::new();
    for listed in tools {
        categories.entry(&listed.tool.spec.category).or_default().push(listed);
    }
    if categories.keys().all(|category| *category == ToolSpec::EMPTY.category.as_str()) {
        return;
    }
    let mut text = String::new();
    let mut modules = Names::default();
    for (category, tools) in categories {
        let name = modules.take(&snake(category));
        let mut body = String::new();
        let mut names = Names::reserving(&["TOOLS"]);
        let mut idents = Vec::new();
        for Listed { path, tool } in &tools {
            let ident = &tool.ident;
            let unique = names.take_pair(ident);
            let module = path.strip_suffix(ident.as_str()).unwrap_or_default();
            for prefix in ["TOOL_", ""] {
                let renamed = if unique == *ident { String::new() } else { format!(" as {prefix}{unique}") };
                let _ = writeln!(body, "pub use super::super::{module}{prefix}{ident}{renamed};");
            }
            idents.push(unique);
        }
        write_list("The tools of this category, sorted by name.", idents.into_iter(), style, &mut body);
        write_module(&format!("The category `{}`.", visible(category)), &name, &body, &mut text);
    }
    write_module("The tools by their categories.", "categories", &text, out);
}

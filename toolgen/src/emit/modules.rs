//! Divides the tools of a document into modules.

use std::collections::HashSet;
use std::fmt;
use std::fmt::Write as _;
use std::str::FromStr;

use toolgen_core::{ExecutionPlan, ToolSpec};

use super::idents::{Names, snake};
use super::literal::visible;
use super::{Module, ModuleStyle, Static, write_list, write_module, write_tool};
use crate::tool::Tool;

/// How the tools and the types of a document are divided into modules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Modules {
    /// All are in the module of the document.
    #[default]
    One,
    /// The tools of each tag (in a manifest, of each category) are in a module named after the tag, with the types
    /// that no other tool uses. Types that several tags share are in the enclosing module, as are tools without a tag
    /// and functions of the program.
    ByTag,
}

impl Modules {
    /// All values.
    pub const ALL: &'static [Modules] = &[Modules::One, Modules::ByTag];

    /// Returns the name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Modules::One => "one",
            Modules::ByTag => "by-tag",
        }
    }
}

impl fmt::Display for Modules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Modules {
    type Err = String;

    fn from_str(text: &str) -> Result<Modules, String> {
        let parsed = Modules::ALL.iter().copied().find(|modules| modules.name() == text);
        parsed.ok_or_else(|| "it is `one` or `by-tag`".to_owned())
    }
}

/// The names that a module reserves for things other than tags and imported documents.
pub(super) const RESERVED: [&str; 5] = ["types", "functions", "categories", "toolsets", "contexts"];

/// Maximum length of a module's name, in characters: file systems allow 255 bytes.
const MAX_NAME: usize = 50;

/// The names of files that are not modules, and of the directory of pieces.
const RESERVED_FILES: [&str; 4] = ["lib", "main", "mod", "parts"];

/// The module of a tag.
pub(super) struct Tag<'p> {
    /// Its name in Rust.
    pub(super) name: String,
    /// The tag as written in the document.
    tag: &'p str,
    /// Whether another module already has the name that this one would get.
    is_renamed: bool,
}

/// Returns the tag whose module contains a tool.
fn tag_of(tool: &Tool) -> Option<&str> {
    let category = tool.spec.category.as_str();
    let is_untagged = category == ToolSpec::EMPTY.category.as_str() || tool.call == ExecutionPlan::Function;
    (!is_untagged).then_some(category)
}

/// Returns the modules of tags, and for each tool the index of its module.
pub(super) fn tag_modules<'p>(
    tools: &'p [Tool],
    modules: Modules,
    names: &mut Names,
) -> (Vec<Tag<'p>>, Vec<Option<usize>>) {
    if modules == Modules::One {
        return (Vec::new(), vec![None; tools.len()]);
    }
    for name in RESERVED_FILES {
        names.take(name);
    }
    let mut tags: Vec<&str> = tools.iter().filter_map(tag_of).collect();
    tags.sort_unstable();
    tags.dedup();
    let tag_indices = tools.iter().map(|tool| tags.binary_search(&tag_of(tool)?).ok()).collect();
    let mut tags: Vec<Tag<'p>> =
        tags.into_iter().map(|tag| Tag { name: file_name(tag), tag, is_renamed: false }).collect();
    // Tags that equal their module's name have precedence.
    for is_exact in [true, false] {
        for tag in tags.iter_mut().filter(|tag| (snake(tag.tag) == tag.tag) == is_exact) {
            let name = names.take(&tag.name);
            tag.is_renamed = name != tag.name;
            tag.name = name;
        }
    }
    (tags, tag_indices)
}

/// Returns the name of the module of a tag. A long name is cut, so that file systems accept it.
fn file_name(tag: &str) -> String {
    let mut name = snake(tag);
    if let Some((end, _)) = name.char_indices().nth(MAX_NAME) {
        name.truncate(end);
    }
    name
}

/// Writes the modules of tags, each with its types.
pub(super) fn write(module: &Module<'_>, types: &[String], style: &ModuleStyle, out: &mut String) {
    let mut tools_by_tag: Vec<Vec<&Static<'_>>> = vec![Vec::new(); module.tags.len()];
    for tool in &module.tools {
        if let Some(tools) = tool.tag_index.and_then(|tag_index| tools_by_tag.get_mut(tag_index)) {
            tools.push(tool);
        }
    }
    let shared_names: HashSet<&str> = module.shared.iter().map(|shared| shared.name.as_str()).collect();
    for (index, (tag, tools)) in module.tags.iter().zip(tools_by_tag).enumerate() {
        let mut body = String::new();
        let mut shared = Vec::new();
        tools.iter().for_each(|tool| tool.value.names(&mut shared));
        shared.retain(|name| shared_names.contains(name));
        shared.sort_unstable();
        shared.dedup();
        match shared.as_slice() {
            [] => {}
            [only] => _ = writeln!(body, "use super::{only};"),
            names => _ = writeln!(body, "use super::{{{}}};", names.join(", ")),
        }
        let idents = tools.iter().map(|tool| tool.ident.clone());
        write_list("The tools of this module, sorted by name.", idents, style, &mut body);
        tools.iter().for_each(|tool| write_tool(tool, style, &mut body));
        body.push_str(types.get(index).map_or("", String::as_str));
        let mut doc =
            format!("The tools of the tag `{}`, and the types that only they use.", visible(tag.tag));
        if tag.is_renamed {
            let _ = write!(doc, " The name `{}` is that of another module.", snake(tag.tag));
        }
        write_module(&doc, &tag.name, &body, out);
    }
}

//! Levels of detail of tool documentation, from a list of names to the full text.

use serde_json::{Map, Value, json};

use super::typescript::property;
use super::unexpressed::{UnexpressedRule, is_in_full_docs, join_rules, unexpressed_rules};
use super::{describe_shape, detail, fields, first_paragraph, kind_name, typescript};
use crate::base::frozen::Text;
use crate::base::invisible::InvisibleChar;
use crate::base::truncate::first_sentence;
use crate::schema::dialect::Dialect;
use crate::schema::shape::{Extra, Field, Kind, Shape, resolved};
use crate::spec::ToolSpec;
use crate::spec::toolset::Toolset;

/// The level of detail of tool documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The name and the arguments, one line per tool: `- get_pet(id, detail?)`.
    Index,
    /// The name and a summary in one sentence: `- **get_pet** - Gets a pet.`
    Summary,
    /// The types of the arguments, as a TypeScript interface, with the first paragraph of each description.
    Signature,
    /// The full text, as [`detail`] returns it.
    Full,
}

impl Level {
    /// All levels, from the shortest to the longest.
    pub const ALL: [Level; 4] = [Level::Index, Level::Summary, Level::Signature, Level::Full];

    /// Returns the name: `index`, `summary`, `signature` or `full`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Level::Index => "index",
            Level::Summary => "summary",
            Level::Signature => "signature",
            Level::Full => "full",
        }
    }

    /// Returns the level with this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// Options of tool documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style<'a> {
    /// The level of detail.
    pub level: Level,
    /// If set, signatures and full documentation also contain the rules that the schema in this dialect cannot
    /// express.
    pub dialect: Option<&'a Dialect>,
    /// Whether signatures contain the type of the result.
    pub results: bool,
}

impl<'a> Style<'a> {
    /// Creates a style of a level, for no dialect and without results.
    #[must_use]
    pub const fn new(level: Level) -> Style<'a> {
        Style { level, dialect: None, results: false }
    }

    /// Sets the dialect of the schemas that accompany the documentation.
    #[must_use]
    pub const fn dialect(self, dialect: &'a Dialect) -> Style<'a> {
        Style { dialect: Some(dialect), ..self }
    }

    /// Sets whether signatures contain the type of the result.
    #[must_use]
    pub const fn results(self, results: bool) -> Style<'a> {
        Style { results, ..self }
    }

    /// Returns the rules that neither the schema of a tool nor the rest of its documentation contains.
    pub(super) fn undocumented_rules(&self, spec: &ToolSpec) -> Vec<UnexpressedRule> {
        let mut rules = self.dialect.map(|dialect| unexpressed_rules(spec, dialect)).unwrap_or_default();
        if self.level == Level::Full {
            rules.retain(|rule| !is_in_full_docs(rule, spec));
        }
        rules
    }
}

/// Tools that are documented under one heading.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The heading. Empty for none.
    pub name: &'a str,
    /// What the tools have in common. May be empty.
    pub description: &'a str,
    /// The tools, in the order in which they are shown.
    pub specs: Vec<&'a ToolSpec>,
}

/// Groups tools by their [categories](ToolSpec::category), sorted by name. Within a group, the order of the tools is
/// unchanged.
#[must_use]
pub fn by_category<'a>(specs: impl IntoIterator<Item = &'a ToolSpec>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for spec in specs {
        match groups.binary_search_by(|group| group.name.cmp(&spec.category)) {
            Ok(index) => groups.iter_mut().skip(index).take(1).for_each(|group| group.specs.push(spec)),
            Err(index) => {
                groups.insert(index, Group { name: &spec.category, description: "", specs: vec![spec] });
            }
        }
    }
    groups
}

/// Groups tools by toolsets, in the order of the sets and of their members. A tool may be in several groups. Tools in
/// no set come last, without a heading.
#[must_use]
pub fn by_toolset<'a>(
    specs: impl IntoIterator<Item = &'a ToolSpec>,
    toolsets: impl IntoIterator<Item = &'a Toolset>,
) -> Vec<Group<'a>> {
    let specs: Vec<&ToolSpec> = specs.into_iter().collect();
    let mut groups: Vec<Group<'a>> = Vec::new();
    for set in toolsets {
        let find_spec = |name: &Text| specs.iter().copied().find(|spec| *spec.name.as_str() == **name);
        let members = set.members.iter().filter_map(find_spec).collect();
        groups.push(Group { name: &set.name, description: &set.description, specs: members });
    }
    let is_grouped =
        |spec: &&ToolSpec| groups.iter().any(|group| group.specs.iter().any(|other| other.name == spec.name));
    let ungrouped: Vec<&ToolSpec> = specs.iter().copied().filter(|spec| !is_grouped(spec)).collect();
    if !ungrouped.is_empty() {
        groups.push(Group { name: "", description: "", specs: ungrouped });
    }
    groups.retain(|group| !group.specs.is_empty());
    groups
}

/// Returns the documentation of tools for a prompt, in Markdown. At [`Level::Full`], it is [`detail`] of each tool.
///
/// ```
/// use toolgen_runtime::spec::docs::{Level, Style, docs_at};
/// use toolgen_runtime::tool;
///
/// /// Finds songs. The best ones come first.
/// #[tool(undocumented)]
/// fn find(words: String, limit: Option<u8>) -> String {
///     format!("{words} {limit:?}")
/// }
///
/// # use toolgen_runtime::AgentTool;
/// let tool = find::tool();
/// let docs = |level| docs_at([tool.spec()], &Style::new(level));
/// assert_eq!(docs(Level::Index), "- find(words, limit?)\n");
/// assert_eq!(docs(Level::Summary), "- **find** - Finds songs.\n");
/// assert_eq!(
///     docs(Level::Signature),
///     "```ts\ninterface Tools {\n  // Finds songs. The best ones come first.\n  \
///      find(args: { words: string; limit?: number | null });\n}\n```\n"
/// );
/// ```
#[must_use]
pub fn docs_at<'a>(specs: impl IntoIterator<Item = &'a ToolSpec>, style: &Style<'_>) -> String {
    grouped(&[Group { name: "", description: "", specs: specs.into_iter().collect() }], style)
}

/// Returns the documentation of groups of tools for a prompt, in Markdown. Each group has a heading, or a comment in
/// the single block of signatures.
#[must_use]
pub fn grouped(groups: &[Group<'_>], style: &Style<'_>) -> String {
    if style.level == Level::Signature {
        return format!("```ts\n{}```\n", module_source(groups, style));
    }
    let mut out = String::new();
    for group in groups {
        if !out.is_empty() {
            out.push('\n');
        }
        if !group.name.is_empty() {
            out.push_str(&format!("## {}\n\n", group.name));
        }
        if !group.description.is_empty() {
            out.push_str(&format!("{}\n\n", group.description.trim()));
        }
        for spec in &group.specs {
            out.push_str(&tool_docs(spec, style));
        }
    }
    out
}

/// Returns the documentation of one tool at any level except signatures, which form one interface of several tools.
fn tool_docs(spec: &ToolSpec, style: &Style<'_>) -> String {
    match style.level {
        Level::Index => format!("- {}\n", index_entry(spec)),
        Level::Summary | Level::Signature => format!("- **{}** - {}\n", spec.name, sentence(spec)),
        Level::Full => {
            let rules = style.undocumented_rules(spec);
            let unexpressed = if rules.is_empty() { String::new() } else { join_rules(&rules) };
            let mut out = detail(spec);
            super::write_line(&mut out, "Not in the schema", &unexpressed);
            out
        }
    }
}

/// Returns the first sentence of the description of a tool.
#[must_use]
pub fn sentence(spec: &ToolSpec) -> String {
    first_sentence(&first_paragraph(&spec.description)).to_owned()
}

/// Returns the name and the arguments of a tool: `get_pet(id, detail?)`.
fn index_entry(spec: &ToolSpec) -> String {
    let arguments =
        fields(spec).map(|field| format!("{}{}", field.name, if field.required { "" } else { "?" }));
    format!("{}({})", spec.name, arguments.collect::<Vec<_>>().join(", "))
}

/// Returns the documentation of groups of tools as JSON: `level`, `types` if signatures refer to any, and `groups`
/// with `name`, `description` and `tools`. A tool has its `name` and the contents of the level.
#[must_use]
pub fn json(groups: &[Group<'_>], style: &Style<'_>) -> Value {
    let mut out = Map::new();
    out.insert("level".into(), style.level.name().into());
    let mut signatures = signatures(groups, style);
    if !signatures.types.is_empty() {
        let types = signatures.types.iter().map(|(name, text)| (name.clone(), Value::from(text.as_str())));
        out.insert("types".into(), types.collect());
    }
    let groups = groups.iter().map(|group| {
        let tools = group.specs.iter().map(|spec| tool_json(spec, signatures.next(), style));
        json!({"name": group.name, "description": group.description, "tools": tools.collect::<Vec<_>>()})
    });
    out.insert("groups".into(), groups.collect());
    Value::Object(out)
}

fn tool_json(spec: &ToolSpec, types: Option<Types>, style: &Style<'_>) -> Value {
    let mut out = Map::new();
    let mut insert = |key: &str, value: Value| {
        let is_empty = value.as_str() == Some("") || value.as_array().is_some_and(Vec::is_empty);
        if !is_empty {
            out.insert(key.to_owned(), value);
        }
    };
    insert("name", spec.name.as_str().into());
    match style.level {
        Level::Index => insert("index", index_entry(spec).into()),
        Level::Summary => insert("summary", sentence(spec).into()),
        Level::Signature => {
            insert("description", first_paragraph(&spec.description).into());
            insert("signature", types.map(|types| signature(spec, &types)).unwrap_or_default().into());
        }
        Level::Full => {
            insert("description", spec.description.as_str().into());
            insert("parameters", fields(spec).map(|field| parameter_json(field, spec)).collect());
            insert("returns", spec.returns.as_str().into());
            insert("use_for", spec.use_for.as_str().into());
            let examples = spec.fitting_examples().map(|example| {
                let arguments: Value = serde_json::from_str(&example.arguments).unwrap_or_default();
                json!({"summary": example.summary.as_str(), "arguments": arguments})
            });
            insert("examples", examples.collect());
            insert("documentation", detail(spec).into());
        }
    }
    if matches!(style.level, Level::Signature | Level::Full) {
        if let Some(replacement) = &spec.deprecated {
            insert("deprecated", json!(true));
            insert("instead", replacement.as_str().into());
        }
        let rules = style.undocumented_rules(spec);
        let to_json =
            |rule: &UnexpressedRule| json!({"place": rule.place, "keyword": rule.keyword, "told": rule.rule});
        insert("not_in_schema", rules.iter().map(to_json).collect());
    }
    Value::Object(out)
}

fn parameter_json(field: &Field, spec: &ToolSpec) -> Value {
    let mut out = Map::new();
    out.insert("name".into(), field.name.as_str().into());
    out.insert("type".into(), kind_name(&field.shape, &spec.defs).into());
    out.insert("required".into(), field.required.into());
    if let Some(default) = &field.shape.default {
        out.insert("default".into(), default.to_json());
    }
    out.insert("description".into(), describe_shape(&field.shape, &spec.defs).into());
    Value::Object(out)
}

/// The types of one tool.
pub(super) struct Types {
    arguments: String,
    result: Option<String>,
}

/// The types of all tools, in the order of the groups, and the types that they refer to.
pub(super) struct Signatures {
    by_tool: std::vec::IntoIter<Types>,
    pub(super) types: Vec<(String, String)>,
}

impl Signatures {
    /// Returns the types of the next tool; `None` at levels other than signatures.
    pub(super) fn next(&mut self) -> Option<Types> {
        self.by_tool.next()
    }
}

/// Returns the types of all tools; empty at levels other than signatures.
pub(super) fn signatures(groups: &[Group<'_>], style: &Style<'_>) -> Signatures {
    let has_signatures = style.level == Level::Signature;
    let specs = || groups.iter().flat_map(|group| group.specs.iter().copied()).filter(|_| has_signatures);
    let output = |spec| -> Option<&Shape> { result_of(spec, style) };
    let roots = specs().flat_map(|spec| {
        let input = resolved(&spec.input, &spec.defs).unwrap_or(spec.input.shape());
        let output = output(spec).map(|shape| (shape, &spec.defs, true));
        [Some((input, &spec.defs, false)), output].into_iter().flatten()
    });
    let mut types = typescript::Types::of(roots);
    let by_tool: Vec<Types> = specs()
        .map(|spec| {
            let input = resolved(&spec.input, &spec.defs).unwrap_or(spec.input.shape());
            let arguments = types.root(input, &spec.defs, false);
            Types { arguments, result: output(spec).map(|shape| types.root(shape, &spec.defs, true)) }
        })
        .collect();
    Signatures { by_tool: by_tool.into_iter(), types: types.into_declarations() }
}

fn result_of<'a>(spec: &'a ToolSpec, style: &Style<'_>) -> Option<&'a Shape> {
    spec.output.as_ref().filter(|_| style.results).map(|schema| schema.shape())
}

/// Returns the signature of a tool, a member of an interface: `get_pet(args: { id: number })`.
pub(super) fn signature(spec: &ToolSpec, types: &Types) -> String {
    let is_closed = matches!(
        resolved(&spec.input, &spec.defs).map(|shape| &shape.kind),
        Some(Kind::Object(rules)) if rules.extra == Extra::Closed && rules.patterns.is_empty()
    );
    let has_no_fields = fields(spec).next().is_none();
    let question_mark = if fields(spec).any(|field| field.required) { "" } else { "?" };
    let arguments = match types.arguments.as_str() {
        _ if has_no_fields && is_closed => String::new(),
        parameters => format!("args{question_mark}: {parameters}"),
    };
    let result = types.result.as_ref().map(|ty| format!(": {ty}")).unwrap_or_default();
    format!("{}({arguments}){result}", property(spec.name.as_str()))
}

/// Returns the source of a module with the types and the interface of all tools.
pub(super) fn module_source(groups: &[Group<'_>], style: &Style<'_>) -> String {
    let mut signatures = signatures(groups, style);
    let mut out = String::new();
    for (name, text) in &signatures.types {
        out.push_str(&format!("type {name} = {text};\n"));
    }
    if !signatures.types.is_empty() {
        out.push('\n');
    }
    out.push_str("interface Tools {\n");
    let mut first = true;
    for group in groups {
        if !group.name.is_empty() {
            let separator = if first { "" } else { "\n" };
            let colon = if group.description.is_empty() { "" } else { ": " };
            let heading = format!("## {}{colon}{}", group.name, first_paragraph(group.description));
            out.push_str(&format!("{separator}{}", to_comment(&heading)));
        }
        first = false;
        for spec in &group.specs {
            let Some(types) = signatures.next() else { continue };
            out.push_str(&to_comment(&first_paragraph(&spec.description)));
            if let Some(replacement) = &spec.deprecated {
                let replacement = if replacement.is_empty() { "do not use this tool" } else { replacement };
                out.push_str(&to_comment(&format!("Deprecated: {replacement}")));
            }
            let rules = style.undocumented_rules(spec);
            if !rules.is_empty() {
                out.push_str(&to_comment(&join_rules(&rules)));
            }
            out.push_str(&format!("  {};\n", signature(spec, &types)));
        }
    }
    out.push_str("}\n");
    out
}

/// Returns a text as a one-line comment, or an empty string.
fn to_comment(text: &str) -> String {
    let visible = text.replace(InvisibleChar::is_invisible, " ");
    let words: Vec<&str> = visible.split_whitespace().collect();
    if words.is_empty() { String::new() } else { format!("  // {}\n", words.join(" ")) }
}

//! Counts the tokens of tools with a real tokenizer, and reports how they are divided and how to save some.
//!
//! Only OpenAI publishes the tokenizers of its models. For models of other vendors the numbers are an estimate, and
//! every report says so; `o200k_base` is usually within a fifth for English and JSON.

mod counter;
mod json;
mod ranks;
mod rendering;
mod savings;
mod text;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;
use toolgen_core::ToolSpec;
use toolgen_core::internal::Forms;
use toolgen_core::schema::dialect::Dialect;
use toolgen_core::schema::shape::Slim;
use toolgen_core::schema::shape::render::Refusal;
use toolgen_core::schema::shape::slim::Trim;
use toolgen_core::spec::ToolSchema;
use toolgen_runtime::wire::WireFormat;

use crate::tool::{TokenBudget, Tool};

use counter::Counter;
pub use rendering::Rendering;
pub use savings::Saving;

/// The HTML template of the report, with placeholders for the title and the data.
const PAGE: &str = include_str!("tokens/page.html");

/// A tokenizer whose ranks are part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokenizer {
    /// `o200k_base`, of GPT-4o and all later models of OpenAI.
    O200k,
    /// `cl100k_base`, of GPT-4 and GPT-3.5.
    Cl100k,
}

impl Tokenizer {
    /// Returns the name: `o200k` or `cl100k`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Tokenizer::O200k => "o200k",
            Tokenizer::Cl100k => "cl100k",
        }
    }

    /// Returns the tokenizer with a name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Tokenizer> {
        [Tokenizer::O200k, Tokenizer::Cl100k].into_iter().find(|tokenizer| tokenizer.name() == name)
    }

    /// Counts the tokens of a string. Strings that look like special tokens are ordinary text.
    #[must_use]
    pub fn count(self, text: &str) -> usize {
        match self {
            Tokenizer::O200k => ranks::O200K.count(text),
            Tokenizer::Cl100k => ranks::CL100K.count(text),
        }
    }

    /// Returns for which models its counts are exact, and for which they are not.
    #[must_use]
    pub const fn exactness(self) -> &'static str {
        match self {
            Tokenizer::O200k => {
                "exact for models of OpenAI since GPT-4o, an estimate for models of other vendors"
            }
            Tokenizer::Cl100k => "exact for GPT-4 and GPT-3.5, an estimate for all other models",
        }
    }
}

/// How the tokens of a tool are divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Its name.
    pub name: usize,
    /// Its description, or its line in a system prompt.
    pub description: usize,
    /// The descriptions of its arguments.
    pub parameters: usize,
    /// Names, types, values and rules of its arguments, and the envelope.
    pub structure: usize,
    /// Examples of values.
    pub examples: usize,
    /// The named shapes, with their descriptions.
    pub defs: usize,
}

impl Parts {
    /// The names of the parts.
    pub const NAMES: [&'static str; 6] =
        ["name", "description", "parameters", "structure", "examples", "$defs"];

    /// Returns the numbers, in the order of the names.
    #[must_use]
    pub fn numbers(self) -> [usize; 6] {
        let Parts { name, description, parameters, structure, examples, defs } = self;
        [name, description, parameters, structure, examples, defs]
    }

    fn add(&mut self, other: Parts) {
        self.name += other.name;
        self.description += other.description;
        self.parameters += other.parameters;
        self.structure += other.structure;
        self.examples += other.examples;
        self.defs += other.defs;
    }
}

/// The tokens of one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolTokens {
    /// The name of the tool.
    pub name: String,
    /// The groups that its document assigns it to.
    pub groups: Vec<String>,
    /// All its tokens.
    pub tokens: usize,
    /// How they are divided.
    pub parts: Parts,
    /// The trims that were applied.
    pub trims: Vec<Trim>,
    /// The reason why the dialect cannot express the tool, if so; its tokens are then 0.
    pub refused: Option<String>,
}

/// The tokens of many tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The name of the dialect.
    pub dialect: &'static str,
    /// The form that was counted.
    pub rendering: Rendering,
    /// The tools, the largest first.
    pub tools: Vec<ToolTokens>,
    /// What other trims would save, the largest saving first. Only in a report
    /// [`with_savings`](Report::with_savings).
    pub savings: Vec<Saving>,
}

/// The tokens of a group of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupTokens {
    /// The name of the group; empty for tools without one.
    pub name: String,
    /// The number of tools.
    pub tools: usize,
    /// Their tokens.
    pub tokens: usize,
}

impl Report {
    /// Counts the tokens of tools in a dialect and a form.
    #[must_use]
    pub fn of(tools: &[&Tool], dialect: &Dialect, rendering: Rendering, tokenizer: Tokenizer) -> Report {
        let counter = Counter::new(tokenizer);
        let count = |tool: &&Tool| count(tool, &Forms::of(&tool.spec), dialect, rendering, &counter).0;
        Report::new(tools.iter().map(count).collect(), dialect, rendering, tokenizer)
    }

    fn new(
        mut tools: Vec<ToolTokens>,
        dialect: &Dialect,
        rendering: Rendering,
        tokenizer: Tokenizer,
    ) -> Report {
        tools.sort_by(|left, right| right.tokens.cmp(&left.tokens).then(left.name.cmp(&right.name)));
        Report { tokenizer, dialect: dialect.name, rendering, tools, savings: Vec::new() }
    }

    /// Returns the tokens of all tools.
    #[must_use]
    pub fn total(&self) -> usize {
        self.tools.iter().map(|tool| tool.tokens).sum()
    }

    /// Returns how the tokens of all tools divide.
    #[must_use]
    pub fn parts(&self) -> Parts {
        let mut parts = Parts::default();
        self.tools.iter().for_each(|tool| parts.add(tool.parts));
        parts
    }

    /// Returns a percentile of the tokens of the tools: 50 is the median, 100 the largest.
    #[must_use]
    pub fn percentile(&self, percent: usize) -> usize {
        let rank = (self.tools.len() * percent).div_ceil(100).max(1);
        self.tools.iter().rev().nth(rank - 1).map_or(0, |tool| tool.tokens)
    }

    /// Returns the groups, the largest first. A tool of several groups counts in each.
    #[must_use]
    pub fn groups(&self) -> Vec<GroupTokens> {
        let mut groups: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for tool in &self.tools {
            let ungrouped = tool.groups.is_empty().then_some("");
            for name in tool.groups.iter().map(String::as_str).chain(ungrouped) {
                let (tools, tokens) = groups.entry(name).or_default();
                (*tools, *tokens) = (*tools + 1, *tokens + tool.tokens);
            }
        }
        let group = |(name, (tools, tokens)): (&str, (usize, usize))| GroupTokens {
            name: name.to_owned(),
            tools,
            tokens,
        };
        let mut groups: Vec<GroupTokens> = groups.into_iter().map(group).collect();
        groups.sort_by(|left, right| right.tokens.cmp(&left.tokens).then(left.name.cmp(&right.name)));
        groups
    }

    /// Returns the excesses over a budget, one sentence each, with what to cut.
    #[must_use]
    pub fn exceeded(&self, budget: &TokenBudget) -> Vec<String> {
        let list_largest = |tools: &[&ToolTokens]| {
            let entries: Vec<String> =
                tools.iter().take(5).map(|tool| format!("`{}` {}", tool.name, tool.tokens)).collect();
            entries.join(", ")
        };
        let mut excesses = Vec::new();
        let total = self.total();
        if let Some(max) = budget.total.filter(|max| total > *max) {
            let largest: Vec<&ToolTokens> = self.tools.iter().collect();
            let parts = self.parts();
            let mut parts: Vec<(usize, &str)> = parts.numbers().into_iter().zip(Parts::NAMES).collect();
            parts.sort_by(|left, right| right.cmp(left));
            let parts: Vec<String> =
                parts.iter().take(3).map(|(tokens, name)| format!("{name} {tokens}")).collect();
            excesses.push(format!(
                "the tools take {total} tokens in `{}`, more than the budget of {max}; the largest are {}; the tokens go \
                 to {}",
                self.dialect,
                list_largest(&largest),
                parts.join(", ")
            ));
        }
        if let Some(max) = budget.tool {
            let too_large: Vec<&ToolTokens> = self.tools.iter().filter(|tool| tool.tokens > max).collect();
            if !too_large.is_empty() {
                let verb = if too_large.len() == 1 { "tool takes" } else { "tools take" };
                excesses.push(format!(
                    "{} {verb} more than the budget of {max} tokens for one in `{}`: {}",
                    too_large.len(),
                    self.dialect,
                    list_largest(&too_large)
                ));
            }
        }
        excesses
    }

    /// Returns the report as one self-contained HTML page: a map of where the tokens go, and tables.
    #[must_use]
    pub fn html(&self, title: &str) -> String {
        // Strings of documents are JSON in an element that no browser executes, and the page shows them as text. `<`
        // is escaped, so that none of them ends the element.
        let data = self.json().to_string().replace('<', "\\u003c");
        let title = title.replace('&', "&amp;").replace('<', "&lt;");
        let (head, tail) = PAGE.split_once("{{data}}").unwrap_or((PAGE, ""));
        format!("{}{data}{tail}", head.replace("{{title}}", &title))
    }
}

/// The report for people: totals, groups, the largest tools, and the largest savings.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write(self, f)
    }
}

/// Counts the tokens of a tool, and determines whether it exceeds its ceiling.
fn count(
    tool: &Tool,
    forms: &Forms<'_>,
    dialect: &Dialect,
    rendering: Rendering,
    counter: &Counter,
) -> (ToolTokens, bool) {
    let spec = &tool.spec;
    let empty = ToolTokens {
        name: spec.name.to_string(),
        groups: tool.origin.groups.clone(),
        tokens: 0,
        parts: Parts::default(),
        trims: vec![],
        refused: None,
    };
    let text = match rendering.prompt_text(spec) {
        Some(text) => text,
        None if rendering == Rendering::Compact => {
            let spec = ToolSpec { slim: Slim::COMPACT, ..spec.clone() };
            return count_in_request(&spec, &Forms::of(&spec), dialect, counter, empty);
        }
        None => return count_in_request(spec, forms, dialect, counter, empty),
    };
    let tokens = counter.count(&text);
    let name = counter.count(spec.name.as_str()).min(tokens);
    let parts = Parts { name, description: tokens - name, ..Parts::default() };
    (ToolTokens { tokens, parts, ..empty }, false)
}

fn count_in_request(
    spec: &ToolSpec,
    forms: &Forms<'_>,
    dialect: &Dialect,
    counter: &Counter,
    empty: ToolTokens,
) -> (ToolTokens, bool) {
    let (schema, excess) = match forms.measured(dialect) {
        Ok(measured) => measured,
        Err(refusals) => {
            let message = |Refusal { pointer, reason }: &Refusal| format!("{}{pointer}: {reason}", spec.name);
            let refusals: Vec<String> = refusals.iter().map(message).collect();
            return (ToolTokens { refused: Some(refusals.join("\n")), ..empty }, false);
        }
    };
    let mut parts = Parts {
        name: counter.count(spec.name.as_str()),
        description: counter.count(&schema.description),
        ..Parts::default()
    };
    add_schema_parts(&schema.schema, counter, &mut parts);
    let trims = schema.trims.clone();
    let tokens = counter.count(&wire_form(spec, dialect, schema));
    let counted: usize = parts.numbers().iter().sum();
    parts.structure = tokens.saturating_sub(counted);
    (ToolTokens { tokens, parts, trims, ..empty }, excess.is_some())
}

/// Returns a tool in the form of a request, without the enclosing list.
fn wire_form(spec: &ToolSpec, dialect: &Dialect, message: ToolSchema<'_>) -> String {
    let format = WireFormat::ALL.into_iter().find(|format| format.dialect().name == dialect.name);
    format.unwrap_or(WireFormat::OpenAiChat).tool(dialect, spec, message).to_string()
}

/// Adds the tokens of a schema's descriptions, examples and named shapes.
fn add_schema_parts(schema: &Value, counter: &Counter, parts: &mut Parts) {
    let Value::Object(members) = schema else { return };
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            ("description", Value::String(text)) => parts.parameters += counter.count(text),
            ("examples" | "example", _) => parts.examples += counter.count(&value.to_string()),
            ("$defs", _) => parts.defs += counter.count(&value.to_string()),
            ("properties" | "patternProperties" | "dependentSchemas", Value::Object(schemas)) => {
                schemas.values().for_each(|schema| add_schema_parts(schema, counter, parts));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter().for_each(|schema| add_schema_parts(schema, counter, parts));
            }
            ("items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains", _) => {
                add_schema_parts(value, counter, parts);
            }
            _ => {}
        }
    }
}

/// Describes the trims of a tool, if there are any.
fn describe_trims(tool: &ToolTokens) -> Option<String> {
    (!tool.trims.is_empty()).then(|| Trim::summed(&tool.trims))
}

//! Properties of tool definitions beyond names, descriptions and schemas of arguments.
//!
//! A tool declares them in its [hints](toolgen_kernel::spec::hints::Hints), its examples and its output; a
//! [plan](super::PlanOptions) selects those that cost tokens. A vendor's definition of a tool has some of them:
//!
//! | property | Anthropic | OpenAI Responses | OpenAI Chat | Gemini | Bedrock | MCP |
//! |---|---|---|---|---|---|---|
//! | examples | `input_examples` | – | – | – | – | – |
//! | callers | `allowed_callers` | `allowed_callers` | – | – | – | – |
//! | output schema | – | `output_schema` | – | `responseJsonSchema` | – | `outputSchema` |
//! | eager input | `eager_input_streaming` | – | – | – | – | – |
//! | input format | – | tools of type `custom` | tools of type `custom` | – | – | – |
//! | cache point | `cache_control` | automatic | automatic | automatic | `cachePoint` | – |
//! | icons, `_meta` | – | – | – | – | – | `icons`, `_meta` |
//!
//! Where examples, output schemas and grammars have no property, they are told in the description, as far as its length
//! allows. [`ToolDecision::lost`](super::ToolDecision) lists what a format cannot express.

use std::fmt;

use serde_json::{Value, json};
use toolgen_kernel::schema::dialect::{Dialect, JSON_SCHEMA};
use toolgen_kernel::schema::shape::render::render_output;
use toolgen_kernel::spec::ToolSpec;
use toolgen_kernel::spec::hints::{Callers, InputFormat};

/// A property of a tool definition that some vendors have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Property {
    /// Example calls.
    Examples,
    /// Whether programs that the vendor runs may call the tool.
    Callers,
    /// The schema of results.
    OutputSchema,
    /// Whether arguments are streamed unchecked.
    EagerInput,
    /// Arguments as plain text, by a grammar.
    InputFormat,
}

impl Property {
    /// All properties.
    pub const ALL: [Property; 5] = [
        Property::Examples,
        Property::Callers,
        Property::OutputSchema,
        Property::EagerInput,
        Property::InputFormat,
    ];

    /// Returns the name, such as `output schema`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Property::Examples => "examples",
            Property::Callers => "callers",
            Property::OutputSchema => "output schema",
            Property::EagerInput => "eager input",
            Property::InputFormat => "input format",
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The properties of a tool that a definition should have.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolProperties {
    /// Example calls: objects of arguments.
    pub examples: Vec<Value>,
    /// Who is offered the tool; `None` if no programs are run.
    pub callers: Option<Callers>,
    /// The schema of results.
    pub output_schema: Option<Value>,
    /// Whether arguments are streamed unchecked.
    pub eager_input: bool,
    /// The form of the only argument, `input`, if it is not JSON.
    pub input_format: Option<InputFormat>,
}

/// Which properties that cost tokens are written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Selected {
    pub(super) examples: usize,
    pub(super) programs: bool,
    pub(super) output_schemas: bool,
}

/// The maximum length of a description that gets a property as text, if the vendor has no limit, in characters.
const MAX_TOLD: usize = 4_000;

impl ToolProperties {
    /// Collects the properties of a tool. Examples that the tool would reject are left out.
    pub(super) fn of(spec: &ToolSpec, selected: Selected) -> ToolProperties {
        let examples = spec.fitting_examples().take(selected.examples);
        let hints = &spec.hints;
        ToolProperties {
            examples: examples.filter_map(|example| serde_json::from_str(&example.arguments).ok()).collect(),
            callers: selected.programs.then_some(hints.callers),
            output_schema: if selected.output_schemas { published_output(spec) } else { None },
            eager_input: hints.eager_input,
            input_format: (hints.input_format != InputFormat::Json).then(|| hints.input_format.clone()),
        }
    }

    /// Removes and returns the properties that are present, but that a format does not write. An input format is only
    /// possible for a tool whose only argument is the string `input`.
    pub(super) fn remove_all_but(&mut self, written: &[Property], spec: &ToolSpec) -> ToolProperties {
        let mut lost = ToolProperties::default();
        let is_written = |property| written.contains(&property);
        if !is_written(Property::Examples) {
            lost.examples = std::mem::take(&mut self.examples);
        }
        if !is_written(Property::Callers) {
            lost.callers = self.callers.take();
        }
        if !is_written(Property::OutputSchema) {
            lost.output_schema = self.output_schema.take();
        }
        if !is_written(Property::EagerInput) {
            lost.eager_input = std::mem::take(&mut self.eager_input);
        }
        if !is_written(Property::InputFormat) || !spec.takes_text() {
            lost.input_format = self.input_format.take();
        }
        lost
    }

    /// Returns which properties are present.
    pub(super) fn present(&self) -> Vec<Property> {
        let is_present = |property: &Property| match property {
            Property::Examples => !self.examples.is_empty(),
            Property::Callers => self.callers.is_some_and(|callers| callers != Callers::Model),
            Property::OutputSchema => self.output_schema.is_some(),
            Property::EagerInput => self.eager_input,
            Property::InputFormat => self.input_format.is_some(),
        };
        Property::ALL.into_iter().filter(is_present).collect()
    }

    /// Returns a description followed by the properties as text, as far as the dialect's limit of its length allows.
    pub(super) fn told_in(&self, description: &str, dialect: &Dialect) -> String {
        let mut told = description.trim_end().to_owned();
        let max = dialect.tool_description_length.unwrap_or(MAX_TOLD);
        let mut add = |text: String| {
            if told.chars().count() + text.chars().count() + 2 <= max {
                if !told.is_empty() {
                    told.push_str("\n\n");
                }
                told.push_str(&text);
            }
        };
        match &self.input_format {
            Some(InputFormat::Lark(grammar)) => {
                add(format!("`input` is a text in this Lark grammar:\n{grammar}"))
            }
            Some(InputFormat::Regex(pattern)) => {
                add(format!("`input` is a text that matches the regular expression {pattern}"));
            }
            _ => {}
        }
        for example in &self.examples {
            add(format!("Example arguments: {example}"));
        }
        if let Some(schema) = &self.output_schema {
            add(format!("Results are JSON of this schema: {schema}"));
        }
        told
    }
}

fn published_output(spec: &ToolSpec) -> Option<Value> {
    let output = spec.structured_output().filter(|output| !output.may_differ)?;
    Some(render_output(&output.schema, &output.defs, &JSON_SCHEMA).ok()?.schema)
}

/// Returns OpenAI's definition of a grammar, or of unconstrained text.
pub(super) fn text_format(format: &InputFormat, wrap: fn(Value) -> Value) -> Value {
    let (syntax, definition) = match format {
        InputFormat::Lark(grammar) => ("lark", grammar),
        InputFormat::Regex(pattern) => ("regex", pattern),
        InputFormat::Json | InputFormat::Text => return json!({ "type": "text" }),
    };
    wrap(json!({ "syntax": syntax, "definition": definition.as_str() }))
}

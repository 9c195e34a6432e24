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
//! Where examples, output schemas and grammars have no property, the description states them, if its length allows
//! that. [`ToolDecision::lost`](super::ToolDecision) lists what a format cannot express.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value, json};
use toolgen_kernel::schema::dialect::Dialect;
use toolgen_kernel::schema::shape::encode;
use toolgen_kernel::spec::ToolSpec;
use toolgen_kernel::spec::hints::{Callers, InputFormat};
use toolgen_kernel::spec::output::RESULT;

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
    /// The guarantee that arguments match the schema.
    Strict,
}

impl Property {
    /// All properties.
    pub const ALL: [Property; 6] = [
        Property::Examples,
        Property::Callers,
        Property::OutputSchema,
        Property::EagerInput,
        Property::InputFormat,
        Property::Strict,
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
            Property::Strict => "strict mode",
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
    pub(super) fn of(spec: &ToolSpec, dialect: &Dialect, selected: Selected) -> ToolProperties {
        let examples = spec.fitting_examples().take(selected.examples);
        let examples = examples.filter_map(|example| serde_json::from_str(&example.arguments).ok());
        // A model imitates them, so they have the form that the schema requires.
        let examples =
            examples.map(|arguments: Value| encode(&arguments, spec.input.shape(), &spec.defs, dialect));
        let hints = &spec.hints;
        ToolProperties {
            examples: examples.collect(),
            callers: selected.programs.then_some(hints.callers),
            output_schema: if selected.output_schemas { result_schema(spec) } else { None },
            eager_input: hints.eager_input,
            input_format: Some(hints.input_format.clone())
                .filter(|format| *format != InputFormat::Json && spec.takes_text()),
        }
    }

    /// Removes and returns the properties that are present, but that a format does not write.
    pub(super) fn remove_all_but(&mut self, written: &[Property]) -> ToolProperties {
        let mut lost = ToolProperties::default();
        let is_written = |property| written.contains(&property);
        if !is_written(Property::Examples) {
            lost.examples = std::mem::take(&mut self.examples);
        }
        if !is_written(Property::InputFormat) {
            lost.input_format = self.input_format.take();
        }
        if !is_written(Property::Callers) {
            lost.callers = self.callers.take();
        }
        // A tool whose arguments are text has no property for its results.
        if !is_written(Property::OutputSchema) || self.input_format.is_some() {
            lost.output_schema = self.output_schema.take();
        }
        if !is_written(Property::EagerInput) {
            lost.eager_input = std::mem::take(&mut self.eager_input);
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
            // A dialect decides it.
            Property::Strict => false,
        };
        Property::ALL.into_iter().filter(is_present).collect()
    }

    /// Returns a description followed by the properties as text, those that fit in the dialect's limit of its length.
    pub(super) fn told_in(&self, description: &str, dialect: &Dialect) -> String {
        let mut told = description.trim_end().to_owned();
        let max = dialect.tool_description_length.unwrap_or(MAX_TOLD);
        let mut add = |text: String| {
            if told.chars().count() + text.chars().count() + 2 <= max {
                push_paragraph(&mut told, &text);
            }
        };
        match &self.input_format {
            Some(InputFormat::Lark(grammar)) => {
                add(format!("`input` is a text in this Lark grammar:\n{grammar}"));
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

fn push_paragraph(description: &mut String, text: &str) {
    if !description.is_empty() {
        description.push_str("\n\n");
    }
    description.push_str(text);
}

/// Returns the schema of a result as a program parses it: a value that is not an object is not wrapped.
fn result_schema(spec: &ToolSpec) -> Option<Value> {
    let output = spec.structured_output()?;
    let mut published = output.published(spec.slim.ceiling.unwrap_or(usize::MAX))?;
    if !output.wrapped {
        return Some(published);
    }
    let mut schema = published.pointer_mut(&format!("/properties/{RESULT}")).map(Value::take)?;
    if let (Some(defs), Value::Object(schema)) = (published.get_mut("$defs").map(Value::take), &mut schema) {
        schema.insert("$defs".to_owned(), defs);
    }
    Some(schema)
}

/// Moves what a schema says of the argument `input`, its description and its rules, to the end of a tool's description:
/// a tool whose arguments are text has no schema.
pub(super) fn move_input_to_description(tool: &mut Map<String, Value>) {
    let Some(mut parameters) = tool.shift_remove("parameters") else { return };
    let Some(Value::Object(mut rules)) = parameters.pointer_mut("/properties/input").map(Value::take) else {
        return;
    };
    rules.shift_remove("type");
    let meaning = rules.shift_remove("description");
    let mut told = tool.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(Value::String(meaning)) = meaning {
        push_paragraph(&mut told, &format!("`input`: {meaning}"));
    }
    if !rules.is_empty() {
        push_paragraph(&mut told, &format!("`input` matches the schema {}", Value::Object(rules)));
    }
    if !told.is_empty() {
        tool.insert("description".into(), told.into());
    }
}

/// Whether a schema refers to itself, directly or through others.
pub(super) fn is_recursive(schema: &Value) -> bool {
    let Some(Value::Object(defs)) = schema.get("$defs") else { return false };
    let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, schema) in defs {
        let mut names = BTreeSet::new();
        references(schema, &mut names);
        reached.insert(name, names);
    }
    // Each pass adds what the references of a definition refer to.
    for _ in 0..defs.len() {
        let step = reached.clone();
        for names in reached.values_mut() {
            let further: Vec<&str> =
                names.iter().filter_map(|name| step.get(name)).flatten().copied().collect();
            names.extend(further);
        }
    }
    reached.iter().any(|(name, names)| names.contains(name))
}

fn references<'v>(schema: &'v Value, names: &mut BTreeSet<&'v str>) {
    match schema {
        Value::Object(members) => {
            let target = members.get("$ref").and_then(Value::as_str);
            names.extend(target.and_then(|target| target.strip_prefix("#/$defs/")));
            members.values().for_each(|member| references(member, names));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        _ => {}
    }
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

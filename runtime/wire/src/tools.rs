//! The list of tools of a request.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::schema::dialect::Dialect;
use toolgen_kernel::schema::shape::render::Refusal;
use toolgen_kernel::spec::hints::Callers;
use toolgen_kernel::spec::{ToolSchema, ToolSpec};

use super::format::Format;
use super::properties::{Property, Selected, ToolProperties, is_recursive};

/// Tools that a dialect cannot express.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedTools {
    /// The tools, in the given order.
    pub tools: Vec<RefusedTool>,
}

/// A tool that a dialect cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedTool {
    /// The name of the tool.
    pub name: Text,
    /// All reasons.
    pub reasons: Vec<Refusal>,
}

impl RefusedTool {
    pub(super) fn of(spec: &ToolSpec, reasons: Vec<Refusal>) -> RefusedTool {
        RefusedTool { name: spec.name.to_text(), reasons }
    }
}

impl fmt::Display for RefusedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line_break = "";
        for tool in &self.tools {
            for reason in &tool.reasons {
                write!(f, "{line_break}{}{}: {}", tool.name, reason.pointer, reason.reason)?;
                line_break = "\n";
            }
        }
        Ok(())
    }
}

toolgen_core::__readable_debug!(RefusedTools);

impl std::error::Error for RefusedTools {}

/// Renders a tool with the schema of its arguments in a dialect.
pub type ToolWriter = fn(&ToolSpec, Value, &Dialect) -> Value;

/// Renders each tool in a format.
pub(super) fn render<'a>(
    specs: impl IntoIterator<Item = &'a ToolSpec>,
    dialect: &Dialect,
    format: &Format,
    selected: Selected,
) -> Result<Vec<Value>, RefusedTools> {
    let (mut tools, mut refused) = (Vec::new(), Vec::new());
    for spec in specs {
        match spec.schema(dialect) {
            Ok(rendered) => tools.push(entry(spec, rendered, dialect, format, selected).0),
            Err(reasons) => refused.push(RefusedTool::of(spec, reasons)),
        }
    }
    if refused.is_empty() { Ok(tools) } else { Err(RefusedTools { tools: refused }) }
}

/// Renders a tool as it is shown in a dialect. Returns the properties that the format does not have.
pub(super) fn entry(
    spec: &ToolSpec,
    rendered: ToolSchema<'_>,
    dialect: &Dialect,
    format: &Format,
    selected: Selected,
) -> (Value, Vec<Property>) {
    let mut properties = ToolProperties::of(spec, dialect, selected);
    let mut for_programs = properties.callers.is_some_and(|callers| callers != Callers::Model);
    let mut lost = properties.remove_all_but(format.properties);
    if for_programs && !format.strict_programs && is_recursive(&rendered.schema) {
        lost.callers = properties.callers.take();
    }
    for_programs &= properties.callers.is_some();
    let description = match lost.present().is_empty() {
        true => rendered.description,
        false => Cow::Owned(lost.told_in(&rendered.description, dialect)),
    };
    let changed = match description {
        Cow::Owned(text) => Some(ToolSpec { description: text.into(), ..spec.clone() }),
        Cow::Borrowed(_) => None,
    };
    let mut tool = (format.tool)(changed.as_ref().unwrap_or(spec), rendered.schema, dialect);
    if properties != ToolProperties::default() {
        (format.set_properties)(&mut tool, properties);
    }
    let mut lost = lost.present();
    if for_programs && dialect.strict && !format.strict_programs {
        lost.push(Property::Strict);
    }
    (tool, lost)
}

/// Returns `{"name", "description"}`. An empty description is omitted, as Bedrock requires.
pub(super) fn name_and_description(spec: &ToolSpec) -> Value {
    let mut out = object([("name", spec.name.as_str().into())]);
    if !spec.description.trim().is_empty() {
        out["description"] = spec.description.as_str().into();
    }
    out
}

/// Returns a tool as `{"name", "description", key: schema}`, with the flag for strict schemas if the dialect is
/// strict.
pub(super) fn named_tool(spec: &ToolSpec, key: &str, schema: Value, dialect: &Dialect) -> Value {
    let mut tool = name_and_description(spec);
    tool[key] = schema;
    if dialect.strict {
        tool["strict"] = Value::Bool(true);
    }
    tool
}

/// Builds an object by moving its values, where `json!` would copy them.
pub(super) fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

//! Calls that select some fields of a result.
//!
//! A tool with a projection takes one optional argument: a list of dotted paths into its result, such as `items.id`.
//! The kernel takes the argument out of the call before the tool runs, and removes all other parts of the result.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::base::frozen::{List, Text};
use crate::base::json::json_bytes;
use crate::schema::dialect::JSON_SCHEMA;
use crate::schema::shape::decode::describe::closest_match;
use crate::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};
use crate::schema::shape::projection::{
    Presence, candidates, has_list_of_objects, is_scalar, presence, project_shape,
};
use crate::schema::shape::render::render_output;
use crate::schema::shape::{ArrayRules, Def, Field, Kind, Shape, StringRules, pointer, resolved};
use crate::spec::ToolSpec;

pub use crate::schema::shape::projection::{Projected, project};

/// Which tools take a list of the [fields](ToolSpec::projection) that their results should have.
///
/// Its text form is `off`, `always`, or a size such as `4096` or `4KiB`; see [`FromStr`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Projection {
    /// No tool.
    #[default]
    Off,
    /// Every tool whose result may have fields.
    Always,
    /// The tools whose results contain a list of objects, and whose output schema has more than this number of bytes
    /// as compact JSON.
    Above(usize),
}

/// An invalid text form of a [`Projection`].
#[derive(Clone, PartialEq, Eq)]
pub struct ProjectionError(String);

impl fmt::Display for ProjectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not `off`, `always` or a size such as `4KiB`", self.0)
    }
}

__readable_debug!(ProjectionError);

impl std::error::Error for ProjectionError {}

impl FromStr for Projection {
    type Err = ProjectionError;

    fn from_str(text: &str) -> Result<Projection, ProjectionError> {
        let size = |text: &str| {
            let unit_start = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let (number, unit) = text.split_at(unit_start);
            let factor = match unit {
                "" | "B" => 1,
                "KiB" => 1 << 10,
                "MiB" => 1 << 20,
                _ => return None,
            };
            number.parse::<usize>().ok()?.checked_mul(factor)
        };
        match text.trim() {
            "off" => Ok(Projection::Off),
            "always" => Ok(Projection::Always),
            bytes => size(bytes).map(Projection::Above).ok_or_else(|| ProjectionError(text.to_owned())),
        }
    }
}

impl fmt::Display for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Projection::Off => f.write_str("off"),
            Projection::Always => f.write_str("always"),
            Projection::Above(bytes) => write!(f, "{bytes}"),
        }
    }
}

impl Projection {
    /// Whether a tool takes the argument. Tools that end a loop or delegate a task have no fields to select.
    #[must_use]
    pub fn applies_to(self, spec: &ToolSpec) -> bool {
        if spec.completion.is_some() || spec.sub_agent {
            return false;
        }
        let output = spec.output.as_ref().map(|output| output.shape());
        match self {
            Projection::Off => false,
            Projection::Always => output.is_none_or(|output| !is_scalar(output, &spec.defs)),
            Projection::Above(bytes) => output.is_some_and(|output| {
                has_list_of_objects(output, &spec.defs)
                    && render_output(output, &spec.defs, &JSON_SCHEMA)
                        .is_ok_and(|rendered| json_bytes(&rendered.schema) > bytes)
            }),
        }
    }

    /// Returns the specification with the argument if the projection applies to the tool, and otherwise without it.
    #[must_use]
    pub fn apply(self, spec: ToolSpec) -> ToolSpec {
        if self.applies_to(&spec) { spec.with_projection() } else { spec.without_projection() }
    }
}

/// The names of the argument: the first that the tool does not use itself.
const NAMES: [&str; 2] = ["fields", "result_fields"];

/// Maximum length of the names of fields in the description of the argument, in bytes.
const MAX_NAMES: usize = 120;

impl ToolSpec {
    /// Adds an optional argument for the fields that the result should have, and sets
    /// [`projection`](Self::projection) to its name: `fields`, or `result_fields` if the tool has an argument
    /// `fields`. A tool that has the argument already stays unchanged. A tool with arguments of both names gets no
    /// projection.
    #[must_use]
    pub fn with_projection(mut self) -> ToolSpec {
        let Some(root) = resolved(&self.input, &self.defs) else { return self };
        let Kind::Object(rules) = &root.kind else { return self };
        let is_used = |name: &str| {
            rules.fields.iter().any(|field| {
                field.name == *name
                    || field.wire == *name
                    || field.aliases.iter().any(|alias| *alias == *name)
            })
        };
        if !self.projection.is_empty() && is_used(&self.projection) {
            return self;
        }
        let Some(name) = NAMES.into_iter().find(|name| !is_used(name)) else {
            self.projection = Text::EMPTY;
            return self;
        };
        let path = Shape::of(Kind::String(StringRules::ANY));
        let paths = ArrayRules { items: path.into(), ..ArrayRules::ANY };
        let shape = Shape { description: self.fields_description().into(), ..Shape::of(Kind::Array(paths)) };
        let mut rules = rules.clone();
        let field = Field { name: name.into(), shape, ..Field::OPTIONAL };
        rules.fields = rules.fields.iter().cloned().chain([field]).collect();
        let root = Shape { kind: Kind::Object(rules), ..root.clone() };
        self.input = root.into();
        self.projection = name.into();
        self
    }

    /// Removes the argument that [`with_projection`](Self::with_projection) added.
    #[must_use]
    pub fn without_projection(mut self) -> ToolSpec {
        if self.projection.is_empty() {
            return self;
        }
        let name = std::mem::replace(&mut self.projection, Text::EMPTY);
        if let Some(root) = resolved(&self.input, &self.defs)
            && let Kind::Object(rules) = &root.kind
        {
            let mut rules = rules.clone();
            rules.fields = rules.fields.iter().filter(|field| field.name != name).cloned().collect();
            self.input = Shape { kind: Kind::Object(rules), ..root.clone() }.into();
        }
        self
    }

    fn fields_description(&self) -> String {
        let paths = self.output.as_ref().map(|output| candidates(output, &self.defs)).unwrap_or_default();
        let mut names = String::new();
        for path in &paths {
            let separator = if names.is_empty() { " Fields: " } else { ", " };
            if names.len() + separator.len() + path.len() > MAX_NAMES {
                names.push_str(if names.is_empty() { "" } else { ", …" });
                break;
            }
            names.push_str(separator);
            names.push_str(path);
        }
        format!("Return only these fields of the result, as dotted paths; lists are mapped.{names}")
    }
}

/// Returns the paths that a call passes in the argument of the [projection](ToolSpec::projection).
fn projected_paths<'a>(spec: &ToolSpec, arguments: &'a Value) -> Option<Vec<&'a str>> {
    if spec.projection.is_empty() {
        return None;
    }
    arguments.get(spec.projection.as_str())?.as_array()?.iter().map(Value::as_str).collect()
}

/// Returns the problems of the paths in the arguments of a call: those that the declared result excludes. Results that
/// may differ from what is declared exclude nothing.
#[must_use]
pub fn path_problems(spec: &ToolSpec, arguments: &Value) -> Vec<ArgumentProblem> {
    let Some(output) = spec.output.as_ref().filter(|_| !spec.output_may_differ) else { return Vec::new() };
    let paths = projected_paths(spec, arguments).unwrap_or_default();
    let problem = |(index, path): (usize, &str)| match presence(output, &spec.defs, path) {
        Presence::Excluded(message) => {
            let mut location = String::new();
            pointer::push(&mut location, &spec.projection);
            pointer::push(&mut location, &index.to_string());
            Some(ArgumentProblem { pointer: location, kind: ArgumentProblemKind::Value, message })
        }
        Presence::Declared | Presence::Possible => None,
    };
    paths.into_iter().enumerate().filter_map(problem).collect()
}

/// Returns a path into the declared result that was probably intended instead of a path that selects nothing.
#[must_use]
pub fn closest_path(spec: &ToolSpec, path: &str) -> Option<String> {
    let paths = candidates(spec.output.as_ref()?, &spec.defs);
    closest_match(path, paths.iter().map(String::as_str)).map(str::to_owned)
}

/// Returns the shape of the fields of a result that paths select, see [`ToolSpec::with_projection`]. References to
/// named shapes stay only in fields that are selected as a whole.
#[must_use]
pub fn projected_output(output: &Shape, defs: &List<Def>, paths: &[&str]) -> Shape {
    project_shape(output, defs, paths)
}

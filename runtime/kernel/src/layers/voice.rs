//! Wording of the messages about invalid arguments.
//!
//! By default the messages are as detailed as possible: the location, the expected and the actual value, and a
//! suggestion. If your models, prompts or tests expect other wording, set a [`Voice`] with
//! [`ToolboxBuilder::voice`](crate::ToolboxBuilder::voice).

use serde_json::Value;
use toolgen_core::internal::resolved;

use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::call::error::ToolError;
use crate::call::tool::parsed;
use crate::layers::layer::{Invocation, Layer, Outcome, Stage};
use crate::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};
use crate::schema::shape::{Field, Kind, Literal, Number, NumberRules, Shape, StringRules};
use crate::spec::ToolSpec;

/// A set of messages about arguments, each a complete message for the model. `{label}` stands for the title of the
/// argument, or its name; `{min}`, `{max}` and `{values}` for the values in its schema. If a message is empty, or a
/// problem has no message in this set, the default message is used.
///
/// The message of `deny_message` is not changed.
///
/// ```
/// use toolgen_runtime::layers::voice::Voice;
///
/// let voice = Voice { missing: "Please give {label}.".into(), ..Voice::HELPERS };
/// # let _ = voice;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voice {
    /// A required argument is missing.
    pub missing: Text,
    /// A required string that must not be empty is missing.
    pub missing_text: Text,
    /// A string that must not be empty is empty.
    pub empty: Text,
    /// A value that is not a string is sent for a string that must not be empty.
    pub not_filled: Text,
    /// A value that is not a string is sent for a string.
    pub not_text: Text,
    /// A value that is not an integer is sent for an integer.
    pub not_integer: Text,
    /// A value that is not a number is sent for a number.
    pub not_number: Text,
    /// A value that is not a boolean is sent for a boolean.
    pub not_flag: Text,
    /// A value that is not an array is sent for an array.
    pub not_list: Text,
    /// A value that is not an object is sent for an object.
    pub not_object: Text,
    /// A string has more than `{max}` characters.
    pub too_long: Text,
    /// A number is less than `{min}`.
    pub too_small: Text,
    /// A number is more than `{max}`.
    pub too_large: Text,
    /// The value is none of `{values}`.
    pub not_listed: Text,
}

impl Voice {
    /// Messages that name one argument each: `{label} is required`, `{label} must be one of: a, b`.
    pub const HELPERS: Voice = Voice {
        missing: Text::Static("{label} is required"),
        missing_text: Text::Static("{label} is required"),
        empty: Text::Static("{label} is required"),
        not_filled: Text::Static("{label} must be a string"),
        not_text: Text::Static("{label} must be a string"),
        not_integer: Text::Static("{label} must be an integer"),
        not_number: Text::Static("{label} must be a number"),
        not_flag: Text::Static("{label} must be a boolean"),
        not_list: Text::Static("{label} must be an array"),
        not_object: Text::Static("{label} must be an object"),
        too_long: Text::Static("{label} exceeds maximum length of {max} characters"),
        too_small: Text::Static("{label} must be at least {min}"),
        too_large: Text::Static("{label} must be at most {max}"),
        not_listed: Text::Static("{label} must be one of: {values}"),
    };

    /// Like [`HELPERS`](Self::HELPERS), with messages that ask for a non-empty string: `{label} is required and must
    /// be a non-empty string`, `{label} must be a non-empty string`.
    pub const FILLED: Voice = Voice {
        missing_text: Text::Static("{label} is required and must be a non-empty string"),
        empty: Text::Static("{label} must be a non-empty string"),
        not_filled: Text::Static("{label} must be a non-empty string"),
        ..Voice::HELPERS
    };

    /// Returns an error in this wording. An error about arguments keeps its code and, for operators, the detailed
    /// message; each message is on a separate line. Other errors, and those without a message in this voice, are
    /// returned unchanged.
    #[must_use]
    pub fn tell(&self, error: ToolError, spec: &ToolSpec, sent: &Value) -> ToolError {
        let ToolError::InvalidArgs { problems, .. } = &error else { return error };
        let messages: Vec<Option<String>> =
            problems.iter().map(|problem| self.wording(problem, spec, sent)).collect();
        if messages.iter().all(Option::is_none) {
            return error;
        }
        let mut lines: Vec<String> = Vec::new();
        for (problem, message) in problems.iter().zip(messages) {
            let line = message.unwrap_or_else(|| format!("{}: {}", problem.pointer, problem.message));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let detail = error.to_string();
        ToolError::failed_with(error.code().to_owned(), lines.join("\n")).with_operator_detail(detail)
    }

    fn wording(&self, problem: &ArgumentProblem, spec: &ToolSpec, sent: &Value) -> Option<String> {
        let mut names: Vec<String> = Vec::new();
        let mut shape = resolved(&spec.input, &spec.defs)?;
        for segment in problem.pointer.strip_prefix('/')?.split('/') {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            shape = member(shape, &segment).and_then(|shape| resolved(shape, &spec.defs))?;
            names.push(segment);
        }
        let value = sent.pointer(&problem.pointer);
        let text = self.template(problem, shape, value)?;
        let title = shape.title.as_str();
        let label = if title.is_empty() { names.join(".") } else { title.to_owned() };
        Some(text.replace("{label}", &label)).filter(|text| !text.is_empty())
    }

    fn template(&self, problem: &ArgumentProblem, shape: &Shape, value: Option<&Value>) -> Option<String> {
        use ArgumentProblemKind::{Missing, Type, Value as Wrong};
        let must_be_filled = |rules: &StringRules| rules.min_length.is_some_and(|min| min > 0);
        let text = match (problem.kind, &shape.kind) {
            (Missing, Kind::String(rules)) if must_be_filled(rules) => &self.missing_text,
            (Missing, _) => &self.missing,
            (Type, Kind::String(rules)) if must_be_filled(rules) => &self.not_filled,
            (Type, Kind::String(_)) => &self.not_text,
            (Type, Kind::Integer(_)) => &self.not_integer,
            (Type, Kind::Number(_)) => &self.not_number,
            (Type, Kind::Boolean) => &self.not_flag,
            (Type, Kind::Array(_)) => &self.not_list,
            (Type, Kind::Object(_)) => &self.not_object,
            (Wrong, Kind::String(rules)) => return self.string_wording(problem, rules, value?.as_str()?),
            (Wrong, Kind::Integer(rules) | Kind::Number(rules)) => {
                return self.number_wording(rules, value?.as_f64()?);
            }
            (Wrong | Type, Kind::Enum(values)) => {
                let values: Vec<String> = values.iter().map(literal_text).collect();
                return Some(self.not_listed.replace("{values}", &values.join(", ")));
            }
            _ => return None,
        };
        Some(text.to_string())
    }

    fn string_wording(&self, problem: &ArgumentProblem, rules: &StringRules, value: &str) -> Option<String> {
        let length = value.chars().count() as u64;
        match rules.max_length {
            _ if !rules.deny_message.is_empty()
                && problem.message.starts_with(rules.deny_message.as_str()) =>
            {
                Some(problem.message.clone())
            }
            _ if length == 0 && rules.min_length == Some(1) => Some(self.empty.to_string()),
            Some(limit) if length > limit => Some(self.too_long.replace("{max}", &limit.to_string())),
            _ => None,
        }
    }

    fn number_wording(&self, rules: &NumberRules, value: f64) -> Option<String> {
        let to_json = |number: Option<Number>| number.map(|number| Literal::Number(number).to_json());
        let (min, max) = (to_json(rules.minimum), to_json(rules.maximum));
        let number = |number: &Value| number.as_f64().unwrap_or(value);
        match (min, max) {
            (Some(min), _) if value < number(&min) => Some(self.too_small.replace("{min}", &min.to_string())),
            (_, Some(max)) if value > number(&max) => Some(self.too_large.replace("{max}", &max.to_string())),
            _ => None,
        }
    }
}

/// Returns the shape of a member or of an item.
fn member<'a>(shape: &'a Shape, segment: &str) -> Option<&'a Shape> {
    match &shape.kind {
        Kind::Object(rules) => {
            let has_name = |field: &&Field| {
                [field.name.as_str(), field.wire_name()].contains(&segment)
                    || field.aliases.iter().any(|alias| alias.as_str() == segment)
            };
            rules.fields.iter().find(has_name).map(|field| &field.shape)
        }
        Kind::Array(rules) => Some(&rules.items),
        _ => None,
    }
}

fn literal_text(value: &Literal) -> String {
    match value.to_json() {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

impl Layer for Voice {
    /// This stage is outside all stages that may reject an argument.
    fn stage(&self) -> Stage {
        Stage::Admit
    }

    fn is_single(&self) -> bool {
        true
    }

    fn after<'a>(&'a self, call: &'a Invocation<'a>, outcome: &'a mut Outcome) -> Option<BoxFuture<'a, ()>> {
        if let Err(error @ ToolError::InvalidArgs { .. }) = outcome {
            let sent = parsed(call.sent().clone()).unwrap_or_default();
            *error = self.tell(error.clone(), call.spec(), &sent);
        }
        None
    }
}

//! Names and descriptions of enumerated values.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::Literal;

/// The names that a document gives to enumerated values. The Rust type of the values and its variants are named after
/// them.
///
/// Like a [`Title`](super::Title), they do not affect what is allowed. Shapes that differ only in names are equal,
/// and names are not part of canonical text. The meanings of the values are also in the description, for the model.
#[derive(Clone, Default)]
pub struct Choices(Option<Arc<NamedChoices>>);

#[derive(Debug)]
struct NamedChoices {
    type_name: String,
    choices: Vec<Choice>,
    /// The index of each value, by its JSON text: there may be tens of thousands of values.
    indices: BTreeMap<String, usize>,
}

/// The name and the meaning of one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The value.
    pub value: Literal,
    /// Its name; empty if there is none.
    pub name: String,
    /// Its meaning, as plain Markdown; empty if there is none.
    pub description: String,
}

impl Choices {
    /// No names.
    pub const NONE: Choices = Choices(None);

    /// Creates the names of a type and its values. An empty type name means that the type has no name.
    #[must_use]
    pub fn new(type_name: &str, choices: Vec<Choice>) -> Choices {
        let is_empty = type_name.is_empty() && choices.is_empty();
        Choices((!is_empty).then(|| {
            // If a value occurs twice, its first name applies.
            let indices =
                choices.iter().enumerate().rev().map(|(index, choice)| (key(&choice.value), index)).collect();
            Arc::new(NamedChoices { type_name: type_name.to_owned(), choices, indices })
        }))
    }

    /// Whether there are neither names nor meanings.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the name of the type; empty if there is none.
    #[must_use]
    pub fn type_name(&self) -> &str {
        self.0.as_deref().map_or("", |names| &names.type_name)
    }

    /// Returns the name and meaning of a value.
    #[must_use]
    pub fn of(&self, value: &Literal) -> Option<&Choice> {
        let names = self.0.as_deref()?;
        names
            .indices
            .get(&key(value))
            .map(|index| &names.choices[*index])
            .filter(|choice| choice.value == *value)
    }

    /// Whether values have names.
    #[must_use]
    pub fn has_names(&self) -> bool {
        self.all().iter().any(|choice| !choice.name.is_empty())
    }

    /// Returns a description with the meanings of the values, one per line, unless it already contains them. The
    /// meaning of a number is its name; a string needs no name.
    #[must_use]
    pub fn explain(&self, description: &str) -> String {
        let mut text = description.to_owned();
        for Choice { value, name, description: meaning } in self.all() {
            let name = if matches!(value, Literal::Number(_)) { name.as_str() } else { "" };
            let is_described = |part: &str| part.is_empty() || description.contains(part);
            if is_described(name) && is_described(meaning) {
                continue;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            let displayed = match value {
                Literal::String(text) => text.to_string(),
                other => other.to_json().to_string(),
            };
            text += &match (name, meaning.as_str()) {
                (name, "") => format!("- `{displayed}`: {name}"),
                ("", meaning) => format!("- `{displayed}`: {meaning}"),
                (name, meaning) => format!("- `{displayed}` ({name}): {meaning}"),
            };
        }
        text
    }

    fn all(&self) -> &[Choice] {
        self.0.as_deref().map_or(&[], |names| &names.choices)
    }
}

/// Returns the JSON text of a value, which is unique.
fn key(value: &Literal) -> String {
    value.to_json().to_string()
}

impl PartialEq for Choices {
    fn eq(&self, _: &Choices) -> bool {
        true
    }
}

impl fmt::Debug for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

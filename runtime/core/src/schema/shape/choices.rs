//! The names of values to choose from, and their meanings.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::Literal;

/// The names that a document gives the values that a schema lists: they name the type of the values in Rust and its
/// variants.
///
/// Like a [`Title`](super::Title) it says nothing about what is allowed, so shapes that differ in it alone are equal,
/// and it is not part of canonical text. The meanings of the values are also in the description, where a model reads
/// them.
#[derive(Clone, Default)]
pub struct Choices(Option<Arc<NamedChoices>>);

#[derive(Debug)]
struct NamedChoices {
    type_name: String,
    choices: Vec<Choice>,
    /// The place of each value, by its JSON text: lists may have tens of thousands.
    places: BTreeMap<String, usize>,
}

/// The name of one value in a document, and its meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The value.
    pub value: Literal,
    /// Its name; empty if it has none.
    pub name: String,
    /// What it means, as plain Markdown; empty if not stated.
    pub description: String,
}

impl Choices {
    /// No names.
    pub const NONE: Choices = Choices(None);

    /// Creates the names of a type and of its values; an empty name of the type stands for no name.
    #[must_use]
    pub fn new(type_name: &str, choices: Vec<Choice>) -> Choices {
        let is_empty = type_name.is_empty() && choices.is_empty();
        Choices((!is_empty).then(|| {
            // The first counts where a value is listed twice.
            let places =
                choices.iter().enumerate().rev().map(|(at, choice)| (key(&choice.value), at)).collect();
            Arc::new(NamedChoices { type_name: type_name.to_owned(), choices, places })
        }))
    }

    /// Whether nothing has a name or a meaning.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the name of the type; empty if there is none.
    #[must_use]
    pub fn type_name(&self) -> &str {
        self.0.as_deref().map_or("", |named| &named.type_name)
    }

    /// Returns the name and meaning of a value.
    #[must_use]
    pub fn of(&self, value: &Literal) -> Option<&Choice> {
        let named = self.0.as_deref()?;
        named.places.get(&key(value)).map(|at| &named.choices[*at]).filter(|choice| choice.value == *value)
    }

    /// Whether values have names.
    #[must_use]
    pub fn has_names(&self) -> bool {
        self.all().iter().any(|choice| !choice.name.is_empty())
    }

    /// Returns a description with the meanings of the values, one per line, unless it gives them itself. The name of a
    /// number is its meaning; a text already says what its name would say.
    #[must_use]
    pub fn explain(&self, description: &str) -> String {
        let mut text = description.to_owned();
        for Choice { value, name, description: meaning } in self.all() {
            let name = if matches!(value, Literal::Number(_)) { name.as_str() } else { "" };
            let is_told = |part: &str| part.is_empty() || description.contains(part);
            if is_told(name) && is_told(meaning) {
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
        self.0.as_deref().map_or(&[], |named| &named.choices)
    }
}

/// Returns the JSON text of a value, which differs for each value.
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

//! The words of TypeScript: names of types, keys of objects, values.

use serde_json::Value;

use crate::schema::shape::Literal;

/// The most values of an enumeration that a type lists.
const MAX_LISTED: usize = 50;

/// Names that types of a module may not or should not have: words of the language, and names that signatures use
/// themselves.
const RESERVED: &str = "any as async await bigint boolean break case catch class const continue debugger default \
    delete do else enum export extends false finally for function if implements import in instanceof interface \
    intrinsic let never new null number object package private protected public return static string super switch \
    symbol this throw true try type typeof undefined unknown var void while with yield Record Tools";

/// A type, and whether it binds tighter than `&`, `|` and `[]`.
pub(super) struct Type {
    pub(super) text: String,
    pub(super) loose: Loose,
    /// Whether it names a declared type: `Record` may not hold one that refers to it.
    pub(super) names: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Loose {
    No,
    And,
    Or,
}

impl Type {
    pub(super) fn word(text: impl Into<String>) -> Type {
        Type { text: text.into(), loose: Loose::No, names: false }
    }

    pub(super) fn or_null(&mut self) {
        if !self.text.ends_with("null") && self.text != "unknown" {
            self.text.push_str(" | null");
            self.loose = Loose::Or;
        }
    }

    /// Returns the text for a place that allows only tight types.
    pub(super) fn tight(self) -> String {
        if self.loose == Loose::No { self.text } else { format!("({})", self.text) }
    }
}

/// Returns a name for a type that is close to a name of a document.
pub(super) fn type_name(name: &str) -> String {
    let mut found: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '$' { c } else { '_' }).collect();
    if found.is_empty() || found.starts_with(|c: char| c.is_ascii_digit()) {
        found.insert(0, '_');
    }
    if RESERVED.split_whitespace().any(|word| word == found) {
        found.push('_');
    }
    found
}

/// Returns a key of an object as TypeScript writes it: in quotes unless it is a plain name.
pub(in crate::spec::docs) fn property(name: &str) -> String {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '$');
    if starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$') {
        name.to_owned()
    } else {
        Value::from(name).to_string()
    }
}

/// Returns the types of values, with the type of the rest if they are too many.
pub(super) fn listed(values: &[Literal]) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for value in values.iter().take(MAX_LISTED) {
        let text = value.to_json().to_string();
        if !told.contains(&text) {
            told.push(text);
        }
    }
    if values.is_empty() {
        told.push("never".into());
    }
    if values.len() > MAX_LISTED {
        let are_texts = values.iter().all(|value| matches!(value, Literal::String(_)));
        told.push(format!("{} /* one of {} */", if are_texts { "string" } else { "unknown" }, values.len()));
    }
    told
}

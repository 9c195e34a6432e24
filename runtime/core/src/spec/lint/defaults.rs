//! Defaults that descriptions state.

use serde_json::Value;

use crate::schema::shape::{Kind, Literal, Shape};

/// How a default in a description differs from the schema.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The schema has none. The default in the description.
    Undeclared(String),
    /// The default in the description, and the one of the schema.
    Differs(String, String),
}

/// The words between `default` and the value.
const BETWEEN: &[&str] = &[
    "values", "value", "setting", "is set", "are", "is", "to", "of", "will be", "being", "s", ":", "=", "-",
    "–", "—",
];

/// Compares the default that a description states with that of the schema. Only values are compared: `default 30`,
/// `defaults to "all"`, and texts without quotes that the schema lists.
pub(super) fn compare(shape: &Shape) -> Option<Told> {
    let Found { told, after, at } = told(&shape.description, shape)?;
    if goes_on_with_condition(after) {
        return None;
    }
    let is_measured = measured(after);
    let Some(declared) = &shape.default else { return Some(Told::Undeclared(told)) };
    // `If a is given, the default is 5` is no other default.
    let is_conditional = is_conditional(shape.description.get(..at).unwrap_or_default());
    let declared = declared.to_json();
    let declared_text = declared.as_str().map_or_else(|| declared.to_string(), str::to_owned);
    let numbers = (number(&told), number(&declared_text));
    let same = match numbers {
        (Some(told), Some(declared)) => (told - declared).abs() <= f64::EPSILON * told.abs(),
        _ => told.eq_ignore_ascii_case(&declared_text),
    };
    // `1 hour` may well be 3600.
    (!same && !is_measured && !is_conditional && !declared.is_array() && !declared.is_object())
        .then_some(Told::Differs(told, declared_text))
}

/// Whether the last sentence of a text says when the rest of it holds.
fn is_conditional(text: &str) -> bool {
    let last = text.rsplit(['.', ';', '\n']).next().unwrap_or_default().to_ascii_lowercase();
    last.split(|char: char| !char.is_alphanumeric()).any(|word| CONDITIONS.contains(&word))
}

/// Words that say when something holds.
const CONDITIONS: &[&str] = &["if", "when", "unless", "otherwise", "for", "where"];

/// Whether the text after a default says when it applies: ``false` if a is 0; otherwise true`.
fn goes_on_with_condition(after: &str) -> bool {
    let clause = after.trim_start_matches([' ', ',', '(']).to_ascii_lowercase();
    let word = clause.split(|char: char| !char.is_alphanumeric()).next().unwrap_or_default();
    CONDITIONS.contains(&word) || matches!(word, "depending" | "except" | "only")
}

/// A default that a text states.
struct Found<'t> {
    told: String,
    /// What follows it.
    after: &'t str,
    /// The place of the word `default`.
    at: usize,
}

/// Returns the default that a text states.
fn told<'t>(text: &'t str, shape: &Shape) -> Option<Found<'t>> {
    let lower = text.to_ascii_lowercase();
    lower.match_indices("default").find_map(|(at, word)| {
        // Only ASCII letters change their case, so the places are the same.
        let mut rest = text.get(at + word.len()..)?;
        let before = text.get(..at)?.chars().next_back();
        if before.is_some_and(|char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | '`' | '"')) {
            return None;
        }
        loop {
            let trimmed = rest.trim_start_matches([' ', '*']);
            let next = BETWEEN.iter().find_map(|word| {
                let (head, after) = (trimmed.get(..word.len())?, trimmed.get(word.len()..)?);
                let ends = !word.ends_with(char::is_alphabetic) || !after.starts_with(char::is_alphanumeric);
                // A sign of a number is not a dash.
                let is_sign = *word == "-" && after.starts_with(|char: char| char.is_ascii_digit());
                (head.eq_ignore_ascii_case(word) && ends && !is_sign).then_some(after)
            });
            match next {
                Some(after) => rest = after,
                None => break value(trimmed, shape).map(|(told, after)| Found { told, after, at }),
            }
        }
    })
}

fn value<'t>(text: &'t str, shape: &Shape) -> Option<(String, &'t str)> {
    for (open, close) in [('`', '`'), ('"', '"'), ('\'', '\''), ('“', '”')] {
        if let Some((quoted, after)) = text.strip_prefix(open).and_then(|rest| rest.split_once(close)) {
            // A quoted text in code.
            let quoted = quoted.trim_matches(['"', '\'']);
            let is_value = quoted.len() <= 60 && !quoted.contains('\n') && quoted != "null";
            return (is_value && fits(quoted, shape)).then(|| (quoted.to_owned(), after));
        }
    }
    let end = text.find(|char: char| char.is_whitespace() || ";)]".contains(char)).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    let word = word.trim_end_matches(['.', ',', ':', '*', '!']);
    (!word.is_empty() && fits(word, shape) && !is_text(shape)).then(|| (word.to_owned(), after))
}

/// Whether a word follows that may be a unit.
fn measured(after: &str) -> bool {
    after.trim_start_matches(' ').starts_with(char::is_alphabetic)
}

/// Whether a value is one of any text: a word after `default` is then mostly part of a sentence.
fn is_text(shape: &Shape) -> bool {
    matches!(shape.kind, Kind::String(_))
}

/// Whether a value may be the default of a shape.
fn fits(told: &str, shape: &Shape) -> bool {
    match &shape.kind {
        Kind::Integer(_) | Kind::Number(_) => number(told).is_some(),
        Kind::Boolean => told.eq_ignore_ascii_case("true") || told.eq_ignore_ascii_case("false"),
        Kind::String(_) => true,
        Kind::Enum(values) => {
            let is_told = |value: &Literal| match value.to_json() {
                Value::String(text) => text.eq_ignore_ascii_case(told),
                other => other.to_string().eq_ignore_ascii_case(told),
            };
            values.iter().any(is_told)
        }
        _ => false,
    }
}

fn number(text: &str) -> Option<f64> {
    let starts = text.starts_with(|char: char| char.is_ascii_digit() || matches!(char, '-' | '+' | '.'));
    text.replace([',', '_'], "").parse().ok().filter(|_| starts)
}

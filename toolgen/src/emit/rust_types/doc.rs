//! Writes documentation of types from the document's descriptions, escaped.

use std::fmt::Write as _;

use toolgen_core::Shape;
use toolgen_core::schema::shape::{Kind, Literal, Number};

use super::super::literal::{self, visible};
pub(in crate::emit) use super::markdown::first_paragraph;

/// Adds the rules of a value to its description in the document.
pub(super) fn with_rules(mut doc: String, shape: &Shape) -> String {
    let rules = rules(shape);
    if rules.is_empty() {
        return doc;
    }
    if !doc.is_empty() {
        doc.push_str("\n\n");
    }
    doc + &rules
}

/// Returns the rules that the type of a value does not express, as a sentence.
fn rules(shape: &Shape) -> String {
    let mut lines = Vec::new();
    let mut range = |min: Option<String>, max: Option<String>, unit: &str| match (min, max) {
        (Some(min), Some(max)) if min == max => lines.push(format!("exactly {min}{unit}")),
        (Some(min), Some(max)) => lines.push(format!("{min} to {max}{unit}")),
        (Some(min), None) => lines.push(format!("at least {min}{unit}")),
        (None, Some(max)) => lines.push(format!("at most {max}{unit}")),
        (None, None) => {}
    };
    let count = |count: &Option<u64>| count.map(|count| count.to_string());
    match &shape.kind {
        Kind::Integer(rules) | Kind::Number(rules) => {
            let number =
                |number: &Option<Number>| number.as_ref().map(|n| Literal::Number(*n).to_json().to_string());
            range(number(&rules.minimum), number(&rules.maximum), "");
        }
        Kind::String(rules) => {
            range(count(&rules.min_length), count(&rules.max_length), " characters");
            if !rules.format.is_empty() {
                lines.push(format!("format `{}`", visible(&rules.format)));
            }
        }
        Kind::Array(rules) => range(count(&rules.min_items), count(&rules.max_items), " items"),
        _ => {}
    }
    if let Some(default) = &shape.default {
        let text = visible(&default.to_json().to_string());
        if text.len() <= 60 && !text.contains('`') {
            lines.push(format!("default `{text}`"));
        }
    }
    let text = lines.join(", ");
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => text,
    }
}

/// Whether a name already expresses a key: the same letters and digits, in any case.
pub(super) fn is_same(name: &str, key: &str) -> bool {
    let letters = |text: &str| -> String { text.chars().filter(char::is_ascii_alphanumeric).collect() };
    letters(name).eq_ignore_ascii_case(&letters(key)) && key.is_ascii()
}

/// Writes documentation in Markdown, a comment for each of its lines. Characters that could end a line are removed,
/// so that no description becomes code.
pub(in crate::emit) fn write(text: &str, indent: usize, out: &mut String) {
    for line in text.split('\n') {
        let line: String = line.chars().filter(|c| literal::is_plain(*c)).collect();
        let _ = writeln!(out, "{:indent$}/// {line}", "");
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
}

//! Describes schema keywords as parts of an English sentence.

use serde_json::Value;

use crate::base::truncate::cut;
use crate::schema::shape::rules::StatedRule;
use crate::schema::shape::{Kind, Literal, Relation, Shape, relations};

/// Maximum length of a value in prose, in characters.
const MAX_VALUE: usize = 80;
/// Maximum number of values listed as examples.
const MAX_EXAMPLES: usize = 3;
/// Maximum number of values listed if no others are allowed.
const MAX_LISTED: usize = 50;

/// Returns a value as JSON, cut if it is long.
pub(crate) fn value(literal: &Literal) -> String {
    cut(&literal.to_json().to_string(), MAX_VALUE)
}

/// `one of 1, 2, 3`
pub(crate) fn one_of(values: &[Literal]) -> String {
    let displayed: Vec<String> = values.iter().take(MAX_LISTED).map(value).collect();
    let more = if values.len() > MAX_LISTED { ", …" } else { "" };
    match displayed.as_slice() {
        [only] => format!("always {only}"),
        _ => format!("one of {}{more}", displayed.join(", ")),
    }
}

/// Whether a description states this default, after the word `default`: `Defaults to 5`, `Default: "asc"`.
pub(crate) fn states_default(description: &str, default: &Literal) -> bool {
    const NEAR: usize = 6;
    let json = default.to_json();
    let literal = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
    let mut words = description.split_whitespace();
    while let Some(word) = words.next() {
        let is_default_word = |word: &str| {
            matches!(
                word.trim_matches(|c: char| !c.is_alphanumeric()),
                "Default" | "default" | "Defaults" | "defaults"
            )
        };
        let is_literal = |word: &&str| {
            word.trim_matches(['`', '"', '\'', '*', '.', ',', ';', ':', '(', ')', '=']) == literal
        };
        if is_default_word(word)
            && words
                .clone()
                .take(NEAR)
                .take_while(|word| !is_default_word(word))
                .any(|word| is_literal(&word))
        {
            return true;
        }
    }
    false
}

/// `for example "a", "b"`
pub(crate) fn examples(values: &[Literal]) -> String {
    let displayed: Vec<String> = values.iter().take(MAX_EXAMPLES).map(value).collect();
    format!("for example {}", displayed.join(", "))
}

/// Describes a schema briefly, for dialects in which its values cannot have a schema.
pub(crate) fn schema(schema: &Value) -> String {
    match schema.get("type").and_then(Value::as_str) {
        Some(name) => name.to_owned(),
        None => cut(&schema.to_string(), MAX_VALUE),
    }
}

/// Appends notes about rules that the schema cannot express to a description.
pub(crate) fn describe(description: &str, notes: &[String]) -> String {
    let description = description.trim();
    if notes.is_empty() {
        return description.to_owned();
    }
    let notes = notes.join("; ");
    if description.is_empty() { format!("({notes})") } else { format!("{description} ({notes})") }
}

/// Returns the rule of a keyword for the shape itself, as part of a sentence.
pub(crate) fn rule(shape: &Shape, keyword: &str) -> Option<String> {
    let prose = match (keyword, &shape.kind) {
        ("enum" | "const", Kind::Enum(values)) => one_of(values),
        ("default", _) => format!("default {}", value(shape.default.as_ref()?)),
        ("examples", _) => examples(&shape.examples),
        ("deprecated", _) => "deprecated".to_owned(),
        (relations::KEYWORD, Kind::Object(rules)) => {
            rules.relations.iter().map(Relation::prose).collect::<Vec<_>>().join("; ")
        }
        _ => {
            let has_keyword = |rule: &StatedRule| {
                rule.keyword == keyword || rule.dialect_form.as_ref().is_some_and(|form| form.0 == keyword)
            };
            stated(shape).into_iter().find(has_keyword)?.prose
        }
    };
    (!prose.is_empty()).then_some(prose)
}

/// Whether a description states that something is deprecated.
pub(crate) fn states_deprecated(text: &str) -> bool {
    text.to_lowercase().contains("deprecated")
}

fn stated(shape: &Shape) -> Vec<StatedRule> {
    match &shape.kind {
        Kind::Integer(rules) | Kind::Number(rules) => rules.stated_rules(),
        Kind::String(rules) => rules.stated_rules(),
        Kind::Array(rules) => rules.stated_rules(),
        Kind::Tuple(rules) => rules.stated_rules(),
        Kind::Object(rules) => rules.stated_rules(),
        _ => Vec::new(),
    }
}

/// Returns the rules of the shape itself, each as part of a sentence. Annotations and contents are omitted.
pub(crate) fn rules(shape: &Shape) -> Vec<String> {
    let stated = stated(shape);
    let rules = stated.into_iter().filter(|rule| rule.keyword != "contentMediaType").map(|rule| rule.prose);
    let mut notes: Vec<String> = rules.filter(|message| !message.is_empty()).collect();
    if let Kind::Enum(values) = &shape.kind {
        notes.push(one_of(values));
    }
    if shape.deprecated {
        notes.push("deprecated".into());
    }
    notes
}

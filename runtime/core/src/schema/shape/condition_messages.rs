//! Rules that refer to another schema (`not`, `if`, `contains` and similar). The tree keeps them as text. This module
//! parses them and describes them: in descriptions, and in messages about arguments.

use serde_json::{Map, Value};

use super::read::read_condition;
use super::{Literal, Shape, prose};
use crate::base::truncate::cut;

/// Maximum length of a schema that is shown as JSON, in characters.
const MAX_SCHEMA: usize = 200;
/// Maximum nesting of schemas that are described.
const MAX_DEPTH: usize = 3;

/// The rules of one [`Kind::Raw`](super::Kind::Raw) text.
#[derive(Default)]
pub(super) struct Conditions {
    pub(super) rules: Vec<Condition>,
    /// Whether there are other rules, which are not checked.
    pub(super) has_unchecked: bool,
}

/// A schema that a value is checked against.
pub(super) struct Part {
    pub(super) shape: Shape,
    pub(super) schema: Value,
}

pub(super) enum Condition {
    Not(Part),
    If { when: Box<Part>, then: Option<Box<Shape>>, otherwise: Option<Box<Shape>> },
    Contains { item: Part, min: u64, max: Option<u64> },
    Keys(Shape),
    Requires { key: String, others: Vec<String> },
    With { key: String, shape: Shape },
    Unique,
}

impl Conditions {
    pub(super) fn of(text: &str) -> Conditions {
        let Ok(Value::Object(raw)) = serde_json::from_str::<Value>(text) else {
            return Conditions { has_unchecked: true, ..Conditions::default() };
        };
        let mut conditions = Conditions::default();
        for (keyword, value) in &raw {
            conditions.add(keyword, value, &raw);
        }
        conditions
    }

    fn add(&mut self, keyword: &str, value: &Value, raw: &Map<String, Value>) {
        let part = |schema: &Value| Part { shape: read_condition(schema), schema: schema.clone() };
        let shape = |keyword: &str| raw.get(keyword).map(|schema| Box::new(read_condition(schema)));
        let count = |keyword: &str| raw.get(keyword).and_then(Value::as_u64);
        match keyword {
            "not" => self.rules.push(Condition::Not(part(value))),
            "if" => self.rules.push(Condition::If {
                when: part(value).into(),
                then: shape("then"),
                otherwise: shape("else"),
            }),
            "contains" => self.rules.push(Condition::Contains {
                item: part(value),
                min: count("minContains").unwrap_or(1),
                max: count("maxContains"),
            }),
            "propertyNames" => self.rules.push(Condition::Keys(read_condition(value))),
            "dependentRequired" | "dependentSchemas" | "dependencies" => self.dependencies(value),
            "uniqueItems" if *value == Value::Bool(true) => self.rules.push(Condition::Unique),
            // Read with the keywords that they belong to, or annotations.
            "then" | "else" | "minContains" | "maxContains" | "uniqueItems" | "contentSchema" => {}
            _ => self.has_unchecked = true,
        }
    }

    fn dependencies(&mut self, value: &Value) {
        for (key, rule) in value.as_object().into_iter().flatten() {
            let key = key.clone();
            self.rules.push(match rule {
                Value::Array(others) => {
                    let others = others.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                    Condition::Requires { key, others }
                }
                schema => Condition::With { key, shape: read_condition(schema) },
            });
        }
    }
}

/// Why a schema applies to a value.
pub(super) enum Trigger<'a> {
    /// The value matches a schema, or does not match it.
    If {
        /// The schema.
        schema: &'a Value,
        /// Whether the value matches it.
        is_match: bool,
    },
    /// A key is present.
    Key(&'a str),
}

impl Trigger<'_> {
    /// Returns the end of a message about the value.
    pub(super) fn reason_suffix(&self, value: &Value) -> String {
        let subject = subject(value);
        match self {
            Trigger::If { schema, is_match: true } => {
                format!("; this rule applies because {subject} {}", match_predicate(schema))
            }
            Trigger::If { schema, is_match: false } => {
                format!("; this rule applies unless {subject} {}", match_predicate(schema))
            }
            Trigger::Key(key) => format!("; this rule applies because `{}` is set", cut(key, MAX_SCHEMA)),
        }
    }
}

/// Describes a value that matches a forbidden schema, and the help.
pub(super) fn forbidden(schema: &Value, value: &Value) -> (String, String) {
    let help = match only_required_keys(schema).as_deref() {
        Some([_]) => "; omit it",
        Some([_, _, ..]) => "; omit one of them",
        _ => "; send another value",
    };
    (format!("not allowed: {} {}", subject(value), match_predicate(schema)), help.to_owned())
}

/// Describes a key that is missing although another key requires it, and the help.
pub(super) fn required(key: &str) -> (String, String) {
    let key = cut(key, MAX_SCHEMA);
    let help = format!("; set both or omit `{key}`");
    (format!("missing, but required because `{key}` is set"), help)
}

/// Describes that too few items match a schema.
pub(super) fn too_few(schema: &Value, least: u64, got: u64) -> String {
    format!("must have at least {}, got {got}", matching_items(schema, least))
}

/// Describes that too many items match a schema.
pub(super) fn too_many(schema: &Value, max: u64, got: u64) -> String {
    format!("must have at most {}, got {got}", matching_items(schema, max))
}

/// Describes an invalid key, and the help.
pub(super) fn wrong_key(problem: &str) -> (String, String) {
    (format!("the key is not allowed: {problem}"), "; use another key".to_owned())
}

fn subject(value: &Value) -> &'static str {
    match value {
        Value::Object(_) => "the object",
        Value::Array(_) => "the array",
        _ => "the value",
    }
}

/// Describes the rules of a raw schema to a model that does not see them in its schema.
pub(super) fn describe_rules(text: &str) -> String {
    let sentences = match serde_json::from_str(text) {
        Ok(Value::Object(raw)) => sentences(&raw),
        _ => None,
    };
    sentences.unwrap_or_else(|| format!("must also fit the JSON Schema {}", cut(text, MAX_SCHEMA)))
}

/// Describes the rules of a schema, if all of them can be described.
fn sentences(raw: &Map<String, Value>) -> Option<String> {
    let mut clauses: Vec<String> = Vec::new();
    for (keyword, value) in raw {
        match keyword.as_str() {
            "not" => clauses.push(format!("must not be a value that {}", match_predicate(value))),
            "if" => {
                let then = raw.get("then").map(|then| {
                    format!("if it {}, it also {}", match_predicate(value), match_predicate(then))
                });
                let otherwise = raw.get("else").map(|other| {
                    format!("unless it {}, it {}", match_predicate(value), match_predicate(other))
                });
                clauses.extend(then.into_iter().chain(otherwise));
            }
            "contains" => {
                let count = |keyword: &str| raw.get(keyword).and_then(Value::as_u64);
                let least = count("minContains").unwrap_or(1);
                clauses.push(format!("has at least {}", matching_items(value, least)));
                clauses.extend(
                    count("maxContains").map(|max| format!("has at most {}", matching_items(value, max))),
                );
            }
            "propertyNames" => clauses.push(format!("every key {}", match_predicate(value))),
            "dependentRequired" | "dependentSchemas" | "dependencies" => {
                clauses.extend(value.as_object()?.iter().map(|(key, rule)| describe_dependency(key, rule)));
            }
            "uniqueItems" => clauses.push("no duplicate items".to_owned()),
            "then" | "else" | "minContains" | "maxContains" => {}
            _ => return None,
        }
    }
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

fn describe_dependency(key: &str, rule: &Value) -> String {
    match rule {
        Value::Array(others) => {
            let others: Vec<String> =
                others.iter().filter_map(Value::as_str).map(|other| format!("`{other}`")).collect();
            format!("`{key}` requires {}", others.join(" and "))
        }
        schema => format!("if it has `{key}`, it also {}", match_predicate(schema)),
    }
}

fn matching_items(schema: &Value, count: u64) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} item{plural}, where each {}", match_predicate(schema))
}

/// Describes the rules of a schema as the predicate of a sentence about a value.
fn match_predicate(schema: &Value) -> String {
    predicate(schema, 0)
        .unwrap_or_else(|| format!("fits the JSON Schema {}", cut(&schema.to_string(), MAX_SCHEMA)))
}

/// Returns the keywords of a schema, without annotations.
fn keywords(schema: &Value) -> Option<Map<String, Value>> {
    const REMARKS: [&str; 6] = ["description", "title", "examples", "default", "deprecated", "x-wire"];
    let keywords = schema.as_object()?.iter().filter(|(keyword, _)| !REMARKS.contains(&keyword.as_str()));
    Some(keywords.map(|(keyword, value)| (keyword.clone(), value.clone())).collect())
}

/// Returns the keys that a schema requires, if it has no other rule.
fn only_required_keys(schema: &Value) -> Option<Vec<String>> {
    let keywords = keywords(schema)?;
    let only_keys = keywords.iter().all(|(keyword, value)| match keyword.as_str() {
        "required" => true,
        "type" => value == "object",
        "properties" => value.as_object().is_some_and(|fields| fields.values().all(keywords_are_empty)),
        _ => false,
    });
    let required = keywords.get("required")?.as_array()?;
    only_keys.then(|| required.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

fn keywords_are_empty(schema: &Value) -> bool {
    keywords(schema).is_some_and(|keywords| keywords.is_empty())
}

fn predicate(schema: &Value, depth: usize) -> Option<String> {
    let keywords = keywords(schema).filter(|_| depth <= MAX_DEPTH)?;
    if keywords.contains_key("properties") || keywords.contains_key("required") {
        return describe_members(&keywords, depth);
    }
    let joined = |parts: &Value, word: &str| -> Option<String> {
        let parts = parts.as_array()?.iter().map(|part| predicate(part, depth + 1));
        Some(parts.collect::<Option<Vec<String>>>()?.join(word))
    };
    let values = |values: &[Value]| prose::one_of(&values.iter().map(Literal::of).collect::<Vec<_>>());
    let mut others = keywords.iter().filter(|(keyword, _)| *keyword != "type");
    let Some((keyword, value)) = others.next() else { return type_predicate(keywords.get("type")?) };
    if others.next().is_some() {
        return None;
    }
    Some(match (keyword.as_str(), value) {
        ("const", value) => {
            format!("is {}", values(std::slice::from_ref(value)).trim_start_matches("always "))
        }
        ("enum", Value::Array(listed)) => format!("is {}", values(listed).trim_start_matches("always ")),
        ("pattern", Value::String(pattern)) => format!("matches the pattern {}", cut(pattern, MAX_SCHEMA)),
        ("minimum", limit) => format!("is at least {limit}"),
        ("maximum", limit) => format!("is at most {limit}"),
        ("exclusiveMinimum", limit) => format!("is greater than {limit}"),
        ("exclusiveMaximum", limit) => format!("is less than {limit}"),
        ("anyOf" | "oneOf", parts) => joined(parts, " or ")?,
        ("allOf", parts) => joined(parts, " and ")?,
        _ => return None,
    })
}

fn type_predicate(name: &Value) -> Option<String> {
    Some(
        match name.as_str()? {
            "string" => "is a string",
            "integer" => "is an integer",
            "number" => "is a number",
            "boolean" => "is true or false",
            "array" => "is an array",
            "object" => "is an object",
            "null" => "is null",
            _ => return None,
        }
        .to_owned(),
    )
}

/// Describes an object by its members.
fn describe_members(keywords: &Map<String, Value>, depth: usize) -> Option<String> {
    let only_members = keywords.iter().all(|(keyword, value)| match keyword.as_str() {
        "type" => value == "object",
        "properties" | "required" => true,
        _ => false,
    });
    if !only_members {
        return None;
    }
    let required: Vec<&str> = keywords
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let fields = keywords.get("properties").and_then(Value::as_object);
    let mut messages: Vec<String> = Vec::new();
    for (key, field) in fields.into_iter().flatten() {
        let is_required = required.contains(&key.as_str());
        match (keywords_are_empty(field), is_required) {
            (true, true) => messages.push(format!("has `{key}`")),
            (true, false) => {}
            (false, is_required) => {
                let rule = predicate(field, depth + 1)?;
                let or_absent = if is_required { "" } else { " or is absent" };
                messages.push(format!("has `{key}` that {rule}{or_absent}"));
            }
        }
    }
    let unlisted = |key: &&&str| fields.is_none_or(|fields| !fields.contains_key(**key));
    messages.extend(required.iter().filter(unlisted).map(|key| format!("has `{key}`")));
    if messages.is_empty() { type_predicate(&Value::from("object")) } else { Some(messages.join(" and ")) }
}

//! The parts of a single shape: its texts, its examples, its values, its foreign rules.

use serde_json::Value;

use super::{Lever, Slimmer, needed, words};
use crate::base::frozen::{List, Text};
use crate::base::truncate::cut;
use crate::schema::shape::{Kind, Literal, NumberRules, Shape, StringRules, prose};

/// The longest default that is kept without examples, as JSON, in bytes.
pub(super) const MAX_DEFAULT: usize = 100;
/// How much is reported of what a description no longer says, in characters.
const MAX_TOLD: usize = 200;
/// How many of the values that are no longer listed are named.
const NAMED: usize = 8;

impl Slimmer<'_> {
    pub(super) fn annotations(&mut self, shape: &mut Shape, name: &str, level: usize) {
        let words = if level <= 1 { self.slim.parameters } else { self.slim.nested };
        if !shape.description.is_empty() {
            let kept = words.of(&shape.description);
            if self.slim.drop_restating && !kept.is_empty() && words::restates(&kept, name, &self.tool) {
                if self.tells {
                    let what = format!(
                        "the description is left out, as what is kept of it says only a name: `{kept}`"
                    );
                    self.trim(Lever::Restating, what);
                    let lost = shortened(&shape.description, "").into_iter();
                    lost.filter(|(lever, _)| *lever == Lever::Needed)
                        .for_each(|(lever, what)| self.trim(lever, what));
                }
                shape.description = Text::EMPTY;
            } else if kept.len() < shape.description.len() {
                if self.tells {
                    for (lever, what) in shortened(&shape.description, &kept) {
                        self.trim(lever, what);
                    }
                }
                shape.description = Text::copy_of(&kept);
            }
        }
        if !self.slim.drop_examples {
            return;
        }
        if !shape.examples.is_empty() {
            let what = format!("{} of its values left out", plural(shape.examples.len(), "example"));
            self.trim(Lever::Examples, what);
            shape.examples = List::EMPTY;
        }
        if shape.default.as_ref().is_some_and(|value| value.to_json().to_string().len() > MAX_DEFAULT) {
            self.trim(Lever::Examples, "its long default is left out");
            shape.default = None;
        }
    }

    /// Replaces a long list of values by their type.
    pub(super) fn values(&mut self, shape: &mut Shape) {
        let Kind::Enum(values) = &shape.kind else { return };
        if self.slim.values.is_none_or(|most| values.len() <= most) {
            return;
        }
        let kind = type_of(values);
        let count = values.len();
        let named: Vec<String> = values.iter().take(NAMED).map(prose::value).collect();
        let note = format!("one of {count} values: {}, …", named.join(", "));
        shape.nullable |= values.contains(&Literal::Null);
        shape.description = prose::describe(&shape.description, &[note]).into();
        shape.kind = kind;
        self.trim(Lever::Values, format!("{count} values are no longer listed"));
    }

    /// Keeps a foreign rule and what it refers to, unless that changes: a rule may forbid what a looser shape accepts.
    pub(super) fn raw(&mut self, text: &Text, level: usize) -> Kind {
        let mut names = Vec::new();
        if let Ok(value) = serde_json::from_str(text) {
            referred(&value, &mut names);
        }
        if self.loosens() && !names.is_empty() {
            self.trim(Lever::Depth, "a rule that refers to named shapes is left out");
            return Kind::Any;
        }
        self.waiting.extend(names.into_iter().map(|name| (level, name)));
        Kind::Raw(text.clone())
    }
}

/// Collects the named shapes that a schema refers to.
pub(super) fn referred(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| referred(item, names)),
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                names.extend(crate::schema::shape::pointer::referenced(reference));
            }
            members.values().for_each(|member| referred(member, names));
        }
        _ => {}
    }
}

/// Says what became of a description: `shortened from 300 to 80 characters`, and what it no longer says about a value.
pub(crate) fn shortened(text: &str, kept: &str) -> Vec<(Lever, String)> {
    let (before, after) = (text.chars().count(), kept.chars().count());
    let what = if after == 0 {
        format!("the description of {} is left out", plural(before, "character"))
    } else {
        format!("the description is shortened from {before} to {}", plural(after, "character"))
    };
    let missing = needed::missing(text, kept).join(" ");
    let told = (Lever::Needed, format!("no longer says `{}`", cut(&missing, MAX_TOLD)));
    [(Lever::Description, what)].into_iter().chain((!missing.is_empty()).then_some(told)).collect()
}

fn plural(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

fn type_of(values: &[Literal]) -> Kind {
    let values = values.iter().filter(|value| **value != Literal::Null);
    let all = |is: fn(&Literal) -> bool| values.clone().all(is);
    if all(|value| matches!(value, Literal::String(_))) {
        Kind::String(StringRules::ANY)
    } else if all(|value| matches!(value, Literal::Number(_))) {
        Kind::Number(NumberRules::ANY)
    } else {
        Kind::Any
    }
}

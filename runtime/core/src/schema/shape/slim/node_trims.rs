//! Trims a single shape: its strings, its examples, its raw rules.

use serde_json::Value;

use super::{Slimmer, TrimKind};
use crate::base::frozen::{List, Text};
use crate::schema::shape::{Kind, Shape};

/// Maximum length of a default that is kept if examples are dropped, as JSON, in bytes.
const MAX_DEFAULT: usize = 100;
impl Slimmer<'_> {
    pub(super) fn trim_annotations(&mut self, shape: &mut Shape, level: usize) {
        let limit = if level <= 1 { self.slim.parameters } else { self.slim.nested };
        let shortened_text = limit.of(&shape.description);
        if shortened_text.len() < shape.description.len() {
            let shortened_text = Text::copy_of(&shortened_text);
            if self.records_trims {
                self.trim(TrimKind::Description, shortened(&shape.description, &shortened_text));
            }
            shape.description = shortened_text;
        }
        if !self.slim.drop_examples {
            return;
        }
        if !shape.examples.is_empty() {
            let what = format!("{} of its values omitted", plural(shape.examples.len(), "example"));
            self.trim(TrimKind::Examples, what);
            shape.examples = List::EMPTY;
        }
        if shape.default.as_ref().is_some_and(|value| value.to_json().to_string().len() > MAX_DEFAULT) {
            self.trim(TrimKind::Examples, "its long default is omitted");
            shape.default = None;
        }
    }

    /// Keeps a raw rule with the shapes that it references, unless they change: a rule may forbid what a less strict
    /// shape accepts.
    pub(super) fn trim_raw(&mut self, text: &Text, level: usize) -> Kind {
        let mut names = Vec::new();
        if let Ok(value) = serde_json::from_str(text) {
            collect_references(&value, &mut names);
        }
        if self.loosens() && !names.is_empty() {
            self.trim(TrimKind::Depth, "a rule that refers to named shapes is omitted");
            return Kind::Any;
        }
        self.pending_defs.extend(names.into_iter().map(|name| (level, name)));
        Kind::Raw(text.clone())
    }
}

/// Collects the named shapes that a schema references.
pub(super) fn collect_references(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, names)),
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                names.extend(crate::schema::shape::pointer::referenced(reference));
            }
            members.values().for_each(|member| collect_references(member, names));
        }
        _ => {}
    }
}

/// Describes how a description was changed: `shortened from 300 to 80 characters`.
pub(crate) fn shortened(text: &str, kept: &str) -> String {
    let (before, after) = (text.chars().count(), kept.chars().count());
    if after == 0 {
        return format!("the description of {} is omitted", plural(before, "character"));
    }
    format!("the description is shortened from {before} to {}", plural(after, "character"))
}

fn plural(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

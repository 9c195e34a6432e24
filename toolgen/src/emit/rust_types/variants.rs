//! Names of the variants of unions.

use std::collections::BTreeMap;

use toolgen_core::schema::shape::{Field, Kind, Literal, ObjectRules};
use toolgen_core::{Def, List, Shape};

use super::super::idents;
use super::model::Choice;
use super::objects::object_of;
use super::titles;

/// Returns names for the variants, which may still be equal. They are derived from references, distinguishing tags,
/// titles, and kinds. Variants with the same name are named after something that only they have.
pub(super) fn names(defs: &List<Def>, shapes: &[&Shape], choice: &Choice) -> Vec<String> {
    let mut names: Vec<String> =
        shapes.iter().enumerate().map(|(index, shape)| base_name(index, shape, choice)).collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in &names {
        *counts.entry(name.to_ascii_lowercase()).or_default() += 1;
    }
    for ((index, name), shape) in names.iter_mut().enumerate().zip(shapes) {
        if counts.get(&name.to_ascii_lowercase()).is_none_or(|count| *count == 1) {
            continue;
        }
        let title = titles::name(shape.title.as_str()).filter(|title| title != name);
        if let Some(title) = title.filter(|title| !counts.contains_key(&title.to_ascii_lowercase())) {
            *name = title;
        } else if let Some(distinguishing) = distinguishing_name(defs, shapes, index) {
            *name = if is_kind(name) { distinguishing } else { format!("{name}{distinguishing}") };
        }
    }
    names
}

/// Whether a name only expresses the kind of a variant's value.
fn is_kind(name: &str) -> bool {
    ["Choice", "List", "Object"].contains(&name)
}

/// Returns the name of a variant, regardless of the other variants.
fn base_name(index: usize, shape: &Shape, choice: &Choice) -> String {
    if let Kind::Ref(name) = &shape.kind {
        return idents::camel(name);
    }
    if let Choice::Tag { values, .. } = choice
        && let Some((value, _)) = values.iter().find(|(_, variant)| *variant == index)
    {
        return idents::camel(value);
    }
    if let Kind::Object(rules) = &shape.kind
        && let Some(value) = rules.fields.iter().find_map(only_text)
    {
        return idents::camel(value);
    }
    if let Some(title) = titles::name(shape.title.as_str()) {
        return title;
    }
    let name = match &shape.kind {
        Kind::Boolean => "Boolean",
        Kind::Integer(_) => "Integer",
        Kind::Number(_) => "Number",
        Kind::String(_) => "Text",
        Kind::Enum(_) => "Choice",
        Kind::Array(_) | Kind::Tuple(_) => "List",
        Kind::Object(rules) if rules.fields.is_empty() => "Map",
        Kind::Object(_) | Kind::All(_) => "Object",
        _ => "Variant",
    };
    name.to_owned()
}

/// Returns a name for something that only this variant has.
fn distinguishing_name(defs: &List<Def>, shapes: &[&Shape], index: usize) -> Option<String> {
    let shape = shapes.get(index)?;
    match &shape.kind {
        Kind::Enum(values) => {
            let texts = values.iter().map(|value| match value {
                Literal::String(text) => Some(text.to_string()),
                Literal::Number(_) | Literal::Bool(_) => Some(value.to_json().to_string()),
                _ => None,
            });
            let texts = texts.collect::<Option<Vec<_>>>()?;
            (texts.len() <= 2).then(|| idents::camel(&texts.join(" or ")))
        }
        Kind::Array(rules) => match &rules.items.kind {
            Kind::Ref(name) => Some(idents::camel(name) + "List"),
            _ => Some(base_name(index, &rules.items, &Choice::Best) + "List"),
        },
        _ => {
            let rules = object_of(defs, shape, 0)?;
            let mut others = Vec::new();
            for (_, shape) in shapes.iter().enumerate().filter(|(other, _)| *other != index) {
                others.extend(object_of(defs, shape, 0));
            }
            unique_text(&rules, &others).or_else(|| unique_field(&rules, &others))
        }
    }
}

/// Returns the first string that is the only one of its field and differs in all other objects.
fn unique_text(rules: &ObjectRules, others: &[ObjectRules]) -> Option<String> {
    let mut texts = rules.fields.iter().filter_map(|field| Some((field, only_text(field)?)));
    let (_, text) = texts.find(|(field, text)| {
        let mut other_fields = others.iter().flat_map(|rules| &*rules.fields);
        !others.is_empty()
            && !other_fields
                .any(|other| other.wire_name() == field.wire_name() && only_text(other) == Some(text))
            && others
                .iter()
                .all(|rules| rules.fields.iter().any(|other| other.wire_name() == field.wire_name()))
    })?;
    Some(idents::camel(text))
}

/// Returns the name of the first field that no other object has; required fields take precedence.
fn unique_field(rules: &ObjectRules, others: &[ObjectRules]) -> Option<String> {
    let is_own = |field: &&Field| {
        let mut others = others.iter().flat_map(|rules| &*rules.fields);
        others.all(|other| other.wire_name() != field.wire_name())
    };
    let candidates = || rules.fields.iter().filter(is_own);
    let field = candidates().find(|field| field.required).or_else(|| candidates().next())?;
    Some(idents::camel(field.wire_name()))
}

/// Returns the only string that a field allows.
fn only_text(field: &Field) -> Option<&str> {
    let Kind::Enum(values) = &field.shape.kind else { return None };
    match &**values {
        [Literal::String(only)] => Some(only),
        _ => None,
    }
}

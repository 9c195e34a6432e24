//! Decides how unions and enumerated strings become enums.

use std::collections::BTreeSet;

use toolgen_core::schema::shape::{
    Choices, Discriminator, Field, Kind, Literal, ObjectRules, UnionRules, find_def,
};
use toolgen_core::{Def, List, Shape};

use super::super::idents::{self, Names};
use super::doc::first_paragraph;
use super::model::{Body, Choice, Listed, Ty};
use super::objects::{MAX_NESTING, is_string, json_type, object_of, without_null};
use super::scalars::{are_named_integers, as_i64, scalar_type};

/// Whether a shape that the document names becomes a separate type.
pub(super) fn is_nominal(shape: &Shape) -> bool {
    match &shape.kind {
        Kind::Object(rules) => !rules.fields.is_empty(),
        Kind::Enum(_) => scalar_type(shape).is_none(),
        Kind::Union(_) => without_null(shape).1.is_none(),
        Kind::All(_) => true,
        _ => false,
    }
}

/// Returns the body of a union of strings or numbers, which needs no variants.
pub(super) fn simple_body(shapes: &[&Shape]) -> Option<Body> {
    let is_number = |shape: &&Shape| matches!(shape.kind, Kind::Number(_) | Kind::Integer(_));
    let are_numbers = !shapes.is_empty() && shapes.iter().all(is_number);
    string_enum(shapes).or_else(|| are_numbers.then_some(Body::Alias(Ty::Float)))
}

/// Returns how a value identifies its variant.
pub(super) fn choice(defs: &List<Def>, rules: &UnionRules, shapes: &[&Shape]) -> Choice {
    let objects: Vec<Option<ObjectRules>> = shapes.iter().map(|shape| object_of(defs, shape, 0)).collect();
    by_tag(defs, rules, shapes, &objects).or_else(|| by_kind(defs, shapes, &objects)).unwrap_or(Choice::Best)
}

/// Returns the enum of named integers, or of the strings among these values.
pub(super) fn enumeration(values: &List<Literal>, choices: &Choices) -> Body {
    if are_named_integers(values, choices) {
        Body::Numbers(enum_values(values, choices, as_i64, |number| number.to_string()))
    } else {
        Body::Enum(enum_values(values, choices, |value| text(value).map(str::to_owned), String::clone))
    }
}

/// Returns the variants for values of one type. Values without a name are named after their text.
fn enum_values<V: Clone + Ord>(
    values: &List<Literal>,
    choices: &Choices,
    value_of: impl Fn(&Literal) -> Option<V>,
    to_text: impl Fn(&V) -> String,
) -> Vec<Listed<V>> {
    let mut scope = Names::of_types(&["Other"]);
    let mut seen = BTreeSet::new();
    let mut variants = Vec::new();
    for literal in values {
        let Some(value) = value_of(literal).filter(|value| seen.insert(value.clone())) else { continue };
        let choice = choices.of(literal);
        let name = choice.map_or("", |choice| &choice.name);
        let name = if name.is_empty() { idents::camel(&to_text(&value)) } else { idents::camel(name) };
        // The list of all variants is `ALL`, a name that `a-l-l` would also get.
        let name = if name == "ALL" { "All".to_owned() } else { name };
        let doc = choice.map_or_else(String::new, |choice| first_paragraph(&choice.description));
        variants.push(Listed { name: scope.take(&name), value, doc });
    }
    variants
}

fn text(value: &Literal) -> Option<&str> {
    match value {
        Literal::String(text) => Some(text),
        _ => None,
    }
}

/// Combines enumerated strings, in one or more lists, or next to any string, into one enum.
fn string_enum(shapes: &[&Shape]) -> Option<Body> {
    let mut values: Vec<Literal> = Vec::new();
    let mut choices = Vec::new();
    for shape in shapes {
        match &shape.kind {
            Kind::Enum(list) if list.iter().all(|value| matches!(value, Literal::String(_))) => {
                values.extend(list.iter().cloned());
                choices.extend(list.iter().filter_map(|value| shape.choices.of(value)).cloned());
            }
            // Any string is allowed; the listed ones are examples.
            Kind::String(_) => {
                return shapes.iter().all(|shape| is_string(shape)).then_some(Body::Alias(Ty::Text));
            }
            _ => return None,
        }
    }
    (!values.is_empty()).then(|| enumeration(&values.into(), &Choices::new("", choices)))
}

/// Chooses by the document's discriminator, or by a required field with one string, different in each variant.
fn by_tag(
    defs: &List<Def>,
    rules: &UnionRules,
    shapes: &[&Shape],
    objects: &[Option<ObjectRules>],
) -> Option<Choice> {
    if let Some(discriminator) = &rules.discriminator {
        return by_discriminator(defs, discriminator, shapes, objects);
    }
    let first = objects.first()?.as_ref()?;
    first.fields.iter().find_map(|candidate| {
        let property = candidate.wire_name();
        let mut values = Vec::new();
        for (index, object) in objects.iter().enumerate() {
            let field = object.as_ref()?.fields.iter().find(|field| field.wire_name() == property)?;
            let Kind::Enum(list) = &field.shape.kind else { return None };
            for value in list {
                values.push((text(value)?.to_owned(), index));
            }
            if !field.required {
                return None;
            }
        }
        tag_if_distinct(property, values, None)
    })
}

/// Chooses by the values of a discriminator: as mapped, as the variant lists them, or the name of the variant.
fn by_discriminator(
    defs: &List<Def>,
    discriminator: &Discriminator,
    shapes: &[&Shape],
    objects: &[Option<ObjectRules>],
) -> Option<Choice> {
    let (mut values, mut by_default) = (Vec::new(), None);
    for (index, (shape, object)) in shapes.iter().zip(objects).enumerate() {
        if object.is_none() && !are_objects(defs, shape, 0) {
            return None;
        }
        let name = match &shape.kind {
            Kind::Ref(name) => Some(name),
            _ => None,
        };
        if name.is_some() && name == discriminator.default_variant.as_ref() {
            by_default = Some(index);
        }
        let start = values.len();
        let mapped = discriminator.mapping.iter().filter(|(_, target)| Some(target) == name);
        values.extend(mapped.map(|(value, _)| (value.to_string(), index)));
        if values.len() == start {
            let is_discriminator = |field: &&Field| field.name == discriminator.property;
            let field = object.as_ref().and_then(|object| object.fields.iter().find(is_discriminator));
            if let Some(Kind::Enum(list)) = field.map(|field| &field.shape.kind) {
                values.extend(list.iter().filter_map(text).map(|value| (value.to_owned(), index)));
            }
        }
        if values.len() == start && by_default != Some(index) {
            values.push((name?.to_string(), index));
        }
    }
    let mut fields = objects.iter().flatten().flat_map(|object| &object.fields);
    let field = fields.find(|field| field.name == discriminator.property);
    tag_if_distinct(field.map_or(discriminator.property.as_str(), Field::wire_name), values, by_default)
}

/// Whether all values of a shape are objects, even if it is a union.
fn are_objects(defs: &List<Def>, shape: &Shape, nesting: usize) -> bool {
    if nesting > MAX_NESTING || shape.nullable {
        return false;
    }
    match &shape.kind {
        Kind::Ref(name) => find_def(defs, name).is_some_and(|shape| are_objects(defs, shape, nesting + 1)),
        Kind::Union(rules) => rules.variants.iter().all(|variant| are_objects(defs, variant, nesting + 1)),
        _ => object_of(defs, shape, nesting).is_some(),
    }
}

fn tag_if_distinct(
    property: &str,
    values: Vec<(String, usize)>,
    by_default: Option<usize>,
) -> Option<Choice> {
    let mut seen = BTreeSet::new();
    let are_distinct = values.iter().all(|(value, _)| seen.insert(value.clone()));
    are_distinct.then_some(Choice::Tag { property: property.to_owned(), values, by_default })
}

/// Chooses by JSON types, at most one variant each.
fn by_kind(defs: &List<Def>, shapes: &[&Shape], objects: &[Option<ObjectRules>]) -> Option<Choice> {
    let mut kinds = Vec::new();
    for (shape, object) in shapes.iter().zip(objects) {
        let kind = if object.is_some() { "Object" } else { json_type(defs, shape, 0)? };
        if kinds.contains(&kind) {
            return None;
        }
        kinds.push(kind);
    }
    Some(Choice::Kind(kinds))
}

//! Translates unions to enums.

use toolgen_runtime::schema::shape::{Kind, Literal, ObjectRules, UnionRules};
use toolgen_runtime::{Shape, Text};

use super::super::idents::{self, Names};
use super::doc::first_paragraph;
use super::lower::{Lowering, Place};
use super::model::{Body, Choice, Ty, Union, Variant};

/// The maximum number of variants told apart by trying.
const MAX_TRIED: usize = 12;

/// Whether a shape allows `null` as a variant, and the only other variant if there is just one.
pub(super) fn without_null(shape: &Shape) -> (bool, Option<&Shape>) {
    let Kind::Union(rules) = &shape.kind else { return (shape.nullable, None) };
    let mut rest = rules.variants.iter().filter(|variant| variant.kind != Kind::Null);
    let nullable = shape.nullable || rules.variants.iter().any(|variant| variant.kind == Kind::Null);
    match (rest.next(), rest.next()) {
        (Some(only), None) => (nullable, Some(only)),
        _ => (nullable, None),
    }
}

/// Returns the body of a union of at least two shapes other than `null`.
pub(super) fn body(lowering: &mut Lowering<'_>, rules: &UnionRules, place: &Place) -> Body {
    let shapes: Vec<&Shape> = rules.variants.iter().filter(|variant| variant.kind != Kind::Null).collect();
    if let [only] = shapes.as_slice() {
        return Body::Alias(lowering.value(only, place));
    }
    if let Some(body) = texts(&shapes) {
        return body;
    }
    if shapes.iter().all(|shape| matches!(shape.kind, Kind::Number(_) | Kind::Integer(_)))
        && !shapes.is_empty()
    {
        return Body::Alias(Ty::Float);
    }
    let objects: Vec<Option<ObjectRules>> = shapes.iter().map(|shape| lowering.object_of(shape, 0)).collect();
    let choice = by_tag(rules, &shapes, &objects)
        .or_else(|| by_kind(lowering, &shapes, &objects))
        .or_else(|| by_fields(&objects))
        .unwrap_or(Choice::Never);
    if matches!(choice, Choice::Never) && (place.usage.output || shapes.is_empty()) {
        return Body::Alias(Ty::Value);
    }
    let mut scope = Names::of_types(&["Other"]);
    let variants = shapes
        .iter()
        .enumerate()
        .map(|(at, shape)| {
            let name = scope.take(&variant_name(at, shape, &choice));
            let doc = first_paragraph(&shape.description);
            let ty = lowering.value(shape, &place.inner(&name));
            Variant { name, doc, ty }
        })
        .collect();
    Body::Union(Union { variants, choice })
}

fn variant_name(at: usize, shape: &Shape, choice: &Choice) -> String {
    if let Kind::Ref(name) = &shape.kind {
        return idents::camel(name);
    }
    if let Choice::Tag(_, values) = choice
        && let Some((value, _)) = values.iter().find(|(_, index)| *index == at)
    {
        return idents::camel(value);
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

/// Combines texts to choose from, in one or more lists, or next to any text, into one enum.
fn texts(shapes: &[&Shape]) -> Option<Body> {
    let mut values: Vec<Literal> = Vec::new();
    for shape in shapes {
        match &shape.kind {
            Kind::Enum(list) if list.iter().all(|value| matches!(value, Literal::String(_))) => {
                values.extend(list.iter().cloned());
            }
            // Any text may be given, and the listed ones are examples of it.
            Kind::String(_) => {
                return shapes.iter().all(|shape| is_text(shape)).then_some(Body::Alias(Ty::Text));
            }
            _ => return None,
        }
    }
    (!values.is_empty()).then(|| super::lower::enumeration(&values.into()))
}

fn is_text(shape: &Shape) -> bool {
    match &shape.kind {
        Kind::String(_) => true,
        Kind::Enum(list) => list.iter().all(|value| matches!(value, Literal::String(_))),
        _ => false,
    }
}

/// Chooses by the document's discriminator, or by a required field with one text, different in each variant.
fn by_tag(rules: &UnionRules, shapes: &[&Shape], objects: &[Option<ObjectRules>]) -> Option<Choice> {
    if objects.iter().any(Option::is_none) || objects.is_empty() {
        return None;
    }
    if let Some(discriminator) = &rules.discriminator {
        let mut values = Vec::new();
        for (index, shape) in shapes.iter().enumerate() {
            let before = values.len();
            let Kind::Ref(name) = &shape.kind else { return None };
            let mapped = discriminator.mapping.iter().filter(|(_, target)| target == name);
            values.extend(mapped.map(|(value, _)| (value.to_string(), index)));
            if values.len() == before {
                values.push((name.to_string(), index));
            }
        }
        return distinct(&discriminator.property, values);
    }
    let first = objects.first()?.as_ref()?;
    first.fields.iter().find_map(|candidate| {
        let property = candidate.wire_name();
        let mut values = Vec::new();
        for (index, object) in objects.iter().enumerate() {
            let field = object.as_ref()?.fields.iter().find(|field| field.wire_name() == property)?;
            let Kind::Enum(list) = &field.shape.kind else { return None };
            for value in list {
                let Literal::String(text) = value else { return None };
                values.push((text.to_string(), index));
            }
            if !field.required {
                return None;
            }
        }
        distinct(&Text::from(property.to_owned()), values)
    })
}

fn distinct(property: &Text, values: Vec<(String, usize)>) -> Option<Choice> {
    let mut seen = std::collections::BTreeSet::new();
    values
        .iter()
        .all(|(value, _)| seen.insert(value.clone()))
        .then(|| Choice::Tag(property.to_string(), values))
}

/// Chooses by JSON types, at most one variant each.
fn by_kind(lowering: &Lowering<'_>, shapes: &[&Shape], objects: &[Option<ObjectRules>]) -> Option<Choice> {
    let mut kinds = Vec::new();
    for (shape, object) in shapes.iter().zip(objects) {
        let kind = if object.is_some() { "Object" } else { lowering.json_type(shape, 0)? };
        if kinds.contains(&kind) {
            return None;
        }
        kinds.push(kind);
    }
    Some(Choice::Kind(kinds))
}

impl Lowering<'_> {
    /// Returns the variant of `serde_json::Value` that all values of a shape have.
    fn json_type(&self, shape: &Shape, nesting: usize) -> Option<&'static str> {
        if shape.nullable || nesting > 8 {
            return None;
        }
        match &shape.kind {
            Kind::Boolean => Some("Bool"),
            Kind::Integer(_) | Kind::Number(_) => Some("Number"),
            Kind::String(_) => Some("String"),
            Kind::Enum(_) if is_text(shape) => Some("String"),
            Kind::Array(_) | Kind::Tuple(_) => Some("Array"),
            Kind::Object(_) => Some("Object"),
            Kind::Ref(name) => self.json_type(self.shape_of(name)?, nesting + 1),
            _ => None,
        }
    }
}

/// Chooses by trying objects whose required fields differ, those with most of them first.
fn by_fields(objects: &[Option<ObjectRules>]) -> Option<Choice> {
    if objects.len() > MAX_TRIED {
        return None;
    }
    let mut required: Vec<(usize, Vec<&str>)> = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        let fields = object.as_ref()?.fields.iter().filter(|field| field.required);
        let mut names: Vec<_> = fields.map(toolgen_runtime::schema::shape::Field::wire_name).collect();
        names.sort_unstable();
        if names.is_empty() || required.iter().any(|(_, known)| *known == names) {
            return None;
        }
        required.push((index, names));
    }
    required.sort_by_key(|(index, names)| (std::cmp::Reverse(names.len()), *index));
    Some(Choice::First(required.into_iter().map(|(index, _)| index).collect()))
}

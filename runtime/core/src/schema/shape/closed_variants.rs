//! Completes closed variants of a union with the properties next to the union, and merges several `enum`s of one
//! value.
//!
//! A closed variant allows only its own keys. Taken literally, it forbids the discriminating property and every
//! property next to the union, so that no value matches. The intended meaning is that each variant has these
//! properties. For enumerated values, see [`enum_values`].

use std::collections::BTreeMap;

use super::children::{map_children, visit_children};
use super::{
    Access, Def, Discriminator, Extra, Field, Kind, Literal, ObjectRules, Shape, StringRules, Title,
    UnionRules, enum_values, resolved,
};
use crate::base::frozen::List;

/// Maximum nesting of shapes that are changed.
const MAX_DEPTH: usize = 64;

/// Returns the shape with closed variants that include the properties next to the union, and with one list of
/// enumerated values instead of several. `None` if nothing changes.
#[must_use]
pub(crate) fn with_complete_variants(shape: &Shape, defs: &List<Def>) -> Option<Shape> {
    needs_completion(shape, defs, 0).then(|| completed(shape, defs, 0))
}

/// Completes all named shapes, and returns them as a list.
pub fn complete_variants(by_name: &mut BTreeMap<String, Shape>) -> List<Def> {
    let def =
        |(name, shape): (&String, &Shape)| Def { name: name.clone().into(), schema: shape.clone().into() };
    let defs: List<Def> = by_name.iter().map(def).collect();
    let mut changed = false;
    for shape in by_name.values_mut() {
        if let Some(completed) = with_complete_variants(shape, &defs) {
            *shape = completed;
            changed = true;
        }
    }
    if changed { by_name.iter().map(def).collect() } else { defs }
}

/// Whether a shape contains closed variants that lack properties, or several lists of enumerated values.
fn needs_completion(shape: &Shape, defs: &List<Def>, depth: usize) -> bool {
    let is_incomplete = match &shape.kind {
        _ if depth > MAX_DEPTH => return false,
        Kind::Union(rules) => {
            lacks_fields(rules, &[], defs) || enum_values::without_repeated_values(rules, defs).is_some()
        }
        Kind::All(parts) if enum_values::common_values(parts, defs).is_some() => true,
        Kind::All(parts) => {
            let fields = fields_of_parts(parts);
            let unions = unions(parts);
            unions.into_iter().any(|rules| {
                lacks_fields(rules, &fields, defs) || !missing_fields(parts, rules, defs).is_empty()
            })
        }
        _ => false,
    };
    let mut needs = is_incomplete;
    visit_children(&shape.kind, &mut |_, inner| needs = needs || needs_completion(inner, defs, depth + 1));
    needs
}

fn completed(shape: &Shape, defs: &List<Def>, depth: usize) -> Shape {
    let mut result = shape.clone();
    if depth > MAX_DEPTH {
        return result;
    }
    if let Kind::All(parts) = &result.kind
        && let Some(common) = enum_values::common_values(parts, defs)
    {
        result.nullable |= common.nullable;
        result.adopt(&common);
        result.kind = common.kind;
    }
    match &mut result.kind {
        Kind::Union(rules) => {
            if let Some(variants) = enum_values::without_repeated_values(rules, defs) {
                rules.variants = variants;
            }
            complete(rules, &[], defs);
        }
        Kind::All(parts) => {
            let fields = fields_of_parts(parts);
            let missing: Vec<Field> =
                unions(parts).into_iter().flat_map(|rules| missing_fields(parts, rules, defs)).collect();
            let part = |part: &Shape| {
                let mut part = part.clone();
                match &mut part.kind {
                    Kind::Union(rules) => complete(rules, &fields, defs),
                    Kind::Object(rules) if rules.extra == Extra::Closed => {
                        let additions = missing.iter().filter(|field| !has_field(rules, &field.name));
                        let additions: Vec<Field> = additions.cloned().collect();
                        rules.fields = rules.fields.iter().cloned().chain(additions).collect();
                    }
                    _ => {}
                }
                part
            };
            *parts = parts.iter().map(part).collect();
        }
        _ => {}
    }
    result.kind = map_children(&result.kind, &mut |_, inner| completed(inner, defs, depth + 1));
    result
}

/// Returns the fields of the objects in a conjunction.
fn fields_of_parts(parts: &[Shape]) -> Vec<Field> {
    let fields = |part: &Shape| match &part.kind {
        Kind::Object(rules) => rules.fields.to_vec(),
        _ => Vec::new(),
    };
    parts.iter().flat_map(fields).collect()
}

fn unions(parts: &[Shape]) -> Vec<&UnionRules> {
    let mut unions = Vec::new();
    for part in parts {
        if let Kind::Union(rules) = &part.kind {
            unions.push(rules);
        }
    }
    unions
}

/// Returns the fields that variants require and that a closed object next to the union does not have. No value would
/// match both.
fn missing_fields(parts: &[Shape], union: &UnionRules, defs: &List<Def>) -> Vec<Field> {
    let closed_objects: Vec<&ObjectRules> =
        parts.iter().filter_map(|part| closed_object(part, defs)).collect();
    let mut fields: Vec<Field> = Vec::new();
    let objects = union.variants.iter().filter_map(|variant| match &resolved(variant, defs)?.kind {
        Kind::Object(rules) => Some(rules),
        _ => None,
    });
    let objects: Vec<&ObjectRules> = objects.collect();
    let is_forbidden = |field: &Field| closed_objects.iter().any(|rules| !has_field(rules, &field.name));
    let never_matches =
        |rules: &&ObjectRules| rules.fields.iter().any(|field| field.required && is_forbidden(field));
    if objects.is_empty() || !objects.iter().all(never_matches) {
        return fields;
    }
    for field in objects.iter().flat_map(|rules| &rules.fields).filter(|field| is_forbidden(field)) {
        if fields.iter().all(|added| added.name != field.name) {
            fields.push(Field { required: false, shape: Shape::ANY, ..field.clone() });
        }
    }
    fields
}

/// Returns the rules of an object without additional keys.
fn closed_object<'a>(shape: &'a Shape, defs: &'a List<Def>) -> Option<&'a ObjectRules> {
    match &resolved(shape, defs)?.kind {
        Kind::Object(rules) if rules.extra != Extra::Open && rules.patterns.is_empty() => Some(rules),
        _ => None,
    }
}

fn has_field(rules: &ObjectRules, name: &str) -> bool {
    [Access::ReadOnly, Access::WriteOnly].iter().any(|hidden| rules.field(name, *hidden).is_some())
}

fn lacks_fields(union: &UnionRules, siblings: &[Field], defs: &List<Def>) -> bool {
    union.variants.iter().any(|variant| completed_variant(variant, union, siblings, defs).is_some())
}

/// Replaces references to variants that lack fields by complete copies.
fn complete(union: &mut UnionRules, siblings: &[Field], defs: &List<Def>) {
    let variant = |variant: &Shape| {
        completed_variant(variant, union, siblings, defs).unwrap_or_else(|| variant.clone())
    };
    union.variants = union.variants.iter().map(variant).collect();
    // Copied variants contain the values of the discriminating property themselves.
    let is_named = |name: &str| {
        union.variants.iter().any(|variant| matches!(&variant.kind, Kind::Ref(target) if *target == *name))
    };
    let any_named = union.variants.iter().any(|variant| matches!(variant.kind, Kind::Ref(_)));
    union.discriminator =
        union.discriminator.take().filter(|_| any_named).map(|discriminator| Discriminator {
            mapping: discriminator.mapping.iter().filter(|(_, name)| is_named(name)).cloned().collect(),
            ..discriminator
        });
}

/// Returns a closed variant with the discriminating property and the fields next to the union. `None` if the variant
/// has all of them.
fn completed_variant(
    variant: &Shape,
    union: &UnionRules,
    siblings: &[Field],
    defs: &List<Def>,
) -> Option<Shape> {
    let rules = closed_object(variant, defs)?;
    let name = if let Kind::Ref(name) = &variant.kind { Some(name) } else { None };
    let discriminator = union.discriminator.as_ref();
    let tag =
        discriminator.zip(name).map(|(discriminator, name)| tag_field(discriminator, name, union, defs));
    let mut added: Vec<Field> =
        siblings.iter().filter(|field| !has_field(rules, &field.name)).cloned().collect();
    if let Some(tag) = tag.as_ref().filter(|tag| !has_field(rules, &tag.name)) {
        added.retain(|field| field.name != tag.name);
        added.insert(0, tag.clone());
    }
    if added.is_empty() {
        return None;
    }
    let declared = rules.fields.iter().map(|field| match &tag {
        Some(tag) if field.name == tag.name && !matches!(field.shape.kind, Kind::Enum(_)) => tag.clone(),
        _ => field.clone(),
    });
    let fields = added.into_iter().chain(declared).collect();
    let target = resolved(variant, defs)?;
    let mut shape = Shape { kind: Kind::Object(ObjectRules { fields, ..rules.clone() }), ..target.clone() };
    if !variant.description.is_empty() {
        shape.description = variant.description.clone();
    }
    if let Some(name) = name.filter(|_| shape.title.is_none()) {
        shape.title = Title::new(name);
    }
    Some(shape)
}

/// Returns the discriminating property, with the values that select the named variant.
fn tag_field(discriminator: &Discriminator, name: &str, union: &UnionRules, defs: &List<Def>) -> Field {
    let declared = union.variants.iter().filter_map(|variant| closed_object(variant, defs));
    let declared =
        declared.flat_map(|rules| &rules.fields).find(|field| field.name == discriminator.property);
    let field =
        Field { name: discriminator.property.clone(), ..declared.cloned().unwrap_or(Field::REQUIRED) };
    let mapped = discriminator
        .mapping
        .iter()
        .filter(|(_, to)| *to == *name)
        .map(|(value, _)| Literal::String(value.clone()));
    let mut values: Vec<Literal> = mapped.collect();
    let is_default = discriminator.default_variant.as_ref().is_some_and(|default| *default == *name);
    if values.is_empty() && !is_default {
        values.push(Literal::String(name.to_owned().into()));
    }
    let kind = if values.is_empty() { Kind::String(StringRules::ANY) } else { Kind::Enum(values.into()) };
    Field {
        required: !is_default,
        shape: Shape { description: field.shape.description.clone(), ..Shape::of(kind) },
        ..field
    }
}

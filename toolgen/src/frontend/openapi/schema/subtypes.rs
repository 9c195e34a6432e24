//! Reads discriminators of schemas that have no `oneOf` or `anyOf`: the base names a property, and the schemas that
//! extend it are its variants, as the specifications of Swagger 2.0 and OpenAPI 3 show.
//!
//! A reference to the base expands to any variant. In a schema that extends the base, it is only the base itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::super::codes;
use super::super::context::{Context, Subtypes};
use super::super::node::Node;
use super::super::reference::target_of;
use crate::names::portable_key;
use crate::source::Pointer;

/// Maximum number of schemas that a base expands to. A base with more schemas is the base of a whole system, and a
/// tool that lists them all does not help a model.
const MAX_SUBTYPES: usize = 24;

impl Subtypes<'_> {
    /// Returns the locations of the schemas.
    pub(super) fn pointers(&self) -> impl Iterator<Item = &Pointer> {
        self.schemas.iter().map(|(_, node)| &node.pointer)
    }
}

/// Schemas by the location of the schema that they extend.
type Extensions<'a> = BTreeMap<Pointer, Vec<(&'a str, Node<'a>)>>;

impl<'a> Context<'a> {
    /// Finds the schemas that extend bases with a discriminator, directly or indirectly, by the location of the base.
    pub(in super::super) fn find_subtypes(&mut self) -> BTreeMap<Pointer, Subtypes<'a>> {
        let mut subtypes_by_base = BTreeMap::new();
        let schemas = self.components("schemas");
        let mut extensions: Extensions<'a> = BTreeMap::new();
        for (name, node) in &schemas {
            let alias = target_of(node.value).and(Some(node.clone()));
            for part in alias.into_iter().chain(node.items("allOf")) {
                let target = target_of(part.value).and_then(|text| self.locate(text, &part.pointer).ok());
                if let Some(base) = target {
                    extensions.entry(base.pointer).or_default().push((name, node.clone()));
                }
            }
        }
        for (base, node) in &schemas {
            let is_union = ["oneOf", "anyOf"].iter().any(|keyword| node.get(keyword).is_some());
            if let Some(discriminator) = node.get("discriminator").filter(|_| !is_union) {
                self.note_unmapped(&discriminator);
            }
            let Some(subtypes) = self.subtypes_of(base, node, &extensions) else { continue };
            let count = subtypes.schemas.len();
            if count <= MAX_SUBTYPES {
                subtypes_by_base.insert(node.pointer.clone(), subtypes);
            } else {
                let message = format!(
                    "{count} schemas extend `{base}`, too many for one tool, so a reference to it resolves to \
                     `{base}` alone"
                );
                let help = "list the intended variants under `oneOf` instead of the reference";
                self.report(codes::SCHEMA, &node.pointer, message, help);
            }
        }
        subtypes_by_base
    }

    /// Returns the schemas that a reference to a schema expands to, if it is a base with a discriminator.
    fn subtypes_of(
        &self,
        name: &'a str,
        base: &Node<'a>,
        extensions: &Extensions<'a>,
    ) -> Option<Subtypes<'a>> {
        // A union lists its variants itself.
        if ["oneOf", "anyOf"].iter().any(|keyword| base.get(keyword).is_some()) {
            return None;
        }
        let object = base.get("discriminator").filter(|node| node.object().is_some());
        let property = base.text("discriminator").or_else(|| object.as_ref()?.text("propertyName"))?;
        let mut subtypes: Vec<(&'a str, Node<'a>)> = Vec::new();
        let mut visited = BTreeSet::from([base.pointer.clone()]);
        let mut pending = vec![base.pointer.clone()];
        while let Some(pointer) = pending.pop() {
            for (name, subtype) in extensions.get(&pointer).into_iter().flatten() {
                if visited.insert(subtype.pointer.clone()) {
                    pending.push(subtype.pointer.clone());
                    subtypes.push((name, subtype.clone()));
                }
            }
        }
        let is_subtype =
            |node: &Node<'a>| subtypes.iter().any(|(_, subtype)| subtype.pointer == node.pointer);
        // A mapping may name an alias of a subtype.
        let resolve_alias = |(value, node): (&'a str, Node<'a>)| match is_subtype(&node) {
            true => (value, node),
            false => (value, self.skip_references(node.clone()).unwrap_or(node)),
        };
        let mapped: Vec<(&'a str, Node<'a>)> =
            object.iter().flat_map(|node| self.mapped(node)).map(resolve_alias).collect();
        let mapped_subtypes: Vec<_> = mapped.iter().filter(|(_, node)| is_subtype(node)).cloned().collect();
        let base_value =
            mapped.iter().find(|(_, node)| node.pointer == base.pointer).map(|(value, _)| *value);
        let (base_value, mut subtypes) = match mapped_subtypes.is_empty() {
            true => {
                // A schema that only annotates a reference is an alias of the base, unless the base declares
                // otherwise.
                subtypes.retain(|(_, node)| target_of(node.value).is_none());
                (
                    base_value.or_else(|| base.text("x-ms-discriminator-value")).or(Some(name)),
                    with_values(subtypes, property),
                )
            }
            // The document lists the subtypes.
            false => (base_value.or_else(|| (!base.requires(property)).then_some(name)), mapped_subtypes),
        };
        subtypes.sort_by_key(|(value, _)| *value);
        (!subtypes.is_empty()).then_some(Subtypes { property, base: base_value, schemas: subtypes })
    }

    /// Returns the mapping of a discriminator: values, and the schemas that they identify by name or by
    /// reference.
    fn mapped(&self, discriminator: &Node<'a>) -> Vec<(&'a str, Node<'a>)> {
        let schemas = self.components("schemas");
        let target = |(value, node): (&'a str, Node<'a>)| {
            let text = node.value.as_str()?;
            let component = schemas.iter().find(|(name, _)| *name == text).map(|(_, node)| node.clone());
            Some((value, component.or_else(|| self.locate(text, &node.pointer).ok())?))
        };
        discriminator.members("mapping").into_iter().filter_map(target).collect()
    }

    /// Reports the dangling values of a discriminator.
    fn note_unmapped(&mut self, discriminator: &Node<'a>) {
        let mapped = self.mapped(discriminator);
        for (value, node) in discriminator.members("mapping") {
            if mapped.iter().all(|(other, _)| *other != value) {
                let text = node.value.as_str().unwrap_or_default();
                self.report_unmapped(text, &node.pointer);
            }
        }
    }

    /// Returns the expansion of a reference to a schema: the union of the schemas that extend it, or the schema itself
    /// if it is not a base.
    pub(in super::super) fn expand_base(&mut self, pointer: &Pointer, schema: Value) -> Value {
        let Some(subtypes) = self.defs.subtypes.remove(pointer) else { return schema };
        let property = portable_key(subtypes.property);
        let mut variants = Vec::new();
        let mut mapping = serde_json::Map::new();
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.is_some_and(|names| names.iter().any(|name| *name == *property));
        let mut base = schema.clone();
        let description = base.as_object_mut().and_then(|base| base.shift_remove("description"));
        let property_schema = schema.get("properties").and_then(|fields| fields.get(&*property));
        let allowed_values =
            property_schema.and_then(|property_schema| property_schema.get("enum")).and_then(Value::as_array);
        let is_allowed_name =
            |name: &str| allowed_values.is_none_or(|values| values.iter().any(|value| value == name));
        let is_subtype_value = |value: &Value| subtypes.schemas.iter().any(|(name, _)| value == name);
        // If the property lists its values, the base has those that identify no subtype.
        let base_values: Vec<Value> = match allowed_values {
            Some(values) => values.iter().filter(|value| !is_subtype_value(value)).cloned().collect(),
            None => subtypes.base.into_iter().map(Value::from).collect(),
        };
        if let Some(field) = base.pointer_mut("/properties").and_then(|fields| fields.get_mut(&*property)) {
            match base_values.as_slice() {
                [] => {}
                [value] => *field = json!({"const": value}),
                values => field["enum"] = json!(values),
            }
            variants.extend((!base_values.is_empty()).then_some(base));
        }
        // A subtype whose value the property does not allow may be identified by any of the remaining values.
        let mut is_ambiguous = false;
        for (value, node) in &subtypes.schemas {
            let is_allowed = is_allowed_name(value);
            if !is_allowed && base_values.is_empty() {
                continue;
            }
            is_ambiguous |= !is_allowed;
            let reference = json!({"$ref": format!("#/$defs/{}", self.add_def(node.clone()))});
            if !variants.contains(&reference) {
                variants.push(reference.clone());
            }
            if is_allowed {
                mapping.insert((*value).to_owned(), reference["$ref"].clone());
            }
        }
        self.defs.subtypes.insert(pointer.clone(), subtypes);
        // If the property is optional, a value without it may match any variant.
        let keyword = if required && !is_ambiguous { "oneOf" } else { "anyOf" };
        let mut union = serde_json::Map::from_iter([(keyword.to_owned(), Value::from(variants))]);
        if !mapping.is_empty() {
            union.insert("discriminator".to_owned(), json!({"propertyName": property, "mapping": mapping}));
        }
        union.extend(description.map(|description| ("description".to_owned(), description)));
        Value::Object(union)
    }
}

/// Returns the subtypes with the values that identify them: the declared values, or their names.
fn with_values<'a>(subtypes: Vec<(&'a str, Node<'a>)>, property: &str) -> Vec<(&'a str, Node<'a>)> {
    let mut subtypes_with_values: Vec<(Vec<&'a str>, Node<'a>)> =
        subtypes.into_iter().map(|(name, node)| (values_of(name, &node, property), node)).collect();
    // A value belongs to the schema that lists the fewest values.
    subtypes_with_values.sort_by_key(|(values, _)| values.len());
    let mut assigned: Vec<(&'a str, Node<'a>)> = Vec::new();
    for (values, node) in subtypes_with_values {
        for value in values {
            if assigned.iter().all(|(other, _)| *other != value) {
                assigned.push((value, node.clone()));
            }
        }
    }
    assigned
}

/// Returns the values that identify a subtype: its `x-ms-discriminator-value`, or else the values that its own part
/// allows for the property, or else its name.
fn values_of<'a>(name: &'a str, node: &Node<'a>, property: &str) -> Vec<&'a str> {
    if let Some(value) = node.text("x-ms-discriminator-value") {
        return vec![value];
    }
    let parts = std::iter::once(node.clone()).chain(node.items("allOf"));
    let properties = parts.filter_map(|part| part.get("properties")?.get(property));
    let values: Vec<&'a str> = properties
        .flat_map(|property_schema| {
            let enum_values =
                property_schema.value.get("enum").and_then(Value::as_array).into_iter().flatten();
            property_schema
                .text("const")
                .into_iter()
                .chain(enum_values.filter_map(Value::as_str))
                .collect::<Vec<_>>()
        })
        .collect();
    if values.is_empty() { vec![name] } else { values }
}

//! Reads discriminators of schemas that have no `oneOf` or `anyOf`: the base names a property, and the schemas that
//! extend it are its variants, as the specifications of Swagger 2.0 and OpenAPI 3 show.
//!
//! A reference to the base expands to any of them. A schema that extends the base refers only to the base itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::super::codes;
use super::super::context::{Context, Subtypes};
use super::super::node::Node;
use super::super::reference::target_of;
use crate::names::portable_key;
use crate::source::Pointer;

/// Maximum number of schemas that a base expands to. A base with more is that of a whole system, and a tool that
/// lists them all is of no use to a model.
const MAX_SUBTYPES: usize = 24;

impl Subtypes<'_> {
    /// Returns the locations of the schemas.
    pub(super) fn places(&self) -> impl Iterator<Item = &Pointer> {
        self.found.iter().map(|(_, node)| &node.pointer)
    }
}

/// Schemas by the location of the schema that they extend.
type Extensions<'a> = BTreeMap<Pointer, Vec<(&'a str, Node<'a>)>>;

impl<'a> Context<'a> {
    /// Finds the schemas that extend bases with a discriminator, directly or indirectly, by the location of the base.
    pub(in super::super) fn heirs(&mut self) -> BTreeMap<Pointer, Subtypes<'a>> {
        let mut all = BTreeMap::new();
        let schemas = self.components("schemas");
        let mut extensions: Extensions<'a> = BTreeMap::new();
        for (name, node) in &schemas {
            let own = target_of(node.value).and(Some(node.clone()));
            for part in own.into_iter().chain(node.items("allOf")) {
                let target = target_of(part.value).and_then(|text| self.locate(text, &part.pointer).ok());
                if let Some(base) = target {
                    extensions.entry(base.pointer).or_default().push((name, node.clone()));
                }
            }
        }
        for (base, node) in &schemas {
            let unions = ["oneOf", "anyOf"].iter().any(|keyword| node.get(keyword).is_some());
            if let Some(by) = node.get("discriminator").filter(|_| !unions) {
                self.note_unmapped(&by);
            }
            let Some(heirs) = self.heirs_of(base, node, &extensions) else { continue };
            let count = heirs.found.len();
            if count <= MAX_SUBTYPES {
                all.insert(node.pointer.clone(), heirs);
            } else {
                let message = format!(
                    "{count} schemas extend `{base}`, too many for one tool, so a reference to it resolves to \
                     `{base}` alone"
                );
                let help = "list the intended variants under `oneOf` instead of the reference";
                self.report(codes::SCHEMA, &node.pointer, message, help);
            }
        }
        all
    }

    /// Returns the schemas that a base expands to, if it is a base.
    fn heirs_of(&self, name: &'a str, base: &Node<'a>, extensions: &Extensions<'a>) -> Option<Subtypes<'a>> {
        // A union lists its variants itself.
        if ["oneOf", "anyOf"].iter().any(|keyword| base.get(keyword).is_some()) {
            return None;
        }
        let newer = base.get("discriminator").filter(|node| node.object().is_some());
        let property = base.text("discriminator").or_else(|| newer.as_ref()?.text("propertyName"))?;
        let mut found: Vec<(&'a str, Node<'a>)> = Vec::new();
        let mut seen = BTreeSet::from([base.pointer.clone()]);
        let mut open = vec![base.pointer.clone()];
        while let Some(pointer) = open.pop() {
            for (name, heir) in extensions.get(&pointer).into_iter().flatten() {
                if seen.insert(heir.pointer.clone()) {
                    open.push(heir.pointer.clone());
                    found.push((name, heir.clone()));
                }
            }
        }
        let is_found = |node: &Node<'a>| found.iter().any(|(_, heir)| heir.pointer == node.pointer);
        // An alias of one of them means that one.
        let suggestion = |(value, node): (&'a str, Node<'a>)| match is_found(&node) {
            true => (value, node),
            false => (value, self.past_references(node.clone()).unwrap_or(node)),
        };
        let mapped: Vec<(&'a str, Node<'a>)> =
            newer.iter().flat_map(|node| self.mapped(node)).map(suggestion).collect();
        let listed: Vec<_> = mapped.iter().filter(|(_, node)| is_found(node)).cloned().collect();
        let own = mapped.iter().find(|(_, node)| node.pointer == base.pointer).map(|(value, _)| *value);
        let (own, mut found) = match listed.is_empty() {
            true => {
                // A schema that only annotates a reference is an alias of the base, unless the base declares
                // otherwise.
                found.retain(|(_, node)| target_of(node.value).is_none());
                (
                    own.or_else(|| base.text("x-ms-discriminator-value")).or(Some(name)),
                    by_their_values(found, property),
                )
            }
            // The document lists the existing ones.
            false => (own.or_else(|| (!base.requires(property)).then_some(name)), listed),
        };
        found.sort_by_key(|(value, _)| *value);
        (!found.is_empty()).then_some(Subtypes { property, base: own, found })
    }

    /// Returns the values that a discriminator maps, and the schemas that they identify: by their names, or by
    /// references.
    fn mapped(&self, discriminator: &Node<'a>) -> Vec<(&'a str, Node<'a>)> {
        let schemas = self.components("schemas");
        let target = |(value, node): (&'a str, Node<'a>)| {
            let text = node.value.as_str()?;
            let named = schemas.iter().find(|(name, _)| *name == text).map(|(_, node)| node.clone());
            Some((value, named.or_else(|| self.locate(text, &node.pointer).ok())?))
        };
        discriminator.members("mapping").into_iter().filter_map(target).collect()
    }

    /// Reports the dangling values of a discriminator.
    fn note_unmapped(&mut self, discriminator: &Node<'a>) {
        let known = self.mapped(discriminator);
        for (value, node) in discriminator.members("mapping") {
            if known.iter().all(|(other, _)| *other != value) {
                let text = node.value.as_str().unwrap_or_default();
                self.report_unmapped(text, &node.pointer);
            }
        }
    }

    /// Returns the expansion of a reference to a schema: the union of the schemas that extend it, if it is such a
    /// base.
    pub(in super::super) fn with_heirs(&mut self, pointer: &Pointer, schema: Value) -> Value {
        let Some(heirs) = self.defs.heirs.remove(pointer) else { return schema };
        let key = portable_key(heirs.property);
        let mut variants = Vec::new();
        let mut mapping = serde_json::Map::new();
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.is_some_and(|names| names.iter().any(|name| *name == *key));
        let mut base = schema.clone();
        let description = base.as_object_mut().and_then(|base| base.shift_remove("description"));
        let own = schema.get("properties").and_then(|fields| fields.get(&*key));
        let listed = own.and_then(|own| own.get("enum")).and_then(Value::as_array);
        let allowed = |name: &str| listed.is_none_or(|values| values.iter().any(|value| value == name));
        let is_known = |value: &Value| heirs.found.iter().any(|(name, _)| value == name);
        // If the property lists the values, the base has those that identify none of the others.
        let rest: Vec<Value> = match listed {
            Some(values) => values.iter().filter(|value| !is_known(value)).cloned().collect(),
            None => heirs.base.into_iter().map(Value::from).collect(),
        };
        if let Some(field) = base.pointer_mut("/properties").and_then(|fields| fields.get_mut(&*key)) {
            match rest.as_slice() {
                [] => {}
                [only] => *field = json!({"const": only}),
                several => field["enum"] = json!(several),
            }
            variants.extend((!rest.is_empty()).then_some(base));
        }
        // A schema without its own value, as the property does not allow its name, may be identified by any of the
        // rest.
        let mut is_open = false;
        for (value, node) in &heirs.found {
            let is_allowed = allowed(value);
            if !is_allowed && rest.is_empty() {
                continue;
            }
            is_open |= !is_allowed;
            let reference = json!({"$ref": format!("#/$defs/{}", self.add_def(node.clone()))});
            if !variants.contains(&reference) {
                variants.push(reference.clone());
            }
            if is_allowed {
                mapping.insert((*value).to_owned(), reference["$ref"].clone());
            }
        }
        self.defs.heirs.insert(pointer.clone(), heirs);
        // Without the optional property, a value may be any of them.
        let keyword = if required && !is_open { "oneOf" } else { "anyOf" };
        let mut union = serde_json::Map::from_iter([(keyword.to_owned(), Value::from(variants))]);
        if !mapping.is_empty() {
            union.insert("discriminator".to_owned(), json!({"propertyName": key, "mapping": mapping}));
        }
        union.extend(description.map(|description| ("description".to_owned(), description)));
        Value::Object(union)
    }
}

/// Returns the schemas that extend a base with the values that identify them: their own declarations, or their names.
fn by_their_values<'a>(found: Vec<(&'a str, Node<'a>)>, property: &str) -> Vec<(&'a str, Node<'a>)> {
    let mut valued: Vec<(Vec<&'a str>, Node<'a>)> =
        found.into_iter().map(|(name, node)| (values_of(name, &node, property), node)).collect();
    // A value that only one schema has is not that of another that also lists it.
    valued.sort_by_key(|(values, _)| values.len());
    let mut all: Vec<(&'a str, Node<'a>)> = Vec::new();
    for (values, node) in valued {
        for value in values {
            if all.iter().all(|(known, _)| *known != value) {
                all.push((value, node.clone()));
            }
        }
    }
    all
}

/// Returns the values that identify a schema which extends a base: that of `x-ms-discriminator-value`, those that its
/// own part allows for the property, or its name.
fn values_of<'a>(name: &'a str, node: &Node<'a>, property: &str) -> Vec<&'a str> {
    if let Some(value) = node.text("x-ms-discriminator-value") {
        return vec![value];
    }
    let parts = std::iter::once(node.clone()).chain(node.items("allOf"));
    let own = parts.filter_map(|part| part.get("properties")?.get(property));
    let values: Vec<&'a str> = own
        .flat_map(|field| {
            let listed = field.value.get("enum").and_then(Value::as_array).into_iter().flatten();
            field.text("const").into_iter().chain(listed.filter_map(Value::as_str)).collect::<Vec<_>>()
        })
        .collect();
    if values.is_empty() { vec![name] } else { values }
}

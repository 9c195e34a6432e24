//! Reads discriminators: the values of a property that distinguish the variants of a union.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::context::Context;
use super::super::node::Node;
use super::super::reference::target_of;
use crate::names::portable_key;
use crate::source::Pointer;

/// The depth to which the values of a discriminator are searched.
const MAX_SEARCH: usize = 6;

impl<'a> Context<'a> {
    /// Returns the discriminator of a union: the value of the property for each variant that is a reference. OpenAPI
    /// allows names and references in the mapping; a variant that is not mapped has the values its own property allows,
    /// or its name. A default variant (OpenAPI 3.2) takes any other value, and a missing one.
    pub(super) fn discriminator_of(
        &mut self,
        given: &'a Value,
        sources: &'a [Value],
        variants: &[Value],
        from: &Pointer,
    ) -> Option<Value> {
        let property = given.as_str().or_else(|| given.get("propertyName")?.as_str())?;
        let names: Vec<Option<&str>> = variants
            .iter()
            .map(|variant| variant.get("$ref").and_then(Value::as_str))
            .map(|text| text.and_then(|text| text.strip_prefix("#/$defs/")))
            .collect();
        let by_default = given.get("defaultMapping").and_then(Value::as_str);
        let by_default = by_default.and_then(|text| self.mapped_def(text, from));
        let by_default = by_default.filter(|name| names.contains(&Some(name.as_str())));
        let mut mapping: BTreeMap<String, String> = BTreeMap::new();
        for (value, target) in given.get("mapping").and_then(Value::as_object).into_iter().flatten() {
            let target = target.as_str().and_then(|text| self.mapped_def(text, from));
            if let Some(name) = target.filter(|name| names.contains(&Some(name.as_str()))) {
                mapping.insert(value.clone(), name);
            }
        }
        for (source, name) in sources.iter().zip(&names) {
            let (Some(name), Some(text)) = (name, target_of(source)) else { continue };
            if mapping.values().any(|mapped| mapped == name) {
                continue;
            }
            let mut values = Vec::new();
            self.allowed_values(source, property, from, &mut values, MAX_SEARCH);
            if let Ok(target) = self.locate(text, from).and_then(|target| self.past_references(target)) {
                let mut own = self.values_by_base(&target, &target, property, MAX_SEARCH);
                own.retain(|value| values.is_empty() || values.contains(value));
                if !own.is_empty() {
                    values = own;
                }
            }
            if values.is_empty() && by_default.as_deref() != Some(*name) {
                values.extend(text.rsplit('/').next().map(str::to_owned));
            }
            for value in values {
                mapping.entry(value).or_insert_with(|| (*name).to_owned());
            }
        }
        let mapping: Map<String, Value> =
            mapping.into_iter().map(|(value, name)| (value, json!(format!("#/$defs/{name}")))).collect();
        let mut told = json!({"propertyName": portable_key(property), "mapping": mapping});
        if let (Some(told), Some(name)) = (told.as_object_mut(), by_default) {
            told.insert("defaultMapping".to_owned(), json!(format!("#/$defs/{name}")));
        }
        Some(told)
    }

    /// Returns the values that mean a schema according to the bases that it extends, or to itself.
    fn values_by_base(&self, heir: &Node<'a>, part: &Node<'a>, property: &str, depth: usize) -> Vec<String> {
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        let mut values: Vec<String> = Vec::new();
        for base in part.items("allOf") {
            let target = target_of(base.value).and_then(|text| self.locate(text, &base.pointer).ok());
            let Some(base) = target else { continue };
            let by = base.get("discriminator").filter(|by| by.text("propertyName") == Some(property));
            for (value, to) in by.iter().flat_map(|by| by.members("mapping")) {
                let Some(text) = to.value.as_str() else { continue };
                let by_name = self.is_component(text, &heir.pointer);
                let is_heir =
                    || self.locate(text, &to.pointer).is_ok_and(|target| target.pointer == heir.pointer);
                if by_name || is_heir() {
                    values.push(value.to_owned());
                }
            }
            if values.is_empty() {
                values = self.values_by_base(heir, &base, property, depth);
            }
        }
        values
    }

    /// Whether a place is that of the named schema with a name.
    fn is_component(&self, name: &str, place: &Pointer) -> bool {
        let schemas = Pointer::ROOT.child("components").child("schemas");
        *place == schemas.child(name)
    }

    /// Returns the target of a value in a discriminator's mapping: a reference, or the name of a component.
    fn mapped_def(&mut self, text: &'a str, from: &Pointer) -> Option<String> {
        let named = self.components("schemas").into_iter().find(|(name, _)| *name == text);
        match named {
            Some((_, node)) => self.past_references(node).ok().map(|node| self.add_def(node)),
            None => self.def_of(text, from).ok(),
        }
    }

    /// Collects the values a schema allows for one of its properties, as texts.
    fn allowed_values(
        &self,
        schema: &Value,
        property: &str,
        from: &Pointer,
        values: &mut Vec<String>,
        depth: usize,
    ) {
        if depth == 0 {
            return;
        }
        if let Some(target) = target_of(schema).and_then(|text| self.locate(text, from).ok()) {
            return self.allowed_values(target.value, property, &target.pointer, values, depth - 1);
        }
        if let Some(field) = schema.get("properties").and_then(|fields| fields.get(property)) {
            let field = target_of(field)
                .and_then(|text| self.locate(text, from).ok())
                .map_or(field, |node| node.value);
            values.extend(field.get("const").and_then(Value::as_str).map(str::to_owned));
            let listed = field.get("enum").and_then(Value::as_array).into_iter().flatten();
            values.extend(listed.filter_map(Value::as_str).map(str::to_owned));
        }
        for variant in
            ["oneOf", "anyOf"].iter().filter_map(|keyword| schema.get(keyword)?.as_array()).flatten()
        {
            self.variant_values(schema, variant, property, from, values, depth - 1);
        }
        if values.is_empty() {
            for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
                self.allowed_values(part, property, from, values, depth - 1);
            }
        }
    }

    /// Collects the values of a property that mean a variant of a union which is itself a variant.
    fn variant_values(
        &self,
        union: &Value,
        variant: &Value,
        property: &str,
        from: &Pointer,
        values: &mut Vec<String>,
        depth: usize,
    ) {
        let by =
            union.get("discriminator").filter(|by| by.get("propertyName").is_some_and(|own| own == property));
        let target = |text: &str| {
            let component = format!("#/components/schemas/{text}");
            self.locate(&component, from).or_else(|_| self.locate(text, from)).ok().map(|node| node.pointer)
        };
        let own = target_of(variant).and_then(target);
        let mapping = by.and_then(|by| by.get("mapping")).and_then(Value::as_object).into_iter().flatten();
        let mapped = mapping.filter(|(_, to)| own.is_some() && to.as_str().and_then(target) == own);
        let mut found: Vec<String> = mapped.map(|(value, _)| value.clone()).collect();
        if found.is_empty() {
            self.allowed_values(variant, property, from, &mut found, depth);
        }
        if found.is_empty() && by.is_some() {
            found.extend(target_of(variant).and_then(|text| text.rsplit('/').next()).map(str::to_owned));
        }
        values.extend(found);
    }
}

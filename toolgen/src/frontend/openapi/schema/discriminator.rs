//! Reads discriminators: the values of a property that distinguish the variants of a union.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::codes;
use super::super::context::Context;
use super::super::node::Node;
use super::super::reference::target_of;
use crate::names::portable_key;
use crate::source::Pointer;

/// Maximum depth at which the values of a discriminator are searched.
const MAX_SEARCH: usize = 6;

impl<'a> Context<'a> {
    /// Returns the discriminator of a union: the value of the property for each variant that is a reference. OpenAPI
    /// allows names and references in the mapping. An unmapped variant has the values that its own property
    /// allows, or its name. A default variant (OpenAPI 3.2) matches any other value and a missing property.
    pub(super) fn discriminator_of(
        &mut self,
        discriminator: &'a Value,
        sources: &'a [Value],
        variants: &[Value],
        from: &Pointer,
    ) -> Option<Value> {
        let property = discriminator.as_str().or_else(|| discriminator.get("propertyName")?.as_str())?;
        let names: Vec<Option<&str>> = variants
            .iter()
            .map(|variant| variant.get("$ref").and_then(Value::as_str))
            .map(|text| text.and_then(|text| text.strip_prefix("#/$defs/")))
            .collect();
        let default_name = discriminator.get("defaultMapping").and_then(Value::as_str);
        let default_name = default_name.and_then(|text| self.mapped_def(text, from));
        let default_name = default_name.filter(|name| names.contains(&Some(name.as_str())));
        let mut mapping: BTreeMap<String, String> = BTreeMap::new();
        for (value, target) in discriminator.get("mapping").and_then(Value::as_object).into_iter().flatten() {
            let target = target.as_str().and_then(|text| self.mapped_def(text, from));
            if let Some(name) = target.filter(|name| names.contains(&Some(name.as_str()))) {
                mapping.insert(value.clone(), name);
            }
        }
        let mut claims: Vec<Claim<'_>> = Vec::new();
        for (source, name) in sources.iter().zip(&names) {
            let (Some(name), Some(text)) = (name, target_of(source)) else { continue };
            if mapping.values().any(|mapped| mapped == name) {
                continue;
            }
            let own_values = self.values_of(source, property, from, MAX_SEARCH);
            let lists_no_values = own_values.is_none();
            let mut values = strings(own_values.as_deref());
            if let Ok(target) = self.locate(text, from).and_then(|target| self.skip_references(target)) {
                let mut base_values = self.values_by_base(&target, &target, property, MAX_SEARCH);
                base_values.retain(|value| values.is_empty() || values.contains(value));
                if !base_values.is_empty() {
                    values = base_values;
                }
            }
            let component = text.rsplit('/').next().unwrap_or_default();
            if lists_no_values && values.is_empty() && default_name.as_deref() != Some(*name) {
                values.push(component.to_owned());
            }
            claims.push(Claim { name, component, values });
        }
        for claim in &claims {
            for value in claim.values.iter().filter(|value| claim.is_identified_by(value, &claims)) {
                mapping.entry(value.clone()).or_insert_with(|| claim.name.to_owned());
            }
        }
        // A variant without an unambiguous string value can only be distinguished by its other rules: its values are
        // numbers, or are those of all variants.
        let is_mapped = |name: &str| mapping.values().any(|mapped| mapped == name);
        if claims.iter().any(|claim| !is_mapped(claim.name) && default_name.as_deref() != Some(claim.name)) {
            return None;
        }
        let mapping: Map<String, Value> =
            mapping.into_iter().map(|(value, name)| (value, json!(format!("#/$defs/{name}")))).collect();
        let mut normal_form = json!({"propertyName": portable_key(property), "mapping": mapping});
        if let (Some(object), Some(name)) = (normal_form.as_object_mut(), default_name) {
            object.insert("defaultMapping".to_owned(), json!(format!("#/$defs/{name}")));
        }
        Some(normal_form)
    }

    /// Returns the values that identify a schema according to the discriminators of the bases that it extends.
    fn values_by_base(
        &self,
        subtype: &Node<'a>,
        part: &Node<'a>,
        property: &str,
        depth: usize,
    ) -> Vec<String> {
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        let mut values: Vec<String> = Vec::new();
        for base in part.items("allOf") {
            let target = target_of(base.value).and_then(|text| self.locate(text, &base.pointer).ok());
            let Some(base) = target else { continue };
            let discriminator = base
                .get("discriminator")
                .filter(|discriminator| discriminator.text("propertyName") == Some(property));
            for (value, target_node) in
                discriminator.iter().flat_map(|discriminator| discriminator.members("mapping"))
            {
                let Some(text) = target_node.value.as_str() else { continue };
                let is_name = self.is_component(text, &subtype.pointer);
                let is_reference = || {
                    self.target(text, &target_node.pointer)
                        .is_some_and(|target| target.pointer == subtype.pointer)
                };
                if is_name || is_reference() {
                    values.push(value.to_owned());
                }
            }
            if values.is_empty() {
                values = self.values_by_base(subtype, &base, property, depth);
            }
        }
        values
    }

    /// Whether a location is that of the component schema with this name.
    fn is_component(&self, name: &str, pointer: &Pointer) -> bool {
        let schemas = Pointer::ROOT.child("components").child("schemas");
        *pointer == schemas.child(name)
    }

    /// Returns the target of a value in a discriminator's mapping: a reference, or the name of a component. A
    /// dangling value is reported.
    fn mapped_def(&mut self, text: &'a str, from: &Pointer) -> Option<String> {
        let component = self.components("schemas").into_iter().find(|(name, _)| *name == text);
        let name = match component {
            Some((_, node)) => self.skip_references(node).ok().map(|node| self.add_def(node)),
            None => self.def_of(text, from).ok(),
        };
        if name.is_none() {
            self.report_unmapped(text, from);
        }
        name
    }

    /// Reports a dangling value of a discriminator.
    pub(super) fn report_unmapped(&mut self, text: &str, from: &Pointer) {
        self.report(
            codes::MISSING_REF,
            from,
            format!(
                "the discriminator maps a value to `{text}`, which does not resolve; that value is left out"
            ),
            "name a schema that is one of the variants",
        );
    }

    /// Returns the target of a reference, skipping schemas that are only references themselves.
    fn target(&self, text: &str, from: &Pointer) -> Option<Node<'a>> {
        self.locate(text, from).and_then(|target| self.skip_references(target)).ok()
    }

    /// Returns the values that a schema lists for a property; `None` if it lists none.
    fn values_of(&self, schema: &Value, property: &str, from: &Pointer, depth: usize) -> Option<Vec<Value>> {
        let depth = depth.checked_sub(1)?;
        if let Some(target) = target_of(schema).and_then(|text| self.locate(text, from).ok()) {
            return self.values_of(target.value, property, &target.pointer, depth);
        }
        let property_schema = schema.get("properties").and_then(|properties| properties.get(property));
        let mut values =
            property_schema.and_then(|property_schema| self.listed_values(property_schema, from, MAX_SEARCH));
        for keyword in ["oneOf", "anyOf"] {
            let variants = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
            let variant_values =
                variants.map(|variant| self.variant_values(schema, variant, property, from, depth));
            narrow(&mut values, union_of(variant_values));
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            narrow(&mut values, self.values_of(part, property, from, depth));
        }
        values
    }

    /// Returns the values that a schema lists, including those of references and combinations; `None` if it lists none.
    fn listed_values(&self, schema: &Value, from: &Pointer, depth: usize) -> Option<Vec<Value>> {
        let depth = depth.checked_sub(1)?;
        let mut values = schema.get("const").map(|value| vec![value.clone()]);
        narrow(&mut values, schema.get("enum").and_then(Value::as_array).cloned());
        if let Some(target) = target_of(schema).and_then(|text| self.locate(text, from).ok()) {
            narrow(&mut values, self.listed_values(target.value, &target.pointer, depth));
        }
        for keyword in ["oneOf", "anyOf"] {
            let variants = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
            narrow(&mut values, union_of(variants.map(|variant| self.listed_values(variant, from, depth))));
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            narrow(&mut values, self.listed_values(part, from, depth));
        }
        values
    }

    /// Returns the values of a property that identify a variant of a nested union.
    fn variant_values(
        &self,
        union: &Value,
        variant: &Value,
        property: &str,
        from: &Pointer,
        depth: usize,
    ) -> Option<Vec<Value>> {
        let discriminator = union
            .get("discriminator")
            .filter(|discriminator| discriminator.get("propertyName").is_some_and(|name| name == property));
        let target = |text: &str| {
            let component = format!("#/components/schemas/{text}");
            self.target(&component, from).or_else(|| self.target(text, from)).map(|node| node.pointer)
        };
        let own_pointer = target_of(variant).and_then(target);
        let mapping = discriminator
            .and_then(|discriminator| discriminator.get("mapping"))
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        let mapped_values = mapping.filter(|(_, mapped_target)| {
            own_pointer.is_some() && mapped_target.as_str().and_then(target) == own_pointer
        });
        let mapped_values: Vec<Value> = mapped_values.map(|(value, _)| Value::from(value.as_str())).collect();
        if !mapped_values.is_empty() {
            return Some(mapped_values);
        }
        let name = || target_of(variant).and_then(|text| text.rsplit('/').next()).map(Value::from);
        let listed_values = self.values_of(variant, property, from, depth);
        listed_values.or_else(|| discriminator.and_then(|_| name()).map(|name| vec![name]))
    }
}

/// The values that identify a variant, according to its own schema.
struct Claim<'c> {
    /// The name of the variant's shape.
    name: &'c str,
    /// The name of the variant's component in the document.
    component: &'c str,
    values: Vec<String>,
}

impl Claim<'_> {
    /// Whether a value identifies this variant. A value that several variants list, such as an enumeration of all
    /// variants, identifies the variant with that name or the only one with the fewest values, or else none.
    fn is_identified_by(&self, value: &str, claims: &[Claim<'_>]) -> bool {
        let others = claims
            .iter()
            .filter(|other| other.name != self.name && other.values.iter().any(|other| other == value));
        let mut equally_specific = others.filter(|other| other.values.len() <= self.values.len());
        value == self.component || equally_specific.next().is_none()
    }
}

fn strings(values: Option<&[Value]>) -> Vec<String> {
    values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Keeps the values that another part of the schema also lists. If the intersection is empty, keeps all values.
fn narrow(values: &mut Option<Vec<Value>>, other: Option<Vec<Value>>) {
    let Some(other) = other else { return };
    match values {
        Some(values) if values.iter().any(|value| other.contains(value)) => {
            values.retain(|value| other.contains(value));
        }
        Some(_) => {}
        None => *values = Some(other),
    }
}

/// Returns the union of the values that alternatives list; `None` if no alternative lists values.
fn union_of(alternatives: impl Iterator<Item = Option<Vec<Value>>>) -> Option<Vec<Value>> {
    let mut union: Option<Vec<Value>> = None;
    for value in alternatives.flatten().flatten() {
        let union = union.get_or_insert_default();
        if !union.contains(&value) {
            union.push(value);
        }
    }
    union
}

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
    /// allows names and references in the mapping. A variant that is not mapped has the values that its own property
    /// allows, or its name. A default variant (OpenAPI 3.2) matches any other value, and a missing one.
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
        let mut claims: Vec<Claim<'_>> = Vec::new();
        for (source, name) in sources.iter().zip(&names) {
            let (Some(name), Some(text)) = (name, target_of(source)) else { continue };
            if mapping.values().any(|mapped| mapped == name) {
                continue;
            }
            let listed = self.values_of(source, property, from, MAX_SEARCH);
            let says_nothing = listed.is_none();
            let mut values = texts(listed.as_deref());
            if let Ok(target) = self.locate(text, from).and_then(|target| self.past_references(target)) {
                let mut own = self.values_by_base(&target, &target, property, MAX_SEARCH);
                own.retain(|value| values.is_empty() || values.contains(value));
                if !own.is_empty() {
                    values = own;
                }
            }
            let component = text.rsplit('/').next().unwrap_or_default();
            if says_nothing && values.is_empty() && by_default.as_deref() != Some(*name) {
                values.push(component.to_owned());
            }
            claims.push(Claim { name, component, values });
        }
        for claim in &claims {
            for value in claim.values.iter().filter(|value| claim.holds(value, &claims)) {
                mapping.entry(value.clone()).or_insert_with(|| claim.name.to_owned());
            }
        }
        // A variant without a string value, whose values are numbers or those of all variants, can only be
        // distinguished by its other rules.
        let is_meant = |name: &str| mapping.values().any(|mapped| mapped == name);
        if claims.iter().any(|claim| !is_meant(claim.name) && by_default.as_deref() != Some(claim.name)) {
            return None;
        }
        let mapping: Map<String, Value> =
            mapping.into_iter().map(|(value, name)| (value, json!(format!("#/$defs/{name}")))).collect();
        let mut normal = json!({"propertyName": portable_key(property), "mapping": mapping});
        if let (Some(reported), Some(name)) = (normal.as_object_mut(), by_default) {
            reported.insert("defaultMapping".to_owned(), json!(format!("#/$defs/{name}")));
        }
        Some(normal)
    }

    /// Returns the values that identify a schema according to the bases that it extends, or to itself.
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
                    || self.target(text, &to.pointer).is_some_and(|target| target.pointer == heir.pointer);
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

    /// Whether a location is that of the named schema with a name.
    fn is_component(&self, name: &str, pointer: &Pointer) -> bool {
        let schemas = Pointer::ROOT.child("components").child("schemas");
        *pointer == schemas.child(name)
    }

    /// Returns the target of a value in a discriminator's mapping: a reference, or the name of a component. A
    /// dangling value is reported.
    fn mapped_def(&mut self, text: &'a str, from: &Pointer) -> Option<String> {
        let named = self.components("schemas").into_iter().find(|(name, _)| *name == text);
        let found = match named {
            Some((_, node)) => self.past_references(node).ok().map(|node| self.add_def(node)),
            None => self.def_of(text, from).ok(),
        };
        if found.is_none() {
            self.report_unmapped(text, from);
        }
        found
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
        self.locate(text, from).and_then(|target| self.past_references(target)).ok()
    }

    /// Returns the values that a schema lists for one of its properties; `None` if it lists none.
    fn values_of(&self, schema: &Value, property: &str, from: &Pointer, depth: usize) -> Option<Vec<Value>> {
        let depth = depth.checked_sub(1)?;
        if let Some(target) = target_of(schema).and_then(|text| self.locate(text, from).ok()) {
            return self.values_of(target.value, property, &target.pointer, depth);
        }
        let field = schema.get("properties").and_then(|fields| fields.get(property));
        let mut listed = field.and_then(|field| self.listed(field, from, MAX_SEARCH));
        for keyword in ["oneOf", "anyOf"] {
            let variants = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
            let each = variants.map(|variant| self.variant_values(schema, variant, property, from, depth));
            narrow(&mut listed, joined(each));
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            narrow(&mut listed, self.values_of(part, property, from, depth));
        }
        listed
    }

    /// Returns the values that a schema lists itself, through references and combinations; `None` if it lists none.
    fn listed(&self, schema: &Value, from: &Pointer, depth: usize) -> Option<Vec<Value>> {
        let depth = depth.checked_sub(1)?;
        let mut listed = schema.get("const").map(|value| vec![value.clone()]);
        narrow(&mut listed, schema.get("enum").and_then(Value::as_array).cloned());
        if let Some(target) = target_of(schema).and_then(|text| self.locate(text, from).ok()) {
            narrow(&mut listed, self.listed(target.value, &target.pointer, depth));
        }
        for keyword in ["oneOf", "anyOf"] {
            let variants = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
            narrow(&mut listed, joined(variants.map(|variant| self.listed(variant, from, depth))));
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            narrow(&mut listed, self.listed(part, from, depth));
        }
        listed
    }

    /// Returns the values of a property that identify a variant of a union which is itself a variant.
    fn variant_values(
        &self,
        union: &Value,
        variant: &Value,
        property: &str,
        from: &Pointer,
        depth: usize,
    ) -> Option<Vec<Value>> {
        let by =
            union.get("discriminator").filter(|by| by.get("propertyName").is_some_and(|own| own == property));
        let target = |text: &str| {
            let component = format!("#/components/schemas/{text}");
            self.target(&component, from).or_else(|| self.target(text, from)).map(|node| node.pointer)
        };
        let own = target_of(variant).and_then(target);
        let mapping = by.and_then(|by| by.get("mapping")).and_then(Value::as_object).into_iter().flatten();
        let mapped = mapping.filter(|(_, to)| own.is_some() && to.as_str().and_then(target) == own);
        let mapped: Vec<Value> = mapped.map(|(value, _)| Value::from(value.as_str())).collect();
        if !mapped.is_empty() {
            return Some(mapped);
        }
        let name = || target_of(variant).and_then(|text| text.rsplit('/').next()).map(Value::from);
        let found = self.values_of(variant, property, from, depth);
        found.or_else(|| by.and_then(|_| name()).map(|name| vec![name]))
    }
}

/// The values that identify a variant, according to its own schema.
struct Claim<'c> {
    /// The name of its shape.
    name: &'c str,
    /// The name of its component in the document.
    component: &'c str,
    values: Vec<String>,
}

impl Claim<'_> {
    /// Whether a value identifies this variant. A value that several variants list, such as those of an enumeration
    /// of all of them, identifies none, unless it is the name of one, or one lists fewer.
    fn holds(&self, value: &str, all: &[Claim<'_>]) -> bool {
        let others =
            all.iter().filter(|other| other.name != self.name && other.values.iter().any(|one| one == value));
        let mut rivals = others.filter(|other| other.values.len() <= self.values.len());
        value == self.component || rivals.next().is_none()
    }
}

fn texts(values: Option<&[Value]>) -> Vec<String> {
    values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Keeps the listed values that were also found elsewhere. Values that contradict all of them are ignored.
fn narrow(listed: &mut Option<Vec<Value>>, found: Option<Vec<Value>>) {
    let Some(found) = found else { return };
    match listed {
        Some(listed) if listed.iter().any(|value| found.contains(value)) => {
            listed.retain(|value| found.contains(value));
        }
        Some(_) => {}
        None => *listed = Some(found),
    }
}

/// Returns the union of the values that alternatives list; `None` if none of them lists any.
fn joined(each: impl Iterator<Item = Option<Vec<Value>>>) -> Option<Vec<Value>> {
    let mut all: Option<Vec<Value>> = None;
    for value in each.flatten().flatten() {
        let all = all.get_or_insert_default();
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

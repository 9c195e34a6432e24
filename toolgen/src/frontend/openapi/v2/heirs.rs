//! Reads discriminators of Swagger 2.0: the base names a property, and the schemas that extend it are its variants.
//!
//! A reference to the base stands for any of them. Where a schema extends the base, the base alone is meant.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::super::context::Context;
use super::super::node::Node;
use super::super::reference::target_of;
use crate::names::portable_key;
use crate::source::Pointer;

/// The most schemas that a base stands for. A base of more is that of a whole system, and a tool that lists them all is
/// of no use to a model.
const MAX_HEIRS: usize = 24;

/// The schemas that extend a base.
#[derive(Debug)]
pub(in super::super) struct Heirs<'a> {
    /// The property whose value is the name of one of them.
    property: &'a str,
    /// The name of the base.
    base: &'a str,
    found: Vec<(&'a str, Node<'a>)>,
}

impl<'a> Context<'a> {
    /// Finds the schemas that extend bases with a discriminator, directly or not, by the place of the base.
    pub(in super::super) fn heirs(&self) -> BTreeMap<Pointer, Heirs<'a>> {
        let mut all = BTreeMap::new();
        if !self.is_swagger() {
            return all;
        }
        let schemas = self.components("schemas");
        let mut extensions: BTreeMap<Pointer, Vec<(&'a str, Node<'a>)>> = BTreeMap::new();
        for (name, node) in &schemas {
            for part in node.items("allOf") {
                let target = target_of(part.value).and_then(|text| self.locate(text, &part.pointer).ok());
                if let Some(base) = target {
                    extensions.entry(base.pointer).or_default().push((name, node.clone()));
                }
            }
        }
        for (base, node) in &schemas {
            let Some(property) = node.text("discriminator") else { continue };
            let mut found: Vec<(&'a str, Node<'a>)> = Vec::new();
            let mut seen = BTreeSet::from([node.pointer.clone()]);
            let mut open = vec![node.pointer.clone()];
            while let Some(pointer) = open.pop() {
                for (name, heir) in extensions.get(&pointer).into_iter().flatten() {
                    if seen.insert(heir.pointer.clone()) {
                        open.push(heir.pointer.clone());
                        found.push((name, heir.clone()));
                    }
                }
            }
            found.sort_by_key(|(name, _)| *name);
            if !found.is_empty() && found.len() <= MAX_HEIRS {
                all.insert(node.pointer.clone(), Heirs { property, base, found });
            }
        }
        all
    }

    /// Returns what a reference to a schema stands for: the union of those that extend it, if it is such a base.
    pub(in super::super) fn with_heirs(&mut self, pointer: &Pointer, schema: Value) -> Value {
        let Some(heirs) = self.defs.heirs.remove(pointer) else { return schema };
        let key = portable_key(heirs.property);
        let mut variants = Vec::new();
        let mut mapping = serde_json::Map::new();
        // The base is one of them, unless its property does not allow its name.
        let own = schema.get("properties").and_then(|fields| fields.get(&*key));
        let listed = own.and_then(|own| own.get("enum")).and_then(Value::as_array);
        let mut base = schema.clone();
        let description = base.as_object_mut().and_then(|base| base.shift_remove("description"));
        if listed.is_none_or(|values| values.iter().any(|value| value == heirs.base))
            && let Some(field) = base.pointer_mut("/properties").and_then(|fields| fields.get_mut(&*key))
        {
            *field = json!({"const": heirs.base});
            variants.push(base);
        }
        for (name, node) in &heirs.found {
            let reference = format!("#/$defs/{}", self.add_def(node.clone()));
            variants.push(json!({"$ref": reference}));
            mapping.insert((*name).to_owned(), reference.into());
        }
        self.defs.heirs.insert(pointer.clone(), heirs);
        let mut union =
            json!({"oneOf": variants, "discriminator": {"propertyName": key, "mapping": mapping}});
        if let (Some(union), Some(description)) = (union.as_object_mut(), description) {
            union.insert("description".to_owned(), description);
        }
        union
    }
}

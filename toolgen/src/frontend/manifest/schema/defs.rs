//! The named schemas that other schemas refer to.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolgen_core::internal::{complete, complete_variants};
use toolgen_core::schema::shape::cycles;
use toolgen_core::{Def, Shape};

use super::super::codes;
use super::super::context::{Context, SchemaLocation, Slot};
use super::super::tools::Draft;
use crate::names::{hash8, legal_shape_name, with_suffix};
use crate::shape_walk::references;

/// Maximum length of a shape's name.
const MAX_NAME: usize = 96;

impl Context<'_> {
    /// Names the schemas of the manifest itself, so that no other schema gets their names.
    pub(in super::super) fn name_schemas(&mut self) {
        let top = self.top();
        for (name, node) in self.object_members(&top, "schemas", "schemas") {
            if legal_shape_name(name) != name || name.len() > MAX_NAME || name.is_empty() {
                let message = format!("`{name}` is not a valid name of a schema");
                let help = "use letters, digits, `_`, `-` and `.`, at most 96 characters";
                self.report(codes::NAME, &node.pointer, message, help);
            }
            self.def_of(SchemaLocation::of(&node.pointer));
        }
    }

    /// Returns the name of the shape of a schema. The schema is read later.
    pub(super) fn def_of(&mut self, location: SchemaLocation) -> String {
        let key = (location.file, location.pointer.clone());
        if let Some(name) = self.schemas.names.get(&key) {
            return name.clone();
        }
        let path = self.files.document(location.file).map(|document| document.source.path.clone());
        let stem = path.as_deref().and_then(|path| path.file_stem()?.to_str()).unwrap_or("schema");
        let last = location.pointer.last().map(|token| token.into_owned());
        let mut name = legal_shape_name(last.as_deref().unwrap_or(stem));
        if name.is_empty() || name.len() > MAX_NAME || self.schemas.slots.contains_key(&name) {
            let stem = if name.is_empty() { "schema" } else { &name };
            let file_name = path.as_deref().and_then(|path| path.file_name()?.to_str()).unwrap_or_default();
            name = with_suffix(stem, &hash8(&format!("{file_name}#{}", location.pointer)), MAX_NAME);
        }
        self.schemas.names.insert(key, name.clone());
        self.schemas.slots.insert(name.clone(), Slot { location, shape: None, broken: false });
        name
    }

    /// Returns the shape with this name, and reads its schema if necessary.
    pub(in super::super) fn named_shape(&mut self, name: &str) -> Option<Shape> {
        let slot = self.schemas.slots.get(name)?;
        if let Some(shape) = &slot.shape {
            return Some(shape.clone());
        }
        let location = slot.location.clone();
        let document = self.files.document(location.file).cloned()?;
        let schema = location.pointer.resolve(&document.root).unwrap_or(&Value::Null);
        let errors = self.errors;
        let shape = self.shape(schema, &location);
        let is_broken = self.errors > errors;
        let slot = self.schemas.slots.get_mut(name)?;
        (slot.shape, slot.broken) = (Some(shape.clone()), is_broken);
        Some(shape)
    }

    /// Reads all named schemas, and adds the reached shapes to the drafts. A draft that reaches a broken schema is
    /// also broken.
    pub(in super::super) fn complete_defs(&mut self, drafts: &mut [Draft<'_>]) {
        let mut shapes: BTreeMap<String, Shape> = BTreeMap::new();
        // Reading a schema may name more schemas.
        while let Some(name) = self.schemas.slots.keys().find(|name| !shapes.contains_key(*name)).cloned() {
            let shape = self.named_shape(&name).unwrap_or(Shape::ANY);
            shapes.insert(name, shape);
        }
        for name in cycles::cut(&mut shapes) {
            let Some(slot) = self.schemas.slots.get_mut(&name) else { continue };
            slot.broken = true;
            let location = slot.location.clone();
            let message = format!("the schema `{name}` refers only to itself");
            self.report_at(
                codes::CYCLE,
                &location,
                message,
                "let it contain itself only in a property or an array",
            );
        }
        let defs = complete_variants(&mut shapes);
        let mut all_reached: BTreeSet<String> = BTreeSet::new();
        for draft in drafts.iter_mut() {
            draft.spec.defs = defs.clone();
            complete(&mut draft.spec);
            let mut pending = Vec::new();
            references(draft.spec.input.shape(), &mut pending);
            draft.spec.output.iter().for_each(|output| references(output.shape(), &mut pending));
            let mut reached: BTreeSet<String> = BTreeSet::new();
            while let Some(name) = pending.pop() {
                let Some(shape) = shapes.get(&name) else { continue };
                if reached.insert(name.clone()) {
                    references(shape, &mut pending);
                    draft.broken |= self.schemas.slots.get(&name).is_some_and(|slot| slot.broken);
                }
            }
            all_reached.extend(reached);
        }
        shapes.retain(|name, _| all_reached.contains(name));
        self.defs =
            shapes.into_iter().map(|(name, shape)| Def { name: name.into(), schema: shape.into() }).collect();
        for draft in drafts {
            draft.spec.defs = self.defs.clone();
        }
    }
}

//! The named schemas that others refer to.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolgen_core::internal::{complete, complete_all};
use toolgen_core::schema::shape::cycles;
use toolgen_core::{Def, Shape};

use super::super::codes;
use super::super::context::{Context, SchemaPlace, Slot};
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
            self.def_of(SchemaPlace::of(&node.pointer));
        }
    }

    /// Returns the name of the shape of a schema, which is read later.
    pub(super) fn def_of(&mut self, place: SchemaPlace) -> String {
        let key = (place.file, place.pointer.clone());
        if let Some(name) = self.schemas.names.get(&key) {
            return name.clone();
        }
        let path = self.files.document(place.file).map(|document| document.source.path.clone());
        let stem = path.as_deref().and_then(|path| path.file_stem()?.to_str()).unwrap_or("schema");
        let last = place.pointer.last().map(|token| token.into_owned());
        let mut name = legal_shape_name(last.as_deref().unwrap_or(stem));
        if name.is_empty() || name.len() > MAX_NAME || self.schemas.slots.contains_key(&name) {
            let stem = if name.is_empty() { "schema" } else { &name };
            let file_name = path.as_deref().and_then(|path| path.file_name()?.to_str()).unwrap_or_default();
            name = with_suffix(stem, &hash8(&format!("{file_name}#{}", place.pointer)), MAX_NAME);
        }
        self.schemas.names.insert(key, name.clone());
        self.schemas.slots.insert(name.clone(), Slot { place, shape: None, broken: false });
        name
    }

    /// Returns the shape with a name.
    pub(in super::super) fn named_shape(&mut self, name: &str) -> Option<Shape> {
        let slot = self.schemas.slots.get(name)?;
        if let Some(shape) = &slot.shape {
            return Some(shape.clone());
        }
        let place = slot.place.clone();
        let document = self.files.document(place.file).cloned()?;
        let schema = place.pointer.resolve(&document.root).unwrap_or(&Value::Null);
        let errors = self.errors;
        let shape = self.shape(schema, &place);
        let broken = self.errors > errors;
        let slot = self.schemas.slots.get_mut(name)?;
        (slot.shape, slot.broken) = (Some(shape.clone()), broken);
        Some(shape)
    }

    /// Reads all named schemas, and gives every draft those that it reaches. A draft that reaches a broken schema is
    /// also broken.
    pub(in super::super) fn complete_defs(&mut self, drafts: &mut [Draft<'_>]) {
        let mut shapes: BTreeMap<String, Shape> = BTreeMap::new();
        // Reading a schema may name others.
        while let Some(name) = self.schemas.slots.keys().find(|name| !shapes.contains_key(*name)).cloned() {
            let shape = self.named_shape(&name).unwrap_or(Shape::ANY);
            shapes.insert(name, shape);
        }
        for name in cycles::cut(&mut shapes) {
            let Some(slot) = self.schemas.slots.get_mut(&name) else { continue };
            slot.broken = true;
            let place = slot.place.clone();
            let message = format!("the schema `{name}` refers only to itself");
            self.report_at(
                codes::CYCLE,
                &place,
                message,
                "let it contain itself only in a property or an array",
            );
        }
        let defs = complete_all(&mut shapes);
        let mut all: BTreeSet<String> = BTreeSet::new();
        for draft in drafts.iter_mut() {
            draft.spec.defs = defs.clone();
            complete(&mut draft.spec);
            let mut open = Vec::new();
            references(draft.spec.input.shape(), &mut open);
            draft.spec.output.iter().for_each(|output| references(output.shape(), &mut open));
            let mut reached: BTreeSet<String> = BTreeSet::new();
            while let Some(name) = open.pop() {
                let Some(shape) = shapes.get(&name) else { continue };
                if reached.insert(name.clone()) {
                    references(shape, &mut open);
                    draft.broken |= self.schemas.slots.get(&name).is_some_and(|slot| slot.broken);
                }
            }
            all.extend(reached);
        }
        shapes.retain(|name, _| all.contains(name));
        self.defs =
            shapes.into_iter().map(|(name, shape)| Def { name: name.into(), schema: shape.into() }).collect();
        for draft in drafts {
            draft.spec.defs = self.defs.clone();
        }
    }
}

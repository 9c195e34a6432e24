//! The named shapes of a document: the targets of its references.

use std::collections::BTreeMap;

use serde_json::Value;
use toolgen_core::internal::{complete_variants, with_valid_values};
use toolgen_core::schema::shape::cycles;
use toolgen_core::schema::shape::read::read_normal_form;
use toolgen_core::{Def, List, Shape};

use super::super::codes;
use super::super::context::{Context, Defs, Slot, Subtypes};
use super::super::files::{path_segments, stem};
use super::super::node::Node;
use super::super::reference::{ResolveError, target_of};
use super::bases;
use crate::names::{hash8, legal_shape_name, shortened, with_suffix};
use crate::shape_walk::{reference_texts, references};
use crate::source::Pointer;
use crate::tool::Tool;

/// Maximum length of a shape's name.
const MAX_NAME: usize = 96;

/// Maximum number of nested open schemas before a named shape is deferred.
const MAX_STACK: usize = 160;

impl<'a> Context<'a> {
    /// Names every schema that can be referenced, before the first reference is read: names depend on the content of
    /// the document, not on the order in which it is read.
    pub(in super::super) fn name_defs(&mut self) {
        let (valid, invalid): (Vec<_>, Vec<_>) = self
            .components("schemas")
            .into_iter()
            .partition(|(name, _)| legal_shape_name(name) == **name && name.len() <= MAX_NAME);
        let (aliases, schemas): (Vec<_>, Vec<_>) = valid
            .into_iter()
            .partition(|(_, node)| target_of(node.value).is_some() && is_only_reference(node.value));
        for (name, node) in schemas {
            self.defs.claim(node.pointer, name);
        }
        self.name_targets(aliases);
        let mut remaining: BTreeMap<Pointer, String> = BTreeMap::new();
        for (name, node) in invalid {
            remaining.insert(node.pointer, name.to_owned());
        }
        let is_swagger = self.is_swagger();
        let names_component = |text: &&str| match text.split('/').count() {
            3 => is_swagger && text.starts_with("#/definitions/"),
            4 => text.starts_with("#/components/"),
            _ => false,
        };
        for index in 0..self.files.len() {
            let file = self.files.root(index);
            let mut references: Vec<&str> = Vec::new();
            for text in reference_texts(file.value) {
                if index == 0 && names_component(&text) {
                    continue;
                }
                if let Ok(node) = self.locate(text, &file.pointer)
                    && (index == 0 || may_be_schema(node.value))
                {
                    let name = readable_name(&node.pointer);
                    remaining.entry(node.pointer).or_insert(name);
                }
                if self.resolves_in_document(text, &file.pointer) {
                    references.push(text);
                }
            }
            self.note_document_references(&file, &references);
        }
        for (pointer, name) in remaining {
            self.defs.claim(pointer, &name);
        }
        self.defs.subtypes = self.find_subtypes();
        let pointers = self.defs.subtypes.values().flat_map(Subtypes::pointers);
        self.defs.subtype_pointers = pointers.map(|pointer| pointer.as_str().to_owned()).collect();
    }

    /// Names the targets of components that are only references, such as schemas in other files, after these
    /// components. A component that refers to another component does not rename it.
    fn name_targets(&mut self, aliases: Vec<(&'a str, Node<'a>)>) {
        let mut aliases: Vec<_> = aliases
            .into_iter()
            .map(|(name, node)| {
                let target = self.skip_references(node.clone()).unwrap_or_else(|_| node.clone()).pointer;
                let is_other = readable_name(&target) != name;
                (is_other, name, target, node.pointer)
            })
            .collect();
        // If a schema has several names, its own takes precedence.
        aliases.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
        for (_, name, target, alias_pointer) in aliases {
            let pointer = if self.defs.names.contains_key(&target) { alias_pointer } else { target };
            self.defs.claim(pointer, name);
        }
    }

    /// Reports references in a part of the document that resolve in the document itself.
    fn note_document_references(&mut self, file: &Node<'a>, references: &[&str]) {
        let Some(first) = references.first() else { return };
        let (suffix, verb) = match references.len() {
            1 => (String::new(), "is"),
            2 => (" and another reference".to_owned(), "are"),
            count => (format!(" and {} other references", count - 1), "are"),
        };
        self.report(
            codes::PART_OF_DOCUMENT,
            &file.pointer,
            format!("`{first}`{suffix} {verb} not in this file, but in the document that refers to it, and resolved \
                there"),
            "name the file of the document before the `#`",
        );
    }

    /// Returns the name of the target of the reference at a location, skipping schemas that are only references
    /// themselves.
    pub(in super::super) fn def_of(&mut self, text: &'a str, from: &Pointer) -> Result<String, ResolveError> {
        let key = (self.files.index_of(from), text);
        // With `$id`s, the same string can have different targets.
        let is_unambiguous = !self.files.has_ids();
        if let Some(name) = self.defs.texts.get(&key).filter(|_| is_unambiguous) {
            return Ok(name.clone());
        }
        let node = self.skip_references(self.locate(text, from)?)?;
        let name = self.add_def(node);
        self.defs.texts.insert(key, name.clone());
        Ok(name)
    }

    /// Returns a schema, or the final target if it is only a reference.
    pub(in super::super) fn skip_references(&self, mut node: Node<'a>) -> Result<Node<'a>, ResolveError> {
        let mut hops = 0;
        while let (Some(target), true) = (target_of(node.value), is_only_reference(node.value)) {
            hops += 1;
            if hops > 64 {
                return Err(ResolveError::Cycle);
            }
            node = self.locate(target, &node.pointer)?;
        }
        Ok(node)
    }

    /// Returns the name of the schema at a node.
    pub(in super::super) fn add_def(&mut self, node: Node<'a>) -> String {
        let name = self.defs.claim(node.pointer.clone(), &readable_name(&node.pointer));
        self.defs.slots.entry(name.clone()).or_insert(Slot { node, schema: None });
        name
    }

    /// Returns the normal form of a named shape, or `None` while it is being read or if it would nest too deep.
    pub(in super::super) fn def(&mut self, name: &str) -> Option<Value> {
        self.read_def(name);
        self.defs.slots.get(name)?.schema.clone()
    }

    fn read_def(&mut self, name: &str) {
        let Some(slot) = self.defs.slots.get(name) else { return };
        if slot.schema.is_some() || self.defs.is_open(name) || self.nesting.schemas >= MAX_STACK {
            return;
        }
        let node = slot.node.clone();
        self.defs.open.push(name.to_owned());
        let schema = self.schema_of(&node);
        self.defs.open.pop();
        if let Some(slot) = self.defs.slots.get_mut(name) {
            slot.schema = Some(schema);
        }
    }

    /// Returns the named shape, or any value while the shape is being read.
    pub(in super::super) fn def_shape(&mut self, name: &str) -> Shape {
        let Some(schema) = self.def(name) else { return Shape::ANY };
        let schema = self.expand_base(&self.def_pointer(name), schema);
        read_normal_form(&schema, "", &mut Vec::new())
    }

    /// Reads every referenced shape, and returns the shapes that the tools reach, sorted by name.
    pub(in super::super) fn reached_defs(&mut self, tools: &[Tool]) -> List<Def> {
        let mut roots: Vec<String> = Vec::new();
        for Tool { spec, failure, .. } in tools {
            failure.iter().for_each(|failure| references(failure, &mut roots));
            references(&spec.input, &mut roots);
            spec.output.iter().for_each(|output| references(output, &mut roots));
        }
        let mut shapes: BTreeMap<String, Shape> = BTreeMap::new();
        let mut pending = roots.clone();
        while let Some(name) = pending.pop() {
            if shapes.contains_key(&name) {
                continue;
            }
            self.read_def(&name);
            let schema =
                self.defs.slots.get_mut(&name).and_then(|slot| slot.schema.take()).unwrap_or_default();
            let pointer = self.def_pointer(&name);
            let schema = self.expand_base(&pointer, schema);
            let shape = self.read_shape(&schema, "", &pointer);
            references(&shape, &mut pending);
            shapes.insert(name, shape);
        }
        for name in cycles::cut(&mut shapes) {
            let pointer = self.def_pointer(&name);
            self.report(
                codes::CYCLIC_REF,
                &pointer,
                format!("the schema `{name}` contains itself; that part is omitted"),
                "let it contain itself only in a property or an array",
            );
        }
        bases::drop_repeated(&mut shapes);
        complete_variants(&mut shapes);
        // A cut part may have been the only reference to a shape.
        let mut reached: BTreeMap<String, Shape> = BTreeMap::new();
        let mut pending = roots;
        while let Some(name) = pending.pop() {
            if let Some(shape) = shapes.remove(&name) {
                references(&shape, &mut pending);
                reached.insert(name, shape);
            }
        }
        reached.into_iter().map(|(name, shape)| Def { name: name.into(), schema: shape.into() }).collect()
    }

    /// Removes defaults and examples that do not match their resolved schema from shapes, and reports
    /// them.
    pub(in super::super) fn with_valid_values(&mut self, defs: &List<Def>) -> List<Def> {
        let mut valid = Vec::new();
        for def in defs {
            let Some((shape, misfits)) = with_valid_values(def.schema.shape(), defs) else {
                valid.push(def.clone());
                continue;
            };
            let pointer = self.def_pointer(&def.name);
            for reason in misfits {
                let message = format!("{reason}; it is left out");
                self.report(codes::DEFAULT, &pointer, message, "correct the value or the schema");
            }
            valid.push(Def { name: def.name.clone(), schema: shape.into() });
        }
        valid.into()
    }

    fn def_pointer(&self, name: &str) -> Pointer {
        self.defs.slots.get(name).map(|slot| slot.node.pointer.clone()).unwrap_or_default()
    }
}

impl<'a> Defs<'a> {
    /// Whether the current schema is part of a named schema.
    pub(in super::super) fn is_reading(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether the named schema is being read.
    pub(in super::super) fn is_open(&self, name: &str) -> bool {
        self.open.iter().any(|open| open == name)
    }

    /// Whether the schema at a location is in the expansion of a reference to its base.
    pub(in super::super) fn is_subtype(&self, pointer: &str) -> bool {
        self.subtype_pointers.contains(pointer)
    }

    /// Returns the schema with this name.
    pub(in super::super) fn node(&self, name: &str) -> Option<&Node<'a>> {
        self.slots.get(name).map(|slot| &slot.node)
    }

    /// Returns which of `readOnly` and `writeOnly` the schema with this name declares.
    pub(in super::super) fn access_keyword(&self, name: &str) -> Option<&'static str> {
        let node = &self.slots.get(name)?.node;
        match (node.is_true("readOnly"), node.is_true("writeOnly")) {
            (true, false) => Some("readOnly"),
            (false, true) => Some("writeOnly"),
            _ => None,
        }
    }

    fn is_free(&self, name: &str) -> bool {
        !name.is_empty() && name.len() <= MAX_NAME && !self.used_names.contains(name)
    }

    /// Returns the name of a location: its existing name, or else the preferred name, made valid and unique.
    fn claim(&mut self, pointer: Pointer, preferred: &str) -> String {
        if let Some(name) = self.names.get(&pointer) {
            return name.clone();
        }
        let mut name = legal_shape_name(preferred);
        if !self.is_free(&name) {
            let shortened_name = if name.len() > MAX_NAME { shortened(&name, MAX_NAME) } else { None };
            let mut candidates = shortened_name.into_iter().chain(qualified_names(&pointer, &name));
            name = candidates.find(|candidate| self.is_free(candidate)).unwrap_or(name);
        }
        if !self.is_free(&name) {
            let stem = if name.is_empty() { "schema" } else { &name };
            name = with_suffix(stem, &hash8(pointer.as_str()), MAX_NAME);
        }
        self.used_names.insert(name.clone());
        self.names.insert(pointer, name.clone());
        name
    }
}

/// Returns names that include the location of a schema in another file: its file, and one more enclosing directory
/// each time.
fn qualified_names(pointer: &Pointer, name: &str) -> Vec<String> {
    let mut tokens = pointer.tokens();
    let Some(mut segments) = tokens.next().as_deref().and_then(path_segments) else { return Vec::new() };
    if tokens.next().is_none() && !segments.is_empty() {
        // The schema is named after the file.
        segments.remove(0);
    }
    let mut qualified = name.to_owned();
    let names =
        segments.iter().map(|segment| legal_shape_name(segment)).filter(|segment| !segment.is_empty()).map(
            |segment| {
                qualified = format!("{segment}_{qualified}");
                qualified.clone()
            },
        );
    names.collect()
}

/// Whether a part of a document may be a schema: it has no keyword of a parameter, a response, a body, an operation
/// or a path. These parts need no names.
fn may_be_schema(value: &Value) -> bool {
    const NON_SCHEMA_KEYS: [&str; 7] = ["in", "content", "responses", "get", "put", "post", "delete"];
    value.as_object().is_some_and(|object| !NON_SCHEMA_KEYS.iter().any(|key| object.contains_key(*key)))
}

/// Whether a schema is only a reference.
fn is_only_reference(schema: &Value) -> bool {
    schema.as_object().is_some_and(|object| object.keys().all(|key| key == "$ref" || key.starts_with("x-")))
}

/// Returns a name for the schema at a location: `#/components/schemas/Pet/properties/tag` becomes `Pet_tag`.
fn readable_name(pointer: &Pointer) -> String {
    const STRUCTURAL: [&str; 14] = [
        "components",
        "schemas",
        "properties",
        "paths",
        "content",
        "schema",
        "definitions",
        "$defs",
        "responses",
        "parameters",
        "requestBody",
        "requestBodies",
        "patternProperties",
        "application/json",
    ];
    let mut segments: Vec<String> = Vec::new();
    for token in pointer.tokens() {
        if let Some(stem) = stem(&token) {
            // The name of a file is used only if the schema has no name in the file.
            segments.push(legal_shape_name(&stem));
            continue;
        }
        if !STRUCTURAL.contains(&&*token) {
            segments.push(legal_shape_name(token.trim_matches('/')));
        }
    }
    segments.retain(|segment| !segment.is_empty());
    if segments.len() > 1 && pointer.tokens().next().is_some_and(|token| stem(&token).is_some()) {
        segments.remove(0);
    }
    segments.join("_")
}

//! The named shapes of a document: the targets of its references.

use std::collections::BTreeMap;

use serde_json::Value;
use toolgen_core::internal::{complete_all, with_valid_values};
use toolgen_core::schema::shape::cycles;
use toolgen_core::schema::shape::read::read_normal_form;
use toolgen_core::{Def, List, Shape};

use super::super::codes;
use super::super::context::{Context, Defs, Slot, Subtypes};
use super::super::files::{path_segments, stem};
use super::super::node::Node;
use super::super::reference::{Broken, target_of};
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
        let (legal, other): (Vec<_>, Vec<_>) = self
            .components("schemas")
            .into_iter()
            .partition(|(name, _)| legal_shape_name(name) == **name && name.len() <= MAX_NAME);
        let (bare, own): (Vec<_>, Vec<_>) =
            legal.into_iter().partition(|(_, node)| target_of(node.value).is_some() && is_bare(node.value));
        for (name, node) in own {
            self.defs.claim(node.pointer, name);
        }
        self.name_targets(bare);
        let mut rest: BTreeMap<Pointer, String> = BTreeMap::new();
        for (name, node) in other {
            rest.insert(node.pointer, name.to_owned());
        }
        let definitions = self.is_swagger();
        let names_component = |text: &&str| match text.split('/').count() {
            3 => definitions && text.starts_with("#/definitions/"),
            4 => text.starts_with("#/components/"),
            _ => false,
        };
        for index in 0..self.files.len() {
            let file = self.files.root(index);
            let mut suggestion: Vec<&str> = Vec::new();
            for text in reference_texts(file.value) {
                if index == 0 && names_component(&text) {
                    continue;
                }
                if let Ok(node) = self.locate(text, &file.pointer)
                    && (index == 0 || may_be_schema(node.value))
                {
                    let name = readable_name(&node.pointer);
                    rest.entry(node.pointer).or_insert(name);
                }
                if self.means_document(text, &file.pointer) {
                    suggestion.push(text);
                }
            }
            self.note_meant(&file, &suggestion);
        }
        for (pointer, name) in rest {
            self.defs.claim(pointer, &name);
        }
        self.defs.heirs = self.heirs();
        let places = self.defs.heirs.values().flat_map(Subtypes::places);
        self.defs.heir_places = places.map(|place| place.as_str().to_owned()).collect();
    }

    /// Gives schemas that only components refer to, such as those in other files, the names of these components. A
    /// component that refers to another one does not pass on its name.
    fn name_targets(&mut self, bare: Vec<(&'a str, Node<'a>)>) {
        let mut bare: Vec<_> = bare
            .into_iter()
            .map(|(name, node)| {
                let target = self.past_references(node.clone()).unwrap_or_else(|_| node.clone()).pointer;
                let is_other = readable_name(&target) != name;
                (is_other, name, target, node.pointer)
            })
            .collect();
        // If one schema has several names, its own is used.
        bare.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
        for (_, name, target, own) in bare {
            let named = if self.defs.names.contains_key(&target) { own } else { target };
            self.defs.claim(named, name);
        }
    }

    /// Reports references in a part that refer to the document itself.
    fn note_meant(&mut self, file: &Node<'a>, suggestion: &[&str]) {
        let Some(first) = suggestion.first() else { return };
        let (others, are) = match suggestion.len() {
            1 => (String::new(), "is"),
            2 => (" and another reference".to_owned(), "are"),
            many => (format!(" and {} other references", many - 1), "are"),
        };
        self.report(
            codes::PART_OF_DOCUMENT,
            &file.pointer,
            format!("`{first}`{others} {are} not in this file, but in the document that refers to it, and resolved \
                there"),
            "name the file of the document before the `#`",
        );
    }

    /// Returns the name of the target of the reference at a location, skipping schemas that are only references
    /// themselves.
    pub(in super::super) fn def_of(&mut self, text: &'a str, from: &Pointer) -> Result<String, Broken> {
        let key = (self.files.index_of(from), text);
        // With `$id`s, the same string can have different targets.
        let one_meaning = !self.files.has_ids();
        if let Some(name) = self.defs.texts.get(&key).filter(|_| one_meaning) {
            return Ok(name.clone());
        }
        let node = self.past_references(self.locate(text, from)?)?;
        let name = self.add_def(node);
        self.defs.texts.insert(key, name.clone());
        Ok(name)
    }

    /// Returns the target of schemas that are only references.
    pub(in super::super) fn past_references(&self, mut node: Node<'a>) -> Result<Node<'a>, Broken> {
        let mut hops = 0;
        while let (Some(next), true) = (target_of(node.value), is_bare(node.value)) {
            hops += 1;
            if hops > 64 {
                return Err(Broken::Cycle);
            }
            node = self.locate(next, &node.pointer)?;
        }
        Ok(node)
    }

    /// Returns the name of the schema at a node.
    pub(in super::super) fn add_def(&mut self, node: Node<'a>) -> String {
        let name = self.defs.claim(node.pointer.clone(), &readable_name(&node.pointer));
        self.defs.slots.entry(name.clone()).or_insert(Slot { node, done: None });
        name
    }

    /// Returns the normal form of a named shape, or `None` while it is being read or if it would nest too deep.
    pub(in super::super) fn def(&mut self, name: &str) -> Option<Value> {
        self.read_def(name);
        self.defs.slots.get(name)?.done.clone()
    }

    fn read_def(&mut self, name: &str) {
        let Some(slot) = self.defs.slots.get(name) else { return };
        if slot.done.is_some() || self.defs.is_open(name) || self.nesting.schemas >= MAX_STACK {
            return;
        }
        let node = slot.node.clone();
        self.defs.open.push(name.to_owned());
        let schema = self.schema_of(&node);
        self.defs.open.pop();
        if let Some(slot) = self.defs.slots.get_mut(name) {
            slot.done = Some(schema);
        }
    }

    /// Returns the part of the named shape that is known.
    pub(in super::super) fn def_shape(&mut self, name: &str) -> Shape {
        let Some(schema) = self.def(name) else { return Shape::ANY };
        let schema = self.with_heirs(&self.def_pointer(name), schema);
        read_normal_form(&schema, "", &mut Vec::new())
    }

    /// Reads every shape that was referenced, and returns those that the tools reach, sorted by name.
    pub(in super::super) fn reached_defs(&mut self, tools: &[Tool]) -> List<Def> {
        let mut roots: Vec<String> = Vec::new();
        for Tool { spec, failure, .. } in tools {
            failure.iter().for_each(|failure| references(failure, &mut roots));
            references(&spec.input, &mut roots);
            spec.output.iter().for_each(|output| references(output, &mut roots));
        }
        let mut read: BTreeMap<String, Shape> = BTreeMap::new();
        let mut open = roots.clone();
        while let Some(name) = open.pop() {
            if read.contains_key(&name) {
                continue;
            }
            self.read_def(&name);
            let done = self.defs.slots.get_mut(&name).and_then(|slot| slot.done.take()).unwrap_or_default();
            let pointer = self.def_pointer(&name);
            let done = self.with_heirs(&pointer, done);
            let shape = self.read_shape(&done, "", &pointer);
            references(&shape, &mut open);
            read.insert(name, shape);
        }
        for name in cycles::cut(&mut read) {
            let pointer = self.def_pointer(&name);
            self.report(
                codes::CYCLIC_REF,
                &pointer,
                format!("the schema `{name}` contains itself; that part is omitted"),
                "let it contain itself only in a property or an array",
            );
        }
        bases::drop_repeated(&mut read);
        complete_all(&mut read);
        // A cut part may have been the only reference to a shape.
        let mut reached: BTreeMap<String, Shape> = BTreeMap::new();
        let mut open = roots;
        while let Some(name) = open.pop() {
            if let Some(shape) = read.remove(&name) {
                references(&shape, &mut open);
                reached.insert(name, shape);
            }
        }
        reached.into_iter().map(|(name, shape)| Def { name: name.into(), schema: shape.into() }).collect()
    }

    /// Returns the shapes without the defaults and examples that do not match their resolved schema, and reports
    /// them.
    pub(in super::super) fn fitting(&mut self, defs: &List<Def>) -> List<Def> {
        let mut fitting = Vec::new();
        for def in defs {
            let Some((shape, misfits)) = with_valid_values(def.schema.shape(), defs) else {
                fitting.push(def.clone());
                continue;
            };
            let pointer = self.def_pointer(&def.name);
            for reason in misfits {
                let message = format!("{reason}; it is left out");
                self.report(codes::DEFAULT, &pointer, message, "correct the value or the schema");
            }
            fitting.push(Def { name: def.name.clone(), schema: shape.into() });
        }
        fitting.into()
    }

    fn def_pointer(&self, name: &str) -> Pointer {
        self.defs.slots.get(name).map(|slot| slot.node.pointer.clone()).unwrap_or_default()
    }
}

impl<'a> Defs<'a> {
    /// Whether the current schema is part of a named one.
    pub(in super::super) fn is_reading(&self) -> bool {
        !self.open.is_empty()
    }

    pub(in super::super) fn is_open(&self, name: &str) -> bool {
        self.open.iter().any(|open| open == name)
    }

    /// Whether the schema at a location is one of those that a reference to its base expands to.
    pub(in super::super) fn is_heir(&self, pointer: &str) -> bool {
        self.heir_places.contains(pointer)
    }

    /// Returns the schema of a name.
    pub(in super::super) fn node(&self, name: &str) -> Option<&Node<'a>> {
        self.slots.get(name).map(|slot| &slot.node)
    }

    /// Returns which of `readOnly` and `writeOnly` the schema with a name declares.
    pub(in super::super) fn one_way(&self, name: &str) -> Option<&'static str> {
        let node = &self.slots.get(name)?.node;
        match (node.flag("readOnly"), node.flag("writeOnly")) {
            (true, false) => Some("readOnly"),
            (false, true) => Some("writeOnly"),
            _ => None,
        }
    }

    fn is_free(&self, name: &str) -> bool {
        !name.is_empty() && name.len() <= MAX_NAME && !self.taken.contains(name)
    }

    /// Returns the name of a location: its existing one, or the wanted one, made valid and unique.
    fn claim(&mut self, pointer: Pointer, wanted: &str) -> String {
        if let Some(name) = self.names.get(&pointer) {
            return name.clone();
        }
        let mut name = legal_shape_name(wanted);
        if !self.is_free(&name) {
            let shorter = if name.len() > MAX_NAME { shortened(&name, MAX_NAME) } else { None };
            let mut others = shorter.into_iter().chain(longer_names(&pointer, &name));
            name = others.find(|other| self.is_free(other)).unwrap_or(name);
        }
        if !self.is_free(&name) {
            let stem = if name.is_empty() { "schema" } else { &name };
            name = with_suffix(stem, &hash8(pointer.as_str()), MAX_NAME);
        }
        self.taken.insert(name.clone());
        self.names.insert(pointer, name.clone());
        name
    }
}

/// Returns names that include the location of a schema of another file: its file, and one more enclosing directory
/// each time.
fn longer_names(pointer: &Pointer, name: &str) -> Vec<String> {
    let mut tokens = pointer.tokens();
    let Some(mut around) = tokens.next().as_deref().and_then(path_segments) else { return Vec::new() };
    if tokens.next().is_none() && !around.is_empty() {
        // The name is that of the file.
        around.remove(0);
    }
    let mut longer = name.to_owned();
    let names =
        around.iter().map(|outer| legal_shape_name(outer)).filter(|outer| !outer.is_empty()).map(|outer| {
            longer = format!("{outer}_{longer}");
            longer.clone()
        });
    names.collect()
}

/// Whether a part of a document may be a schema: it has no keyword of a parameter, a response, a body, an operation
/// or a path, which need no names.
fn may_be_schema(value: &Value) -> bool {
    const OTHERS: [&str; 7] = ["in", "content", "responses", "get", "put", "post", "delete"];
    value.as_object().is_some_and(|object| !OTHERS.iter().any(|key| object.contains_key(*key)))
}

/// Whether a schema is only a reference.
fn is_bare(schema: &Value) -> bool {
    schema.as_object().is_some_and(|object| object.keys().all(|key| key == "$ref" || key.starts_with("x-")))
}

/// Returns a name for any schema: `#/components/schemas/Pet/properties/tag` becomes `Pet_tag`.
fn readable_name(pointer: &Pointer) -> String {
    const STRUCTURE: [&str; 14] = [
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
    let mut words: Vec<String> = Vec::new();
    for token in pointer.tokens() {
        if let Some(stem) = stem(&token) {
            // The name of a file is used only if the schema has no name in it.
            words.push(legal_shape_name(&stem));
            continue;
        }
        if !STRUCTURE.contains(&&*token) {
            words.push(legal_shape_name(token.trim_matches('/')));
        }
    }
    words.retain(|word| !word.is_empty());
    if words.len() > 1 && pointer.tokens().next().is_some_and(|token| stem(&token).is_some()) {
        words.remove(0);
    }
    words.join("_")
}

//! Reads the schemas of OpenAPI documents.
//!
//! The general schema reader does the reading; this module provides the document's parts: the targets of
//! references, the names of shapes, and the codes of problems. The result is JSON Schema in normal form, with
//! references `#/$defs/NAME` and keys that every provider accepts, each with the original key as `x-wire`.

mod bases;
mod defs;
mod discriminator;
mod subtypes;

use std::cell::Cell;
use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toolgen_core::Shape;
use toolgen_core::schema::shape::read::{
    Nesting, ReadProblem, ReadProblemKind, SchemaLocation, SchemaVersion, Source, name_values, normal_form,
    read_normal_form, types_taken,
};

use super::codes;
use super::context::Context;
use super::node::Node;
use super::reference::ResolveError;
use crate::names::portable_keys;
use crate::source::Pointer;

impl<'a> Context<'a> {
    /// Returns the normal form of the schema at a node.
    fn schema_of(&mut self, node: &Node<'a>) -> Value {
        let location = SchemaLocation { pointer: node.pointer.as_str().to_owned(), nesting: self.nesting };
        normal_form(node.value, location, self)
    }

    /// Returns the shape of the schema at a node. `name` is the name of the field that the schema describes, or empty.
    pub(super) fn shape_of(&mut self, node: &Node<'a>, name: &str) -> Shape {
        let schema = self.schema_of(node);
        self.titled_shape(schema, node, name)
    }

    /// Returns the shape of a parameter's schema. The parameter itself may define names for the values.
    pub(super) fn parameter_shape(&mut self, parameter: &Node<'a>, node: &Node<'a>, name: &str) -> Shape {
        let mut schema = self.schema_of(node);
        let location =
            SchemaLocation { pointer: parameter.pointer.as_str().to_owned(), nesting: self.nesting };
        name_values(&mut schema, parameter.value, location, self);
        self.titled_shape(schema, node, name)
    }

    fn titled_shape(&mut self, mut schema: Value, node: &Node<'a>, name: &str) -> Shape {
        // The normal form has no titles, but the title of a field may contain unique information.
        if let (false, Some(title), Value::Object(schema)) =
            (name.is_empty(), node.value.get("title"), &mut schema)
            && !schema.contains_key("$ref")
        {
            schema.insert("title".to_owned(), title.clone());
        }
        self.read_shape(&schema, name, &node.pointer)
    }

    /// Returns the shape of a schema in normal form at this location of the document.
    fn read_shape(&mut self, schema: &Value, name: &str, pointer: &Pointer) -> Shape {
        let mut problems = Vec::new();
        let shape = read_normal_form(schema, name, &mut problems);
        for problem in problems {
            let location = self.nearest_location(pointer, &problem.pointer);
            self.report(codes::SCHEMA, &location, problem.message, CORRECT);
        }
        shape
    }

    /// Whether a location has a `$dynamicRef` that may resolve to one of several schemas.
    fn is_dynamic(&self, reference: &str, pointer: &Pointer) -> bool {
        let node = self.files.node_at(pointer);
        if node.is_none_or(|node| node.text("$ref").is_some() || node.text("$dynamicRef") != Some(reference))
        {
            return false;
        }
        let anchor = reference.split_once('#').map_or("", |(_, anchor)| anchor);
        let files = (0..self.files.len()).map(|index| self.files.root(index).value);
        !anchor.is_empty() && files.map(|file| count_dynamic(file, anchor)).sum::<usize>() > 1
    }

    /// Returns the types of a schema's values, if they are known without reading the schema.
    fn types_at(&self, node: &Node<'a>, remaining: &Cell<usize>) -> Option<Vec<&'static str>> {
        let target = |text: &str| {
            let target =
                self.locate(text, &node.pointer).and_then(|target| self.skip_references(target)).ok()?;
            self.types_at(&target, remaining)
        };
        types_taken(node.value, &target, remaining)
    }

    /// Returns the nearest existing location: the normal form has members that the document does not have.
    fn nearest_location(&self, base: &Pointer, path: &str) -> Pointer {
        let mut node = self.files.node_at(base).unwrap_or_else(|| Node::new(&Value::Null, base.clone()));
        let path = Pointer::parse(path).unwrap_or_default();
        for token in path.tokens() {
            let Some(next) = self.step(&node, &token) else { break };
            node = next;
        }
        node.pointer
    }
}

/// Counts the schemas in a file that have a `$dynamicAnchor` of this name.
fn count_dynamic(file: &Value, anchor: &str) -> usize {
    let mut count = 0;
    let mut pending = vec![file];
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(object) => {
                let own_anchor = object.get("$dynamicAnchor").and_then(Value::as_str);
                count += usize::from(own_anchor == Some(anchor));
                pending.extend(object.values());
            }
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    count
}

/// Maximum number of schemas that are examined to find the types of a schema.
const MAX_EXAMINED: usize = 500;

const ADD_TO_REQUIRED: &str = "list the property in `required` of the object that has it";
const CORRECT: &str = "correct the schema; the rest of it is used as it is";

impl<'a> Source<'a> for Context<'a> {
    fn rules(&self) -> SchemaVersion {
        self.version
    }

    fn report(&mut self, problem: ReadProblem) {
        let (code, help) = match problem.kind {
            ReadProblemKind::Type => {
                (codes::SCHEMA_TYPE, "use one of string, number, integer, boolean, object, array, null")
            }
            ReadProblemKind::Pattern => {
                (codes::PATTERN, "write it in the syntax of ECMA-262, without delimiters")
            }
            ReadProblemKind::PatternDialect => {
                (codes::PATTERN_DIALECT, "write it in the syntax of ECMA-262, without flags")
            }
            ReadProblemKind::PatternUnchecked => {
                (codes::PATTERN_DIALECT, "repeat less of it, or smaller parts")
            }
            ReadProblemKind::Default => (codes::DEFAULT, "correct the default or the schema"),
            ReadProblemKind::Values => (codes::CONTRADICTION, "write the values in the intended type"),
            ReadProblemKind::Names => {
                (codes::CHOICES, "write one string for each value, each a unique name of a variant")
            }
            ReadProblemKind::Draft => (codes::NEWER_KEYWORD, ADD_TO_REQUIRED),
            ReadProblemKind::Depth => (codes::SCHEMA_DEPTH, "name inner schemas, and refer to them"),
            _ => (codes::SCHEMA, CORRECT),
        };
        let mut pointer = Pointer::parse(&problem.pointer).unwrap_or_default();
        if problem.kind == ReadProblemKind::Keyword {
            pointer = pointer.parent().unwrap_or_default();
        }
        self.report(code, &pointer, problem.message, help);
    }

    fn written(&self, value: &Value, pointer: &str) -> Option<String> {
        self.files.source_text(value, &Pointer::parse(pointer)?).map(str::to_owned)
    }

    fn name_of(&mut self, reference: &'a str, pointer: &str) -> Option<String> {
        let pointer = Pointer::parse(pointer).unwrap_or_default();
        if self.is_dynamic(reference, &pointer) {
            let message = format!(
                "what `{reference}` means depends on the referring schema, as several schemas have this \
                 `$dynamicAnchor`; any value is accepted"
            );
            self.report(codes::SCHEMA, &pointer, message, "refer to the intended schema with `$ref`");
            return None;
        }
        let name = self.def_of(reference, &pointer);
        name.map_err(|error| {
            // An operation with an unknown request is omitted.
            let consequence = if self.is_of_request() && error != ResolveError::Cycle {
                ""
            } else {
                "; any value is accepted"
            };
            self.report_unknown(error, reference, &pointer, consequence);
        })
        .ok()
    }

    fn named_schema(&mut self, name: &str, nesting: Nesting) -> Option<Map<String, Value>> {
        let outer_nesting = std::mem::replace(&mut self.nesting, nesting);
        let schema = self.def(name);
        self.nesting = outer_nesting;
        match schema? {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    fn access_keyword(&self, name: &str) -> Option<&'static str> {
        self.defs.access_keyword(name)
    }

    fn is_open(&self, name: &str) -> bool {
        self.defs.is_open(name)
    }

    fn is_heir(&self, pointer: &str) -> bool {
        self.defs.is_subtype(pointer)
    }

    fn types_of(&self, name: &str) -> Option<Vec<&'static str>> {
        self.types_at(self.defs.node(name)?, &Cell::new(MAX_EXAMINED))
    }

    fn discriminator(
        &mut self,
        discriminator: &'a Value,
        union: &'a [Value],
        variants: &[Value],
        pointer: &str,
    ) -> Option<Value> {
        let location = Pointer::parse(pointer).unwrap_or_default();
        self.discriminator_of(discriminator, union, variants, &location)
    }

    fn keys<'k>(&self, keys: &mut dyn Iterator<Item = &'k str>) -> BTreeMap<&'k str, String> {
        portable_keys(keys)
    }
}

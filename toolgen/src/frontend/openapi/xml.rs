//! Reads the XML encoding of a schema's values from `xml` hints, or else from the names of components and fields.
//!
//! `wrapped` and `attribute` (before OpenAPI 3.2) and `nodeType` (3.2) are two notations for the same thing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolgen_core::spec::plan::{Xml, XmlContent, XmlField, XmlKind, XmlNode};
use toolgen_core::{List, Text};

use super::codes;
use super::context::Context;
use super::files::stem;
use super::node::Node;
use super::reference::target_of;
use crate::source::Pointer;

/// Maximum number of nested schemas, without a name between them, that are examined.
pub(super) const MAX_DEPTH: usize = 64;

/// The contents of referenced schemas by name, while they are collected.
type NamedContents = BTreeMap<String, XmlContent>;

/// The hints of a schema and its references about their representation in XML.
#[derive(Default)]
struct Hints {
    name: Option<String>,
    prefix: String,
    namespace: String,
    kind: Option<XmlKind>,
    /// Whether an array has a wrapping element.
    wrapped: bool,
    /// The name of the referenced component.
    component: Option<String>,
}

/// The fields and types that a schema and the schemas that it includes declare.
#[derive(Default)]
struct XmlFacts {
    fields: Vec<XmlField>,
    kinds: Vec<XmlContent>,
    seen: BTreeSet<Pointer>,
}

impl XmlFacts {
    fn content(self) -> XmlContent {
        let object = XmlContent::Object(List::EMPTY);
        match self.kinds.as_slice() {
            _ if !self.fields.is_empty() => XmlContent::Object(self.fields.into()),
            kinds if kinds.contains(&object) => object,
            [first, others @ ..] if others.iter().all(|kind| kind == first) => first.clone(),
            _ => XmlContent::Any,
        }
    }
}

impl<'a> Context<'a> {
    /// Returns the encoding of a schema's values as documents. The name of the root element is set by the schema, or
    /// else it is the name of its component, or else `name`.
    pub(super) fn xml(&mut self, schema: &Node<'a>, name: &str) -> Xml {
        let mut by_name = NamedContents::new();
        let hints = self.xml_hints(schema, MAX_DEPTH);
        let declared_name = hints.name.as_ref().or(hints.component.as_ref()).cloned();
        if declared_name.is_none() && name.is_empty() {
            self.report(
                codes::BODY,
                &schema.pointer,
                "the schema does not name the root element of the XML document; it is named `root`",
                "add `xml: { name: … }` to the schema",
            );
        }
        let name = declared_name
            .unwrap_or_else(|| if name.is_empty() { "root".to_owned() } else { name.to_owned() });
        let name = self.xml_name(&name, schema);
        let mut root = self.xml_node(schema, &name, &mut by_name, MAX_DEPTH);
        if root.kind != XmlKind::Element {
            // The root of a document is an element.
            root.kind = XmlKind::Element;
            root.name = name.into();
        }
        let named = by_name.into_iter().map(|(name, content)| (name.into(), content)).collect();
        Xml { root, named }
    }

    /// Returns the encoding of a value in XML; `own_name` is the name of its field or array.
    fn xml_node(
        &mut self,
        schema: &Node<'a>,
        own_name: &str,
        by_name: &mut NamedContents,
        depth: usize,
    ) -> XmlNode {
        let hints = self.xml_hints(schema, MAX_DEPTH);
        let is_list = self.xml_is_list(schema, MAX_DEPTH);
        let kind =
            hints.kind.unwrap_or(if is_list && !hints.wrapped { XmlKind::None } else { XmlKind::Element });
        let name = hints.name.map_or_else(|| own_name.to_owned(), |name| self.xml_name(&name, schema));
        let content = self.xml_content(schema, &name, by_name, depth);
        let nameless = matches!(kind, XmlKind::Text | XmlKind::Cdata | XmlKind::None);
        let name = if nameless { Text::EMPTY } else { name.into() };
        XmlNode { kind, name, prefix: hints.prefix.into(), namespace: hints.namespace.into(), content }
    }

    /// Returns the hints of a schema, and those of its target if it is only a reference.
    fn xml_hints(&mut self, schema: &Node<'a>, depth: usize) -> Hints {
        let mut hints = match self.xml_alias(schema) {
            Some(target) if depth > 0 => self.xml_hints(&target, depth - 1),
            _ => Hints::default(),
        };
        hints.component = component(&schema.pointer).or(hints.component);
        let Some(xml) = schema.get("xml") else { return hints };
        if let Some(name) = xml.text("name").filter(|name| !name.is_empty()) {
            // Published documents include the prefix in the name.
            let (prefix, local) = name.split_once(':').unwrap_or(("", name));
            hints.name = Some(local.to_owned());
            hints.prefix = prefix.to_owned();
        }
        let text = |key| xml.text(key).map(str::to_owned);
        hints.prefix = text("prefix").unwrap_or(hints.prefix);
        hints.namespace = text("namespace").unwrap_or(hints.namespace);
        hints.wrapped |= xml.is_true("wrapped");
        match xml.text("nodeType") {
            Some("element") => hints.kind = Some(XmlKind::Element),
            Some("attribute") => hints.kind = Some(XmlKind::Attribute),
            Some("text") => hints.kind = Some(XmlKind::Text),
            Some("cdata") => hints.kind = Some(XmlKind::Cdata),
            Some("none") => hints.kind = Some(XmlKind::None),
            Some(other) => self.report(
                codes::SCHEMA,
                &xml.pointer.child("nodeType"),
                format!("`nodeType: {other}` is not a kind of node; it is left out"),
                "use element, attribute, text, cdata or none",
            ),
            None if xml.is_true("attribute") => hints.kind = Some(XmlKind::Attribute),
            None => {}
        }
        hints
    }

    /// Returns the schema that this one is an alias of: by a reference, alone or in an `allOf`, which 3.0 needs to
    /// extend a reference.
    fn xml_alias(&self, schema: &Node<'a>) -> Option<Node<'a>> {
        self.locate(reference(schema)?, &schema.pointer).ok()
    }

    fn xml_is_list(&self, schema: &Node<'a>, depth: usize) -> bool {
        let is_list = types(schema).contains(&"array") || schema.get("items").is_some();
        is_list
            || (depth > 0 && self.xml_alias(schema).is_some_and(|alias| self.xml_is_list(&alias, depth - 1)))
    }

    fn xml_content(
        &mut self,
        schema: &Node<'a>,
        name: &str,
        by_name: &mut NamedContents,
        depth: usize,
    ) -> XmlContent {
        let Some(depth) = depth.checked_sub(1) else { return XmlContent::Any };
        let has = |key: &str| schema.get(key).is_some();
        let composed = ["$ref", "allOf", "oneOf", "anyOf"].into_iter().any(has);
        let extends = ["properties", "items", "oneOf", "anyOf"].into_iter().any(has);
        if self.xml_is_list(schema, 0) {
            return self.xml_list(schema, name, by_name, depth);
        }
        if let Some(text) = reference(schema).filter(|_| !extends) {
            let (Ok(def), Ok(target)) =
                (self.def_of(text, &schema.pointer), self.locate(text, &schema.pointer))
            else {
                return XmlContent::Any;
            };
            // The items of an array have the name of the field.
            let is_list = self.xml_is_list(&target, MAX_DEPTH);
            let depth = if is_list { depth } else { MAX_DEPTH };
            let read =
                |cx: &mut Self, by_name: &mut NamedContents| cx.xml_content(&target, name, by_name, depth);
            return if is_list { read(self, by_name) } else { self.xml_named(def, by_name, read) };
        }
        let read = |cx: &mut Self, by_name: &mut NamedContents| {
            let mut facts = XmlFacts::default();
            cx.xml_fields(schema, by_name, &mut facts, depth);
            facts.content()
        };
        // A schema that includes other schemas may include itself.
        if composed {
            self.xml_named(schema.pointer.as_str().to_owned(), by_name, read)
        } else {
            read(self, by_name)
        }
    }

    /// Returns a reference to a named content, which is read unless it is known.
    fn xml_named(
        &mut self,
        name: String,
        by_name: &mut NamedContents,
        read: impl FnOnce(&mut Self, &mut NamedContents) -> XmlContent,
    ) -> XmlContent {
        if !by_name.contains_key(&name) {
            by_name.insert(name.clone(), XmlContent::Any);
            let content = read(self, by_name);
            by_name.insert(name.clone(), content);
        }
        XmlContent::Named(name.into())
    }

    fn xml_list(
        &mut self,
        schema: &Node<'a>,
        name: &str,
        by_name: &mut NamedContents,
        depth: usize,
    ) -> XmlContent {
        let mut nodes = schema.items("prefixItems");
        nodes.extend(schema.get("items"));
        let nodes = nodes.iter().map(|item| {
            let mut node = self.xml_node(item, name, by_name, depth);
            if node.kind != XmlKind::Element {
                // An item is a separate value, so an array in an array has an element.
                node = XmlNode { kind: XmlKind::Element, name: name.to_owned().into(), ..node };
            }
            node
        });
        XmlContent::List(nodes.collect())
    }

    /// Collects the fields of an object, from all schemas that it includes, and the kinds of its other values.
    fn xml_fields(
        &mut self,
        schema: &Node<'a>,
        by_name: &mut NamedContents,
        facts: &mut XmlFacts,
        depth: usize,
    ) {
        let Some(depth) = depth.checked_sub(1) else { return };
        if !facts.seen.insert(schema.pointer.clone()) {
            return;
        }
        for (key, property) in schema.members("properties") {
            if !facts.fields.iter().any(|field| field.key == key) {
                let name = self.xml_name(key, &property);
                let node = self.xml_node(&property, &name, by_name, depth);
                facts.fields.push(XmlField { key: key.to_owned().into(), node });
            }
        }
        let parts = ["allOf", "oneOf", "anyOf"].into_iter().flat_map(|key| schema.items(key));
        let target = target_of(schema.value).and_then(|text| self.locate(text, &schema.pointer).ok());
        for part in target.into_iter().chain(parts) {
            self.xml_fields(&part, by_name, facts, depth);
        }
        let extra = schema.get("additionalProperties");
        let extra = extra.filter(|extra| extra.object().is_some_and(|rules| !rules.is_empty()));
        if let Some(extra) = extra.filter(|_| facts.fields.iter().all(|field| !field.key.is_empty())) {
            let node = self.xml_node(&extra, "", by_name, depth);
            facts.fields.push(XmlField { key: Text::EMPTY, node });
        }
        facts.kinds.extend(types(schema).into_iter().map(|name| match name {
            "integer" | "number" => XmlContent::Number,
            "boolean" => XmlContent::Boolean,
            "object" => XmlContent::Object(List::EMPTY),
            "string" => XmlContent::Text,
            _ => XmlContent::Any,
        }));
    }

    /// Returns a valid XML name. Invalid characters are reported and replaced with `_`.
    fn xml_name(&mut self, name: &str, node: &Node<'a>) -> String {
        let is_legal = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.');
        let mut valid_name: String =
            name.chars().map(|char| if is_legal(char) { char } else { '_' }).collect();
        if !valid_name.starts_with(|char: char| char.is_alphabetic() || char == '_') {
            valid_name.insert(0, '_');
        }
        if valid_name != name {
            self.report(
                codes::SCHEMA,
                &node.pointer,
                format!("`{name}` cannot be a name in XML; it is written as `{valid_name}`"),
                "add `xml: { name: … }`",
            );
        }
        valid_name
    }

    /// Returns the schema of a field, from any schema that its object includes.
    pub(super) fn property_of(&self, schema: &Node<'a>, name: &str, depth: usize) -> Option<Node<'a>> {
        let depth = depth.checked_sub(1)?;
        let property = schema.members("properties").into_iter().find(|(key, _)| *key == name);
        if let Some((_, property)) = property {
            return Some(property);
        }
        let parts = ["allOf", "oneOf", "anyOf"].into_iter().flat_map(|key| schema.items(key));
        let target = target_of(schema.value).and_then(|text| self.locate(text, &schema.pointer).ok());
        target.into_iter().chain(parts).find_map(|part| self.property_of(&part, name, depth))
    }
}

/// Returns the reference in a schema: its own, or that of the only item of its `allOf`.
fn reference<'a>(schema: &Node<'a>) -> Option<&'a str> {
    let direct = target_of(schema.value);
    direct.or_else(|| match schema.items("allOf").as_slice() {
        [item] => target_of(item.value),
        _ => None,
    })
}

/// Returns the name of the component at a location: in a document, in a definitions file, or in a separate file.
fn component(pointer: &Pointer) -> Option<String> {
    let tokens: Vec<_> = pointer.tokens().collect();
    let tokens: Vec<&str> = tokens.iter().map(|token| &**token).collect();
    match tokens.as_slice() {
        [file] => stem(file),
        [.., "components", "schemas", name] | ["definitions", name] | [_, "definitions", name] => {
            Some((*name).to_owned())
        }
        _ => None,
    }
}

/// Returns the types that a schema declares, except `null`.
fn types<'a>(schema: &Node<'a>) -> Vec<&'a str> {
    let names = match schema.object().and_then(|object| object.get("type")) {
        Some(Value::String(name)) => vec![name.as_str()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    names.into_iter().filter(|name| *name != "null").collect()
}

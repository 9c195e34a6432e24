//! Writes a value as an XML document.

use quick_xml::escape::{escape, partial_escape};
use serde_json::{Map, Value};
use toolgen_kernel::base::frozen::{List, Text};
use toolgen_kernel::spec::plan::{Xml, XmlContent, XmlField, XmlKind, XmlNode};

use super::super::style;
use super::{DECLARATION, MAX_DEPTH, TEXT_KEY, XSI, resolved};

/// An element before it is written: attributes may be added after child elements.
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    /// The content, as XML.
    content: String,
    /// The namespaces in scope, by prefix. The last entry of a prefix applies.
    scope: Vec<(Text, Text)>,
}

/// Writes a value as a document.
///
/// # Errors
///
/// Returns a message for the caller of the tool if XML cannot represent the value.
pub(in super::super) fn write(value: &Value, xml: &Xml) -> Result<String, String> {
    let mut document = DECLARATION.to_owned();
    Writer { xml }.element(&xml.root, &xml.root.name, value, &[], 0, &mut document)?;
    Ok(document)
}

struct Writer<'x> {
    xml: &'x Xml,
}

impl Writer<'_> {
    /// Writes an element.
    fn element(
        &self,
        node: &XmlNode,
        key: &str,
        value: &Value,
        scope: &[(Text, Text)],
        depth: usize,
        out: &mut String,
    ) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("the elements are nested more than {MAX_DEPTH} levels deep"));
        }
        let mut element = Element {
            name: String::new(),
            attributes: Vec::new(),
            content: String::new(),
            scope: scope.to_vec(),
        };
        element.name = element.qualified_name(node, key)?;
        self.fill(&mut element, &node.content, key, value, depth)?;
        element.finish(out);
        Ok(())
    }

    /// Writes a value into an element.
    fn fill(
        &self,
        element: &mut Element,
        content: &XmlContent,
        key: &str,
        value: &Value,
        depth: usize,
    ) -> Result<(), String> {
        match (resolved(self.xml, content), value) {
            (_, Value::Null) => {
                element.declare("xsi", XSI);
                element.attributes.push(("xsi:nil".to_owned(), "true".to_owned()));
            }
            (XmlContent::Object(fields), Value::Object(members)) => {
                self.object(element, fields, members, depth)?;
            }
            (_, Value::Object(members)) => self.object(element, &List::EMPTY, members, depth)?,
            (XmlContent::List(nodes), value) => self.items(element, nodes, key, value, depth)?,
            (_, Value::Array(_)) => self.items(element, &List::EMPTY, "item", value, depth)?,
            (_, value) => element.content.push_str(&escaped_text(value)?),
        }
        Ok(())
    }

    /// Writes the items of an array, each as an element.
    fn items(
        &self,
        element: &mut Element,
        nodes: &List<XmlNode>,
        key: &str,
        value: &Value,
        depth: usize,
    ) -> Result<(), String> {
        let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for (index, item) in items.iter().enumerate() {
            let node = nodes.get(index).or(nodes.last()).unwrap_or(&XmlNode::EMPTY);
            let Element { scope, content, .. } = element;
            self.element(node, key, item, scope, depth + 1, content)?;
        }
        Ok(())
    }

    /// Writes the fields of an object in the order of the schema, because XML sequences are ordered, and then all
    /// others.
    fn object(
        &self,
        element: &mut Element,
        fields: &List<XmlField>,
        members: &Map<String, Value>,
        depth: usize,
    ) -> Result<(), String> {
        let declared_fields = || fields.iter().filter(|field| !field.key.is_empty());
        for field in declared_fields() {
            if let Some(value) = members.get(field.key.as_str()) {
                self.field(element, &field.node, &field.key, value, depth)?;
            }
        }
        let other_fields = fields.iter().find(|field| field.key.is_empty());
        for (key, value) in
            members.iter().filter(|(key, _)| declared_fields().all(|field| field.key != key.as_str()))
        {
            if let Some(name) = key.strip_prefix('@') {
                let node = XmlNode { kind: XmlKind::Attribute, ..XmlNode::EMPTY };
                self.field(element, &node, name, value, depth)?;
            } else if key == TEXT_KEY {
                element.content.push_str(&escaped_text(value)?);
            } else {
                self.field(
                    element,
                    other_fields.map_or(&XmlNode::EMPTY, |field| &field.node),
                    key,
                    value,
                    depth,
                )?;
            }
        }
        Ok(())
    }

    fn field(
        &self,
        element: &mut Element,
        node: &XmlNode,
        key: &str,
        value: &Value,
        depth: usize,
    ) -> Result<(), String> {
        match node.kind {
            XmlKind::Attribute | XmlKind::Text | XmlKind::Cdata | XmlKind::None if value.is_null() => {}
            XmlKind::Attribute => {
                let name = element.attribute_name(node, key)?;
                let value = match value {
                    // A list of simple values, as in XML Schema.
                    Value::Array(items) => items.iter().map(style::text).collect::<Vec<_>>().join(" "),
                    value => style::text(value),
                };
                element.attributes.push((name, escaped_attribute(&value)?));
            }
            XmlKind::Text => element.content.push_str(&escaped_text(value)?),
            XmlKind::Cdata => {
                let text = style::text(value);
                check_chars(&text)?;
                let text = text.replace("]]>", "]]]]><![CDATA[>");
                element.content.push_str(&format!("<![CDATA[{text}]]>"));
            }
            XmlKind::None => {
                let name = if node.name.is_empty() { key } else { &node.name };
                self.fill(element, &node.content, name, value, depth + 1)?;
            }
            XmlKind::Element => {
                let is_repeated = !matches!(resolved(self.xml, &node.content), XmlContent::List(_));
                let values = value.as_array().filter(|_| is_repeated).map(Vec::as_slice);
                let Element { scope, content, .. } = element;
                for value in values.unwrap_or_else(|| std::slice::from_ref(value)) {
                    self.element(node, key, value, scope, depth + 1, content)?;
                }
            }
        }
        Ok(())
    }
}

impl Element {
    /// Returns the name of the element, and declares its namespace.
    fn qualified_name(&mut self, node: &XmlNode, key: &str) -> Result<String, String> {
        let local = if node.name.is_empty() { key } else { &node.name };
        let local = check_name(local)?;
        let prefix = node.prefix.as_str();
        if !node.namespace.is_empty() {
            self.declare(prefix, &node.namespace);
        } else if !self.has_prefix(prefix) {
            return Ok(local.to_owned());
        }
        Ok(if prefix.is_empty() { local.to_owned() } else { format!("{prefix}:{local}") })
    }

    /// Returns the name of an attribute. An attribute without a prefix is in no namespace.
    fn attribute_name(&mut self, node: &XmlNode, key: &str) -> Result<String, String> {
        let local = check_name(if node.name.is_empty() { key } else { &node.name })?;
        let prefix = node.prefix.as_str();
        if !prefix.is_empty() && !node.namespace.is_empty() {
            self.declare(prefix, &node.namespace);
        }
        let is_declared = !prefix.is_empty() && self.has_prefix(prefix);
        Ok(if is_declared { format!("{prefix}:{local}") } else { local.to_owned() })
    }

    fn namespace(&self, prefix: &str) -> Option<&Text> {
        self.scope.iter().rev().find(|(declared, _)| declared == prefix).map(|(_, namespace)| namespace)
    }

    fn has_prefix(&self, prefix: &str) -> bool {
        prefix == "xml" || self.namespace(prefix).is_some()
    }

    fn declare(&mut self, prefix: &str, namespace: &str) {
        if self.namespace(prefix).is_some_and(|declared| declared == namespace) {
            return;
        }
        let name = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
        self.attributes.push((name, escape(namespace).into_owned()));
        self.scope.push((prefix.to_owned().into(), namespace.to_owned().into()));
    }

    fn finish(self, out: &mut String) {
        let Element { name, attributes, content, .. } = self;
        out.push_str(&format!("<{name}"));
        for (name, value) in attributes {
            out.push_str(&format!(" {name}=\"{value}\""));
        }
        if content.is_empty() {
            out.push_str("/>");
        } else {
            out.push_str(&format!(">{content}</{name}>"));
        }
    }
}

fn escaped_text(value: &Value) -> Result<String, String> {
    let text = style::text(value);
    check_chars(&text)?;
    // A parser would replace a carriage return by a line feed.
    Ok(partial_escape(text.as_str()).replace('\r', "&#13;"))
}

fn escaped_attribute(text: &str) -> Result<String, String> {
    check_chars(text)?;
    // A parser would replace line breaks and tabs by spaces.
    Ok(escape(text).replace('\r', "&#13;").replace('\n', "&#10;").replace('\t', "&#9;"))
}

/// Rejects characters that no XML document can contain (XML 1.0, "Characters").
fn check_chars(text: &str) -> Result<(), String> {
    let is_illegal = |char: &char| matches!(char, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    match text.chars().find(is_illegal) {
        None => Ok(()),
        Some(char) => Err(format!("XML cannot contain the character U+{:04X}", u32::from(char))),
    }
}

/// Returns the name if it is valid for an element or an attribute.
fn check_name(text: &str) -> Result<&str, String> {
    let is_valid_start = text.chars().next().is_some_and(|char| char.is_alphabetic() || char == '_');
    let is_valid_rest =
        text.chars().all(|char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | '\u{b7}'));
    if is_valid_start && is_valid_rest { Ok(text) } else { Err(format!("`{text}` cannot be a name in XML")) }
}

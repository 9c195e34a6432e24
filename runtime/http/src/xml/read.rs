//! Parses an XML document as a value.

use serde_json::{Map, Number, Value};
use toolgen_kernel::base::frozen::List;
use toolgen_kernel::spec::plan::{Xml, XmlContent, XmlField, XmlKind, XmlNode};

use super::tree::{Element, Name, parse};
use super::{MAX_DEPTH, TEXT_KEY, resolved};

/// Parses a document as the value that its schema describes. Parts that the schema does not describe are kept: no
/// part of a document is lost, and a value of the wrong type is a string.
///
/// # Errors
///
/// Returns a message if the text cannot be parsed.
pub(in super::super) fn read(text: &str, xml: &Xml) -> Result<Value, String> {
    Reader { xml }.value(&parse(text)?, &xml.root.content, 0)
}

struct Reader<'x> {
    xml: &'x Xml,
}

impl Reader<'_> {
    fn value(&self, element: &Element, content: &XmlContent, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err(format!("its schema nests values more than {MAX_DEPTH} levels deep"));
        }
        if element.nil {
            return Ok(Value::Null);
        }
        Ok(match resolved(self.xml, content) {
            XmlContent::Object(fields) => self.object(element, fields, depth)?,
            XmlContent::List(nodes) => {
                let has_named_child = nodes
                    .iter()
                    .any(|node| element.children.iter().any(|child| matches_node(&child.name, node)));
                // Services name the items of arrays differently from their documents.
                let items = element.children.iter().filter(|child| {
                    !has_named_child
                        || nodes.iter().any(|node| node.name.is_empty() || matches_node(&child.name, node))
                });
                self.items(items, nodes, depth)?
            }
            _ if !element.children.is_empty() || !element.attributes.is_empty() => {
                self.object(element, &List::EMPTY, depth)?
            }
            content => scalar(&element.text, content),
        })
    }

    fn items<'e>(
        &self,
        items: impl Iterator<Item = &'e Element>,
        nodes: &List<XmlNode>,
        depth: usize,
    ) -> Result<Value, String> {
        let items = items.enumerate().map(|(index, item)| {
            let node = nodes.get(index).or(nodes.last()).unwrap_or(&XmlNode::EMPTY);
            self.value(item, &node.content, depth + 1)
        });
        Ok(Value::Array(items.collect::<Result<_, _>>()?))
    }

    /// Parses the declared fields of an object, and then all other nodes.
    fn object(&self, element: &Element, fields: &List<XmlField>, depth: usize) -> Result<Value, String> {
        let mut out = Map::new();
        let mut unmatched = Unmatched {
            children: element.children.iter().map(Some).collect(),
            attributes: element.attributes.iter().map(Some).collect(),
            text: true,
        };
        self.fields(element, fields, &mut unmatched, &mut out, depth)?;
        for (name, value) in unmatched.attributes.into_iter().flatten() {
            out.insert(format!("@{}", name.local), Value::String(value.clone()));
        }
        let other_fields = fields.iter().find(|field| field.key.is_empty());
        let content = other_fields.map_or(&XmlContent::Any, |field| &field.node.content);
        for child in unmatched.children.into_iter().flatten() {
            let value = self.value(child, content, depth + 1)?;
            insert_or_append(&mut out, &child.name.local, value);
        }
        if unmatched.text && !element.text.trim().is_empty() {
            out.insert(TEXT_KEY.to_owned(), Value::String(element.text.clone()));
        }
        Ok(Value::Object(out))
    }

    fn fields<'e>(
        &self,
        element: &'e Element,
        fields: &List<XmlField>,
        unmatched: &mut Unmatched<'e>,
        out: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("its schema nests values more than {MAX_DEPTH} levels deep"));
        }
        for XmlField { key, node } in fields.iter().filter(|field| !field.key.is_empty()) {
            let content = resolved(self.xml, &node.content);
            let value = match (node.kind, content) {
                (XmlKind::Attribute, _) => unmatched.attribute(node).map(|text| attribute(text, content)),
                (XmlKind::Text | XmlKind::Cdata, _) => {
                    unmatched.text = false;
                    Some(scalar(&element.text, content))
                }
                (XmlKind::None, XmlContent::List(nodes)) => {
                    let items = unmatched.take(key, |name| nodes.iter().any(|node| matches_node(name, node)));
                    Some(self.items(items.into_iter(), nodes, depth)?)
                }
                (XmlKind::None, XmlContent::Object(inner)) => {
                    let mut object = Map::new();
                    self.fields(element, inner, unmatched, &mut object, depth + 1)?;
                    (!object.is_empty()).then_some(Value::Object(object))
                }
                (XmlKind::Element | XmlKind::None, content) => {
                    let mut values = Vec::new();
                    for child in unmatched.take(key, |name| matches_node(name, node)) {
                        values.push(self.value(child, content, depth + 1)?);
                    }
                    // An element that occurs more often than the schema allows becomes an array.
                    if values.len() > 1 { Some(Value::Array(values)) } else { values.pop() }
                }
            };
            if let Some(value) = value {
                out.insert(key.to_string(), value);
            }
        }
        Ok(())
    }
}

/// The nodes that no field has used yet.
struct Unmatched<'e> {
    children: Vec<Option<&'e Element>>,
    attributes: Vec<Option<&'e (Name, String)>>,
    text: bool,
}

impl<'e> Unmatched<'e> {
    /// Removes the elements with a matching name, or else the elements named like the key of the field. Services use
    /// the XML name of a schema either for the root element only, or also for fields of other objects.
    fn take(&mut self, key: &str, is_match: impl Fn(&Name) -> bool) -> Vec<&'e Element> {
        let mut take_matching = |is_match: &dyn Fn(&Name) -> bool| -> Vec<&'e Element> {
            let matching =
                self.children.iter_mut().filter(|child| child.is_some_and(|child| is_match(&child.name)));
            matching.filter_map(Option::take).collect()
        };
        let matching = take_matching(&is_match);
        if matching.is_empty() { take_matching(&|name| name.local == key) } else { matching }
    }

    fn attribute(&mut self, node: &XmlNode) -> Option<&'e str> {
        let is_match = |attribute: &&mut Option<&(Name, String)>| {
            attribute.is_some_and(|(name, _)| matches_node(name, node))
        };
        let (_, value) = self.attributes.iter_mut().find(is_match)?.take()?;
        Some(value)
    }
}

/// Whether a name matches a node. Services and schemas omit namespaces, so names differ only if both have a
/// namespace.
fn matches_node(name: &Name, node: &XmlNode) -> bool {
    let namespace = node.namespace.as_str();
    name.local == node.name.as_str()
        && (namespace.is_empty() || name.namespace.is_empty() || name.namespace == namespace)
}

fn insert_or_append(out: &mut Map<String, Value>, key: &str, value: Value) {
    match out.get_mut(key) {
        None => drop(out.insert(key.to_owned(), value)),
        Some(Value::Array(items)) => items.push(value),
        Some(first) => *first = Value::Array(vec![first.take(), value]),
    }
}

fn attribute(text: &str, content: &XmlContent) -> Value {
    match content {
        // A list of simple values (XML Schema), verbatim.
        XmlContent::List(nodes) => {
            let content = nodes.first().map_or(&XmlContent::Text, |node| &node.content);
            text.split_ascii_whitespace().map(|item| scalar(item, content)).collect()
        }
        content => scalar(text, content),
    }
}

/// Parses a scalar. Text that does not have the type, or that would not round-trip, remains a string.
fn scalar(text: &str, content: &XmlContent) -> Value {
    let trimmed = text.trim();
    let typed = match content {
        XmlContent::Number | XmlContent::Boolean if trimmed.is_empty() => Some(Value::Null),
        XmlContent::Number => {
            let is_exact =
                |number: &Number| number.is_i64() || number.is_u64() || trimmed.contains(['.', 'e', 'E']);
            serde_json::from_str::<Number>(trimmed).ok().filter(is_exact).map(Value::Number)
        }
        XmlContent::Boolean => match trimmed {
            "true" | "1" => Some(Value::Bool(true)),
            "false" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        _ => None,
    };
    typed.unwrap_or_else(|| Value::String(text.to_owned()))
}

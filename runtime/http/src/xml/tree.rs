//! Parses an XML document to a tree of elements.
//!
//! Entities that a document declares are not expanded, and no external resource is read.

use quick_xml::NsReader;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::{NamespaceResolver, ResolveResult};

use super::{MAX_DEPTH, XSI};

/// An element.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: Name,
    pub(super) attributes: Vec<(Name, String)>,
    pub(super) children: Vec<Element>,
    /// The concatenated text of the element, without that of its children.
    pub(super) text: String,
    /// Whether the element is marked as `null`.
    pub(super) nil: bool,
}

/// A name with its namespace, which is resolved from the prefix. The namespace is empty if there is none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) namespace: String,
    pub(super) local: String,
}

/// Parses a document.
///
/// # Errors
///
/// Returns a message if the document is invalid, or not supported.
pub(super) fn parse(text: &str) -> Result<Element, String> {
    let mut reader = NsReader::from_str(text);
    let mut root: Option<Element> = None;
    let mut open: Vec<Element> = Vec::new();
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        let closed = match event {
            Event::Start(start) => {
                if open.len() >= MAX_DEPTH {
                    return Err(format!("the elements are nested more than {MAX_DEPTH} levels deep"));
                }
                open.push(element(&start, reader.resolver())?);
                None
            }
            Event::Empty(start) => Some(element(&start, reader.resolver())?),
            Event::End(_) => open.pop(),
            Event::Text(text) => {
                append_text(&mut open, &text.xml10_content());
                None
            }
            Event::CData(text) => {
                append_text(&mut open, &text.xml10_content());
                None
            }
            Event::GeneralRef(reference) => {
                append_text(&mut open, &resolve_reference(&reference)?);
                None
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => None,
        };
        let Some(closed) = closed else { continue };
        match open.last_mut() {
            Some(parent) => parent.children.push(closed),
            None if root.is_none() => root = Some(closed),
            None => return Err("it has a second root element".to_owned()),
        }
    }
    match root {
        Some(root) if open.is_empty() => Ok(root),
        _ => Err("it ends before its root element does".to_owned()),
    }
}

fn append_text(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

/// Resolves a reference: a character reference, or one of the five predefined entities of XML.
fn resolve_reference(reference: &BytesRef<'_>) -> Result<String, String> {
    if let Some(char) = reference.resolve_char_ref().map_err(|error| error.to_string())? {
        return Ok(char.to_string());
    }
    let name: &str = reference;
    let entity = resolve_predefined_entity(name).map(str::to_owned);
    entity.ok_or_else(|| {
        format!("it contains the entity `&{name};`; only the predefined entities of XML are supported")
    })
}

fn element(start: &BytesStart<'_>, resolver: &NamespaceResolver) -> Result<Element, String> {
    let (namespace, local) = resolver.resolve_element(start.name());
    let mut element = Element { name: name(&namespace, local.as_ref()), ..Element::default() };
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        if attribute.key.as_namespace_binding().is_some() {
            continue;
        }
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
        let (namespace, local) = resolver.resolve_attribute(attribute.key);
        let name = name(&namespace, local.as_ref());
        if name.namespace != XSI {
            element.attributes.push((name, value.into_owned()));
        } else if name.local == "nil" {
            element.nil = matches!(value.as_ref(), "true" | "1");
        }
    }
    Ok(element)
}

fn name(namespace: &ResolveResult<'_>, local: &str) -> Name {
    let namespace = match namespace {
        ResolveResult::Bound(namespace) => namespace.as_ref(),
        _ => "",
    };
    Name { namespace: namespace.to_owned(), local: local.to_owned() }
}

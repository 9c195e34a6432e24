//! How a value is written as an XML document, as data: what the `xml` hints of its schema say.

use crate::base::frozen::{List, Text};

/// How a value is written as an XML document.
#[derive(Clone, Debug, PartialEq)]
pub struct Xml {
    /// The root element.
    pub root: XmlNode,
    /// Contents by name, so that an element may contain itself.
    pub named: List<(Text, XmlContent)>,
}

/// How a value is written as a part of an XML document.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlNode {
    /// The kind of part.
    pub kind: XmlKind,
    /// The name, without a prefix. Empty for a part that has none.
    pub name: Text,
    /// The prefix of the name. May be empty.
    pub prefix: Text,
    /// The namespace, a URI. Empty for that of the element around it.
    pub namespace: Text,
    /// Its content.
    pub content: XmlContent,
}

impl XmlNode {
    /// An element without a name whose content is any: the base of every literal.
    pub const EMPTY: XmlNode = XmlNode {
        kind: XmlKind::Element,
        name: Text::EMPTY,
        prefix: Text::EMPTY,
        namespace: Text::EMPTY,
        content: XmlContent::Any,
    };
}

/// The kinds of parts of an XML document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlKind {
    /// An element.
    Element,
    /// An attribute of the element around it.
    Attribute,
    /// The text of the element around it.
    Text,
    /// The text of the element around it, written as CDATA.
    Cdata,
    /// Nothing of its own: its content is in the element around it.
    None,
}

/// The content of a part of an XML document.
#[derive(Clone, Debug, PartialEq)]
pub enum XmlContent {
    /// Any content. An object is elements, with attributes under keys that start with `@`, and a text next to them
    /// under `#text`; a list is an element each.
    Any,
    /// A text.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A list. Each item has the node of its position, and those beyond have the last one.
    List(List<XmlNode>),
    /// An object, by its fields. Those that are not listed are elements of any content.
    Object(List<XmlField>),
    /// The content of this name in [`Xml::named`].
    Named(Text),
}

/// A field of an object, and what it is in XML.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlField {
    /// The key in the data. Empty for all keys that are not listed, each of which names its element.
    pub key: Text,
    /// What it is in XML.
    pub node: XmlNode,
}

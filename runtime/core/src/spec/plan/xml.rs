//! How a value is written as an XML document, as data, from the `xml` hints of its schema.

use crate::base::frozen::{List, Text};

/// How a value is written as an XML document.
#[derive(Clone, Debug, PartialEq)]
pub struct Xml {
    /// The root element.
    pub root: XmlNode,
    /// Contents by name, so that an element can contain itself.
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
    /// The namespace, a URI. Empty for that of the parent element.
    pub namespace: Text,
    /// The content.
    pub content: XmlContent,
}

impl XmlNode {
    /// An element without a name and with any content: the base of every literal.
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
    /// An attribute of the parent element.
    Attribute,
    /// The text of the parent element.
    Text,
    /// The text of the parent element, written as CDATA.
    Cdata,
    /// No node: the content is directly in the parent element.
    None,
}

/// The content of a part of an XML document.
#[derive(Clone, Debug, PartialEq)]
pub enum XmlContent {
    /// Any content. The members of an object become elements. Keys that start with `@` become attributes, and `#text`
    /// becomes the text next to them. A list becomes one element per item.
    Any,
    /// Text.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A list. Each item has the node of its position; further items have the last node.
    List(List<XmlNode>),
    /// An object, by its fields. Fields that are not listed become elements with any content.
    Object(List<XmlField>),
    /// The content of this name in [`Xml::named`].
    Named(Text),
}

/// A field of an object, and its form in XML.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlField {
    /// The key in the data. Empty for all keys that are not listed; each of them is the name of its element.
    pub key: Text,
    /// Its form in XML.
    pub node: XmlNode,
}

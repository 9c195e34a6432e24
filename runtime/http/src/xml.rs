//! Converts values to XML documents, and XML documents to values.

mod read;
#[cfg(test)]
mod tests;
mod tree;
mod write;

use std::borrow::Cow;

use serde_json::{Map, Value};

use toolgen_kernel::spec::plan::{Encoding, Xml, XmlContent};

pub(super) use read::read;
pub(super) use write::write;

/// The namespace of `xsi:nil`, which marks a `null` element.
const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// The key of text next to attributes or elements, in an object without a schema.
const TEXT_KEY: &str = "#text";

/// Maximum nesting depth of elements and of their content.
const MAX_DEPTH: usize = 128;

/// The XML declaration of the documents that are written.
pub(super) const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

/// Replaces values that are sent as XML by their documents. An array becomes one document per item, unless the schema
/// describes how the array is a single document. Values that cannot be written are passed to `report`, with their
/// keys.
pub(super) fn replace_xml_values<'v, 'p>(
    values: &'v Map<String, Value>,
    encodings: impl Iterator<Item = (&'p str, &'p Encoding)>,
    mut report: impl FnMut(&str, String),
) -> Cow<'v, Map<String, Value>> {
    let mut values = Cow::Borrowed(values);
    for (key, encoding) in encodings {
        let (Encoding::Xml(xml), Some(value)) = (encoding, values.get(key)) else { continue };
        let text = match value {
            Value::Null => continue,
            Value::Array(items) if !matches!(resolved(xml, &xml.root.content), XmlContent::List(_)) => {
                items.iter().map(|item| write(item, xml).map(Value::String)).collect()
            }
            value => write(value, xml).map(Value::String),
        };
        match text {
            Ok(text) => drop(values.to_mut().insert(key.to_owned(), text)),
            Err(error) => report(key, error),
        }
    }
    values
}

/// Returns the content, or the content that a reference names.
fn resolved<'x>(xml: &'x Xml, content: &'x XmlContent) -> &'x XmlContent {
    match content {
        XmlContent::Named(name) => xml
            .named
            .iter()
            .find(|(definition, _)| definition == name)
            .map_or(&XmlContent::Any, |(_, content)| content),
        content => content,
    }
}

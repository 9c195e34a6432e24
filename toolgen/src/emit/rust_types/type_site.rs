//! The location of a shape in a document.

use super::super::idents;
use super::super::literal::visible;
use super::usage::Usage;
use crate::names::spell_comparisons;

/// Returns the name of a nested type, derived from the name of its parent: `Self_` is valid, but `Self_Item` is not
/// Rust style.
pub(super) fn nested_name(name: &str, suffix: &str) -> String {
    format!("{}{suffix}", name.trim_end_matches('_'))
}

/// The properties of a shape's location that its type depends on.
#[derive(Clone)]
pub(super) struct TypeSite {
    /// The name that a type gets at this location.
    pub(super) name: String,
    /// The key in the enclosing object.
    pub(super) key: String,
    /// The documentation of a type without a description in the document.
    pub(super) fallback_doc: String,
    pub(super) usage: Usage,
    pub(super) nesting: usize,
}

impl TypeSite {
    /// Returns the location of a top-level type, whose name the names of its parts are derived from.
    pub(super) fn new(name: &str, fallback_doc: String, usage: Usage) -> TypeSite {
        TypeSite { name: name.to_owned(), key: String::new(), fallback_doc, usage, nesting: 0 }
    }

    /// Returns the location of a part without a key.
    pub(super) fn inner(&self, part: &str) -> TypeSite {
        let name = nested_name(&self.name, &idents::camel(part));
        TypeSite { name, nesting: self.nesting + 1, ..self.clone() }
    }

    /// Returns the location of a field.
    pub(super) fn field(&self, key: &str) -> TypeSite {
        let fallback_doc = format!("`{}` of `{}`.", visible(key), self.name);
        TypeSite { key: key.to_owned(), fallback_doc, ..self.inner(&spell_comparisons(key)) }
    }
}

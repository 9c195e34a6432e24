//! The location of a shape in a document.

use super::super::idents;
use super::super::literal::visible;
use super::usage::Usage;
use crate::names::spelled;

/// Returns the name of a nested type, derived from the name of its parent: `Self_` is valid, but `Self_Item` is not
/// Rust style.
pub(super) fn longer(name: &str, rest: &str) -> String {
    format!("{}{rest}", name.trim_end_matches('_'))
}

/// The properties of a shape's location that its type depends on.
#[derive(Clone)]
pub(super) struct TypeSite {
    /// The name of a type made here.
    pub(super) name: String,
    /// The key in the enclosing object.
    pub(super) key: String,
    /// The noun for a type without a description in the document.
    pub(super) what: String,
    pub(super) usage: Usage,
    pub(super) nesting: usize,
}

impl TypeSite {
    /// Returns the location of a whole, which the names of its types are derived from.
    pub(super) fn new(name: &str, what: String, usage: Usage) -> TypeSite {
        TypeSite { name: name.to_owned(), key: String::new(), what, usage, nesting: 0 }
    }

    /// Returns the location of a part without a key.
    pub(super) fn inner(&self, part: &str) -> TypeSite {
        let name = longer(&self.name, &idents::camel(part));
        TypeSite { name, nesting: self.nesting + 1, ..self.clone() }
    }

    /// Returns the location of a field.
    pub(super) fn field(&self, key: &str) -> TypeSite {
        let what = format!("`{}` of `{}`.", visible(key), self.name);
        TypeSite { key: key.to_owned(), what, ..self.inner(&spelled(key)) }
    }
}

//! Where in a document a shape stands.

use super::super::idents;
use super::super::literal::visible;
use super::usage::Usage;
use crate::names::spelled;

/// Returns the name of what is in a type, after the name of that type: `Self_` is one, and `Self_Item` none in Rust's
/// style.
pub(super) fn longer(name: &str, rest: &str) -> String {
    format!("{}{rest}", name.trim_end_matches('_'))
}

/// The place of a shape in a document, as far as its type depends on it.
#[derive(Clone)]
pub(super) struct TypeSite {
    /// The name of a type made here.
    pub(super) name: String,
    /// The key in the object around it.
    pub(super) key: String,
    /// What a type is that the document does not describe.
    pub(super) what: String,
    pub(super) usage: Usage,
    pub(super) nesting: usize,
}

impl TypeSite {
    /// Returns the place of a whole, after which its types are named.
    pub(super) fn new(name: &str, what: String, usage: Usage) -> TypeSite {
        TypeSite { name: name.to_owned(), key: String::new(), what, usage, nesting: 0 }
    }

    /// Returns the place of a part that has no key of its own.
    pub(super) fn inner(&self, part: &str) -> TypeSite {
        let name = longer(&self.name, &idents::camel(part));
        TypeSite { name, nesting: self.nesting + 1, ..self.clone() }
    }

    /// Returns the place of a field.
    pub(super) fn field(&self, key: &str) -> TypeSite {
        let what = format!("`{}` of `{}`.", visible(key), self.name);
        TypeSite { key: key.to_owned(), what, ..self.inner(&spelled(key)) }
    }
}

//! The titles of schemas.

use std::fmt;
use std::sync::Arc;

/// The title of a schema, from which the Rust type of its values may get its name.
///
/// A title does not restrict values, so shapes that differ only in titles are equal, and titles are not part of
/// canonical text.
#[derive(Clone, Default)]
pub struct Title(Option<Arc<str>>);

impl Title {
    /// No title.
    pub const NONE: Title = Title(None);

    /// Creates a title; whitespace means no title.
    #[must_use]
    pub fn new(text: &str) -> Title {
        let text = text.trim();
        Title((!text.is_empty()).then(|| text.into()))
    }

    /// Returns the title; empty if there is none.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Whether there is no title.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }
}

impl PartialEq for Title {
    fn eq(&self, _: &Title) -> bool {
        true
    }
}

impl fmt::Debug for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::schema::shape::read::read;
    use crate::schema::shape::render::canonical;

    #[test]
    fn title_is_kept_without_affecting_the_shape() {
        let of = |title: &str| read(&json!({"type": "object", "title": title}), &mut Vec::new());
        assert_eq!(of(" Pet ").title.as_str(), "Pet");
        assert!(of("  ").title.is_none());
        assert_eq!((of("Pet"), canonical(&of("Pet"))), (of("Owner"), canonical(&of("Owner"))));
        let remark = json!({"allOf": [{"$ref": "#/$defs/Pet"}, {"title": "The pet"}]});
        assert_eq!(read(&remark, &mut Vec::new()).title.as_str(), "The pet");
    }
}

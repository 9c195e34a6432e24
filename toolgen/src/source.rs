//! Bytes to documents.

use std::path::PathBuf;

use serde_json::Value;

/// A document that was read.
#[derive(Debug)]
pub struct Document {
    /// The file, as the user named it.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// The text as a tree.
    pub root: Value,
}

/// A place in a document (RFC 6901).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer(String);

impl Pointer {
    /// The whole document.
    pub const ROOT: Pointer = Pointer(String::new());

    /// A place inside this one.
    #[must_use]
    pub fn child(&self, token: &str) -> Pointer {
        let mut text = self.0.clone();
        text.push('/');
        text.push_str(&token.replace('~', "~0").replace('/', "~1"));
        Pointer(text)
    }

    /// The pointer as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

//! Locations in a document.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;
use toolgen_core::internal::pointer::push as push_token;

/// A location in a document: a JSON pointer (RFC 6901).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer(String);

impl Pointer {
    /// The whole document.
    pub const ROOT: Pointer = Pointer(String::new());

    /// Parses a pointer: empty, or tokens that each follow a `/`. Returns `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Pointer> {
        (text.is_empty() || text.starts_with('/')).then(|| Pointer(text.to_owned()))
    }

    /// Parses the fragment of a reference, with or without its `#`: a pointer with special characters written as
    /// `%xx` (RFC 6901, section 6). A `%` that does not start such an escape is literal.
    ///
    /// Returns `None` if the fragment is the name of an anchor, or its escapes are not UTF-8.
    #[must_use]
    pub fn from_fragment(fragment: &str) -> Option<Pointer> {
        let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
        Pointer::parse(&percent_decode(fragment)?)
    }

    /// Returns the location of the member or item `token`.
    #[must_use]
    pub fn child(&self, token: &str) -> Pointer {
        let mut text = String::with_capacity(self.0.len() + token.len() + 1);
        text.push_str(&self.0);
        push_token(&mut text, token);
        Pointer(text)
    }

    /// Returns the location of the item `index`.
    #[must_use]
    pub fn item(&self, index: usize) -> Pointer {
        Pointer(format!("{}/{index}", self.0))
    }

    /// Returns the parent location, or `None` for the whole document.
    #[must_use]
    pub fn parent(&self) -> Option<Pointer> {
        let end = self.0.rfind('/')?;
        Some(Pointer(self.0[..end].to_owned()))
    }

    /// Returns the last token, or `None` for the whole document.
    #[must_use]
    pub fn last(&self) -> Option<Cow<'_, str>> {
        self.0.rsplit_once('/').map(|(_, token)| unescape(token))
    }

    /// Returns the tokens from the root to this location.
    pub fn tokens(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.split('/').skip(1).map(unescape)
    }

    /// Returns the value at this location.
    #[must_use]
    pub fn resolve<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        root.pointer(&self.0)
    }

    /// Whether this is the whole document.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the pointer as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the key that a reference token represents.
pub(crate) fn unescape(token: &str) -> Cow<'_, str> {
    if token.contains('~') {
        // The order matters: `~01` is `~1`, not `/` (RFC 6901, section 4).
        Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(token)
    }
}

/// Decodes the escapes `%xx` of a string; `None` if the result is not UTF-8.
pub(crate) fn percent_decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while let Some(&byte) = bytes.get(index) {
        let digits = bytes.get(index + 1..index + 3).filter(|_| byte == b'%');
        let escaped =
            digits.and_then(|digits| std::str::from_utf8(digits).ok()).filter(|d| !d.starts_with('+'));
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(value) => {
                decoded.push(value);
                index += 3;
            }
            None => {
                decoded.push(byte);
                index += 1;
            }
        }
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

//! Credentials as values: they never show.

use std::fmt;

/// A credential. `Debug` and `Display` show `****`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

const HIDDEN: &str = "****";

impl Secret {
    /// Takes a credential.
    pub fn new(secret: impl Into<String>) -> Secret {
        Secret(secret.into())
    }

    /// The credential itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// What authentication added to a request.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Applied {
    /// Headers that carry a credential.
    pub(super) headers: Vec<String>,
    /// Every text to hide, the longest first: credentials as given and as encoded.
    texts: Vec<String>,
}

impl Applied {
    /// Hides a text from now on.
    pub(super) fn hide(&mut self, text: &str) {
        if !text.is_empty() && !self.texts.iter().any(|known| known == text) {
            self.texts.push(text.to_owned());
            // One may be a part of another.
            self.texts.sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
    }

    /// The text with every credential shown as `****`.
    pub(super) fn redact(&self, text: &str) -> String {
        self.replace(text, 1)
    }

    /// As [`redact`](Self::redact), for text that comes from a server: credentials that are so short that they
    /// would match ordinary words are not looked for.
    pub(super) fn redact_foreign(&self, text: &str) -> String {
        self.replace(text, 6)
    }

    fn replace(&self, text: &str, shortest: usize) -> String {
        let searched = self.texts.iter().filter(|secret| secret.len() >= shortest);
        searched.fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), HIDDEN))
    }
}

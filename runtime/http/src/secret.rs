//! Credentials as values that `Debug` and `Display` mask, and their redaction in texts.

use std::fmt;

use toolgen_kernel::base::needle::{self, SecretPattern};
use toolgen_kernel::base::truncate::trim_partial_char;

use super::charset;

/// A credential. `Debug` and `Display` show `****`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

const HIDDEN: &str = "****";

/// Minimum length of a credential that is searched for in texts, in bytes.
const MIN_SECRET_BYTES: usize = 6;

/// Maximum number of bytes that are held back as the possible start of a credential, unless the credential is longer.
const MAX_HELD_BYTES: usize = 16 << 10;

/// Maximum ratio of the lengths of an encoded credential and the credential itself.
const MAX_ENCODED_EXPANSION: usize = 12;

impl Secret {
    /// Wraps a credential.
    pub fn new(secret: impl Into<String>) -> Secret {
        Secret(secret.into())
    }

    /// Returns the credential itself.
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

/// The credentials that authentication added to a request.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct AppliedCredentials {
    /// Headers that contain a credential.
    pub(super) headers: Vec<String>,
    /// The schemes whose credentials the request contains, each with its source.
    pub(super) sources: Vec<(String, String)>,
    /// The strings to redact, the longest first: credentials, verbatim and encoded.
    texts: Vec<SecretPattern>,
}

impl AppliedCredentials {
    /// Adds a string to redact.
    pub(super) fn hide(&mut self, text: &str) {
        if !text.is_empty() && !self.texts.iter().any(|pattern| pattern.text() == text) {
            self.texts.push(SecretPattern::new(text, usize::MAX));
            // A string may be part of another string, so longer strings are replaced first.
            self.texts.sort_by_key(|pattern| std::cmp::Reverse(pattern.text().len()));
        }
    }

    /// Returns the text with credentials masked as `****`, in any encoding. Credentials so short that they would
    /// match ordinary words are not searched for.
    pub(super) fn redact(&self, text: &str) -> String {
        needle::replace(text, self.searchable(), HIDDEN).unwrap_or_else(|| text.to_owned())
    }

    /// Whether bytes contain a credential, in any encoding.
    pub(super) fn contains_secret(&self, bytes: &[u8]) -> bool {
        !needle::find(&String::from_utf8_lossy(bytes), self.searchable()).is_empty()
    }

    /// Returns the length of the prefix that contains no credential and, unless these are the last bytes, no start of a
    /// credential. Returns `None` if the bytes contain a credential.
    pub(super) fn secret_free_prefix(&self, bytes: &[u8], is_last: bool) -> Option<usize> {
        if self.contains_secret(bytes) {
            return None;
        }
        let Some(longest) = self.searchable().map(|secret| secret.text().len()).max().filter(|_| !is_last)
        else {
            return Some(bytes.len());
        };
        let text = std::str::from_utf8(trim_partial_char(bytes));
        let safe_len = text.map_or(0, |text| needle::unfinished(text, self.searchable()));
        // A possible start that is too long, for example because of white space, is not a credential.
        Some(safe_len.max(
            bytes.len().saturating_sub(MAX_HELD_BYTES.max(longest.saturating_mul(MAX_ENCODED_EXPANSION))),
        ))
    }

    /// Returns the text of a body with credentials masked as `****`, including a credential that is cut off at the end.
    pub(super) fn redact_body(&self, bytes: &[u8], content_type: &str, truncated: bool) -> String {
        let mut text = charset::decode(bytes, content_type, truncated);
        if truncated {
            self.cut_unfinished(&mut text);
        }
        self.redact(&text)
    }

    /// Removes the end of a truncated text if it may be the start of a credential.
    pub(super) fn cut_unfinished(&self, text: &mut String) {
        text.truncate(needle::cut_off(text, self.searchable()));
    }

    /// Returns the strings to redact.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(SecretPattern::text)
    }

    fn searchable(&self) -> impl Iterator<Item = &SecretPattern> {
        self.texts.iter().filter(|secret| secret.text().len() >= MIN_SECRET_BYTES)
    }

    /// Returns the URL with credentials masked as `****`, including short credentials in its query.
    pub(super) fn redact_url(&self, url: &str) -> String {
        match url.split_once('?') {
            Some((base, query)) => format!("{}?{}", self.redact(base), self.mask_parts(query, "&")),
            None => self.redact(url),
        }
    }

    /// Returns the URL with a mask if its query ends in a credential, regardless of its length. Other credentials are
    /// found as text.
    pub(super) fn mask_url(&self, url: &str, mask: &str) -> String {
        let Some((base, query)) = url.split_once('?') else { return url.to_owned() };
        let mask_part = |part: &str| match self.secret_suffix(part) {
            Some(secret) => format!("{}{mask}", &part[..part.len() - secret.len()]),
            None => part.to_owned(),
        };
        format!("{base}?{}", query.split('&').map(mask_part).collect::<Vec<_>>().join("&"))
    }

    /// Returns a header value with credentials masked as `****`, including short credentials if the header
    /// contains a credential.
    pub(super) fn redact_header(&self, name: &str, value: &str) -> String {
        if self.headers.iter().any(|header| header.eq_ignore_ascii_case(name)) {
            self.mask_parts(value, "; ")
        } else {
            self.redact(value)
        }
    }

    fn mask_parts(&self, text: &str, separator: &str) -> String {
        text.split(separator).map(|part| self.mask_part(part)).collect::<Vec<_>>().join(separator)
    }

    /// Masks the secret in `{secret}`, `Bearer {secret}` or `{name}={secret}`, regardless of its length.
    fn mask_part(&self, part: &str) -> String {
        match self.secret_suffix(part) {
            Some(secret) => format!("{}{HIDDEN}", &part[..part.len() - secret.len()]),
            None => self.redact(part),
        }
    }

    /// Returns the secret that the part equals, or ends with after a space or an equals sign.
    fn secret_suffix(&self, part: &str) -> Option<&str> {
        let is_suffix = |secret: &&str| {
            let prefix = part.strip_suffix(secret);
            prefix.filter(|prefix| prefix.is_empty() || prefix.ends_with([' ', '='])).is_some()
        };
        self.texts.iter().map(SecretPattern::text).find(is_suffix)
    }
}

/// Words in a name that mark its value as a credential.
const SENSITIVE: [&str; 8] = ["auth", "code", "cookie", "key", "passw", "secret", "sig", "token"];

pub(super) fn is_sensitive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SENSITIVE.iter().any(|word| name.contains(word))
}

/// Returns the values in a query whose names mark them as credentials.
pub(super) fn secret_pairs(query: &str) -> impl Iterator<Item = &str> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| is_sensitive(name)).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_credential_is_redacted_only_where_it_was_placed() {
        let mut applied = AppliedCredentials {
            headers: vec!["Authorization".to_owned(), "cookie".to_owned()],
            ..AppliedCredentials::default()
        };
        for secret in ["p", "t t", "long-enough"] {
            applied.hide(secret);
        }
        for (url, displayed) in [
            ("http://p.example/p/t?key=p&page=p1&q=top", "http://p.example/p/t?key=****&page=p1&q=top"),
            ("http://h/p", "http://h/p"),
            ("http://h/long-enough?a=xlong-enoughx", "http://h/****?a=x****x"),
        ] {
            assert_eq!(applied.redact_url(url), displayed);
        }
        for (name, value, displayed) in [
            ("authorization", "Bearer p", "Bearer ****"),
            ("Authorization", "Token t t", "Token ****"),
            ("Authorization", "p", "****"),
            ("Cookie", "pp=1; sid=p; top=up", "pp=1; sid=****; top=up"),
            ("Accept", "p", "p"),
            ("X-Echo", "long-enough", "****"),
        ] {
            assert_eq!(applied.redact_header(name, value), displayed);
        }
    }
}

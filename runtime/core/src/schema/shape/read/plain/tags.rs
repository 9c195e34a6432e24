//! Reads the tags of HTML.

/// The longest tag, in bytes; a `<` without its `>` near is not a tag.
pub(super) const MAX_TAG: usize = 2_000;

/// A tag of an element.
pub(super) struct Tag<'t> {
    /// Its name, in lower case.
    pub(super) name: String,
    /// Whether it ends an element.
    pub(super) closing: bool,
    /// Its text between the name and `>`.
    pub(super) attributes: &'t str,
    /// Its length in bytes.
    pub(super) length: usize,
}

/// Reads the tag that a text starts with.
pub(super) fn tag(rest: &str) -> Option<Tag<'_>> {
    let closing = rest.starts_with("</");
    let inner = &rest[1 + usize::from(closing)..];
    let length = inner.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let name =
        inner.get(..length).filter(|name| name.starts_with(|char: char| char.is_ascii_alphabetic()))?;
    let mut quote = None;
    for (index, byte) in inner.bytes().enumerate().skip(length).take(MAX_TAG) {
        match (quote, byte) {
            (None, b'>') => {
                let attributes = inner.get(length..index)?;
                let ends = attributes.is_empty() || attributes.starts_with([' ', '\n', '\t', '/']);
                let length = index + 2 + usize::from(closing);
                return ends.then(|| Tag {
                    name: name.to_ascii_lowercase(),
                    closing,
                    attributes: attributes.trim(),
                    length,
                });
            }
            (None, b'<') => return None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    None
}

/// Returns the value of an attribute.
pub(super) fn attribute<'t>(attributes: &'t str, name: &str) -> Option<&'t str> {
    let at = attributes.to_ascii_lowercase().find(&format!("{name}="))?;
    let value = attributes.get(at + name.len() + 1..)?;
    match value.chars().next()? {
        quote @ ('"' | '\'') => value.get(1..)?.split(quote).next(),
        _ => value.split([' ', '\n', '\t']).next(),
    }
}

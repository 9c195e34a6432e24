//! URI references: splitting, and resolution against a base (RFC 3986, section 5).

/// Splits a reference into the part that names a document, and the fragment.
pub(in super::super) fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once('#').unwrap_or((text, ""))
}

/// Whether a reference has a scheme, as a URL does.
pub(in super::super) fn is_absolute(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| {
        // A single letter is the drive of a path.
        scheme.len() > 1
            && scheme.starts_with(|char: char| char.is_ascii_alphabetic())
            && scheme.chars().all(|char| char.is_ascii_alphanumeric() || "+-.".contains(char))
    })
}

/// Resolves a reference against a base, which may be relative itself.
pub(in super::super) fn resolve(base: &str, text: &str) -> String {
    if text.is_empty() {
        return base.to_owned();
    }
    if is_absolute(text) {
        return text.to_owned();
    }
    let (origin, path) = origin_and_path(base);
    if text.starts_with("//") {
        let scheme = base.split_once("//").map_or("", |(scheme, _)| scheme);
        return format!("{scheme}{text}");
    }
    if text.starts_with('/') {
        return format!("{origin}{}", remove_dot_segments(text));
    }
    let dir = match path.rfind('/') {
        Some(end) => &path[..=end],
        None if origin.contains("//") => "/",
        None => "",
    };
    format!("{origin}{}", remove_dot_segments(&format!("{dir}{text}")))
}

/// Splits a base into the part before its path, and the path.
fn origin_and_path(base: &str) -> (&str, &str) {
    let Some((scheme, after_scheme)) = base.split_once("://").filter(|_| is_absolute(base)) else {
        return match base.split_once(':').filter(|_| is_absolute(base)) {
            Some((scheme, path)) => (&base[..=scheme.len()], path),
            None => ("", base),
        };
    };
    let end = after_scheme.find('/').unwrap_or(after_scheme.len());
    base.split_at(scheme.len() + 3 + end)
}

/// Removes `.` and `..` segments from a path, except for leading `..` segments.
fn remove_dot_segments(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "." => {}
            ".." if segments.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    segments.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_relative_to_their_base() {
        for (base, text, expected) in [
            ("https://x.test/a/b.yaml", "c.yaml", "https://x.test/a/c.yaml"),
            ("https://x.test/a/b.yaml", "../c.yaml", "https://x.test/c.yaml"),
            ("https://x.test/a/b.yaml", "/c.yaml", "https://x.test/c.yaml"),
            ("https://x.test/a/b.yaml", "//y.test/c", "https://y.test/c"),
            ("https://x.test", "c", "https://x.test/c"),
            ("https://x.test/a", "urn:x:y", "urn:x:y"),
            ("a/b.yaml", "../c.yaml", "c.yaml"),
            ("b.yaml", "../c.yaml", "../c.yaml"),
            ("b.yaml", "./d/./c.yaml", "d/c.yaml"),
            ("b.yaml", "", "b.yaml"),
        ] {
            assert_eq!(resolve(base, text), expected, "{text} in {base}");
        }
        assert!(
            is_absolute("https://x.test")
                && is_absolute("urn:a")
                && !is_absolute("C:/a")
                && !is_absolute("a/b:c")
        );
    }
}

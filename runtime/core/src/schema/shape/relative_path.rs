//! Relative paths that stay within their base directory.

/// The pattern of strings that are not such paths on at least one operating system, for
/// [`StringRules::deny`](super::StringRules::deny). [`fault`] gives the reason for each.
pub const OUTSIDE_PATTERN: &str = r"(^|[/\\])\.\.([/\\]|$)|^[/\\]|^[A-Za-z]:|^~([/\\]|$)|\x00";

/// The start of messages about rejected paths; a reason follows.
pub const REFUSED: &str = "path traversal not allowed";

/// Returns why a string is not a relative path that stays within its base directory, and what to write instead. It
/// applies the rules of all operating systems, regardless of the current one.
#[must_use]
pub fn fault(path: &str) -> Option<&'static str> {
    parent_fault(path).or_else(|| root_fault(path))
}

/// The part of [`fault`] that concerns everything after the start of the path.
#[must_use]
pub fn parent_fault(path: &str) -> Option<&'static str> {
    if path.contains('\0') {
        return Some("it contains a NUL character; remove it");
    }
    let parent_fault = path.split(['/', '\\']).any(|part| part == "..");
    parent_fault.then_some("it contains `..`; write a path inside the directory, without `..`")
}

/// The part of [`fault`] that concerns the start of the path.
#[must_use]
pub fn root_fault(path: &str) -> Option<&'static str> {
    let bytes = path.as_bytes();
    match bytes {
        [b'/', ..] => {
            Some("it is absolute; write it relative to the directory, without the `/` at its start")
        }
        [b'\\', b'\\', ..] => {
            Some("it begins with a host name (`\\\\`); write a path relative to the directory")
        }
        [b'\\', ..] => {
            Some("it is absolute; write it relative to the directory, without the `\\` at its start")
        }
        [drive, b':', ..] if drive.is_ascii_alphabetic() => {
            Some("it begins with a drive; write a path relative to the directory")
        }
        [b'~'] | [b'~', b'/' | b'\\', ..] => {
            Some("`~` does not stand for a home directory here; write a path relative to the directory")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::shape::pattern::is_found;

    #[test]
    fn pattern_matches_paths_leading_outside() {
        for (path, message) in [
            ("/etc/passwd", "without the `/`"),
            ("\\etc", "without the `\\`"),
            ("\\\\host\\x", "a host name"),
            ("C:\\x", "begins with a drive"),
            ("c:x", "begins with a drive"),
            ("~", "home directory"),
            ("~/x", "home directory"),
            ("~\\x", "home directory"),
            ("..", "contains `..`"),
            ("a/../../b", "contains `..`"),
            ("a\\..\\b", "contains `..`"),
            ("/a/..", "contains `..`"),
            ("a\0b", "NUL"),
        ] {
            let reason = fault(path).unwrap_or_default();
            assert!(reason.contains(message) && is_found(OUTSIDE_PATTERN, path), "{path}: {reason}");
        }
        for path in
            ["", "a", "a/b.txt", "..a", "a..", "a/.../b", ".", "./a", "C", "~a", "~$a.docx", "a~", "1:"]
        {
            assert!(fault(path).is_none() && !is_found(OUTSIDE_PATTERN, path), "{path}");
        }
    }
}

//! The names of MCP tools for models.
//!
//! The tool `read` of the server `files` is named `files__read`. An alias contains no `_`, so tools of two servers
//! never have the same name. A tool is found by looking up its name, never by parsing the name.

use std::collections::BTreeMap;

use crate::base::sha256::sha256;
use crate::spec::{MAX_NAME, ToolName};

/// Maximum length of an alias, in bytes.
pub const MAX_ALIAS: usize = 32;

/// Number of digits of a suffix.
const SUFFIX_LENGTH: usize = 8;

/// Whether a string can be the alias of a server: `^[a-z][a-z0-9-]{0,31}$`. Names of tools start with the alias, and
/// must start with a letter.
#[must_use]
pub fn is_alias(text: &str) -> bool {
    text.len() <= MAX_ALIAS
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-')
}

/// Returns the name of each tool of a server, from the server's names. `None` for a tool without a unique name: its
/// name is empty, two tools of the server have it, or another tool already has the resulting name.
///
/// A name that is too long is truncated, with `_` and 8 digits of a hash appended. Characters that vendors reject are
/// replaced by `_`. If two names become the same, those that were changed also get the 8 digits. The names depend
/// neither on the order of the tools nor on other servers.
#[must_use]
pub fn names(alias: &str, raw: &[&str]) -> Vec<Option<ToolName>> {
    let sanitized: Vec<String> = raw.iter().map(|raw| format!("{alias}__{}", to_legal(raw))).collect();
    let full_names: Vec<String> = raw
        .iter()
        .zip(&sanitized)
        .zip(unique_flags(&sanitized))
        .map(|((raw, sanitized), is_unique)| {
            let is_kept = sanitized.len() <= MAX_NAME && (is_unique || is_legal(raw));
            if is_kept { sanitized.clone() } else { with_hash(sanitized, alias, raw) }
        })
        .collect();
    let raw_is_unique = unique_flags(raw).into_iter();
    let name_is_unique = unique_flags(&full_names).into_iter();
    raw.iter()
        .zip(full_names)
        .zip(raw_is_unique.zip(name_is_unique))
        .map(|((raw, name), (raw_is_unique, name_is_unique))| {
            // A changed name never takes precedence over a tool that has this name unchanged.
            let is_unchanged = is_legal(raw) && name.len() == alias.len() + 2 + raw.len();
            let is_named = !raw.is_empty() && raw_is_unique && (name_is_unique || is_unchanged);
            is_named.then(|| ToolName::parse(name).ok()).flatten()
        })
        .collect()
}

/// Returns, for each item, whether it is unique.
fn unique_flags<T: AsRef<str>>(texts: &[T]) -> Vec<bool> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts {
        *counts.entry(text.as_ref()).or_default() += 1;
    }
    texts.iter().map(|text| counts.get(text.as_ref()) == Some(&1)).collect()
}

fn is_legal_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_' || char == '-'
}

fn is_legal(raw: &str) -> bool {
    raw.chars().all(is_legal_char)
}

fn to_legal(raw: &str) -> String {
    raw.chars().map(|char| if is_legal_char(char) { char } else { '_' }).collect()
}

/// Returns the start of a name, with digits that are unique to this tool of this server.
fn with_hash(name: &str, alias: &str, raw: &str) -> String {
    let digest = sha256(format!("{alias}\0{raw}").as_bytes());
    let suffix = digest.get(..SUFFIX_LENGTH).unwrap_or(&digest);
    let stem = name.get(..name.len().min(MAX_NAME - SUFFIX_LENGTH - 1)).unwrap_or(name);
    format!("{stem}_{suffix}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn tool_names(alias: &str, raw: &[&str]) -> Vec<Option<String>> {
        names(alias, raw).into_iter().map(|name| name.map(|name| name.to_string())).collect()
    }

    #[test]
    fn alias_is_short_and_starts_with_a_letter() {
        for good in ["a", "files", "gitlab-2", &"x".repeat(32)] {
            assert!(is_alias(good), "{good}");
        }
        for bad in ["", "-a", "2a", "A", "a_b", "a.b", "ä", "a b", &"x".repeat(33)] {
            assert!(!is_alias(bad), "{bad}");
        }
    }

    #[test]
    fn tool_name_is_alias_and_server_name() {
        let actual = tool_names("fs", &["read-file", "read_file", "Read_File", "2d", "_x"]);
        let expected = ["fs__read-file", "fs__read_file", "fs__Read_File", "fs__2d", "fs___x"];
        assert_eq!(actual, expected.map(|name| Some(name.to_owned())));
    }

    #[test]
    fn colliding_names_get_hash_suffixes() {
        // Without a collision, a changed name is readable.
        assert_eq!(tool_names("a", &["get.pet"]), [Some("a__get_pet".to_owned())]);
        // `printf 'a\0get.pet' | sha256sum`, `printf 'a\0get/pet' | sha256sum`
        let actual = tool_names("a", &["get.pet", "get/pet", "get_pet"]);
        let expected = ["a__get_pet_3974cd12", "a__get_pet_4e71e7a9", "a__get_pet"];
        assert_eq!(actual, expected.map(|name| Some(name.to_owned())));
    }

    #[test]
    fn long_names_are_truncated() {
        let long = "x".repeat(62);
        let actual = tool_names("a", &[&long, &long[..61]]);
        assert_eq!(actual[1].as_deref(), Some(&*format!("a__{}", &long[..61])));
        let cut = actual[0].clone().unwrap();
        assert_eq!((cut.len(), &cut[..56]), (64, &*format!("a__{}_", &long[..52])));
        // The name is not cut within a character.
        assert!(tool_names("a", &[&"ü".repeat(80)])[0].is_some());
    }

    #[test]
    fn duplicate_or_empty_names_are_dropped() {
        assert_eq!(tool_names("a", &["", "x", "x", "y"]), [None, None, None, Some("a__y".to_owned())]);
        let forged = tool_names("a", &["get.pet", "get/pet"])[0].clone().unwrap();
        let raw = forged.trim_start_matches("a__");
        let actual = tool_names("a", &["get.pet", raw, "get/pet"]);
        assert_eq!((&actual[0], actual[1].as_deref()), (&None, Some(&*forged)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn names_are_unique_and_independent_of_order(
            raw in prop::collection::vec("[a-c._/-]{0,4}|[a-z.]{55,70}", 0..24),
            rotation in 0_usize..24,
        ) {
            let raw: BTreeSet<String> = raw.into_iter().collect();
            let mut raw: Vec<&str> = raw.iter().map(String::as_str).collect();
            let before: BTreeMap<&str, Option<ToolName>> = raw.iter().copied().zip(names("one", &raw)).collect();
            let count = before.values().flatten().collect::<BTreeSet<_>>().len();
            prop_assert_eq!(count, raw.iter().filter(|raw| !raw.is_empty()).count());
            let rotation = rotation % raw.len().max(1);
            raw.rotate_left(rotation);
            raw.reverse();
            let after: BTreeMap<&str, Option<ToolName>> = raw.iter().copied().zip(names("one", &raw)).collect();
            prop_assert_eq!(&before, &after);
            let other: BTreeSet<ToolName> = names("one-more", &raw).into_iter().flatten().collect();
            prop_assert!(before.values().flatten().all(|name| !other.contains(name)));
        }
    }
}

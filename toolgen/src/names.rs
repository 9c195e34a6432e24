//! The names that a model sees: names of tools, arguments and named shapes.
//!
//! A name depends on what it names and never on its position in the document, so that reordering a document changes
//! no tool.

mod operators;
mod shorten;

use std::collections::BTreeMap;

use toolgen_core::internal::sha256::sha256;
use toolgen_core::spec::MAX_NAME;

pub(crate) use operators::{sign_word, spell_comparisons, spell_signs};

/// The source of a tool's name.
#[derive(Clone, Debug)]
pub struct NameCandidate<'a> {
    /// The document's own name for it; empty if it has none.
    pub id: &'a str,
    /// The name if the document has none; valid except for its length.
    pub fallback: String,
    /// The title that distinguishes it from all others in the document, such as `GET /pets`.
    pub title: &'a str,
}

/// Returns a name for each candidate, without a namespace: its id, made valid if necessary, or the fallback if there
/// is none.
///
/// Words are dropped from a name that is too long. Names that are equal or differ only in case get the
/// missing words from the fallback: `get_v2_pets`. A name that is still not unique then ends in a hash of the title,
/// or of the name.
#[must_use]
pub fn tool_names(candidates: &[NameCandidate<'_>]) -> Vec<String> {
    let full: Vec<String> = candidates.iter().map(full_name).collect();
    let full_counts = count_folded(full.iter());
    let short_counts = count_folded(full.iter().filter(|name| name.len() <= MAX_NAME));
    let preferred: Vec<Option<String>> = full
        .iter()
        .zip(candidates)
        .map(|(name, candidate)| {
            if name.len() > MAX_NAME {
                return shorten::shorten(name, MAX_NAME)
                    .filter(|short| !short_counts.contains_key(&fold_case(short)));
            }
            if short_counts.get(&fold_case(name)) == Some(&1) {
                return Some(name.clone());
            }
            let longer = name.clone() + &shorten::missing(name, &candidate.fallback);
            (longer.len() <= MAX_NAME && !short_counts.contains_key(&fold_case(&longer))).then_some(longer)
        })
        .collect();
    let counts = count_folded(preferred.iter().flatten());
    let names = full.into_iter().zip(preferred).zip(candidates);
    names
        .map(|((full, preferred), candidate)| match preferred {
            Some(name) if counts.get(&fold_case(&name)) == Some(&1) => name,
            _ if full.len() > MAX_NAME && full_counts.get(&fold_case(&full)) == Some(&1) => {
                let id = candidate.id.trim();
                let text = if legal_tool_name(id).is_empty() { &candidate.fallback } else { id };
                with_suffix(&full, &hash8(text), MAX_NAME)
            }
            _ => with_suffix(&full, &hash8(candidate.title), MAX_NAME),
        })
        .collect()
}

fn fold_case(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// Counts names that differ only in case.
fn count_folded<'n>(names: impl Iterator<Item = &'n String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(fold_case(name)).or_default() += 1;
    }
    counts
}

/// Returns the name of a candidate, valid except for its length.
fn full_name(candidate: &NameCandidate<'_>) -> String {
    let legal = legal_tool_name(candidate.id.trim());
    if legal.is_empty() { candidate.fallback.clone() } else { legal }
}

/// Turns a string into a tool name, except for its length: every run of invalid characters becomes `_`. Valid names
/// stay unchanged. Empty if no character remains.
#[must_use]
pub fn legal_tool_name(text: &str) -> String {
    let keep = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    let starts_with_letter = |text: &str| text.starts_with(|char: char| char.is_ascii_alphabetic());
    if text.chars().all(keep) && starts_with_letter(text) {
        return text.to_owned();
    }
    let name = collapse(text, keep);
    let name = name.trim_start_matches(['_', '-']).to_owned();
    if name.is_empty() || starts_with_letter(&name) { name } else { format!("op_{name}") }
}

/// Replaces each run of characters that are not kept with one `_`, with none at the ends.
pub(crate) fn collapse(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut gap = false;
    for char in text.chars() {
        if keep(char) {
            if gap && !out.is_empty() {
                out.push('_');
            }
            gap = false;
            out.push(char);
        } else {
            gap = true;
        }
    }
    out
}

/// Returns the name with its namespace, within the maximum length.
#[must_use]
pub fn with_namespace(namespace: &str, name: &str) -> String {
    let namespace = legal_tool_name(namespace);
    if namespace.is_empty() {
        return name.to_owned();
    }
    let full = format!("{namespace}__{name}");
    if full.len() <= MAX_NAME { full } else { with_suffix(&full, &hash8(&full), MAX_NAME) }
}

/// Returns `name_suffix`, with the name cut if necessary.
#[must_use]
pub fn with_suffix(name: &str, suffix: &str, limit: usize) -> String {
    let room = limit.saturating_sub(suffix.len() + 1);
    let stem = name.get(..room.min(name.len())).unwrap_or(name);
    format!("{}_{suffix}", stem.trim_end_matches(['_', '-', '.']))
}

/// Returns the name with words removed until it fits a limit; `None` if too few words would remain.
pub(crate) fn shortened(name: &str, limit: usize) -> Option<String> {
    shorten::shorten(name, limit)
}

/// Returns the first eight hexadecimal digits of a string's SHA-256.
#[must_use]
pub fn hash8(text: &str) -> String {
    let mut digest = sha256(text.as_bytes());
    digest.truncate(8);
    digest
}

/// Maximum length of an argument's key that every provider accepts.
const MAX_KEY: usize = 64;

/// Whether every provider accepts this as the key of an argument: `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`.
#[must_use]
pub fn is_portable_key(key: &str) -> bool {
    key.len() <= MAX_KEY
        && key.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && key.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Returns the most similar key that every provider accepts: `filter[name]` becomes `filter_name`, `StartTime<` becomes
/// `StartTime_lt`.
#[must_use]
pub fn portable_key(key: &str) -> String {
    if is_portable_key(key) { key.to_owned() } else { portable(&spell_comparisons(key), key) }
}

/// Returns the portable form of a key, made from these words.
fn portable(words: &str, key: &str) -> String {
    let name = collapse(words, |char| char.is_ascii_alphanumeric() || char == '_');
    let name = match name.chars().next() {
        None => format!("key_{}", hash8(key)),
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        Some(_) => name,
    };
    if name.len() <= MAX_KEY { name } else { with_suffix(&name, &hash8(key), MAX_KEY) }
}

/// Returns distinct portable keys for the keys of one object. Keys that are portable already never change. Among the
/// others, keys that collide get their signs as words (`type` and `at_type` for `type` and `@type`); if that does
/// not make them distinct, they get a suffix that depends only on the key.
#[must_use]
pub fn portable_keys<'k>(keys: impl IntoIterator<Item = &'k str>) -> BTreeMap<&'k str, String> {
    let keys: Vec<&str> = keys.into_iter().collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for key in &keys {
        *counts.entry(portable_key(key)).or_default() += 1;
    }
    let collides = |key: &str, name: &String| name != key && counts.get(name) != Some(&1);
    let mut word_counts: BTreeMap<String, usize> = BTreeMap::new();
    for key in keys.iter().filter(|key| collides(key, &portable_key(key))) {
        *word_counts.entry(portable(&spell_signs(key), key)).or_default() += 1;
    }
    let to_entry = |key| {
        let name = portable_key(key);
        if !collides(key, &name) {
            return (key, name);
        }
        let with_words = portable(&spell_signs(key), key);
        let is_unique = word_counts.get(&with_words) == Some(&1) && !counts.contains_key(&with_words);
        (key, if is_unique { with_words } else { with_suffix(&name, &hash8(key), MAX_KEY) })
    };
    keys.into_iter().map(to_entry).collect()
}

/// Returns the name of a shape in the form that providers accept in a reference: characters other than letters,
/// digits, `_`, `.` and `-` become `_`. Empty if no character remains.
#[must_use]
pub fn legal_shape_name(text: &str) -> String {
    let keep = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '.' | '-');
    if text.chars().all(keep) { text.to_owned() } else { collapse(text, keep) }
}

#[cfg(test)]
mod tests;

//! The names that a model sees: of tools, of arguments, of named shapes.
//!
//! A name depends on what it names and never on its place in the document, so that reordering a document changes no
//! tool.

use std::collections::BTreeMap;

use toolgen_runtime::__private::sha256;
use toolgen_runtime::spec::MAX_NAME;

/// What a tool is named after.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// The document's own name for it; empty if it has none.
    pub id: &'a str,
    /// The name it gets without one of its own; valid except for its length.
    pub fallback: String,
    /// The title that distinguishes it from all others in the document, such as `GET /pets`.
    pub title: &'a str,
}

/// Returns a name for each candidate, without a namespace: its id, made valid if necessary, or the fallback if there
/// is none.
///
/// Names that are equal or differ only in case get a suffix that depends on the title alone.
#[must_use]
pub fn tool_names(candidates: &[Candidate<'_>]) -> Vec<String> {
    let plain: Vec<String> = candidates.iter().map(plain_name).collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in &plain {
        *counts.entry(name.to_ascii_lowercase()).or_default() += 1;
    }
    plain
        .into_iter()
        .zip(candidates)
        .map(|(name, candidate)| match counts.get(&name.to_ascii_lowercase()) {
            Some(1) => name,
            _ => with_suffix(&name, &hash8(candidate.title), MAX_NAME),
        })
        .collect()
}

fn plain_name(candidate: &Candidate<'_>) -> String {
    let id = candidate.id.trim();
    if !id.is_empty() {
        let legal = legal_tool_name(id);
        if !legal.is_empty() {
            return fit(&legal, id);
        }
    }
    fit(&candidate.fallback, &candidate.fallback)
}

/// Turns a text into a tool name, except for its length: every run of invalid characters becomes `_`. Valid texts stay
/// unchanged. Empty if nothing is left.
#[must_use]
pub fn legal_tool_name(text: &str) -> String {
    let keep = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    let starts = |text: &str| text.starts_with(|char: char| char.is_ascii_alphabetic());
    if text.chars().all(keep) && starts(text) {
        return text.to_owned();
    }
    let name = collapse(text, keep);
    let name = name.trim_start_matches(['_', '-']).to_owned();
    if name.is_empty() || starts(&name) { name } else { format!("op_{name}") }
}

/// Replaces each run of characters that are not kept by one `_`, with none at the ends.
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

/// Limits a name to the maximum length: unchanged, or a readable stem and a hash of the full text it was made from.
fn fit(name: &str, full: &str) -> String {
    if name.len() <= MAX_NAME { name.to_owned() } else { with_suffix(name, &hash8(full), MAX_NAME) }
}

/// Returns the name with its namespace, within the maximum length.
#[must_use]
pub fn with_namespace(namespace: &str, name: &str) -> String {
    let namespace = legal_tool_name(namespace);
    if namespace.is_empty() {
        return name.to_owned();
    }
    let full = format!("{namespace}__{name}");
    fit(&full, &full)
}

/// Returns `name_suffix`, with the name cut if necessary.
#[must_use]
pub fn with_suffix(name: &str, suffix: &str, limit: usize) -> String {
    let room = limit.saturating_sub(suffix.len() + 1);
    let stem = name.get(..room.min(name.len())).unwrap_or(name);
    format!("{}_{suffix}", stem.trim_end_matches(['_', '-', '.']))
}

/// Returns the first eight hexadecimal digits of a text's SHA-256.
#[must_use]
pub fn hash8(text: &str) -> String {
    let mut digest = sha256(text.as_bytes());
    digest.truncate(8);
    digest
}

/// The longest key of an argument that every provider accepts.
const MAX_KEY: usize = 64;

/// Whether every provider accepts this as the key of an argument: `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`.
#[must_use]
pub fn is_portable_key(key: &str) -> bool {
    key.len() <= MAX_KEY
        && key.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && key.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Returns the most similar key that every provider accepts: `filter[name]` becomes `filter_name`.
#[must_use]
pub fn portable_key(key: &str) -> String {
    if is_portable_key(key) {
        return key.to_owned();
    }
    let name = collapse(key, |char| char.is_ascii_alphanumeric() || char == '_');
    let name = match name.chars().next() {
        None => format!("key_{}", hash8(key)),
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        Some(_) => name,
    };
    if name.len() <= MAX_KEY { name } else { with_suffix(&name, &hash8(key), MAX_KEY) }
}

/// Returns distinct portable keys for the keys of one object. Portable keys keep their name whatever else is present;
/// colliding ones among the others get a suffix that depends on the key alone.
#[must_use]
pub fn portable_keys<'k>(keys: impl IntoIterator<Item = &'k str>) -> BTreeMap<&'k str, String> {
    let keys: Vec<&str> = keys.into_iter().collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for key in &keys {
        *counts.entry(portable_key(key)).or_default() += 1;
    }
    keys.into_iter()
        .map(|key| {
            let portable = portable_key(key);
            let unique = portable == key || counts.get(&portable) == Some(&1);
            let name = if unique { portable } else { with_suffix(&portable, &hash8(key), MAX_KEY) };
            (key, name)
        })
        .collect()
}

/// Returns the name of a shape as providers accept it in a reference: characters other than letters, digits, `_`, `.`
/// and `-` become `_`. Empty if nothing is left.
#[must_use]
pub fn legal_shape_name(text: &str) -> String {
    let keep = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '.' | '-');
    if text.chars().all(keep) { text.to_owned() } else { collapse(text, keep) }
}

#[cfg(test)]
mod tests;

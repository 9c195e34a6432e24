//! The search for tools by words.

use std::cmp::Reverse;

use crate::schema::shape::Kind;
use crate::spec::ToolSpec;

/// Words that occur in every query and carry no meaning.
const FILLERS: [&str; 20] = [
    "a", "an", "and", "by", "can", "do", "for", "from", "how", "i", "in", "is", "of", "on", "or", "that",
    "the", "to", "tool", "with",
];

/// Returns the tools that match a query best: those that match the most words first, then by score, then by name.
pub(super) fn best<'a>(specs: Vec<&'a ToolSpec>, query: &str, limit: usize) -> Vec<&'a ToolSpec> {
    let mut wanted: Vec<String> = words(query).filter(|word| !FILLERS.contains(&word.as_str())).collect();
    if wanted.is_empty() {
        wanted = words(query).collect();
    }
    wanted.sort();
    wanted.dedup();
    let mut found: Vec<((usize, u32), &ToolSpec)> = Vec::new();
    for spec in specs {
        let scores = scores(spec, &wanted);
        let known = scores.iter().filter(|score| **score > 0).count();
        if known > 0 {
            found.push(((known, scores.iter().sum()), spec));
        }
    }
    found.sort_by_key(|(score, spec)| (Reverse(*score), spec.name.as_str()));
    found.into_iter().take(limit).map(|(_, spec)| spec).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(str::to_lowercase)
}

/// Scores how well a tool matches each word: a word in the name counts most, a word in the arguments least.
fn scores(spec: &ToolSpec, wanted: &[String]) -> Vec<u32> {
    let name: Vec<String> = words(spec.name.as_str()).chain(words(&spec.label)).collect();
    let texts = [&spec.description, &spec.category, &spec.use_for, &spec.returns];
    let told: Vec<String> = texts.into_iter().flat_map(|text| words(text)).collect();
    let arguments: Vec<String> = match &spec.input.kind {
        Kind::Object(rules) => rules.fields.iter().flat_map(|field| words(&field.name)).collect(),
        _ => Vec::new(),
    };
    let score = |word: &String| {
        let place = |words: &[String], same: u32, like: u32| {
            if words.contains(word) {
                same
            } else if words.iter().any(|other| alike(other, word)) {
                like
            } else {
                0
            }
        };
        let inside = if word.chars().count() >= 3 && spec.name.as_str().to_lowercase().contains(word.as_str())
        {
            4
        } else {
            0
        };
        place(&name, 8, 6).max(inside) + place(&told, 3, 2) + place(&arguments, 1, 1)
    };
    wanted.iter().map(score).collect()
}

/// Whether one word is the other with an ending, as in `file` and `files`.
fn alike(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let (short_chars, long_chars) = (short.chars().count(), long.chars().count());
    short_chars >= 3 && long_chars - short_chars <= 3 && long.starts_with(short)
}

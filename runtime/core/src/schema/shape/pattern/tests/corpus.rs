//! Matches the patterns of real documents.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use toolgen_test_support::needs;

use super::super::syntax::{Anchor, Node, Set, Syntax};
use super::super::{is_pattern, match_pattern};

/// Maximum length of a generated string, unless the pattern needs a longer one.
const MAX_GENERATED: usize = 2_048;

/// All patterns of the corpus, if it is available.
pub(crate) fn patterns() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending: Vec<PathBuf> = needs::corpus_folder("").into_iter().collect();
    while let Some(path) = pending.pop() {
        if let Ok(entries) = fs::read_dir(&path) {
            pending.extend(entries.map(|entry| entry.unwrap().path()));
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else { continue };
        match serde_json::from_str(&text) {
            Ok(document) => add(&document, &mut found),
            // YAML, line by line: other kinds of quotes are not needed here.
            Err(_) => found.extend(text.lines().filter_map(pattern_in_line)),
        }
    }
    found.retain(|pattern| is_pattern(pattern));
    assert!(found.is_empty() || found.len() > 200, "{}", found.len());
    found
}

fn add(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("pattern").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|value| add(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| add(item, found)),
        _ => {}
    }
}

fn pattern_in_line(line: &str) -> Option<String> {
    let value = line.trim().strip_prefix("pattern:")?.trim();
    match value.as_bytes() {
        [b'\'', .., b'\''] => Some(value[1..value.len() - 1].replace("''", "'")),
        [b'"', ..] => serde_json::from_str(value).ok(),
        [] | [b'|' | b'>', ..] => None,
        _ => Some(value.to_owned()),
    }
}

/// Returns a string that a pattern probably matches, as long as it allows.
fn long_text(pattern: &str) -> String {
    let mut text = String::new();
    append_match(&Syntax::of(pattern).unwrap().root, &mut text);
    text
}

fn append_match(node: &Node, text: &mut String) {
    match node {
        Node::Set(set) => text.extend(pick_char(set)),
        Node::Sequence(nodes) => nodes.iter().for_each(|node| append_match(node, text)),
        Node::Choice(nodes) => {
            let branches = nodes.iter().map(|node| {
                let mut branch = text.clone();
                append_match(node, &mut branch);
                branch
            });
            *text = branches.max_by_key(String::len).unwrap_or_default();
        }
        Node::Repeat { node, min, max, .. } => {
            for round in 0..max.unwrap_or(u32::MAX) {
                let before = text.len();
                if round >= *min && text.chars().count() >= MAX_GENERATED {
                    break;
                }
                append_match(node, text);
                if text.len() == before {
                    break;
                }
            }
        }
        Node::Group { node, .. } => append_match(node, text),
        Node::At(_) | Node::Look { .. } | Node::Back { .. } => {}
    }
}

/// Returns a character of a set.
fn pick_char(set: &Set) -> Option<char> {
    let candidates =
        ('a'..='z').chain('A'..='Z').chain('0'..='9').chain(" -._/:@+*!".chars()).chain('\0'..='ÿ');
    let has_property = |property: &str| {
        let regex = regress::Regex::with_flags(property, "u").unwrap();
        Box::new(move |char: char| regex.find(&char.to_string()).is_some())
    };
    let mut candidates = candidates;
    candidates.find(|char| {
        set.members.iter().any(|member| member.contains((*char).into(), &|name| has_property(name)(*char)))
            != set.negated
    })
}

#[test]
#[ignore = "heavy: corpus"]
fn patterns_of_the_corpus_accept_their_longest_string() {
    let (mut matching, mut longest, mut unmatched) = (0, 0, Vec::new());
    let patterns = patterns();
    for pattern in &patterns {
        let text = long_text(pattern);
        longest = longest.max(text.len());
        match match_pattern(pattern, &text).is_match {
            Some(true) => matching += 1,
            Some(false) if requires_char_before_start(&Syntax::of(pattern).unwrap().root) => {
                unmatched.push(pattern);
            }
            // Lookaround may need other characters than the first that match.
            Some(false) if Syntax::of(pattern).unwrap().any(&|node| matches!(node, Node::Look { .. })) => {}
            found => panic!("{pattern} on {} bytes: {found:?}", text.len()),
        }
    }
    println!("{matching} of {} patterns match, the longest text has {longest} bytes", patterns.len());
    println!("no text matches {unmatched:?}");
    assert!(
        patterns.is_empty() || matching * 100 >= patterns.len() * 99 && longest >= MAX_GENERATED,
        "{matching}"
    );
}

/// Whether a pattern requires a character before the start of the string, so that it never matches: `.^`.
fn requires_char_before_start(root: &Node) -> bool {
    let Node::Sequence(nodes) = root else { return false };
    let start = nodes.iter().position(|node| matches!(node, Node::At(Anchor::Start)));
    start.is_some_and(|start| nodes[..start].iter().any(|node| matches!(node, Node::Set(_))))
}

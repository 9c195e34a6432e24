//! Selects which operations of a document become tools.

use std::fmt;

use toolgen_core::internal::closest_pattern;

use crate::tool::verb_and_subject;

/// Selects operations. Written as one of
///
/// - `tag:NAME` – operations with a tag,
/// - `METHOD /path` or `/path` – operations by method and path,
/// - `NAME` – operations by their id, or by the name of their tool.
///
/// In names and paths, `*` matches any characters but `/`, and `**` matches any characters. Methods and tags are
/// case-insensitive, ids and paths case-sensitive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    text: String,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Group(String),
    Title { verb: Option<String>, subject: String },
    Name(String),
}

/// An entry of a document that may become a tool, as selectors match it.
#[derive(Clone, Debug)]
pub(crate) struct Subject<'a> {
    /// The document's own name for it; may be empty.
    pub(crate) id: &'a str,
    /// The tool's name without a namespace.
    pub(crate) name: &'a str,
    /// The title for people, such as `GET /pets`.
    pub(crate) title: &'a str,
    /// The groups that it belongs to.
    pub(crate) groups: &'a [&'a str],
}

impl Selector {
    /// Returns the selector as the user wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn selects(&self, subject: &Subject<'_>) -> bool {
        match &self.kind {
            Kind::Group(group) => {
                let group = group.to_lowercase();
                subject.groups.iter().any(|entry_group| glob(&group, &entry_group.to_lowercase()))
            }
            Kind::Title { verb, subject: about } => {
                let (title_verb, title_subject) = verb_and_subject(subject.title);
                let is_same = |verb: &str| title_verb.is_some_and(|other| other.eq_ignore_ascii_case(verb));
                verb.as_deref().is_none_or(is_same) && glob(about, title_subject)
            }
            Kind::Name(name) => {
                (!subject.id.is_empty() && glob(name, subject.id)) || glob(name, subject.name)
            }
        }
    }

    /// Returns suggestions: the string of each subject in the same form that is similar.
    pub(crate) fn nearest(&self, subjects: &[Subject<'_>]) -> Option<String> {
        let candidates = subjects.iter().flat_map(|subject| match &self.kind {
            Kind::Group(_) => subject.groups.iter().map(|group| format!("tag:{group}")).collect(),
            Kind::Title { verb: Some(_), .. } => vec![subject.title.to_owned()],
            Kind::Title { verb: None, .. } => vec![verb_and_subject(subject.title).1.to_owned()],
            Kind::Name(_) => vec![subject.id.to_owned(), subject.name.to_owned()],
        });
        let candidates: Vec<String> = candidates.collect();
        suggestion(&self.text, candidates.iter().map(String::as_str))
    }
}

impl From<&str> for Selector {
    fn from(text: &str) -> Self {
        let text = text.trim();
        let kind = if let Some(tag) = text.strip_prefix("tag:") {
            Kind::Group(tag.trim().to_owned())
        } else if text.starts_with('/') {
            Kind::Title { verb: None, subject: text.to_owned() }
        } else if let Some((verb, subject)) = text.split_once(char::is_whitespace) {
            Kind::Title { verb: Some(verb.to_owned()), subject: subject.trim().to_owned() }
        } else {
            Kind::Name(text.to_owned())
        };
        Selector { text: text.to_owned(), kind }
    }
}

impl From<String> for Selector {
    fn from(text: String) -> Self {
        Selector::from(text.as_str())
    }
}

impl std::str::FromStr for Selector {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Selector::from(text))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Minimum similarity of a suggestion, on a scale up to 1.
const MIN_SIMILARITY: f64 = 0.8;

/// Maximum difference in similarity between the best suggestion and another one.
const SIMILARITY_MARGIN: f64 = 0.06;

/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;

/// Returns the candidate most similar to a string, if it is similar enough to suggest; among equals, the first in
/// text order.
#[must_use]
pub fn suggestion<'c>(text: &str, candidates: impl Iterator<Item = &'c str>) -> Option<String> {
    let candidates: Vec<&str> = candidates.collect();
    let near = suggestions(text, candidates.iter().copied()).into_iter().next();
    near.or_else(|| closest_pattern(text, candidates).filter(|_| text.contains('*')))
}

/// Returns candidates to suggest for a string, at most three: the likeliest first, and others that are nearly as
/// likely.
#[must_use]
pub fn suggestions<'c>(text: &str, candidates: impl Iterator<Item = &'c str>) -> Vec<String> {
    let scored = candidates
        .filter(|candidate| !candidate.is_empty())
        .map(|candidate| (likeness(text, candidate), candidate));
    let mut scored: Vec<(f64, &str)> = scored.filter(|(score, _)| *score > MIN_SIMILARITY).collect();
    scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(right.1)));
    scored.dedup();
    let best = scored.first().map_or(0.0, |(score, _)| *score);
    let near =
        scored.iter().take(MAX_SUGGESTIONS).take_while(|(score, _)| *score >= best - SIMILARITY_MARGIN);
    near.map(|(_, candidate)| (*candidate).to_owned()).collect()
}

/// Returns the similarity of two names, up to 1: by their letters, by their words in any order, or because one
/// contains all words of the other.
fn likeness(text: &str, candidate: &str) -> f64 {
    let letters = strsim::jaro_winkler(&text.to_lowercase(), &candidate.to_lowercase());
    let (text_words, candidate_words) = (words(text), words(candidate));
    let by_words = if text_words.len() > 1 && text_words.len() == candidate_words.len() {
        0.98 * strsim::jaro_winkler(&text_words.join(" "), &candidate_words.join(" "))
    } else {
        0.0
    };
    let is_subset = text_words.iter().any(|word| word.len() > 2)
        && text_words.iter().all(|word| candidate_words.contains(word));
    let swapped = if is_swapped(text, candidate) { 0.97 } else { 0.0 };
    letters.max(by_words).max(swapped).max(if is_subset { 0.85 } else { 0.0 })
}

/// Whether two names differ by two transposed neighbouring letters.
fn is_swapped(text: &str, candidate: &str) -> bool {
    let (text, candidate) = (text.to_lowercase(), candidate.to_lowercase());
    text.len() == candidate.len()
        && strsim::osa_distance(&text, &candidate) == 1
        && strsim::hamming(&text, &candidate) == Ok(2)
}

/// Splits a name into words, in lower case and sorted: `get_pet`, `getPet` and `pet.get` have the same words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (was_small && letter.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        was_small = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words.sort_unstable();
    words
}

/// Whether a string matches a pattern with `*` and `**`. Takes time proportional to the product of the lengths at
/// worst.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let tokens = tokens(pattern);
    let text: Vec<char> = text.chars().collect();
    // `reach[i]`: the tokens so far match the first `i` characters.
    let mut reach = vec![false; text.len() + 1];
    reach[0] = true;
    for token in tokens {
        let mut next = vec![false; text.len() + 1];
        for index in 0..=text.len() {
            next[index] = match token {
                Token::Char(expected) => index > 0 && reach[index - 1] && text[index - 1] == expected,
                Token::InSegment => reach[index] || (index > 0 && next[index - 1] && text[index - 1] != '/'),
                Token::Across => reach[index] || (index > 0 && next[index - 1]),
            };
        }
        reach = next;
    }
    reach[text.len()]
}

#[derive(Clone, Copy)]
enum Token {
    Char(char),
    InSegment,
    Across,
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(char) = chars.next() {
        if char != '*' {
            tokens.push(Token::Char(char));
        } else if chars.next_if_eq(&'*').is_some() {
            tokens.push(Token::Across);
        } else {
            tokens.push(Token::InSegment);
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: Subject<'_> = Subject {
        id: "pets/list",
        name: "pets_list",
        title: "GET /v1/pets/{id}",
        groups: &["Pets", "Store Admin"],
    };

    #[test]
    fn selectors_select() {
        for yes in [
            "tag:pets",
            "tag:store *",
            "GET /v1/**",
            "get /v1/pets/*",
            "/v1/pets/{id}",
            "/**",
            "pets/list",
            "pets_list",
            "pets_*",
            "**",
        ] {
            assert!(Selector::from(yes).selects(&SUBJECT), "{yes}");
        }
        for no in ["tag:pet", "POST /v1/**", "/v1/*", "/v1/pets", "list", "pets*list*x", "Pets_list", ""] {
            assert!(!Selector::from(no).selects(&SUBJECT), "{no}");
        }
    }

    #[test]
    fn unmatched_selector_gets_a_suggestion() {
        assert_eq!(Selector::from("pets_lst").nearest(&[SUBJECT]).as_deref(), Some("pets_list"));
        assert_eq!(Selector::from("tag:Petz").nearest(&[SUBJECT]).as_deref(), Some("tag:Pets"));
        assert_eq!(Selector::from("zebra").nearest(&[SUBJECT]), None);
        let long = Subject { name: "email__send_a_message_to_all", ..SUBJECT };
        assert_eq!(Selector::from("emial__*").nearest(&[long]).as_deref(), Some("email__*"));
    }

    #[test]
    fn likeliest_suggestion_comes_first() {
        let known = ["pets_create", "pets_list", "shop_pets_list", "pets_lists", "zebras", "zebra"];
        for (text, likely) in [
            ("pets_lst", &["pets_list", "pets_lists"][..]),
            // The same words in another order, or in another case.
            ("listPets", &["pets_list"]),
            ("create pets", &["pets_create"]),
            ("shop", &["shop_pets_list"]),
            ("zbera", &["zebra"]),
            ("unicorn", &[]),
        ] {
            assert_eq!(suggestions(text, known.into_iter()), likely, "{text}");
        }
    }
}

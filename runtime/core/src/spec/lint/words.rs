//! Splits names and descriptions into words.

/// Words that carry no meaning by themselves.
const STOP_WORDS: &[&str] = &[
    "a",
    "all",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "by",
    "for",
    "from",
    "given",
    "in",
    "into",
    "is",
    "it",
    "its",
    "of",
    "on",
    "or",
    "parameter",
    "argument",
    "field",
    "property",
    "value",
    "specified",
    "some",
    "that",
    "the",
    "their",
    "this",
    "to",
    "with",
];

/// Returns the lower-case words of a string. `getPet_byID` has four.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(char) = chars.next() {
        let ends_capitals = before.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase());
        let starts_word =
            char.is_uppercase() && (before.is_lowercase() || before.is_numeric() || ends_capitals);
        let is_word_char = char.is_alphanumeric() || matches!(char, '\'' | '’');
        if (starts_word || !is_word_char) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if char.is_alphanumeric() {
            word.extend(char.to_lowercase());
        }
        before = char;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Returns the stems of the words that carry meaning, sorted, without duplicates.
pub(super) fn stems(text: &str) -> Vec<String> {
    let mut stems: Vec<String> = words(text)
        .iter()
        .filter(|word| !STOP_WORDS.contains(&word.as_str()))
        .map(|word| stem(word))
        .collect();
    stems.sort();
    stems.dedup();
    stems
}

/// Returns a word without the endings of plurals and verbs: `lists`, `listed` and `listing` become `list`.
fn stem(word: &str) -> String {
    if word.len() <= 3 || !word.is_ascii() {
        return word.to_owned();
    }
    let word = match word {
        _ if word.ends_with("ies") => return format!("{}y", &word[..word.len() - 3]),
        _ if word.ends_with("ss") => word,
        _ => word.strip_suffix('s').unwrap_or(word),
    };
    let stripped = ["ing", "ed"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending))
        .filter(|stripped| stripped.len() > 2);
    stripped.unwrap_or(word).trim_end_matches('e').to_owned()
}

/// Whether a description says no more than a name.
pub(super) fn restates(description: &str, name: &str) -> bool {
    // A long description has other words, or is reported by another lint.
    if description.len() > 200 {
        return false;
    }
    let (description_stems, name_stems) = (stems(description), stems(name));
    let is_in_name =
        |word: &String| name_stems.iter().any(|stem| stem == word || is_abbreviation_of(stem, word));
    description_stems.iter().all(is_in_name) && (!description_stems.is_empty() || !name_stems.is_empty())
}

/// Whether a word is an abbreviation of another by omitted letters, such as `cmd` and `dir`.
fn is_abbreviation_of(short: &str, word: &str) -> bool {
    let mut letters = word.chars();
    (2..=4).contains(&short.len())
        && word.len() > short.len()
        && letters.next() == short.chars().next()
        && short.chars().skip(1).all(|expected| letters.any(|letter| letter == expected))
}

/// Whether a description is only the method and the path of a request.
pub(super) fn is_request(text: &str) -> bool {
    let is_method = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase());
    text.trim().split_once(' ').is_some_and(|(method, path)| {
        is_method(method) && path.starts_with('/') && !path.contains(char::is_whitespace)
    })
}

/// Joins names as `a`, `b` and 3 more.
pub(super) fn join_names(names: &[String]) -> String {
    const MAX: usize = 4;
    let mut quoted: Vec<String> = names.iter().take(MAX).map(|name| format!("`{name}`")).collect();
    let last = match names.len().saturating_sub(MAX) {
        0 => quoted.pop().unwrap_or_default(),
        count => format!("{count} more"),
    };
    if quoted.is_empty() { last } else { format!("{} and {last}", quoted.join(", ")) }
}

//! Shortens names by words, so that the result reads as a name.

/// Words with little information.
const FILLERS: [&str; 13] =
    ["a", "an", "and", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"];

/// Minimum number of words of a shortened name; fewer are too vague.
const MIN_WORDS: usize = 3;

/// Returns the name with words removed until it fits a limit: first words with little information, then repeated
/// words, then words in its middle, since a name begins with the action and ends with its object. `None` if too few
/// words would remain.
pub(super) fn shorten(name: &str, limit: usize) -> Option<String> {
    let mut words = words(name);
    let has_separators = name.contains(is_separator);
    while words.iter().map(|word| word.len()).sum::<usize>() > limit {
        if words.len() <= MIN_WORDS {
            return None;
        }
        let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
        let inner = 1..words.len();
        // `Trip` in `TripPin` is a part of a word if the name has other separators.
        let is_whole_word = |index: usize| {
            let starts_word =
                |index: usize| words.get(index).is_none_or(|word| word.starts_with(is_separator));
            !has_separators || (starts_word(index) && starts_word(index + 1))
        };
        let filler = inner.clone().find(|index| FILLERS.contains(&stems[*index].as_str()));
        let repeated =
            || inner.clone().find(|index| is_whole_word(*index) && stems[..*index].contains(&stems[*index]));
        words.remove(filler.or_else(repeated).unwrap_or(words.len() / 2));
    }
    Some(words.concat())
}

/// Returns each word that `other` has and a name lacks, after `_`.
pub(super) fn missing(name: &str, other: &str) -> String {
    let existing: Vec<String> = words(name).iter().map(|word| stem(word)).collect();
    let missing = words(other).into_iter().map(stem_of).filter(|(_, stem)| !existing.contains(stem));
    missing.map(|(word, _)| format!("_{}", word.trim_start_matches(is_separator))).collect()
}

fn stem_of(word: &str) -> (&str, String) {
    (word, stem(word))
}

/// Returns a word in a form for comparisons: without its separators, in lower case, in the singular.
fn stem(word: &str) -> String {
    let word = word.trim_start_matches(is_separator).to_ascii_lowercase();
    match word.strip_suffix('s') {
        Some(singular) if singular.len() > 2 => singular.to_owned(),
        _ => word,
    }
}

/// Splits a name into its words, each after its separators: `getPets_by-id` into `get`, `Pets`, `_by`, `-id`.
fn words(name: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut previous) = (0, None);
    for (index, char) in name.char_indices() {
        let starts_word = match previous {
            Some(previous) if is_separator(previous) => false,
            Some(previous) => {
                is_separator(char) || char.is_ascii_uppercase() && !previous.is_ascii_uppercase()
            }
            None => false,
        };
        if starts_word {
            words.extend(name.get(start..index));
            start = index;
        }
        previous = Some(char);
    }
    words.extend(name.get(start..));
    words
}

fn is_separator(char: char) -> bool {
    char == '_' || char == '-'
}

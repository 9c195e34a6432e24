//! Splits text into words that a search compares.

/// Words that occur in most queries and carry no information about a tool.
const FILLERS: [&str; 58] = [
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "could", "did",
    "do", "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its",
    "may", "me", "much", "my", "need", "of", "on", "or", "our", "please", "should", "that", "the", "their",
    "there", "these", "this", "to", "tool", "use", "want", "was", "we", "what", "when", "where", "will",
    "with",
];

/// Whether a word carries no information about a tool.
pub(super) fn is_filler(word: &str) -> bool {
    FILLERS.binary_search(&word).is_ok()
}

/// Calls `visit` with each word of a text, in order and in lower case: the parts of `camelCase`, `snake_case` and
/// `v2Name`, and words without separators as a whole, so that both `OAuth` and `auth` find `OAuthClient`. In scripts
/// without spaces between words, each pair of adjacent characters is a word.
pub(super) fn words(text: &str, mut visit: impl FnMut(&str)) {
    let mut word = String::new();
    for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        // Most words of a text have one part and are already in lower case.
        if run.bytes().all(|byte| byte.is_ascii_lowercase()) {
            visit(run);
            continue;
        }
        if run.chars().any(is_unspaced) {
            visit_pairs(run, &mut word, &mut visit);
            continue;
        }
        let parts = Parts { remaining: run }.inspect(|part| {
            write_lowercase(part, &mut word);
            visit(&word);
        });
        if parts.count() > 1 {
            write_lowercase(run, &mut word);
            visit(&word);
        }
    }
}

fn write_lowercase(text: &str, out: &mut String) {
    out.clear();
    out.extend(text.chars().flat_map(char::to_lowercase));
}

/// Visits each pair of adjacent characters in a run of Chinese, Japanese, Thai and similar scripts, and each other
/// part of the run.
fn visit_pairs(run: &str, word: &mut String, visit: &mut impl FnMut(&str)) {
    let mut before: Option<char> = None;
    let mut is_isolated = false;
    word.clear();
    for c in run.chars() {
        if !is_unspaced(c) {
            visit_isolated(word, &mut is_isolated, before.take(), visit);
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            visit(word);
            word.clear();
        }
        is_isolated = before.is_none();
        if let Some(before) = before {
            visit(&String::from_iter([before, c]));
        }
        before = Some(c);
    }
    visit_isolated(word, &mut is_isolated, before, visit);
    if !word.is_empty() {
        visit(word);
    }
}

/// Visits a character that has no neighbor.
fn visit_isolated(word: &str, is_isolated: &mut bool, before: Option<char>, visit: &mut impl FnMut(&str)) {
    if let Some(before) = before.filter(|_| std::mem::take(is_isolated) && word.is_empty()) {
        visit(before.encode_utf8(&mut [0; 4]));
    }
}

/// Whether a character belongs to a script without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// The parts of a name: it is split before an upper-case letter that starts a word, and between letters and digits.
struct Parts<'a> {
    remaining: &'a str,
}

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let mut chars = self.remaining.char_indices();
        let (_, mut before) = chars.next()?;
        let end = chars.find_map(|(index, c)| {
            let next_char = self.remaining[index..].chars().nth(1);
            let starts_word = c.is_uppercase()
                && (before.is_lowercase()
                    || before.is_uppercase() && next_char.is_some_and(char::is_lowercase));
            let is_digit_boundary = c.is_numeric() != before.is_numeric();
            before = c;
            (starts_word || is_digit_boundary).then_some(index)
        });
        let (part, remaining) = self.remaining.split_at(end.unwrap_or(self.remaining.len()));
        self.remaining = remaining;
        Some(part)
    }
}

/// Removes the ending of an English word, conservatively: `repositories` and `repository`, `deleting`, `deletion` and
/// `delete` become the same. Words of other languages and short words are not changed.
pub(super) fn stem(word: &str) -> String {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut stem = singular(word);
    for (ending, min_length, replacement) in [
        ("ization", 4, "iz"),
        ("isation", 4, "iz"),
        ("ising", 4, "iz"),
        ("ised", 4, "iz"),
        ("ation", 5, ""),
        ("ment", 5, ""),
        ("tion", 3, "t"),
        ("sion", 3, "s"),
        ("ing", 3, ""),
        ("ied", 3, "y"),
        ("ed", 3, ""),
    ] {
        if let Some(root) =
            stem.strip_suffix(ending).filter(|root| root.len() >= min_length && has_vowel(root))
        {
            let drops_last = replacement.is_empty() && is_doubled(root);
            stem = format!("{}{replacement}", if drops_last { &root[..root.len() - 1] } else { root });
            break;
        }
    }
    if stem.len() > 4 && stem.ends_with("ise") {
        stem.replace_range(stem.len() - 2.., "z");
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    stem
}

fn singular(word: &str) -> String {
    let without_last = |count: usize| word[..word.len() - count].to_owned();
    if word.ends_with("ies") && word.len() > 4 {
        return without_last(3) + "y";
    }
    if ["sses", "xes", "ches", "shes", "zes"].iter().any(|ending| word.ends_with(ending)) {
        return without_last(2);
    }
    let is_plural = word.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    if is_plural { without_last(1) } else { word.to_owned() }
}

fn has_vowel(text: &str) -> bool {
    text.contains(['a', 'e', 'i', 'o', 'u', 'y'])
}

fn is_doubled(text: &str) -> bool {
    let mut bytes = text.bytes().rev();
    let (last, second_last) = (bytes.next(), bytes.next());
    last == second_last && !matches!(last, Some(b'l' | b's' | b'z' | b'e' | b'o') | None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        let mut parts = Vec::new();
        words(text, |word| parts.push(word.to_owned()));
        parts
    }

    #[test]
    fn names_are_split_at_case_digits_and_punctuation() {
        assert_eq!(split("getUserByID"), ["get", "user", "by", "id", "getuserbyid"]);
        assert_eq!(split("list-HTTPServers_v2"), ["list", "http", "servers", "httpservers", "v", "2", "v2"]);
        assert_eq!(split("Größe .* [a-z]+ (?:x)"), ["größe", "a", "z", "x"]);
        assert_eq!(split(""), [""; 0]);
    }

    #[test]
    fn non_latin_scripts_are_split_into_words() {
        assert_eq!(split("Удалить Файл"), ["удалить", "файл"]);
        assert_eq!(split("删除文件"), ["删除", "除文", "文件"]);
        assert_eq!(split("取API键"), ["取", "api", "键"]);
        assert_eq!(split("ファイルを2個"), ["ファ", "ァイ", "イル", "ルを", "2", "個"]);
    }

    #[test]
    fn word_endings_are_removed() {
        for forms in [
            &["repository", "repositories"][..],
            &["delete", "deletes", "deleted", "deleting", "deletion"],
            &["create", "creation", "creating"],
            &["organize", "organization", "organisation", "organizations"],
            &["stop", "stopped", "stopping"],
            &["deploy", "deployment", "deployments", "deployed"],
            &["configure", "configuration"],
            &["box", "boxes"],
            &["copy", "copies", "copied"],
        ] {
            let stems: Vec<String> = forms.iter().map(|word| stem(word)).collect();
            assert!(stems.iter().all(|other| *other == stems[0]), "{stems:?}");
        }
        assert_eq!(
            (stem("status").as_str(), stem("address").as_str(), stem("this").as_str()),
            ("status", "address", "this")
        );
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(FILLERS.is_sorted());
        assert!(is_filler("the") && !is_filler("repository"));
    }
}

//! Truncates strings.

use std::borrow::Cow;

/// Returns the last character boundary at or before a position, in bytes.
pub fn floor(text: &str, index: usize) -> usize {
    if index >= text.len() {
        return text.len();
    }
    (0..=index).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}

/// Returns bytes without an incomplete UTF-8 character at their end.
pub fn trim_partial_char(bytes: &[u8]) -> &[u8] {
    // A character has at most four bytes, so an incomplete one has at most three.
    let tail = bytes.len().saturating_sub(3);
    let start = bytes[tail..].iter().rposition(|byte| *byte >= 0xc0).map(|index| tail + index);
    match start {
        Some(start) => match std::str::from_utf8(&bytes[start..]) {
            Err(error) if error.error_len().is_none() => &bytes[..start],
            _ => bytes,
        },
        None => bytes,
    }
}

/// Truncates a string to a number of characters. `…` replaces the rest.
pub fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Truncates prose to a number of characters: after a sentence, after a line, or at least after a word. ` …` replaces
/// the rest. The cut is never inside a fenced code block or directly after a heading.
pub fn cut_at_sentence(text: &str, limit: usize) -> Cow<'_, str> {
    const MARK: &str = " …";
    if text.len() <= limit || text.chars().nth(limit).is_none() {
        return Cow::Borrowed(text);
    }
    let text_limit = limit.saturating_sub(MARK.chars().count());
    let end = text.char_indices().nth(text_limit).map_or(text.len(), |(end, _)| end);
    let mut prefix = &text[..end];
    if prefix.matches("```").count() % 2 == 1 {
        prefix = prefix.rfind("```").map_or(prefix, |fence| &prefix[..fence]);
    }
    // A boundary far before the end would lose more than a broken sentence.
    let is_near_end = |index: &usize| *index > end / 3;
    let boundary = sentence_end(prefix, &text[prefix.len()..]).filter(is_near_end);
    let boundary = boundary.or_else(|| prefix.rfind(char::is_whitespace).filter(is_near_end));
    let mut prefix = prefix[..boundary.unwrap_or(prefix.len())].trim_end();
    while let Some((above, _)) = prefix.rsplit_once('\n').filter(|(_, last)| last.starts_with('#')) {
        prefix = above.trim_end();
    }
    Cow::Owned(format!("{prefix}{MARK}"))
}

/// Returns the end of the last complete sentence or line of `text`, which `following` follows.
fn sentence_end(text: &str, following: &str) -> Option<usize> {
    text.char_indices().rev().find_map(|(index, char)| {
        let after = index + char.len_utf8();
        match char {
            '\n' => Some(index),
            _ => ends_sentence(&text[..index], char, &text[after..], following).then_some(after),
        }
    })
}

/// Returns the separator between a text and the sentence that follows it. It contains a full stop if the text lacks
/// one, as summaries and names often do.
#[must_use]
pub fn sentence_separator(text: &str) -> &'static str {
    match text.trim_end().chars().next_back() {
        None => "",
        Some(last) if last.is_alphanumeric() || ")]}'\"`*_%’”»".contains(last) && !is_quoted_end(text) => {
            ". "
        }
        Some(_) => " ",
    }
}

/// Whether a text ends with a complete sentence in quotes or brackets: `(It is old.)`.
fn is_quoted_end(text: &str) -> bool {
    let inner = text.trim_end().trim_end_matches([')', ']', '}', '\'', '"', '`', '*', '_', '’', '”', '»']);
    inner.ends_with(['.', '!', '?', '…'])
}

/// Returns the first sentence of a text, or its first line if that is shorter.
pub fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default().trim_end();
    let end = line.char_indices().find_map(|(index, char)| {
        let after = index + char.len_utf8();
        ends_sentence(&line[..index], char, &line[after..], "").then_some(after)
    });
    &line[..end.unwrap_or(line.len())]
}

/// Whether the character between `before` and `after` ends a sentence.
fn ends_sentence(before: &str, char: char, after: &str, following: &str) -> bool {
    let is_abbreviation = || {
        let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let is_list_number = line.trim_start() == word && word.bytes().all(|byte| byte.is_ascii_digit());
        word.contains('.')
            || is_list_number && !word.is_empty()
            || matches!(word.trim_start_matches('('), "vs" | "approx" | "incl" | "cf")
    };
    let ends_word = || after.chars().chain(following.chars()).next().is_none_or(char::is_whitespace);
    match char {
        '.' => ends_word() && !is_abbreviation(),
        '!' | '?' => ends_word(),
        '。' | '！' | '？' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_sentence_follows_one_full_stop() {
        for (text, joined) in [
            ("", "Next."),
            ("Gets a pet", "Gets a pet. Next."),
            ("Gets a pet.", "Gets a pet. Next."),
            ("Which pet?", "Which pet? Next."),
            ("Pets, toys …", "Pets, toys … Next."),
            ("Pets, toys...", "Pets, toys... Next."),
            ("Gets a pet (by ID)", "Gets a pet (by ID). Next."),
            ("Gets a pet. (It is fast.)", "Gets a pet. (It is fast.) Next."),
            ("Gets **a pet.**", "Gets **a pet.** Next."),
            ("As these:", "As these: Next."),
        ] {
            assert_eq!(format!("{text}{}Next.", sentence_separator(text)), joined);
        }
    }

    #[test]
    fn prose_is_truncated_after_a_sentence() {
        let cases = [
            ("Short.", 6, "Short."),
            ("One two. Three four.", 19, "One two. …"),
            ("One two three! Four five six", 20, "One two three! …"),
            ("Takes more, e.g. this one here", 22, "Takes more, e.g. …"),
            ("Version 1.2 is the one here", 21, "Version 1.2 is the …"),
            ("- one\n- two\n- three and more", 18, "- one\n- two …"),
            ("Verylongwordwithoutanyspace", 10, "Verylong …"),
            ("A first sentence.\n\n## Head\n\nAnother sentence.", 40, "A first sentence. …"),
            ("It is so. Like:\n```\nlet a;\nlet b;\n```", 25, "It is so. Like: …"),
            ("第一句。第二句。第三句。", 10, "第一句。第二句。 …"),
        ];
        for (text, limit, expected) in cases {
            assert_eq!(cut_at_sentence(text, limit), expected);
            assert!(expected.chars().count() <= limit, "{expected}");
        }
        for limit in 0..40 {
            let cut = cut_at_sentence("Ää öö üü. Ää öö üü! Ää öö üü? 。。。", limit);
            assert!(limit < 2 || cut.chars().count() <= limit, "{limit}: {cut}");
        }
    }

    #[test]
    fn first_sentence_is_found() {
        for (text, expected) in [
            ("One. Two.", "One."),
            ("  Takes e.g. this. And that.", "Takes e.g. this."),
            ("Version 1.2 is here\nand more.", "Version 1.2 is here"),
            ("第一句。第二句。", "第一句。"),
            ("No end", "No end"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), expected);
        }
    }
}

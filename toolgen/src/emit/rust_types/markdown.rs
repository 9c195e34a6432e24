//! Converts descriptions of a document, which are Markdown, to Rust documentation.
//!
//! Emphasis, code and links to the web are kept. Anything else that rustdoc would not read as plain words is escaped:
//! HTML, links to items, code blocks (which would be compiled as tests), lists and headings.

use super::super::literal::is_plain;

/// Maximum length of a paragraph, in bytes.
const MAX_PARAGRAPH_BYTES: usize = 300;

/// Returns the first paragraph of a description, as one line of Markdown.
pub(in crate::emit) fn first_paragraph(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    let paragraph = words.join(" ");
    let mut line = String::new();
    let mut remaining = paragraph.as_str();
    while !remaining.is_empty() {
        let (piece, after) = piece(remaining, line.is_empty());
        if line.len() + piece.len() > MAX_PARAGRAPH_BYTES && !line.is_empty() {
            // An incomplete word is dropped.
            let is_inside = !line.ends_with(' ') && !piece.starts_with(' ');
            let end = if is_inside { line.rfind(' ').unwrap_or(line.len()) } else { line.len() };
            line.truncate(end);
            return close(line.trim_end()) + " …";
        }
        line.push_str(&piece);
        remaining = after;
    }
    line
}

/// Closes the strong emphasis that a cut has left open.
fn close(line: &str) -> String {
    let end = if line.matches("**").count() % 2 == 1 { "**" } else { "" };
    format!("{line}{end}")
}

/// Takes the first piece off a string: a link, code, or a character, as it is written.
fn piece(text: &str, is_first: bool) -> (String, &str) {
    let token = if is_first { marker(text) } else { None };
    let token = token.or_else(|| code(text)).or_else(|| link(text)).or_else(|| address(text));
    token.unwrap_or_else(|| character(text))
}

/// Takes a prefix that would make a line a list, a heading, a code block or a rule.
fn marker(text: &str) -> Option<(String, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (before, after) = text.split_at(digits);
    let mark = after.chars().next()?;
    let marks = if digits > 0 { ".)" } else { "#-+*=~" };
    let next = after[mark.len_utf8()..].chars().next();
    // Emphasis starts with the same sign, but is followed by a word.
    let is_mark = marks.contains(mark)
        && (mark == '~' || next.is_none_or(|next| next == ' ' || next == mark && mark != '*'));
    is_mark.then(|| (format!("{before}\\{mark}"), &after[mark.len_utf8()..]))
}

/// Takes code between backticks.
fn code(text: &str) -> Option<(String, &str)> {
    let (inner, after) = text.strip_prefix('`')?.split_once('`')?;
    let is_code = !inner.trim().is_empty() && !after.starts_with('`');
    is_code.then(|| (format!("`{}`", plain(inner)), after))
}

/// Takes a link to the web.
fn link(text: &str) -> Option<(String, &str)> {
    let (displayed, after) = text.strip_prefix('[')?.split_once("](")?;
    let url = &after[..unmatched(after)];
    let after = after[url.len()..].strip_prefix(')')?;
    if !is_web(url) || displayed.contains(['[', ']', '`', '<', '\\']) || displayed.trim().is_empty() {
        return None;
    }
    let displayed = plain(displayed);
    Some((
        if displayed == url || is_web(&displayed) {
            format!("<{url}>")
        } else {
            format!("[{displayed}]({url})")
        },
        after,
    ))
}

/// Takes a web address that is not a link by itself.
fn address(text: &str) -> Option<(String, &str)> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`' | ']' | '}' | '|' | '\\');
    let end = if text.starts_with("http") { text.find(is_end).unwrap_or(text.len()) } else { 0 };
    let end = unmatched(&text[..end]);
    let address = text[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_']);
    is_web(address).then(|| (format!("<{address}>"), &text[address.len()..]))
}

/// Returns the position of the first unmatched parenthesis of a string: the first `)` without a `(`, or else the
/// first `(` without a `)`; the end if all match. Markdown ends an address in parentheses there.
fn unmatched(text: &str) -> usize {
    let mut open = Vec::new();
    for (index, sign) in text.match_indices(['(', ')']) {
        if sign == "(" {
            open.push(index);
        } else if open.pop().is_none() {
            return index;
        }
    }
    open.first().copied().unwrap_or(text.len())
}

/// Whether a string is only a web address.
fn is_web(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| host.starts_with(|c: char| c.is_alphanumeric() || "-_@%~".contains(c)))
        && text.chars().all(|c| is_plain(c) && !c.is_whitespace() && !matches!(c, '<' | '>' | '\\'))
        && unmatched(text) == text.len()
}

/// Takes a character, escaped if it has a meaning in Markdown.
fn character(text: &str) -> (String, &str) {
    let mut chars = text.chars();
    let first = chars.next().unwrap_or(' ');
    let after = chars.as_str();
    match (first, after.chars().next()) {
        // An escape in the description itself.
        ('\\', Some(next)) if next.is_ascii_punctuation() => (format!("\\{next}"), &after[1..]),
        ('[' | ']' | '<' | '>' | '`' | '\\', _) => (format!("\\{first}"), after),
        _ if is_plain(first) => (first.to_string(), after),
        _ => (" ".to_owned(), after),
    }
}

/// Returns a string without its invisible characters.
fn plain(text: &str) -> String {
    text.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::first_paragraph;

    #[test]
    fn markdown_is_preserved_and_other_text_escaped() {
        for (description, expected) in [
            ("The **size** of `a[0] <b>` in *bytes*.", "The **size** of `a[0] <b>` in *bytes*."),
            (
                "See [the guide](https://a.example/b_c?d=e#f), then go.",
                "See [the guide](https://a.example/b_c?d=e#f), then go.",
            ),
            (
                "See https://a.example/x. Or (http://b.example)!",
                "See <https://a.example/x>. Or (<http://b.example>)!",
            ),
            ("[https://a.example](https://a.example)", "<https://a.example>"),
            (
                "[a](https://a.example/(b)/c) (https://a.example/(b(c))), https://a.example/(b",
                "[a](https://a.example/(b)/c) (<https://a.example/(b(c))>), <https://a.example/>(b",
            ),
            (
                r"\[a\](https://a.example/(b)/c) [https://a.example/d]",
                r"\[a\](<https://a.example/(b)/c>) \[<https://a.example/d>\]",
            ),
            ("[a](https://a.example/(b) c", r"\[a\](<https://a.example/(b)> c"),
            (" a [b](c)\n  d `e`\n\nrest", "a \\[b\\](c) d `e`"),
            ("[Pet] and [`Pet`] and [a][b]", "\\[Pet\\] and \\[`Pet`\\] and \\[a\\]\\[b\\]"),
            ("Of <b>any</b> Vec<u8> & <script>", "Of \\<b\\>any\\</b\\> Vec\\<u8\\> & \\<script\\>"),
            ("a ` b", "a \\` b"),
            ("a `` b", "a \\`\\` b"),
            (r"\[a](b) \`c\` C:\dir \\", r"\[a\](b) \`c\` C:\\dir \\"),
            ("~~~\nevil()", "\\~~~ evil()"),
            ("```\nevil()\n```", "\\`\\`\\` evil() \\`\\`\\`"),
            ("# Head", "\\# Head"),
            ("- one\n- two", "\\- one - two"),
            ("* one", "\\* one"),
            ("**one** two", "**one** two"),
            ("-1 is none", "-1 is none"),
            ("--- a", "\\--- a"),
            ("2. Then", "2\\. Then"),
            ("3.5 of it", "3.5 of it"),
            ("httpx://a and https:// b", "httpx://a and https:// b"),
            ("\u{202e}x `a\u{202e}b`", " x `a b`"),
        ] {
            assert_eq!(first_paragraph(description), expected);
        }
    }

    #[test]
    fn long_paragraph_is_truncated_at_a_word_outside_of_markup() {
        let cut = first_paragraph(&"long ".repeat(200));
        assert!(cut.ends_with("long …") && cut.len() <= 304, "{cut}");
        for last in [
            "`code of many words that goes on and on`",
            "[a link](https://a.example/of/some/length/and/more)",
        ] {
            let cut = first_paragraph(&format!("{}{last} end", "word ".repeat(57)));
            assert!(cut.ends_with("word …") && cut.len() <= 304, "{cut}");
        }
        assert!(first_paragraph(&format!("**{}**", "word ".repeat(90).trim())).ends_with("word** …"));
        assert_eq!(first_paragraph(&"a".repeat(400)).len(), 304);
    }
}

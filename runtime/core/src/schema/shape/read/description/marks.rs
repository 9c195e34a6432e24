//! Removes Markdown that is useless to a model: targets of relative links, images, and spaces that align tables.

use std::borrow::Cow;

use crate::base::truncate::floor;

/// Maximum length of a link, in bytes.
const MAX_LINK: usize = 1_000;
/// Minimum number of letters of a word in a link. A character class such as `[a-z]` has fewer.
const LETTERS: usize = 4;

/// Returns a text without such Markdown. Code is unchanged.
pub(super) fn tidied(text: Cow<'_, str>) -> Cow<'_, str> {
    let text = if text.contains("](") { Cow::Owned(links(&text)) } else { text };
    if text.contains("---") && text.contains('|') { Cow::Owned(tables(&text)) } else { text }
}

/// Keeps only the text of relative links, and the descriptions of images.
fn links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['`', '[', '!']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match rest.as_bytes().first() {
            Some(b'`') => code(rest),
            Some(b'!') if rest.starts_with("![") => match link(&rest[1..]) {
                Some((label, _, length)) => {
                    out.push_str(label);
                    rest = &rest[1 + length..];
                    continue;
                }
                None => 2,
            },
            Some(b'[') => match link(rest) {
                Some((label, target, length)) if is_relative(label, target, &rest[length..]) => {
                    out.push_str(label);
                    rest = &rest[length..];
                    continue;
                }
                _ => 1,
            },
            _ => 1,
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// Returns the length of the code at the start of a text, or of its backticks if it does not end.
fn code(text: &str) -> usize {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let mark = &text[..ticks];
    let mut from = ticks;
    while let Some(found) = text[from..].find(mark) {
        let end = from + found + ticks;
        let longer = text[end..].len() - text[end..].trim_start_matches('`').len();
        if longer == 0 {
            return end;
        }
        from = end + longer;
    }
    ticks
}

/// Parses the link at the start of a text: its text, its target, and its length.
fn link(text: &str) -> Option<(&str, &str, usize)> {
    let near = &text[..floor(text, MAX_LINK)];
    let (label, rest) = near.strip_prefix('[')?.split_once("](")?;
    let (target, _) = rest.split_once(')')?;
    let is_one = !label.contains(['[', ']', '`', '\n']) && !target.contains(['(', '\n', ' ']);
    is_one.then(|| (label, target, label.len() + target.len() + "[]()".len()))
}

/// Whether a link is relative to the page that contains it.
fn is_relative(label: &str, target: &str, after: &str) -> bool {
    let is_path = ["/", "#", "./", "../"].iter().any(|start| target.starts_with(start));
    let is_plain = |c: char| c.is_alphanumeric() || "/#._-?=&%~:+,".contains(c);
    is_path
        && !target.starts_with("//")
        && target.chars().all(is_plain)
        && label.chars().filter(|c| c.is_alphabetic()).count() >= LETTERS
        && !after.starts_with(['?', '*', '+', '{', '|'])
}

/// Writes tables without the padding of their columns.
fn tables(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let is_row =
        |line: &str| line.trim().len() > 2 && line.trim().starts_with('|') && line.trim().ends_with('|');
    let mut out: Vec<Cow<'_, str>> = Vec::with_capacity(lines.len());
    let (mut in_table, mut in_fence) = (false, false);
    for (at, &line) in lines.iter().enumerate() {
        in_fence ^= line.trim_start().starts_with("```");
        // The header of a table is the row before the delimiter row.
        in_table = !in_fence
            && is_row(line)
            && (in_table || is_rule(line) || lines.get(at + 1).is_some_and(|next| is_rule(next)));
        out.push(match (in_table, is_rule(line)) {
            (false, _) => Cow::Borrowed(line),
            (true, true) => Cow::Owned(format!("|{}", "---|".repeat(line.matches('|').count() - 1))),
            (true, false) => Cow::Owned(line.split_whitespace().collect::<Vec<_>>().join(" ")),
        });
    }
    out.join("\n")
}

/// Whether a line is the delimiter row between the header and the other rows of a table.
fn is_rule(line: &str) -> bool {
    let inner = line.trim().strip_prefix('|').and_then(|rest| rest.strip_suffix('|'));
    inner.is_some_and(|cells| {
        cells.split('|').all(|cell| {
            let dashes = cell.trim().trim_matches(':');
            dashes.len() > 2 && dashes.bytes().all(|byte| byte == b'-')
        })
    })
}

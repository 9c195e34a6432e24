//! Removes Markdown that is useless to a model: targets of relative links, images, and spaces that align tables.

use std::borrow::Cow;

use crate::base::truncate::floor;

/// Maximum length of a link, in bytes.
const MAX_LINK: usize = 1_000;
/// Minimum number of letters of a word in a link. A character class such as `[a-z]` has fewer.
const MIN_LETTERS: usize = 4;

/// Returns a text without such Markdown. Code is unchanged.
pub(super) fn tidy(text: Cow<'_, str>) -> Cow<'_, str> {
    let text = if text.contains("](") { Cow::Owned(simplify_links(&text)) } else { text };
    if text.contains("---") && text.contains('|') { Cow::Owned(compact_tables(&text)) } else { text }
}

/// Keeps only the text of relative links, and the descriptions of images.
fn simplify_links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut remaining = text;
    while let Some(position) = remaining.find(['`', '[', '!']) {
        out.push_str(&remaining[..position]);
        remaining = &remaining[position..];
        let length = match remaining.as_bytes().first() {
            Some(b'`') => code_length(remaining),
            Some(b'!') if remaining.starts_with("![") => match parse_link(&remaining[1..]) {
                Some((label, _, length)) => {
                    out.push_str(label);
                    remaining = &remaining[1 + length..];
                    continue;
                }
                None => 2,
            },
            Some(b'[') => match parse_link(remaining) {
                Some((label, target, length)) if is_relative(label, target, &remaining[length..]) => {
                    out.push_str(label);
                    remaining = &remaining[length..];
                    continue;
                }
                _ => 1,
            },
            _ => 1,
        };
        out.push_str(&remaining[..length]);
        remaining = &remaining[length..];
    }
    out.push_str(remaining);
    out
}

/// Returns the length of the code at the start of a text, or of its backticks if it does not end.
fn code_length(text: &str) -> usize {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let mark = &text[..ticks];
    let mut from = ticks;
    while let Some(offset) = text[from..].find(mark) {
        let end = from + offset + ticks;
        let excess = text[end..].len() - text[end..].trim_start_matches('`').len();
        if excess == 0 {
            return end;
        }
        from = end + excess;
    }
    ticks
}

/// Parses the link at the start of a text: its text, its target, and its length.
fn parse_link(text: &str) -> Option<(&str, &str, usize)> {
    let limited = &text[..floor(text, MAX_LINK)];
    let (label, remaining) = limited.strip_prefix('[')?.split_once("](")?;
    let (target, _) = remaining.split_once(')')?;
    let is_simple = !label.contains(['[', ']', '`', '\n']) && !target.contains(['(', '\n', ' ']);
    is_simple.then(|| (label, target, label.len() + target.len() + "[]()".len()))
}

/// Whether a link is relative to the page that contains it.
fn is_relative(label: &str, target: &str, after: &str) -> bool {
    let is_path = ["/", "#", "./", "../"].iter().any(|start| target.starts_with(start));
    let is_plain = |c: char| c.is_alphanumeric() || "/#._-?=&%~:+,".contains(c);
    is_path
        && !target.starts_with("//")
        && target.chars().all(is_plain)
        && label.chars().filter(|c| c.is_alphabetic()).count() >= MIN_LETTERS
        && !after.starts_with(['?', '*', '+', '{', '|'])
}

/// Writes tables without the padding of their columns.
fn compact_tables(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let is_row =
        |line: &str| line.trim().len() > 2 && line.trim().starts_with('|') && line.trim().ends_with('|');
    let mut out: Vec<Cow<'_, str>> = Vec::with_capacity(lines.len());
    let (mut in_table, mut in_fence) = (false, false);
    for (position, &line) in lines.iter().enumerate() {
        in_fence ^= line.trim_start().starts_with("```");
        // The header of a table is the row before the delimiter row.
        in_table = !in_fence
            && is_row(line)
            && (in_table
                || is_delimiter_row(line)
                || lines.get(position + 1).is_some_and(|next| is_delimiter_row(next)));
        out.push(match (in_table, is_delimiter_row(line)) {
            (false, _) => Cow::Borrowed(line),
            (true, true) => Cow::Owned(format!("|{}", "---|".repeat(line.matches('|').count() - 1))),
            (true, false) => Cow::Owned(line.split_whitespace().collect::<Vec<_>>().join(" ")),
        });
    }
    out.join("\n")
}

/// Whether a line is the delimiter row between the header and the other rows of a table.
fn is_delimiter_row(line: &str) -> bool {
    let inner = line.trim().strip_prefix('|').and_then(|remaining| remaining.strip_suffix('|'));
    inner.is_some_and(|cells| {
        cells.split('|').all(|cell| {
            let dashes = cell.trim().trim_matches(':');
            dashes.len() > 2 && dashes.bytes().all(|byte| byte == b'-')
        })
    })
}

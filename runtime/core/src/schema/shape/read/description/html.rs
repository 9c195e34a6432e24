//! Converts HTML to Markdown: elements, tags, and character references.

use std::collections::BTreeSet;

use crate::base::entity::character;

/// Elements that end a paragraph.
const BLOCKS: [&str; 12] = [
    "article",
    "blockquote",
    "center",
    "details",
    "div",
    "dl",
    "footer",
    "header",
    "p",
    "para",
    "section",
    "table",
];
/// Blocks whose names are shown as labels.
const ADMONITIONS: [&str; 4] = ["caution", "important", "note", "warning"];
/// Elements that are replaced by their content.
const INLINE: [&str; 27] = [
    "abbr",
    "b",
    "big",
    "cite",
    "del",
    "dfn",
    "em",
    "figcaption",
    "figure",
    "font",
    "i",
    "ins",
    "label",
    "mark",
    "nobr",
    "q",
    "s",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "tbody",
    "tfoot",
    "thead",
    "u",
    "var",
];
/// Summaries that only expand the text below them.
const EXPAND_LABELS: [&str; 7] =
    ["click to expand", "details", "expand", "more", "more details", "show details", "show more"];
/// Elements without an end tag.
const VOID: [&str; 4] = ["br", "hr", "img", "wbr"];
/// Elements whose end tag may be omitted.
const OPEN_ENDED: [&str; 7] = ["p", "li", "dt", "dd", "tr", "td", "th"];
/// Elements with their own handling.
const OTHER: [&str; 18] = [
    "a", "code", "h1", "h2", "h3", "h4", "h5", "h6", "kbd", "ol", "pre", "samp", "script", "style",
    "summary", "sup", "tt", "ul",
];

/// Returns a text with its HTML converted to Markdown.
pub(super) fn to_markdown(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let closed_names = lower.split("</").skip(1).map(|remaining| {
        remaining.split(|char: char| !char.is_ascii_alphanumeric()).next().unwrap_or_default().to_owned()
    });
    let last_comment = text.rfind("-->").unwrap_or_default();
    let mut writer =
        Writer { text, closed_names: closed_names.collect(), lower, last_comment, ..Writer::default() };
    writer.run();
    let mut out = String::with_capacity(writer.out.len());
    let mut empty_lines = 0;
    for line in writer.out.trim().lines() {
        let line = if writer.has_html { line.trim_end() } else { line };
        empty_lines = if line.is_empty() { empty_lines + 1 } else { 0 };
        // Removed elements leave empty lines.
        if writer.has_html && empty_lines > 1 {
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(line);
    }
    out
}

#[derive(Default)]
struct Writer<'t> {
    text: &'t str,
    /// The text in lower case, with the same length.
    lower: String,
    /// The names of all elements that have an end tag somewhere.
    closed_names: BTreeSet<String>,
    /// The position of the last end of a comment.
    last_comment: usize,
    out: String,
    /// The open lists: the number of the last item, if items are numbered.
    lists: Vec<Option<usize>>,
    /// The target of an open link, and the position at which its text starts.
    link: Option<(String, usize)>,
    /// Whether a list or a table has just started, so that its first line follows.
    is_first_line: bool,
    /// The position at which an item, a cell or a remark starts.
    item_start: usize,
    /// The position at which the row of a table starts.
    row_start: usize,
    /// Whether the current element collapses line ends to spaces.
    collapses_whitespace: bool,
    /// Whether the position is inside `pre`.
    in_pre: bool,
    /// Whether an element was found.
    has_html: bool,
}

impl<'t> Writer<'t> {
    fn run(&mut self) {
        let mut position = 0;
        while let Some(remaining) = self.text.get(position..).filter(|remaining| !remaining.is_empty()) {
            position += match remaining.as_bytes().first() {
                Some(b'`') if !self.in_pre => self.copy_code(remaining),
                Some(b'<') => self.read_tag(remaining, position),
                Some(b'&') => self.write_entity(remaining),
                Some(b'\n' | b' ' | b'\t') if self.collapses_whitespace && !self.in_pre => {
                    self.write_space(remaining)
                }
                _ => self.copy_text(remaining),
            };
        }
        self.end_link();
    }

    /// Copies text up to the next character that may be special.
    fn copy_text(&mut self, remaining: &str) -> usize {
        let first = remaining.chars().next().map_or(1, char::len_utf8);
        let length = remaining[first..]
            .find(['`', '<', '&', '\n', ' ', '\t'])
            .map_or(remaining.len(), |offset| offset + first);
        self.out.push_str(&remaining[..length]);
        length
    }

    /// Copies Markdown code, which ends with as many backticks as it starts with.
    fn copy_code(&mut self, remaining: &str) -> usize {
        let ticks = remaining.bytes().take_while(|byte| *byte == b'`').count();
        let mut end = ticks;
        while let Some(offset) = remaining.get(end..).and_then(|remaining| remaining.find('`')) {
            let start = end + offset;
            let run = remaining[start..].bytes().take_while(|byte| *byte == b'`').count();
            end = start + run;
            if run == ticks {
                self.out.push_str(&remaining[..end]);
                return end;
            }
        }
        self.out.push_str(&remaining[..ticks]);
        ticks
    }

    fn write_entity(&mut self, remaining: &str) -> usize {
        let Some((char, length)) = character(remaining) else { return self.copy_text(remaining) };
        // A reference may name an invisible character.
        self.out.push_str(&super::visible(char.encode_utf8(&mut [0; 4])));
        length
    }

    /// Writes one space for whitespace, but keeps empty lines, and lines that start with Markdown syntax.
    fn write_space(&mut self, remaining: &str) -> usize {
        let next = remaining.trim_start_matches(['\n', ' ', '\t']);
        let space = &remaining[..remaining.len() - next.len()];
        let starts_markdown = next.starts_with(['-', '*', '|', '#', '>']) || next.starts_with("```");
        if space.matches('\n').count() > 1 {
            self.out.push_str("\n\n");
        } else if space.contains('\n') && starts_markdown {
            self.out.push_str(space);
        } else if !self.out.ends_with(['\n', ' ']) && !self.out.is_empty() {
            self.out.push(' ');
        }
        space.len()
    }

    fn read_tag(&mut self, remaining: &str, position: usize) -> usize {
        if let Some(comment) = remaining.strip_prefix("<!--")
            && position < self.last_comment
            && let Some(end) = comment.find("-->")
        {
            self.has_html = true;
            return end + "<!---->".len();
        }
        let Some(tag) = parse_tag(remaining).filter(|tag| self.is_element(tag)) else {
            return self.copy_text(remaining);
        };
        self.has_html = true;
        if matches!(tag.name.as_str(), "script" | "style") && !tag.is_closing {
            let close = format!("</{}", tag.name);
            let end = self.lower.get(position..).and_then(|remaining| remaining.find(&close));
            return end.unwrap_or(remaining.len());
        }
        self.write_element(&tag);
        tag.length
    }

    /// Whether a tag is HTML: its name is known, and its element ends somewhere. `<table>` in `POST /<table>` is not
    /// HTML.
    fn is_element(&self, tag: &Tag<'_>) -> bool {
        let name = tag.name.as_str();
        if VOID.contains(&name) || OPEN_ENDED.contains(&name) {
            return true;
        }
        let is_known = [&BLOCKS[..], &ADMONITIONS, &INLINE, &OTHER].iter().any(|names| names.contains(&name));
        is_known && self.closed_names.contains(name)
    }

    fn write_element(&mut self, tag: &Tag<'_>) {
        let is_closing = tag.is_closing;
        match tag.name.as_str() {
            "br" if self.in_row() => self.out.push(' '),
            "br" => {
                self.out.truncate(self.out.trim_end_matches(' ').len());
                self.out.push('\n');
            }
            "hr" => self.start_paragraph(),
            "img" => {
                let alternative = attribute_value(tag.attributes, "alt").unwrap_or_default();
                self.out.push_str(alternative);
            }
            "a" if is_closing => self.end_link(),
            "a" => {
                self.end_link();
                let target = attribute_value(tag.attributes, "href").unwrap_or_default();
                if target.starts_with("http://") || target.starts_with("https://") {
                    self.link = Some((target.replace("&amp;", "&"), self.out.len()));
                }
            }
            "code" | "kbd" | "tt" | "samp" if !self.in_pre => self.out.push('`'),
            "pre" => self.write_pre(is_closing),
            "sup" if !is_closing => self.out.push('^'),
            "ul" | "ol" => self.write_list(tag),
            "li" if !is_closing => self.start_item(),
            "tr" | "dt" | "dd" if !is_closing => {
                self.start_line();
                self.row_start = self.out.len();
                self.collapses_whitespace = true;
            }
            "td" | "th" if !is_closing => self.start_cell(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "summary" => {
                let text = self.out.get(self.item_start..).unwrap_or_default().trim().to_ascii_lowercase();
                if tag.name == "summary" && is_closing && EXPAND_LABELS.contains(&text.as_str()) {
                    self.out.truncate(self.item_start);
                }
                self.start_paragraph();
                self.item_start = self.out.len();
                self.collapses_whitespace = !is_closing;
            }
            name if ADMONITIONS.contains(&name) => {
                self.start_paragraph();
                if !is_closing {
                    let (first, remaining) = name.split_at(1);
                    self.out.push_str(&format!("{}{remaining}: ", first.to_ascii_uppercase()));
                    self.item_start = self.out.len();
                    self.collapses_whitespace = true;
                }
            }
            name if BLOCKS.contains(&name) => self.write_block(name, is_closing),
            _ => {}
        }
    }

    fn write_block(&mut self, name: &str, is_closing: bool) {
        // A paragraph in an item, a cell or a remark starts with its parent.
        if is_closing || self.out.len() != self.item_start {
            self.start_paragraph();
        }
        if matches!(name, "table" | "dl") {
            self.is_first_line = !is_closing;
            self.row_start = self.out.len();
        }
        self.collapses_whitespace =
            !self.lists.is_empty() || (!is_closing && matches!(name, "p" | "table" | "dl"));
    }

    fn start_cell(&mut self) {
        let end = self.out.trim_end().len();
        if end > self.row_start {
            self.out.truncate(end);
            self.out.push_str(" | ");
        }
        self.item_start = self.out.len();
        self.collapses_whitespace = true;
    }

    fn write_list(&mut self, tag: &Tag<'_>) {
        if tag.is_closing {
            self.lists.pop();
        } else {
            self.lists.push((tag.name == "ol").then_some(0));
        }
        if self.lists.len() == usize::from(!tag.is_closing) {
            self.start_paragraph();
            self.is_first_line = !tag.is_closing;
        }
        self.collapses_whitespace = !self.lists.is_empty();
    }

    fn start_item(&mut self) {
        self.start_line();
        let depth = self.lists.len().saturating_sub(1);
        self.out.push_str(&"  ".repeat(depth));
        match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                self.out.push_str(&format!("{number}. "));
            }
            _ => self.out.push_str("- "),
        }
        self.item_start = self.out.len();
        self.collapses_whitespace = true;
    }

    fn write_pre(&mut self, is_closing: bool) {
        if is_closing == self.in_pre {
            if is_closing && !self.out.ends_with('\n') {
                self.out.push('\n');
            } else if !is_closing {
                self.start_paragraph();
            }
            self.out.push_str(if is_closing { "```\n\n" } else { "```\n" });
        }
        self.in_pre = !is_closing;
    }

    /// Ends a link: `[text](target)`, or only the target if the text adds nothing.
    fn end_link(&mut self) {
        let Some((target, start)) = self.link.take() else { return };
        let text = self.out.split_off(start.min(self.out.len()));
        let displayed = text.trim();
        if displayed.is_empty() || displayed == target {
            self.out.push_str(&target);
        } else {
            self.out.push_str(&format!("[{displayed}]({target})"));
        }
        if text.ends_with(' ') && !displayed.is_empty() {
            self.out.push(' ');
        }
    }

    /// Whether the position is in a row of a Markdown table, which cannot contain a line end.
    fn in_row(&self) -> bool {
        let out = self.out.as_bytes();
        let tail = &out[out.len().saturating_sub(MAX_TAG)..];
        let line = tail.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        line.trim_ascii_start().first() == Some(&b'|')
    }

    /// Starts a line of a list or a table.
    fn start_line(&mut self) {
        if !std::mem::take(&mut self.is_first_line) {
            self.out.truncate(self.out.trim_end().len());
            if !self.out.is_empty() {
                self.out.push('\n');
            }
        }
    }

    fn start_paragraph(&mut self) {
        self.out.truncate(self.out.trim_end().len());
        if !self.out.is_empty() {
            self.out.push_str("\n\n");
        }
    }
}

/// Maximum length of a tag, in bytes. A `<` without a `>` within this distance is not a tag.
const MAX_TAG: usize = 2_000;

/// An HTML tag.
pub(super) struct Tag<'t> {
    /// Its name, in lower case.
    pub(super) name: String,
    /// Whether it ends an element.
    pub(super) is_closing: bool,
    /// Its source between the name and `>`.
    pub(super) attributes: &'t str,
    /// Its length in bytes.
    pub(super) length: usize,
}

/// Parses the tag at the start of a text.
pub(super) fn parse_tag(remaining: &str) -> Option<Tag<'_>> {
    let is_closing = remaining.starts_with("</");
    let inner = &remaining[1 + usize::from(is_closing)..];
    let length = inner.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let name =
        inner.get(..length).filter(|name| name.starts_with(|char: char| char.is_ascii_alphabetic()))?;
    let mut quote = None;
    for (index, byte) in inner.bytes().enumerate().skip(length).take(MAX_TAG) {
        match (quote, byte) {
            (None, b'>') => {
                let attributes = inner.get(length..index)?;
                let is_complete = attributes.is_empty() || attributes.starts_with([' ', '\n', '\t', '/']);
                let length = index + 2 + usize::from(is_closing);
                return is_complete.then(|| Tag {
                    name: name.to_ascii_lowercase(),
                    is_closing,
                    attributes: attributes.trim(),
                    length,
                });
            }
            (None, b'<') => return None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    None
}

/// Returns the value of an attribute.
pub(super) fn attribute_value<'t>(attributes: &'t str, name: &str) -> Option<&'t str> {
    let position = attributes.to_ascii_lowercase().find(&format!("{name}="))?;
    let value = attributes.get(position + name.len() + 1..)?;
    match value.chars().next()? {
        quote @ ('"' | '\'') => value.get(1..)?.split(quote).next(),
        _ => value.split([' ', '\n', '\t']).next(),
    }
}

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
const REMARKS: [&str; 4] = ["caution", "important", "note", "warning"];
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
const OPENERS: [&str; 7] =
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
    let closed = lower.split("</").skip(1).map(|rest| {
        rest.split(|char: char| !char.is_ascii_alphanumeric()).next().unwrap_or_default().to_owned()
    });
    let last_comment = text.rfind("-->").unwrap_or_default();
    let mut writer = Writer { text, closed: closed.collect(), lower, last_comment, ..Writer::default() };
    writer.run();
    let mut out = String::with_capacity(writer.out.len());
    let mut empty = 0;
    for line in writer.out.trim().lines() {
        let line = if writer.changed { line.trim_end() } else { line };
        empty = if line.is_empty() { empty + 1 } else { 0 };
        // Removed elements leave empty lines.
        if writer.changed && empty > 1 {
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
    closed: BTreeSet<String>,
    /// The position of the last end of a comment.
    last_comment: usize,
    out: String,
    /// The open lists: the number of the last item, if items are numbered.
    lists: Vec<Option<usize>>,
    /// The target of an open link, and the position at which its text starts.
    link: Option<(String, usize)>,
    /// Whether a list or a table was just opened, so that its first line follows.
    fresh: bool,
    /// The position at which an item, a cell or a remark starts.
    item_start: usize,
    /// The position at which the row of a table starts.
    row: usize,
    /// Whether the current element collapses line ends to spaces.
    flowing: bool,
    /// Whether the position is inside `pre`.
    verbatim: bool,
    /// Whether an element was found.
    changed: bool,
}

impl<'t> Writer<'t> {
    fn run(&mut self) {
        let mut at = 0;
        while let Some(rest) = self.text.get(at..).filter(|rest| !rest.is_empty()) {
            at += match rest.as_bytes().first() {
                Some(b'`') if !self.verbatim => self.code(rest),
                Some(b'<') => self.angle(rest, at),
                Some(b'&') => self.skip_tag(rest),
                Some(b'\n' | b' ' | b'\t') if self.flowing && !self.verbatim => self.space(rest),
                _ => self.copy(rest),
            };
        }
        self.end_link();
    }

    /// Copies text up to the next character that may be special.
    fn copy(&mut self, rest: &str) -> usize {
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let length =
            rest[first..].find(['`', '<', '&', '\n', ' ', '\t']).map_or(rest.len(), |found| found + first);
        self.out.push_str(&rest[..length]);
        length
    }

    /// Copies Markdown code, which ends with as many backticks as it starts with.
    fn code(&mut self, rest: &str) -> usize {
        let ticks = rest.bytes().take_while(|byte| *byte == b'`').count();
        let mut end = ticks;
        while let Some(found) = rest.get(end..).and_then(|rest| rest.find('`')) {
            let start = end + found;
            let run = rest[start..].bytes().take_while(|byte| *byte == b'`').count();
            end = start + run;
            if run == ticks {
                self.out.push_str(&rest[..end]);
                return end;
            }
        }
        self.out.push_str(&rest[..ticks]);
        ticks
    }

    fn skip_tag(&mut self, rest: &str) -> usize {
        let Some((named, length)) = character(rest) else { return self.copy(rest) };
        // A reference may name an invisible character.
        self.out.push_str(&super::visible(named.encode_utf8(&mut [0; 4])));
        length
    }

    /// Writes one space for whitespace, but keeps empty lines, and lines that start with Markdown syntax.
    fn space(&mut self, rest: &str) -> usize {
        let next = rest.trim_start_matches(['\n', ' ', '\t']);
        let space = &rest[..rest.len() - next.len()];
        let marked = next.starts_with(['-', '*', '|', '#', '>']) || next.starts_with("```");
        if space.matches('\n').count() > 1 {
            self.out.push_str("\n\n");
        } else if space.contains('\n') && marked {
            self.out.push_str(space);
        } else if !self.out.ends_with(['\n', ' ']) && !self.out.is_empty() {
            self.out.push(' ');
        }
        space.len()
    }

    fn angle(&mut self, rest: &str, at: usize) -> usize {
        if let Some(comment) = rest.strip_prefix("<!--")
            && at < self.last_comment
            && let Some(end) = comment.find("-->")
        {
            self.changed = true;
            return end + "<!---->".len();
        }
        let Some(tag) = tag(rest).filter(|tag| self.is_element(tag)) else { return self.copy(rest) };
        self.changed = true;
        if matches!(tag.name.as_str(), "script" | "style") && !tag.closing {
            let close = format!("</{}", tag.name);
            let end = self.lower.get(at..).and_then(|rest| rest.find(&close));
            return end.unwrap_or(rest.len());
        }
        self.element(&tag);
        tag.length
    }

    /// Whether a tag is HTML: its name is known, and its element ends somewhere. `<table>` in `POST /<table>` is not
    /// HTML.
    fn is_element(&self, tag: &Tag<'_>) -> bool {
        let name = tag.name.as_str();
        if VOID.contains(&name) || OPEN_ENDED.contains(&name) {
            return true;
        }
        let known = [&BLOCKS[..], &REMARKS, &INLINE, &OTHER].iter().any(|names| names.contains(&name));
        known && self.closed.contains(name)
    }

    fn element(&mut self, tag: &Tag<'_>) {
        let closing = tag.closing;
        match tag.name.as_str() {
            "br" if self.in_row() => self.out.push(' '),
            "br" => {
                self.out.truncate(self.out.trim_end_matches(' ').len());
                self.out.push('\n');
            }
            "hr" => self.paragraph(),
            "img" => {
                let alternative = attribute(tag.attributes, "alt").unwrap_or_default();
                self.out.push_str(alternative);
            }
            "a" if closing => self.end_link(),
            "a" => {
                self.end_link();
                let target = attribute(tag.attributes, "href").unwrap_or_default();
                if target.starts_with("http://") || target.starts_with("https://") {
                    self.link = Some((target.replace("&amp;", "&"), self.out.len()));
                }
            }
            "code" | "kbd" | "tt" | "samp" if !self.verbatim => self.out.push('`'),
            "pre" => self.preformatted(closing),
            "sup" if !closing => self.out.push('^'),
            "ul" | "ol" => self.list(tag),
            "li" if !closing => self.item(),
            "tr" | "dt" | "dd" if !closing => {
                self.line();
                self.row = self.out.len();
                self.flowing = true;
            }
            "td" | "th" if !closing => self.cell(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "summary" => {
                let text = self.out.get(self.item_start..).unwrap_or_default().trim().to_ascii_lowercase();
                if tag.name == "summary" && closing && OPENERS.contains(&text.as_str()) {
                    self.out.truncate(self.item_start);
                }
                self.paragraph();
                self.item_start = self.out.len();
                self.flowing = !closing;
            }
            name if REMARKS.contains(&name) => {
                self.paragraph();
                if !closing {
                    let (first, rest) = name.split_at(1);
                    self.out.push_str(&format!("{}{rest}: ", first.to_ascii_uppercase()));
                    self.item_start = self.out.len();
                    self.flowing = true;
                }
            }
            name if BLOCKS.contains(&name) => self.block(name, closing),
            _ => {}
        }
    }

    fn block(&mut self, name: &str, closing: bool) {
        // A paragraph in an item, a cell or a remark starts with its parent.
        if closing || self.out.len() != self.item_start {
            self.paragraph();
        }
        if matches!(name, "table" | "dl") {
            self.fresh = !closing;
            self.row = self.out.len();
        }
        self.flowing = !self.lists.is_empty() || (!closing && matches!(name, "p" | "table" | "dl"));
    }

    fn cell(&mut self) {
        let end = self.out.trim_end().len();
        if end > self.row {
            self.out.truncate(end);
            self.out.push_str(" | ");
        }
        self.item_start = self.out.len();
        self.flowing = true;
    }

    fn list(&mut self, tag: &Tag<'_>) {
        if tag.closing {
            self.lists.pop();
        } else {
            self.lists.push((tag.name == "ol").then_some(0));
        }
        if self.lists.len() == usize::from(!tag.closing) {
            self.paragraph();
            self.fresh = !tag.closing;
        }
        self.flowing = !self.lists.is_empty();
    }

    fn item(&mut self) {
        self.line();
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
        self.flowing = true;
    }

    fn preformatted(&mut self, closing: bool) {
        if closing == self.verbatim {
            if closing && !self.out.ends_with('\n') {
                self.out.push('\n');
            } else if !closing {
                self.paragraph();
            }
            self.out.push_str(if closing { "```\n\n" } else { "```\n" });
        }
        self.verbatim = !closing;
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
        let near = &out[out.len().saturating_sub(MAX_TAG)..];
        let line = near.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        line.trim_ascii_start().first() == Some(&b'|')
    }

    /// Starts a line of a list or a table.
    fn line(&mut self) {
        if !std::mem::take(&mut self.fresh) {
            self.out.truncate(self.out.trim_end().len());
            if !self.out.is_empty() {
                self.out.push('\n');
            }
        }
    }

    fn paragraph(&mut self) {
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
    pub(super) closing: bool,
    /// Its source between the name and `>`.
    pub(super) attributes: &'t str,
    /// Its length in bytes.
    pub(super) length: usize,
}

/// Parses the tag at the start of a text.
pub(super) fn tag(rest: &str) -> Option<Tag<'_>> {
    let closing = rest.starts_with("</");
    let inner = &rest[1 + usize::from(closing)..];
    let length = inner.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let name =
        inner.get(..length).filter(|name| name.starts_with(|char: char| char.is_ascii_alphabetic()))?;
    let mut quote = None;
    for (index, byte) in inner.bytes().enumerate().skip(length).take(MAX_TAG) {
        match (quote, byte) {
            (None, b'>') => {
                let attributes = inner.get(length..index)?;
                let ends = attributes.is_empty() || attributes.starts_with([' ', '\n', '\t', '/']);
                let length = index + 2 + usize::from(closing);
                return ends.then(|| Tag {
                    name: name.to_ascii_lowercase(),
                    closing,
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
pub(super) fn attribute<'t>(attributes: &'t str, name: &str) -> Option<&'t str> {
    let at = attributes.to_ascii_lowercase().find(&format!("{name}="))?;
    let value = attributes.get(at + name.len() + 1..)?;
    match value.chars().next()? {
        quote @ ('"' | '\'') => value.get(1..)?.split(quote).next(),
        _ => value.split([' ', '\n', '\t']).next(),
    }
}

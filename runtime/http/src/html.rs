//! Extracts the text of HTML error pages, for models.

use serde_core::de::IgnoredAny;
use toolgen_core::internal::entity::character;

/// Elements whose content is not visible.
const HIDDEN_ELEMENTS: [&str; 4] = ["script", "style", "svg", "template"];

/// Inline elements.
const INLINE: [&str; 22] = [
    "a", "abbr", "b", "big", "cite", "code", "em", "font", "i", "img", "kbd", "label", "mark", "q", "s",
    "small", "span", "strong", "sub", "sup", "tt", "u",
];

/// Returns the visible text of a page, which may be empty, and may show a credential that markup had hidden. Returns
/// `None` if the input is not a page: services also send JSON and plain text as HTML.
#[must_use]
pub fn page(essence: &str, text: &str) -> Option<String> {
    let start = text.trim_start();
    let starts_with =
        |prefix: &str| start.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    let is_named = matches!(essence, "text/html" | "application/xhtml+xml");
    let is_page = starts_with("<!doctype html")
        || starts_with("<html")
        || (is_named && has_tag(start) && serde_json::from_str::<IgnoredAny>(start).is_err());
    is_page.then(|| visible(text))
}

/// Whether the text contains a tag, and not only a less-than sign.
fn has_tag(text: &str) -> bool {
    let mut after_angle = text.split('<').skip(1);
    after_angle
        .any(|rest| rest.starts_with(|char: char| char.is_ascii_alphabetic() || matches!(char, '!' | '/')))
}

/// Returns the visible text of a page, one line per block.
fn visible(html: &str) -> String {
    let (mut lines, mut remaining) = (Lines::default(), html);
    while let Some(start) = remaining.find('<') {
        lines.text(&remaining[..start]);
        let markup = &remaining[start + 1..];
        let name = markup.strip_prefix('/').unwrap_or(markup);
        let name = &name[..name.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(name.len())];
        remaining = if let Some(comment) = markup.strip_prefix("!--") {
            comment.split_once("-->").unwrap_or_default().1
        } else if markup.starts_with(['!', '?']) {
            markup.split_once('>').unwrap_or_default().1
        } else if name.starts_with(|char: char| char.is_ascii_alphabetic()) {
            let name = name.to_ascii_lowercase();
            let closes = markup.starts_with('/');
            lines.tag(&name, closes);
            let (tag_text, after) = tag(markup);
            if closes || tag_text.ends_with('/') || !HIDDEN_ELEMENTS.contains(&name.as_str()) {
                after
            } else {
                closing(after, &name)
            }
        } else {
            lines.text("<");
            markup
        };
    }
    lines.text(remaining);
    lines.end_line();
    lines.out
}

/// Splits after a tag, whose attributes may contain `>` in quotes.
fn tag(markup: &str) -> (&str, &str) {
    let (mut quote, mut is_value) = (None, false);
    for (at, char) in markup.char_indices() {
        match quote {
            Some(open) if char == open => quote = None,
            None if char == '>' => return (&markup[..at], &markup[at + 1..]),
            None if is_value && matches!(char, '"' | '\'') => quote = Some(char),
            _ => {}
        }
        is_value = char == '=' || (is_value && char.is_whitespace());
    }
    (markup, "")
}

/// Returns the text from the closing tag of an element on; empty if the element is not closed.
fn closing<'t>(text: &'t str, name: &str) -> &'t str {
    let is_closing_tag = |at: &usize| {
        text.get(at + 2..at + 2 + name.len()).is_some_and(|candidate| candidate.eq_ignore_ascii_case(name))
    };
    text.match_indices("</").map(|(at, _)| at).find(is_closing_tag).map_or("", |at| &text[at..])
}

/// The white space before the next word.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
enum Gap {
    #[default]
    None,
    Blank,
    Line,
}

/// Text without the white space that a browser collapses.
#[derive(Default)]
struct Lines {
    out: String,
    /// The start and end of the second-last line.
    previous: (usize, usize),
    /// The start of the last line.
    last: usize,
    gap: Gap,
    /// Whether line breaks are preserved.
    is_pre: bool,
}

impl Lines {
    fn tag(&mut self, name: &str, closes: bool) {
        if name == "pre" {
            self.is_pre = !closes;
        }
        let gap = match name {
            "td" | "th" => Gap::Blank,
            name if INLINE.contains(&name) || HIDDEN_ELEMENTS.contains(&name) => Gap::None,
            _ => Gap::Line,
        };
        self.widen_gap(gap);
    }

    fn widen_gap(&mut self, gap: Gap) {
        if gap == Gap::Line && self.gap != Gap::Line {
            self.end_line();
        }
        if gap > self.gap {
            self.gap = gap;
        }
    }

    /// Ends the line. A line that repeats the previous one is dropped: the title is often also the first heading.
    fn end_line(&mut self) {
        let (from, to) = self.previous;
        if self.out.len() > self.last && self.out[from..to] == self.out[self.last..] && to > from {
            self.out.truncate(to);
            self.last = from;
        }
    }

    fn text(&mut self, text: &str) {
        let mut remaining = text;
        while let Some(at) = remaining.find('&') {
            self.words(&remaining[..at]);
            let entity = character(&remaining[at..])
                .filter(|(entity, _)| !entity.is_control() || entity.is_whitespace());
            let (char, length) = entity.unwrap_or(('&', 1));
            self.char(char);
            remaining = &remaining[at + length..];
        }
        self.words(remaining);
    }

    fn words(&mut self, text: &str) {
        text.chars().for_each(|char| self.char(char));
    }

    fn char(&mut self, char: char) {
        if char.is_whitespace() {
            self.widen_gap(if self.is_pre && char == '\n' { Gap::Line } else { Gap::Blank });
            return;
        }
        if !self.out.is_empty() {
            match self.gap {
                Gap::None => {}
                Gap::Blank => self.out.push(' '),
                Gap::Line => {
                    self.previous = (self.last, self.out.len());
                    self.out.push('\n');
                    self.last = self.out.len();
                }
            }
        }
        self.gap = Gap::None;
        self.out.push(char);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_page_is_rendered_as_visible_text() {
        for (html, expected) in [
            (
                "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1>\
                 </center>\r\n<hr><center>nginx/1.18.0</center>\r\n</body>\r\n</html>\r\n",
                "502 Bad Gateway\nnginx/1.18.0",
            ),
            (
                "<!DOCTYPE HTML><!-- a > b --><p title=\"1 > 0\">The <b>pet</b> 7 &amp; &#8220;Rex&#x201D;&nbsp;are\n  gone.\
                 <script>if (a < b) {}</SCRIPT><style>p > a {}</style><p>a < b &nope; &",
                "The pet 7 & “Rex” are gone.\na < b &nope; &",
            ),
            ("<html><pre>Error: x\n    at y\n</pre>", "Error: x\nat y"),
            ("<html><table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
            ("<html><p>it's</p><a href=it's>here</a> <br/>x<svg/>y<script>never closed", "it's\nhere\nxy"),
            ("<html><p>x</p><p>x</p><p>x</p><p>y</p>", "x\ny"),
            ("<html><body><div id=\"root\"></div><p a=\"", ""),
            ("<HTML>é<", "é<"),
        ] {
            assert_eq!(page("text/html", html).as_deref(), Some(expected), "{html}");
        }
    }

    #[test]
    fn non_html_bodies_are_returned_verbatim() {
        for text in ["{\"error\": \"a <b> c\"}", "a < b\nand c", "", "not found"] {
            assert_eq!(page("text/html", text), None, "{text}");
        }
        assert_eq!(page("text/plain", "<p>a"), None);
        assert_eq!(page("application/json", " <!DOCTYPE html><p>a").as_deref(), Some("a"));
    }

    #[test]
    fn html_rendering_takes_linear_time() {
        for piece in ["<a b=\"", "<script>", "<!--", "&", "<", "</scrip", "<p>x", "<!"] {
            let html = format!("<html>{}", piece.repeat(400_000));
            let started = std::time::Instant::now();
            page("text/html", &html).unwrap();
            assert!(started.elapsed().as_secs() < 5, "{piece}");
        }
    }
}

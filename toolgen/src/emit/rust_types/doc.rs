//! Writes documentation of types from the document's texts, made harmless.

use std::fmt::Write as _;

use super::super::literal;

/// Returns the first paragraph of a text of the document, as one line of Markdown.
///
/// Escapes what could become a broken link or a code block, which would be compiled as a test.
pub(in crate::emit) fn first_paragraph(text: &str) -> String {
    const MAX: usize = 300;
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    let mut line = String::new();
    for word in paragraph.split_whitespace() {
        if line.len() + word.len() > MAX {
            line.push_str(" …");
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for c in word.chars() {
            match c {
                '[' | ']' | '<' | '>' | '`' | '\\' => line.extend(['\\', c]),
                '~' if line.is_empty() => line.push_str("\\~"),
                c if literal::is_plain(c) => line.push(c),
                _ => line.push(' '),
            }
        }
    }
    line
}

/// Writes documentation in Markdown. It is a string literal, so it cannot become code.
pub(in crate::emit) fn write(text: &str, indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
    let _ = writeln!(out, "#[doc = {}]", literal::string(text));
}

#[cfg(test)]
mod tests {
    use super::first_paragraph;

    #[test]
    fn a_document_cannot_make_links_or_tests() {
        assert_eq!(first_paragraph(" a [b](c)\n  d `e`\n\nrest"), "a \\[b\\](c) d \\`e\\`");
        assert_eq!(first_paragraph("\u{202e}x"), " x");
        assert_eq!(first_paragraph("~~~\nevil()"), "\\~~~ evil()");
        assert_eq!(first_paragraph(r"\[a](b) \`c\`"), r"\\\[a\](b) \\\`c\\\`");
        assert!(first_paragraph(&"long ".repeat(200)).ends_with(" …"));
    }
}

//! Replaces the only occurrence of a string in a text.

/// Reason why a text was not edited.
#[derive(Debug, PartialEq)]
pub(super) enum Mismatch {
    /// The old string does not occur; holds similar lines, if there are any.
    Missing(Option<String>),
    /// The number of occurrences of the old string, and the line numbers of the first ones.
    Ambiguous(usize, Vec<usize>),
}

/// Maximum number of reported line numbers.
const MAX_REPORTED_LINES: usize = 5;

/// Replaces the only occurrence of `old`. Line breaks of the model are `\n`; in a file with `\r\n` they match `\r\n`.
pub(super) fn replace_once(content: &str, old: &str, new: &str) -> Result<String, Mismatch> {
    let converted;
    let (old, new) = if content.contains(old) || !content.contains("\r\n") || old.contains('\r') {
        (old, new)
    } else {
        converted = (old.replace('\n', "\r\n"), new.replace("\r\n", "\n").replace('\n', "\r\n"));
        (converted.0.as_str(), converted.1.as_str())
    };
    let Some(first) = content.find(old) else { return Err(Mismatch::Missing(similar_lines(content, old))) };
    // Occurrences may overlap: `aa` occurs twice in `aaa`.
    let first_char_len = content[first..].chars().next().map_or(1, char::len_utf8);
    if content[first + first_char_len..].contains(old) {
        let offsets: Vec<usize> = content.match_indices(old).map(|(offset, _)| offset).collect();
        let line = |offset: &usize| content[..*offset].matches('\n').count() + 1;
        let lines = offsets.iter().take(MAX_REPORTED_LINES).map(line).collect();
        return Err(Mismatch::Ambiguous(offsets.len().max(2), lines));
    }
    Ok([&content[..first], new, &content[first + old.len()..]].concat())
}

/// Returns lines that start with a line that contains the first line of `old`.
fn similar_lines(content: &str, old: &str) -> Option<String> {
    let old = old.trim();
    let first = old.lines().next()?.trim();
    let lines: Vec<&str> = content.lines().collect();
    let start = lines.iter().position(|line| !first.is_empty() && line.contains(first))?;
    let end = (start + old.lines().count() + 1).min(lines.len());
    Some(lines[start..end].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_replaces_exactly_one_match() {
        let cases = [
            ("a b c", "b", "x", Ok("a x c")),
            ("a\nb\n", "a\nb", "", Ok("\n")),
            ("ä€", "€", "ä", Ok("ää")),
            ("a\r\nb\r\nc", "a\nb", "x\ny", Ok("x\r\ny\r\nc")),
            ("a\r\nb\nc", "b\nc", "x", Ok("a\r\nx")),
            ("aaa", "aa", "x", Err(Mismatch::Ambiguous(2, vec![1]))),
            ("x\ny\nx\n", "x", "z", Err(Mismatch::Ambiguous(2, vec![1, 3]))),
            ("a\n  let x = 1;\n  y\nz", "let x = 1;\n    y", "", {
                Err(Mismatch::Missing(Some("  let x = 1;\n  y\nz".into())))
            }),
            ("a", "b", "", Err(Mismatch::Missing(None))),
            ("", "\n", "", Err(Mismatch::Missing(None))),
        ];
        for (content, old, new, expected) in cases {
            assert_eq!(replace_once(content, old, new), expected.map(str::to_owned), "{content:?} {old:?}");
        }
    }
}

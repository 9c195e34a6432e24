//! Repairs errors that most YAML parsers accept, although the grammar does not.
//!
//! Three errors do not change the meaning of a text: a closing bracket that is indented no further than its key, a
//! quoted string that continues there, and a comment right after a quote or a bracket. Missing spaces are inserted,
//! which moves no line. Anything that could also be another error, such as a missing closing quote, is left to the
//! parser, which rejects it.

use std::borrow::Cow;
use std::cell::Cell;

use saphyr_parser::{Event, Parser};

use super::super::{Finding, MAX_FINDINGS, Position, TextPosition};
use super::compose::{ParseStop, position};
use crate::problem::codes;

/// A repaired text, which the parser reads further than the original.
pub(super) struct RepairedText {
    pub(super) text: String,
    /// The repairs.
    pub(super) notes: Vec<Finding>,
}

/// Inserts spaces before a column of a line.
struct Edit {
    at: Position,
    spaces: usize,
}

const HELP: &str = "write it as the message says: strict parsers reject the document";

/// Maximum number of spaces that are tried before a bracket.
const MAX_SPACES: usize = 1 << 12;

/// Repairs a text, if the position where the parser stopped can be repaired.
///
/// The parser cannot continue after an error. It restarts at the last line that it read completely, as if the
/// document began there; less indented lines end that document, and it restarts there. So each part is read a
/// few times, regardless of the number of errors. A final pass decides whether the whole text is valid YAML.
pub(super) fn repair(text: &str, stop: &ParseStop) -> Option<RepairedText> {
    let mut lines: Vec<Cow<'_, str>> = text.split_inclusive('\n').map(Cow::Borrowed).collect();
    find_repair(&lines, stop, 1)?;
    let mut notes: Vec<Finding> = Vec::new();
    let budget = Cell::new(text.len().saturating_mul(8));
    let (mut start, mut last_line, mut spaces) = (0, 0, 1);
    while let Some((stop, resume)) = next_stop(&lines, start, &budget) {
        let line = stop.at.line;
        spaces = if line == last_line { 2 * spaces } else { 1 };
        match find_repair(&lines, &stop, spaces).filter(|_| spaces <= MAX_SPACES) {
            Some((message, edits)) => {
                for Edit { at, spaces } in edits {
                    let text = lines.get_mut(at.line - 1)?;
                    let byte = text.char_indices().nth(at.column - 1)?.0;
                    text.to_mut().insert_str(byte, &" ".repeat(spaces));
                }
                if line != last_line && notes.len() < MAX_FINDINGS {
                    notes.push(Finding::new(
                        codes::LOOSE_YAML,
                        TextPosition::Position(stop.at),
                        message.to_owned(),
                        HELP,
                    ));
                }
                (start, last_line) = (resume, line);
            }
            None => start = (line - 1).max(start + 1),
        }
    }
    Some(RepairedText { text: lines.concat(), notes })
}

/// Parses the lines from an index on. Returns the position where the parser stops, if it does, and the index of the
/// last line before it that can be a start. Characters that are read are deducted from the budget; when it is spent,
/// nothing is read.
fn next_stop(lines: &[Cow<'_, str>], start: usize, budget: &Cell<usize>) -> Option<(ParseStop, usize)> {
    let remaining = lines.get(start..).filter(|remaining| !remaining.is_empty())?;
    let spend = |char: char| {
        budget.set(budget.get().checked_sub(1)?);
        Some(char)
    };
    let mut parser = Parser::new_from_iter(remaining.iter().flat_map(|line| line.chars()).map_while(spend));
    let mut resume = start;
    // The number of open collections in brackets.
    let mut brackets = 0_usize;
    while let Some(next) = parser.next_event() {
        let (event, span) = match next {
            Ok(event) => event,
            Err(error) => {
                let mut at = position(*error.marker());
                at.line += start;
                let stop = ParseStop { at, info: error.info().to_owned() };
                return (budget.get() > 0).then_some((stop, resume));
            }
        };
        let at = position(span.start);
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                let first = remaining.get(at.line - 1).and_then(|line| line.chars().nth(at.column - 1));
                brackets += usize::from(brackets > 0 || matches!(first, Some('[' | '{')));
            }
            Event::SequenceEnd | Event::MappingEnd => brackets = brackets.saturating_sub(1),
            Event::Scalar(..) if brackets == 0 => resume = start + at.line - 1,
            _ => {}
        }
    }
    None
}

/// Returns the error at this position, and its repair.
fn find_repair(lines: &[Cow<'_, str>], stop: &ParseStop, spaces: usize) -> Option<(&'static str, Vec<Edit>)> {
    let ParseStop { at, info } = stop;
    let line = lines.get(at.line - 1)?;
    let (before, following) = line.split_at(line.char_indices().nth(at.column - 1)?.0);
    if info == "invalid indentation" && following.starts_with([']', '}']) {
        let edit = Edit { at: *at, spaces };
        return Some((
            "a closing bracket must be indented further than the key of its array or object",
            vec![edit],
        ));
    }
    if info.starts_with("comments must be separated") {
        let quote = before.chars().next_back().filter(|last| "'\"]}".contains(*last))?;
        // Otherwise the quote may be part of the string: `'it'#s'`.
        let is_unambiguous = "]}".contains(quote) || !following.contains(quote);
        return is_unambiguous
            .then(|| ("a space must precede the `#` of a comment", vec![Edit { at: *at, spaces: 1 }]));
    }
    if info == "invalid indentation in quoted scalar" {
        let edits = indent_lines(lines, *at)?;
        return Some(("the lines of a quoted string must be indented further than its key", edits));
    }
    None
}

/// Returns the edits that indent the lines of a quoted string further than its key, if they begin at the same column
/// as the key. `None` if a line may be the next key or item, because the closing quote is then missing. A line that
/// only ends like a key is a part of the string if the string ends with that line.
fn indent_lines(lines: &[Cow<'_, str>], start: Position) -> Option<Vec<Edit>> {
    let mut lines = lines.iter().enumerate().skip(start.line - 1);
    let (_, first) = lines.next()?;
    let opening = first.char_indices().nth(start.column - 1)?.0;
    let quote = first[opening..].chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let key = first.len() - first.trim_start_matches([' ', '-', '?']).len();
    let mut trailing = after_closing_quote(&first[opening + 1..], quote);
    let mut edits = Vec::new();
    let mut has_key_like_line = false;
    while trailing.is_none() {
        let (index, line) = lines.next()?;
        let content = line.trim_start_matches(' ');
        let indent = line.len() - content.len();
        let word = content.split(' ').next().unwrap_or_default();
        let is_key_like = content.trim_end().ends_with(':');
        let is_key = word == "-" || (word.ends_with(':') && !is_key_like);
        has_key_like_line |= is_key_like;
        let marks_document = line.starts_with("---") || line.starts_with("...");
        if indent <= key && !content.trim_end().is_empty() {
            if indent < key || is_key || marks_document {
                return None;
            }
            edits.push(Edit { at: Position { line: index + 1, column: indent + 1 }, spaces: 1 });
        }
        trailing = after_closing_quote(line, quote);
    }
    let trailing_text = trailing.unwrap_or_default().trim();
    let is_clear = !has_key_like_line || trailing_text.is_empty() || trailing_text.starts_with('#');
    (is_clear && !edits.is_empty()).then_some(edits)
}

/// Returns the rest of a line after the closing quote of a string that ends in it.
fn after_closing_quote(line: &str, quote: char) -> Option<&str> {
    let mut chars = line.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        if char == '\\' && quote == '"' {
            chars.next();
        } else if char == quote && (quote == '"' || chars.next_if(|(_, next)| *next == quote).is_none()) {
            return Some(&line[at + char.len_utf8()..]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use crate::Document;
    use crate::problem::Problems;

    /// Returns the value of a text, and the codes and lines of its problems.
    fn read(text: &str) -> (Option<Value>, Vec<(&'static str, usize)>) {
        let mut problems = Problems::new();
        let document = Document::parse(Path::new("x"), text, &mut problems);
        let messages = problems.placed().iter().map(|(at, problem)| (problem.code.id(), at.line)).collect();
        (document.map(|document| document.root.clone()), messages)
    }

    #[test]
    fn unambiguous_yaml_errors_are_repaired_with_a_note() {
        for (text, value, lines) in [
            ("a:\n  b: [\n    \"x\"\n]\nc: 1\n", json!({"a": {"b": ["x"]}, "c": 1}), &[4][..]),
            (
                "a:\n  - b: {\n      \"x\": [\n        'y'\n    ]\n    }\n  - c\n",
                json!({"a": [{"b": {"x": ["y"]}}, "c"]}),
                &[5, 6],
            ),
            ("a:\n        b: [\n         \"x\"\n ]\nc: 1\n", json!({"a": {"b": ["x"]}, "c": 1}), &[4]),
            ("a: {\n  \"x\": \"1\"\n}\nb: [\n \"y\"\n]\n", json!({"a": {"x": "1"}, "b": ["y"]}), &[3, 6]),
            ("a: 'x\n  y\n\nit''s\n'\nb: 1\n", json!({"a": "x y\nit's ", "b": 1}), &[1]),
            ("a:\n- b: \"x\\\"\\\n  y\\\n  z\" # c\n", json!({"a": [{"b": "x\"yz"}]}), &[2]),
            (
                "a: \"One of:\n\n  x\nand the following:\n  y\nnote:\nz\"\nb: 1\n",
                json!({"a": "One of:\nx and the following: y note: z", "b": 1}),
                &[1],
            ),
            ("- a: 'x\n  it:\n  y' # c\n  b: 1\n", json!([{"a": "x it: y", "b": 1}]), &[1]),
            ("a: 'x'#c\nb: \"é\"# 'd'\nc: [1]#e\n", json!({"a": "x", "b": "é", "c": [1]}), &[1, 2, 3]),
        ] {
            let (actual, messages) = read(text);
            let notes: Vec<_> = lines.iter().map(|line| ("N0118", *line)).collect();
            assert_eq!((actual, messages), (Some(value), notes), "{text}");
        }
    }

    #[test]
    fn ambiguous_yaml_errors_are_rejected() {
        for text in [
            "a: \"x\nb: 3\nc: \"d\"\n",
            "a: 'x\n- 3\n'\n",
            "a: \"x\nb:\n  c: \"d\"\n",
            "a: 'x\nb:\n- 'd'\n",
            "a:\n  b: 'x\ny'\n",
            "a: 'x\n---\ny'\n",
            "a: [1, 2\nb: 3\n",
            "a: 'it'#s'\n",
            "a: 'x'#\n  b: 1\n c: 2\n",
            "]\n",
            "a: [\n  \"x\"\n}\n",
        ] {
            let (value, messages) = read(text);
            assert!(value.is_none() && messages[0].0 == "E0104", "{text}: {value:?} {messages:?}");
        }
    }

    #[test]
    fn locations_are_correct_in_repaired_text() {
        let mut problems = Problems::new();
        let document = Document::parse(Path::new("x"), "a: [\n \"x\"\n]\nb: 1\n", &mut problems).unwrap();
        let at = document.source.locate(&crate::Pointer::ROOT.child("b"));
        assert_eq!((at.line, at.column), (4, 1));
    }

    #[test]
    fn many_repairs_are_fast() {
        let text: String = (0..5_000)
            .map(|index| format!("k{index}:\n- a: &a\n    b: [\n      \"x\"\n    ]\n  c: *a\n"))
            .collect();
        let (value, messages) = read(&text);
        assert_eq!((value.unwrap().as_object().unwrap().len(), messages.len()), (5_000, 5_000));
    }
}

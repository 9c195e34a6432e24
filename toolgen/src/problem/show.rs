//! Formats problems for machines and people.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use toolgen_core::printable;

use super::{Code, Problem, Problems, Severity};
use crate::source::{Pointer, Position, Source};

/// Maximum number of characters of a line before the position: a document may be one line of many megabytes.
const MAX_BEFORE: usize = 80;

/// Maximum number of characters of a line after the position.
const MAX_AFTER: usize = 60;

/// Maximum number of characters of indentation; more would waste the width of the terminal.
const MAX_INDENT: usize = 8;

/// Maximum number of positions listed for a recurring problem; the JSON report lists all.
const MAX_POSITIONS: usize = 8;

/// Returns a problem as JSON: `code`, `severity`, `file`, `line`, `column`, `pointer`, `message`, `help`. `help` is
/// null if no help is known.
#[must_use]
pub fn json(position: Position, problem: &Problem) -> Value {
    let help = (!problem.help.is_empty()).then_some(problem.help.as_str());
    json!({
        "code": problem.code.id(),
        "severity": problem.severity().as_str(),
        "file": problem.source.path.display().to_string(),
        "line": position.line,
        "column": position.column,
        "pointer": problem.pointer.as_str(),
        "message": problem.message,
        "help": help,
    })
}

/// Maximum number of positions that represent the many problems of a code.
const MAX_MOST_FREQUENT: usize = 3;

/// A problem as displayed: once, with all positions where it occurs in a document.
#[derive(Clone, Debug)]
pub struct GroupedProblem<'a> {
    /// The first of its positions.
    pub position: Position,
    /// The problem.
    pub problem: &'a Problem,
    /// Its other positions, in order.
    pub others: Vec<Position>,
}

/// Returns the problems in display order; problems with the same code, message and help in one document are grouped.
#[must_use]
pub fn grouped(problems: &Problems) -> Vec<GroupedProblem<'_>> {
    let mut visible: Vec<GroupedProblem<'_>> = Vec::new();
    let mut indices: HashMap<(*const Source, Code, &str, &str), usize> = HashMap::new();
    for (position, problem) in problems.placed() {
        let key = (Arc::as_ptr(&problem.source), problem.code, &*problem.message, &*problem.help);
        match indices.entry(key) {
            Entry::Occupied(index) => {
                if let Some(first) = visible.get_mut(*index.get()) {
                    first.others.push(position);
                }
            }
            Entry::Vacant(offset) => {
                offset.insert(visible.len());
                visible.push(GroupedProblem { position, problem, others: Vec::new() });
            }
        }
    }
    visible
}

/// Returns the selected problems, one per line.
pub(crate) fn one_per_line(problems: &Problems, is_selected: impl Fn(&Problem) -> bool) -> Vec<String> {
    grouped(problems).iter().filter(|visible| is_selected(visible.problem)).map(in_one_line).collect()
}

/// Formats a problem as `FILE:LINE:COLUMN: message [CODE]; help`; a problem in the options has no position in a file.
fn in_one_line(GroupedProblem { position, problem, others }: &GroupedProblem<'_>) -> String {
    let Position { line, column } = position;
    let path = problem.source.path.display();
    let help = if problem.help.is_empty() { String::new() } else { format!("; {}", problem.help) };
    let others = match others.len() {
        0 => String::new(),
        1 => " (and at another place)".to_owned(),
        count => format!(" (and at {count} other places)"),
    };
    let location = match problem.code.is_choice() && problem.pointer == Pointer::ROOT {
        true => format!("the options for {path}"),
        false => format!("{path}:{line}:{column}"),
    };
    one_line(&format!("{location}: {} [{}]{help}{others}", problem.message, problem.code))
}

/// Renders problems for people: the error, its location, the line with a mark under the position, and what to do
/// about it.
///
/// The renderer remembers the position of the last problem, so that problems in the order of their positions take one
/// pass over the text, regardless of their number.
#[derive(Debug, Default)]
pub struct HumanRenderer {
    color: bool,
    source: Arc<Source>,
    last_offset: Option<(Position, usize)>,
}

impl HumanRenderer {
    /// Creates a renderer. `color` adds the escape sequences of a terminal.
    #[must_use]
    pub fn new(color: bool) -> Self {
        HumanRenderer { color, ..HumanRenderer::default() }
    }

    /// Returns a problem in several lines.
    #[must_use]
    pub fn show(&mut self, position: Position, problem: &Problem) -> String {
        self.show_all(&GroupedProblem { position, problem, others: Vec::new() })
    }

    /// Returns a problem with all its positions, in several lines.
    #[must_use]
    pub fn show_all(&mut self, GroupedProblem { position, problem, others }: &GroupedProblem<'_>) -> String {
        let severity = problem.severity();
        let tone = tone(severity);
        let head = self.paint(tone, &format!("{severity}[{}]", problem.code));
        let message = self.paint("1", &format!(": {}", one_line(&problem.message)));
        let (margin, location) = if problem.code.is_choice() {
            // No line of the document is the cause.
            let path = path_of(&problem.source);
            let options = if problem.pointer.is_root() { "the options for " } else { "" };
            (" ".to_owned(), format!(" {} {options}{path}\n", self.paint("1;34", "-->")))
        } else {
            let margin = " ".repeat(position.line.to_string().len());
            let location = self.source_lines(&margin, *position, problem, tone);
            (margin, location)
        };
        let mut text = format!("{head}{message}\n{location}");
        let equals = self.paint("1;34", "=");
        if !problem.pointer.is_root() {
            text.push_str(&format!("{margin} {equals} at {}\n", one_line(problem.pointer.as_str())));
        }
        if !others.is_empty() {
            text.push_str(&format!("{margin} {equals} also at {}\n", format_positions(others)));
        }
        if !problem.help.is_empty() {
            text.push_str(&format!("{margin} {equals} help: {}\n", one_line(&problem.help)));
        }
        text
    }

    /// Returns two lines for many problems of a code in a file: their title, their number and the first positions of
    /// those that recur most, and the message of the first of these.
    #[must_use]
    pub fn count(&self, path: &Path, code: Code, problems: &[&GroupedProblem<'_>]) -> String {
        let severity = problems.first().map_or(code.severity(), |visible| visible.problem.severity());
        let head = self.paint(tone(severity), &format!("{severity}[{code}]"));
        let times: usize = problems.iter().map(|visible| 1 + visible.others.len()).sum();
        let mut most_frequent: Vec<&GroupedProblem<'_>> = problems.to_vec();
        most_frequent.sort_by_key(|visible| (Reverse(visible.others.len()), visible.position));
        let positions: Vec<Position> = most_frequent.iter().map(|visible| visible.position).collect();
        let path = one_line(&path.display().to_string());
        let locations = format_positions(positions.get(..MAX_MOST_FREQUENT).unwrap_or(&positions));
        let more = if times > MAX_MOST_FREQUENT { ", …" } else { "" };
        let example = most_frequent.first().map(|visible| one_line(&visible.problem.message));
        let example = example.map_or_else(String::new, |message| format!("\n  such as: {message}"));
        format!("{head}: {} ({times} times): {path}:{locations}{more}{example}", code.page().title)
    }

    /// Returns the file and the line, with a mark under the position. A line that may contain a credential is not
    /// shown.
    fn source_lines(&mut self, margin: &str, position: Position, problem: &Problem, tone: &str) -> String {
        let source = &problem.source;
        let Position { line, column } = position;
        let (arrow, bar) = (self.paint("1;34", "-->"), self.paint("1;34", "|"));
        let mut text = format!("{margin}{arrow} {}:{line}:{column}\n", path_of(source));
        if problem.is_secret {
            return text;
        }
        let offset = self.offset(position, source);
        if let Some((snippet, before)) = snippet(&source.text, offset) {
            let number = self.paint("1;34", &line.to_string());
            let mark = self.paint(tone, "^");
            let space = " ".repeat(before);
            text.push_str(&format!(
                "{margin} {bar}\n{number} {bar} {snippet}\n{margin} {bar} {space}{mark}\n"
            ));
        }
        text
    }

    /// Returns the byte offset of a position.
    fn offset(&mut self, target: Position, source: &Arc<Source>) -> usize {
        if !Arc::ptr_eq(&self.source, source) {
            self.source = Arc::clone(source);
            self.last_offset = None;
        }
        let (mut current, mut offset) =
            self.last_offset.filter(|(position, _)| *position <= target).unwrap_or((Position::START, 0));
        let remaining = source.text.get(offset..).unwrap_or_default();
        for character in remaining.chars() {
            if current >= target || (character == '\n' && current.line == target.line) {
                break;
            }
            current = match character {
                '\n' => Position { line: current.line + 1, column: 1 },
                _ => Position { column: current.column + 1, ..current },
            };
            offset += character.len_utf8();
        }
        self.last_offset = Some((current, offset));
        offset
    }

    fn paint(&self, tone: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{tone}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// The terminal escape sequence for the color of a severity.
const fn tone(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "1;31",
        Severity::Warning => "1;33",
        Severity::Note => "1;32",
    }
}

/// Formats positions as `2:3, 5:1 and 7 more places`.
fn format_positions(others: &[Position]) -> String {
    let displayed =
        others.iter().take(MAX_POSITIONS).map(|Position { line, column }| format!("{line}:{column}"));
    let joined = displayed.collect::<Vec<_>>().join(", ");
    match others.len().saturating_sub(MAX_POSITIONS) {
        0 => joined,
        1 => format!("{joined} and one more place"),
        more => format!("{joined} and {more} more places"),
    }
}

/// Returns the line around an offset, cut to a reasonable width, and its number of characters before the offset.
fn snippet(text: &str, offset: usize) -> Option<(String, usize)> {
    let (before, after) = (text.get(..offset)?, text.get(offset..)?);
    let mut left: Vec<char> = before.chars().rev().take_while(|c| *c != '\n').take(MAX_BEFORE).collect();
    left.reverse();
    if left.len() == MAX_BEFORE {
        left.drain(..MAX_BEFORE / 2);
        left.insert(0, '…');
    } else {
        let indent = left.iter().take_while(|c| c.is_whitespace()).count();
        left.drain(..indent.saturating_sub(MAX_INDENT));
    }
    let column = left.len();
    let mut right = after.chars().take_while(|c| *c != '\n');
    let displayed: String = left.into_iter().chain(right.by_ref().take(MAX_AFTER)).collect();
    let mut displayed = one_line(&displayed);
    if right.next().is_some() {
        displayed.push('…');
    }
    (!displayed.trim().is_empty()).then(|| (displayed.trim_end().to_owned(), column))
}

fn path_of(source: &Source) -> String {
    one_line(&source.path.display().to_string())
}

/// Returns a string as one line that is safe for a terminal: every character keeps its column.
fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

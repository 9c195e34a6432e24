//! Problems as machines and people read them.

use serde_json::{Value, json};

use super::{Problem, Severity};
use crate::source::Position;

/// How much of a line is shown: a document may be one line of many megabytes.
const MAX_SNIPPET: usize = 100;

/// A problem for machines: `code`, `severity`, `file`, `line`, `column`, `pointer`, `message`, `help`. `help` is null
/// where nothing is known that would help.
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

/// A problem for people: what it is, where it is, the line and a mark under the place, what to do about it.
///
/// `color` adds the escapes of a terminal.
#[must_use]
pub fn human(position: Position, problem: &Problem, color: bool) -> String {
    let paint = Paint { color };
    let severity = problem.severity();
    let tone = match severity {
        Severity::Error => "1;31",
        Severity::Warning => "1;33",
        Severity::Note => "1;32",
    };
    let head = paint.with(tone, &format!("{severity}[{}]", problem.code));
    let mut text = format!("{head}{}\n", paint.with("1", &format!(": {}", one_line(&problem.message))));
    let Position { line, column } = position;
    let margin = " ".repeat(line.to_string().len());
    let arrow = paint.with("1;34", "-->");
    text.push_str(&format!("{margin}{arrow} {}:{line}:{column}\n", problem.source.path.display()));
    let bar = paint.with("1;34", "|");
    if let Some((snippet, before)) = snippet(&problem.source.text, position) {
        let number = paint.with("1;34", &line.to_string());
        let mark = paint.with(tone, "^");
        text.push_str(&format!("{margin} {bar}\n{number} {bar} {snippet}\n"));
        text.push_str(&format!("{margin} {bar} {}{mark}\n", " ".repeat(before)));
    }
    let equals = paint.with("1;34", "=");
    if !problem.pointer.is_root() {
        text.push_str(&format!("{margin} {equals} at {}\n", one_line(problem.pointer.as_str())));
    }
    if !problem.help.is_empty() {
        text.push_str(&format!("{margin} {equals} help: {}\n", one_line(&problem.help)));
    }
    text
}

/// The line of a position, cut to a bearable width, and how many characters stand before the position.
fn snippet(text: &str, position: Position) -> Option<(String, usize)> {
    let line = text.split('\n').nth(position.line.checked_sub(1)?)?;
    let before = position.column.saturating_sub(1);
    let start = if before < MAX_SNIPPET * 3 / 4 { 0 } else { before - MAX_SNIPPET / 2 };
    let mut rest = line.chars().skip(start);
    let mut shown = String::from(if start > 0 { "…" } else { "" });
    let mut caret = before - start + usize::from(start > 0);
    let indent =
        if start == 0 { line.chars().take(before).take_while(|c| c.is_whitespace()).count() } else { 0 };
    // Deep indentation says nothing here and costs the width of the terminal.
    let cut = indent.saturating_sub(8);
    for _ in 0..cut {
        rest.next();
    }
    caret -= cut;
    shown.extend(rest.by_ref().take(MAX_SNIPPET).map(|c| if c.is_control() { ' ' } else { c }));
    if rest.next().is_some() {
        shown.push('…');
    }
    (!shown.trim().is_empty()).then(|| (shown.trim_end().to_owned(), caret))
}

/// Documents put anything into names; a terminal must not obey it.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

struct Paint {
    color: bool,
}

impl Paint {
    fn with(&self, tone: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{tone}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

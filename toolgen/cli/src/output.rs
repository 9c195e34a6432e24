//! The output of a command: results, diagnostics and progress.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

use serde_json::Value;
use toolgen::problem::{GroupedProblem, HumanRenderer, Problems, grouped};
use toolgen::{Code, Problem, Severity};
use toolgen_runtime::printable;

/// Writes results to standard output, and diagnostics and progress to standard error.
pub(super) struct Output {
    results: BufWriter<Stdout>,
    /// Whether results go to a terminal.
    results_to_terminal: bool,
    /// Whether standard error is a terminal that can rewrite a line, so that progress can be shown.
    terminal: bool,
    /// Whether diagnostics in results are colored.
    colored_results: bool,
    /// Whether diagnostics on standard error are colored.
    color: bool,
    /// Whether the terminal currently shows a line of progress.
    has_progress_line: bool,
    /// Number of the current document, and number of all documents, if there are several.
    pub(super) document_number: Option<(usize, usize)>,
}

/// Environment variables about colors and the terminal (<https://no-color.org>, <https://bixense.com/clicolors>).
#[derive(Clone, Copy, Debug, Default)]
struct ColorEnvironment {
    never: bool,
    always: bool,
    /// Whether the terminal does not support escape sequences.
    dumb: bool,
}

impl ColorEnvironment {
    fn from_environment() -> ColorEnvironment {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        ColorEnvironment {
            never: set("NO_COLOR").is_some() || set("CLICOLOR").is_some_and(|value| value == "0"),
            always: set("NO_COLOR").is_none() && set("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
            dumb: set("TERM").is_some_and(|value| value == "dumb"),
        }
    }

    /// Whether output is colored, given whether it goes to a terminal.
    fn colors(self, terminal: bool) -> bool {
        self.always || (terminal && !self.never && !self.dumb)
    }
}

/// Prints an error while a command runs, such as a failed call of `serve`.
pub(super) fn print_error(message: &str) {
    let _ = writeln!(io::stderr(), "{}: {}", Severity::Error.as_str(), printable(message));
}

impl Output {
    pub(super) fn new() -> Self {
        let results = io::stdout();
        let (results_to_terminal, terminal) = (results.is_terminal(), io::stderr().is_terminal());
        let colors = ColorEnvironment::from_environment();
        Output {
            results: BufWriter::new(results),
            results_to_terminal,
            terminal: terminal && !colors.dumb,
            colored_results: colors.colors(results_to_terminal),
            color: colors.colors(terminal),
            has_progress_line: false,
            document_number: None,
        }
    }

    /// Whether the user can be asked at a terminal.
    pub(super) fn can_prompt(&self) -> bool {
        self.terminal && io::stdin().is_terminal()
    }

    /// Writes a part of the result: unchanged to a file, without control sequences to a terminal.
    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        self.clear();
        let text = if self.results_to_terminal { printable(text) } else { Cow::Borrowed(text) };
        self.results.write_all(text.as_bytes())
    }

    /// Writes lines of the result for people, without control sequences for a terminal.
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        self.clear();
        self.results.write_all(printable(text).as_bytes())?;
        self.results.write_all(b"\n")
    }

    /// Writes a value as JSON, without a line break.
    pub(super) fn json(&mut self, value: &Value) -> io::Result<()> {
        if self.results_to_terminal {
            return self.write(&value.to_string());
        }
        self.clear();
        serde_json::to_writer(&mut self.results, value).map_err(io::Error::from)
    }

    /// Flushes the output.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.clear();
        self.results.flush()
    }

    /// Shows the current step on a terminal.
    pub(super) fn progress(&mut self, step: &str) {
        if self.terminal {
            self.clear();
            let prefix =
                self.document_number.map_or_else(String::new, |(index, count)| format!("[{index}/{count}] "));
            let _ = write!(io::stderr(), "{prefix}{} …", printable(step));
            self.has_progress_line = true;
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.has_progress_line) {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }

    /// Reports an error.
    pub(super) fn error(&mut self, message: &str) {
        self.diagnostic(Severity::Error, message);
    }

    /// Reports a note.
    pub(super) fn note(&mut self, message: &str) {
        self.diagnostic(Severity::Note, message);
    }

    fn diagnostic(&mut self, severity: Severity, message: &str) {
        self.clear();
        let head = match (severity, self.color) {
            (Severity::Error, true) => "\u{1b}[1;31merror\u{1b}[0m",
            (_, true) => "\u{1b}[1;32mnote\u{1b}[0m",
            (_, false) => severity.as_str(),
        };
        let _ = writeln!(io::stderr(), "{head}: {}", printable(message));
    }

    /// Prints the selected diagnostics for people.
    pub(super) fn problems(&mut self, problems: &Problems, is_selected: impl Fn(&Problem) -> bool) {
        self.clear();
        let mut stderr = io::stderr().lock();
        let mut human = HumanRenderer::new(self.color);
        for group in grouped(problems).iter().filter(|group| is_selected(group.problem)) {
            let _ = writeln!(stderr, "{}", human.show_all(group));
        }
    }

    /// Prints diagnostics for people as a result, if at least as severe as `min_severity`. If a file has more than
    /// `max` warnings or notes of one code, only their number and some locations are printed: some documents have
    /// thousands, which would hide the important ones.
    pub(super) fn problem_results(
        &mut self,
        problems: &Problems,
        min_severity: Severity,
        max: usize,
    ) -> io::Result<()> {
        self.clear();
        let mut human = HumanRenderer::new(self.colored_results);
        let mut all = grouped(problems);
        all.retain(|visible| visible.problem.severity() >= min_severity);
        let mut groups: BTreeMap<(&Path, Code), Vec<&GroupedProblem<'_>>> = BTreeMap::new();
        for visible in all.iter().filter(|visible| visible.problem.severity() < Severity::Error) {
            groups.entry((&visible.problem.source.path, visible.problem.code)).or_default().push(visible);
        }
        groups.retain(|_, group| group.len() > max);
        let is_counted =
            |problem: &Problem| groups.contains_key(&(problem.source.path.as_path(), problem.code));
        for visible in &all {
            if visible.problem.severity() == Severity::Error || !is_counted(visible.problem) {
                writeln!(self.results, "{}", human.show_all(visible))?;
            }
        }
        // Warnings before notes.
        let mut counted: Vec<_> = groups.into_iter().collect();
        counted.sort_by_key(|(_, group)| Reverse(group.first().map(|visible| visible.problem.severity())));
        for ((path, code), group) in &counted {
            writeln!(self.results, "{}", human.count(path, *code, group))?;
        }
        if !counted.is_empty() {
            self.line("`--all` shows all of them, `cargo toolgen explain CODE` explains a code\n")?;
        }
        Ok(())
    }
}

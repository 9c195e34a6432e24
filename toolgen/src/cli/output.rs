//! The output of a command.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use serde_json::Value;
use toolgen::problem::{Human, Problems, Shown, shown};
use toolgen::source::Position;
use toolgen::{Problem, Severity};
use toolgen_runtime::printable;

/// How many further notes of one code are named.
const MAX_NOTES: usize = 3;

/// Writes results to the standard output, remarks and progress to the standard error.
pub(super) struct Output {
    results: BufWriter<Stdout>,
    /// Whether results go to a terminal.
    on_screen: bool,
    /// Whether remarks go to a terminal: they may be colored, and progress is shown.
    terminal: bool,
    color: bool,
    /// Whether the terminal shows a line of progress.
    pending: bool,
}

impl Output {
    pub(super) fn new() -> Self {
        let terminal = io::stderr().is_terminal();
        // https://no-color.org
        let color = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let results = io::stdout();
        let on_screen = results.is_terminal();
        Output { results: BufWriter::new(results), on_screen, terminal, color, pending: false }
    }

    /// Writes a part of the result: as it is into a file, and for a terminal without what it would obey.
    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        self.clear();
        let text = if self.on_screen { printable(text) } else { Cow::Borrowed(text) };
        self.results.write_all(text.as_bytes())
    }

    /// Writes lines of the result for people, without what a terminal would obey.
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        self.clear();
        self.results.write_all(printable(text).as_bytes())?;
        self.results.write_all(b"\n")
    }

    /// Writes a value as JSON, without a line break.
    pub(super) fn json(&mut self, value: &Value) -> io::Result<()> {
        if self.on_screen {
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

    /// Shows on a terminal what is taking time.
    pub(super) fn progress(&mut self, what: &str) {
        if self.terminal {
            self.clear();
            let _ = write!(io::stderr(), "{} …", printable(what));
            self.pending = true;
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.pending) {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }

    /// Reports that something cannot be done.
    pub(super) fn complain(&mut self, message: &str) {
        self.remark(Severity::Error, &for_the_shell(message));
    }

    /// Reports something worth knowing.
    pub(super) fn note(&mut self, message: &str) {
        self.remark(Severity::Note, message);
    }

    fn remark(&mut self, severity: Severity, message: &str) {
        self.clear();
        let head = match (severity, self.color) {
            (Severity::Error, true) => "\u{1b}[1;31merror\u{1b}[0m",
            (_, true) => "\u{1b}[1;32mnote\u{1b}[0m",
            (_, false) => severity.as_str(),
        };
        let _ = writeln!(io::stderr(), "{head}: {}", printable(message));
    }

    /// Shows the wanted problems to a person.
    pub(super) fn problems(&mut self, problems: &Problems, wanted: impl Fn(&Problem) -> bool) {
        self.clear();
        let mut stderr = io::stderr().lock();
        let mut human = Human::new(self.color);
        for shown in shown(problems).iter().filter(|shown| wanted(shown.problem)) {
            let _ = writeln!(stderr, "{}", human.show_all(shown));
        }
    }

    /// Shows problems to a person as a result, if at least as severe as `least`. Notes of one code share a block, unless
    /// all are wanted: they are many in some documents, and hide what matters.
    pub(super) fn problem_results(
        &mut self,
        problems: &Problems,
        least: Severity,
        all_notes: bool,
    ) -> io::Result<()> {
        self.clear();
        let mut human = Human::new(self.color && io::stdout().is_terminal());
        let mut all = shown(problems);
        all.retain(|shown| shown.problem.severity() >= least);
        let is_note = |shown: &Shown<'_>| !all_notes && shown.problem.severity() == Severity::Note;
        let mut known = BTreeSet::new();
        for (index, shown) in all.iter().enumerate() {
            let code = shown.problem.code;
            if !is_note(shown) {
                writeln!(self.results, "{}", human.show_all(shown))?;
            } else if known.insert(code) {
                let rest = all.iter().skip(index + 1).filter(|other| other.problem.code == code);
                let more = more_notes(shown.position, &rest.collect::<Vec<_>>());
                writeln!(self.results, "{}{more}", human.show_all(shown))?;
            }
        }
        Ok(())
    }
}

/// Returns the lines that stand for the further notes of a code, below the one at `first`.
fn more_notes(first: Position, notes: &[&Shown<'_>]) -> String {
    let margin = " ".repeat(first.line.to_string().len());
    let mut text = String::new();
    for Shown { position, problem, .. } in notes.iter().take(MAX_NOTES) {
        let message = printable(&problem.message).replace(['\n', '\t'], " ");
        text.push_str(&format!("{margin} = also at {}:{}: {message}\n", position.line, position.column));
    }
    match notes.len().saturating_sub(MAX_NOTES) {
        0 => text,
        more => format!("{text}{margin} … and {more} more; `--notes` shows all\n"),
    }
}

/// Returns a message with the remedies of a program as options of the command line.
fn for_the_shell(message: &str) -> Cow<'_, str> {
    const OPEN: (&str, &str) = ("The program can open it with `HttpEngineBuilder::private_host(\"", "\")`");
    let Some((before, rest)) = message.split_once(OPEN.0) else { return Cow::Borrowed(message) };
    let Some((host, after)) = rest.split_once(OPEN.1) else { return Cow::Borrowed(message) };
    Cow::Owned(format!("{before}Open it with `--private-host {host}`{after}"))
}

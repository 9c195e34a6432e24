//! `doctor`: diagnoses a project, and prints a fix for each failed check.

mod discover;
mod machine;
mod needs;
mod package;

use std::io;

use serde_json::{Value, json};

use super::Outcome;
use super::args::Doctor;
use super::output::Output;
use package::Package;

/// The result of one check.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    state: State,
    summary: String,
    /// The fix; empty if there is nothing to fix.
    help: String,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The check passed.
    Fine,
    /// The finding is informational.
    Note,
    /// The check failed: there is something to do.
    Problem,
}

impl Finding {
    fn fine(summary: impl Into<String>) -> Finding {
        Finding { state: State::Fine, summary: summary.into(), help: String::new() }
    }

    fn note(summary: impl Into<String>, help: impl Into<String>) -> Finding {
        Finding { state: State::Note, summary: summary.into(), help: help.into() }
    }

    fn problem(summary: impl Into<String>, help: impl Into<String>) -> Finding {
        Finding { state: State::Problem, summary: summary.into(), help: help.into() }
    }

    fn json(&self) -> Value {
        let state = match self.state {
            State::Fine => "fine",
            State::Note => "note",
            State::Problem => "problem",
        };
        json!({"state": state, "what": self.summary, "remedy": self.help})
    }

    fn text(&self) -> String {
        let mark = match self.state {
            State::Fine => '+',
            State::Note => '-',
            State::Problem => '!',
        };
        let help = if self.help.is_empty() { String::new() } else { format!("\n      {}", self.help) };
        format!("  {mark} {}{help}", self.summary)
    }
}

/// Runs all checks and prints their findings. Returns `Problems` if a check failed.
pub(super) fn run(task: &Doctor, output: &mut Output) -> io::Result<Outcome> {
    if !task.dir.is_dir() {
        output.error(&format!("{} is not a directory", task.dir.display()));
        return Ok(Outcome::Usage);
    }
    output.progress("looking at the toolchain");
    let mut areas =
        vec![("toolchain", machine::toolchain(task.offline)), ("this program", machine::program())];
    let files = discover::files(&task.dir);
    let (documents, programs) = discover::documents(&files, output);
    let configured: Vec<(String, String)> = files.packages.iter().flat_map(Package::credentials).collect();
    let crates = files.packages.iter().flat_map(|package| package.findings(&programs)).collect();
    areas.push(("crates", crates));
    areas.push(("documents and locks", documents));
    areas.push(("programs that tools start", needs::programs(&programs)));
    areas.push(("variables and credentials", needs::variables(&programs, &configured)));
    areas.retain(|(_, findings)| !findings.is_empty());
    let all = || areas.iter().flat_map(|(_, findings)| findings);
    let problems = all().filter(|finding| finding.state == State::Problem).count();
    if task.format.json {
        let areas: Vec<Value> = areas
            .iter()
            .map(|(area, findings)| {
                json!({"area": area, "findings": findings.iter().map(Finding::json).collect::<Vec<_>>()})
            })
            .collect();
        output.json(&json!({"ready": problems == 0, "problems": problems, "areas": areas}))?;
        output.line("")?;
    } else {
        for (area, findings) in &areas {
            output.line(area)?;
            findings.iter().try_for_each(|finding| output.line(&finding.text()))?;
        }
        let things = if problems == 1 { "thing" } else { "things" };
        output.line(&match problems {
            0 => "\nready".to_owned(),
            _ => format!("\nnot ready: {problems} {things} to do, on the lines that begin with `!`"),
        })?;
    }
    Ok(if problems == 0 { Outcome::Fine } else { Outcome::Problems })
}

//! The problems of a document, with their locations.
//!
//! Stages report everything they find to [`Problems`] and continue. A [`Code`] determines the severity of a problem,
//! so the same error is never a warning in one place and an error in another, unless the user sets [`Levels`]. The
//! message says what is wrong at this location, the help what to do about it, and the page of the code (`cargo
//! toolgen explain CODE`) why it matters.

pub mod codes;
mod level;
mod show;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

pub use codes::{Code, Page, Severity};
pub use level::{Level, Levels};
pub(crate) use show::one_per_line;
pub use show::{GroupedProblem, HumanRenderer, grouped, json};

use crate::source::{Pointer, Position, Source};

/// Maximum number of problems of one code per document: a document may consist of errors.
const MAX_PROBLEMS_PER_CODE: usize = 10_000;

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of problem, which determines its severity.
    pub code: Code,
    /// The document that contains it.
    pub source: Arc<Source>,
    /// Its location in the document.
    pub pointer: Pointer,
    /// Its position in the document, if it is already known. Otherwise it is looked up when the problem is shown.
    pub position: Option<Position>,
    /// What is wrong.
    pub message: String,
    /// What to do about it; empty if no help is known.
    pub help: String,
    /// The severity: that of the code, unless the user chose another.
    severity: Severity,
    /// Whether its location may contain a credential, which is then not shown.
    is_secret: bool,
}

impl Problem {
    /// Returns the severity: that of the code, unless [`Levels`] set another.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// Whether the problem is an error because of the user's levels: nothing is omitted.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.severity == Severity::Error && self.code.severity() != Severity::Error
    }
}

/// Collects the problems of a document; stages continue and report all they find.
///
/// The same problem reported twice is kept once: several operations reach the same component.
#[derive(Clone, Default)]
pub struct Problems {
    source: Arc<Source>,
    list: Vec<Problem>,
    /// Boxed, since results carry problems.
    index: Box<ProblemIndex>,
}

/// An index of the problems reported so far.
#[derive(Clone, Default)]
struct ProblemIndex {
    /// The problems of the document: the address of the source, the code, the pointer and the message.
    seen: HashSet<(usize, Code, Pointer, String)>,
    /// The problems of other documents: each problem of a file is kept once even if several documents read the file.
    appended: HashSet<(PathBuf, Code, Pointer, Option<Position>, String)>,
    counts: BTreeMap<Code, usize>,
}

impl Problems {
    /// Creates an empty collection. [`Document::load`](crate::Document::load) sets the document that the problems
    /// belong to.
    #[must_use]
    pub fn new() -> Self {
        Problems::default()
    }

    /// Sets the document that the following problems belong to.
    pub fn set_source(&mut self, source: Arc<Source>) {
        self.source = source;
        self.index.seen.clear();
        self.index.counts.clear();
    }

    /// Adds a problem. `message` says what is wrong at this location, `help` what to do about it.
    pub fn report(
        &mut self,
        code: Code,
        pointer: &Pointer,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let source = Arc::clone(&self.source);
        self.push(source, code, pointer.clone(), None, message.into(), help.into());
    }

    /// Adds a problem whose location may contain a credential: the line is not shown, and the message does not repeat
    /// it.
    pub(crate) fn report_secret(&mut self, code: Code, pointer: &Pointer, message: String, help: String) {
        let count = self.list.len();
        self.report(code, pointer, message, help);
        if let Some(problem) = self.list.get_mut(count) {
            problem.is_secret = true;
        }
    }

    /// Adds a problem of another file that the document refers to.
    pub fn report_in(
        &mut self,
        source: &Arc<Source>,
        code: Code,
        pointer: &Pointer,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Arc::clone(source), code, pointer.clone(), None, message.into(), help.into());
    }

    /// Adds a problem whose position is known.
    pub fn report_at(
        &mut self,
        code: Code,
        pointer: Pointer,
        position: Position,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let source = Arc::clone(&self.source);
        self.push(source, code, pointer, Some(position), message.into(), help.into());
    }

    fn push(
        &mut self,
        source: Arc<Source>,
        code: Code,
        pointer: Pointer,
        position: Option<Position>,
        message: String,
        help: String,
    ) {
        let address = Arc::as_ptr(&source).addr();
        if position.is_none() && !self.index.seen.insert((address, code, pointer.clone(), message.clone())) {
            return;
        }
        let count = self.index.counts.entry(code).or_default();
        *count += 1;
        let message = match (*count).cmp(&MAX_PROBLEMS_PER_CODE) {
            Ordering::Less => message,
            Ordering::Equal => {
                format!("{message} (and there are more such problems, which are not listed)")
            }
            Ordering::Greater => return,
        };
        let severity = code.severity();
        self.list.push(Problem {
            code,
            source,
            pointer,
            position,
            message,
            help,
            severity,
            is_secret: false,
        });
    }

    /// Applies the severity levels that a user chose, and drops problems that are suppressed.
    pub(crate) fn apply(&mut self, levels: &Levels) {
        if levels.is_empty() {
            return;
        }
        self.list.retain_mut(|problem| match levels.severity(problem) {
            Some(severity) => {
                problem.severity = severity;
                true
            }
            None => false,
        });
    }

    /// Adds the problems of another document.
    pub(crate) fn append(&mut self, other: Problems) {
        for problem in other.list {
            let Problem { code, source, pointer, position, message, .. } = &problem;
            let key = (source.path.clone(), *code, pointer.clone(), *position, message.clone());
            if self.index.appended.insert(key) {
                self.list.push(problem);
            }
        }
    }

    /// Removes and returns the problems of the options, as opposed to those of the document.
    pub(crate) fn take_option_problems(&mut self) -> Vec<Problem> {
        let (choices, others) =
            std::mem::take(&mut self.list).into_iter().partition(|problem| problem.code.is_choice());
        self.list = others;
        choices
    }

    /// Keeps only the problems that `keep` returns `true` for.
    fn retain(&mut self, keep: impl FnMut(&Problem) -> bool) {
        self.list.retain(keep);
    }

    /// Returns the problems so far, in the order they were found.
    #[must_use]
    pub fn as_slice(&self) -> &[Problem] {
        &self.list
    }

    /// Whether there are no problems.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of problems of a severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.list.iter().filter(|problem| problem.severity() == severity).count()
    }

    /// Whether something was omitted, or the user denies a problem that was found.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|problem| problem.severity() == Severity::Error)
    }

    /// Whether the user denies a problem that was found, or sets a level for a code that does not exist.
    #[must_use]
    pub fn has_denied(&self) -> bool {
        self.list.iter().any(|problem| problem.is_denied() || problem.code == codes::NO_CODE)
    }

    /// Whether a manifest has an error. A manifest is the user's own file, so a build or `gen` does not continue
    /// without the tool in question, as it does without an operation of a third-party document.
    #[must_use]
    pub fn has_own_errors(&self) -> bool {
        self.list.iter().any(|problem| problem.severity() == Severity::Error && problem.code.is_own())
    }

    /// Whether no tools are left because a filter matches nothing.
    #[must_use]
    pub fn selected_no_tools(&self) -> bool {
        self.list.iter().any(|problem| problem.code == codes::NO_TOOLS)
    }

    /// Whether something would be visible to models although it should not be: an exclusion matches nothing, or no
    /// tool has an argument to fix or omit.
    #[must_use]
    pub fn missed_exclusion(&self) -> bool {
        self.list.iter().any(|problem| [codes::EXCLUSION, codes::FIX].contains(&problem.code))
    }

    /// Returns the problems with their positions, sorted by file, position, code and message, the order to show them
    /// in.
    #[must_use]
    pub fn placed(&self) -> Vec<(Position, &Problem)> {
        let mut placed = Vec::with_capacity(self.list.len());
        let same_source = |left: &Problem, right: &Problem| Arc::ptr_eq(&left.source, &right.source);
        for group in self.list.chunk_by(same_source) {
            let pointers: Vec<&Pointer> =
                group.iter().filter(|problem| problem.position.is_none()).map(|p| &p.pointer).collect();
            let mut positions = match group.first() {
                Some(first) if !pointers.is_empty() => first.source.locate_all(&pointers),
                _ => Vec::new(),
            }
            .into_iter();
            placed.extend(group.iter().map(|problem| {
                (problem.position.or_else(|| positions.next()).unwrap_or(Position::START), problem)
            }));
        }
        placed.sort_by(|(left_at, left), (right_at, right)| {
            let left_key = (&left.source.path, left_at, left.code.id(), &left.pointer, &left.message);
            left_key.cmp(&(&right.source.path, right_at, right.code.id(), &right.pointer, &right.message))
        });
        placed
    }
}

/// One problem per line, with its location: `FILE:LINE:COLUMN: message [CODE]; help`. A problem that recurs is shown
/// at its first location, with the number of the others.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_per_line(self, |_| true).join("\n"))
    }
}

impl std::error::Error for Problems {}

toolgen_core::__readable_debug!(Problems);

/// Keeps the option problems that all documents compiled with the same options have in common: a filter, a rename or
/// a credential that matches one of them is not an error.
pub fn keep_common<'p>(all: impl IntoIterator<Item = &'p mut Problems>) {
    let mut all: Vec<&mut Problems> = all.into_iter().collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for problem in
        all.iter().flat_map(|problems| problems.as_slice()).filter(|problem| problem.code.is_choice())
    {
        *counts.entry(problem.message.clone()).or_default() += 1;
    }
    let documents = all.len();
    let is_common = |problem: &Problem| counts.get(&problem.message) == Some(&documents);
    for problems in &mut all {
        problems.retain(|problem| !problem.code.is_choice() || is_common(problem));
    }
}

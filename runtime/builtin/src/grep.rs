//! Searches the lines of a file, within bounds.

use std::io::{self, Read};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use toolgen_kernel::base::truncate::cut;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};

use super::walk::WalkedFile;
use super::work_dir::File;

/// The most memory of a compiled pattern, in bytes.
const MAX_PATTERN_MEMORY: usize = 1 << 20;
/// The longest line that is searched, in bytes: the rest of the file behind a longer one is not.
const MAX_LINE_BYTES: usize = 8 << 20;
/// How much of a line is shown, in characters.
const MAX_LINE_SHOWN: usize = 500;

/// A line that was found.
#[derive(Debug)]
pub(super) struct Line {
    /// Counted from 1.
    pub(super) number: u64,
    /// The text, at most 500 characters of it.
    pub(super) text: String,
    /// Whether it matches, or is near one that does.
    pub(super) matches: bool,
}

/// Compiles a pattern.
///
/// # Errors
///
/// [`ToolError::InvalidArgs`] if it is not a regular expression, or too large: `{start}: {reason}`.
pub(super) fn matcher(pattern: &str, case_sensitive: bool, start: &str) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(!case_sensitive).line_terminator(Some(b'\n'));
    builder.size_limit(MAX_PATTERN_MEMORY).dfa_size_limit(MAX_PATTERN_MEMORY).nest_limit(100);
    builder.build(pattern).map_err(|error| invalid("/pattern", format!("{start}: {error}")))
}

/// The error of an argument.
pub(super) fn invalid(pointer: &str, message: String) -> ToolError {
    let problem = ArgumentProblem { pointer: pointer.to_owned(), kind: ArgumentProblemKind::Value, message };
    ToolError::from_problems(vec![problem])
}

/// The files that were not searched to their end.
#[derive(Debug, Default)]
pub(super) struct PartialFiles {
    count: usize,
    /// The first of them, and why.
    first: String,
}

impl PartialFiles {
    /// Notes a file.
    fn add(&mut self, path: &str, reason: &str) {
        if self.count == 0 {
            self.first = format!("{path}: {reason}");
        }
        self.count += 1;
    }

    /// Returns a line for the end of a result; nothing if all files were searched.
    pub(super) fn note(&self) -> String {
        match self.count {
            0 => String::new(),
            1 => format!("\n... (not searched to its end: {})", self.first),
            count => {
                format!("\n... ({count} files were not searched to their end, the first is {})", self.first)
            }
        }
    }
}

/// Returns the lines of a file that match, with those around them, up to a number of matches. Files that are not text
/// are not searched, and a file that cannot be read to its end is searched only as far as it can be, which is noted.
pub(super) fn search(
    found: &WalkedFile<'_>,
    matcher: &RegexMatcher,
    (around, max): (usize, usize),
    unread: &mut PartialFiles,
    ctx: &ToolContext,
) -> Vec<Line> {
    let Ok(file) = found.open() else { return Vec::new() };
    let mut builder = SearcherBuilder::new();
    builder.line_number(true).binary_detection(BinaryDetection::quit(0)).heap_limit(Some(MAX_LINE_BYTES));
    builder.before_context(around).after_context(around);
    let mut lines = Lines { lines: Vec::new(), remaining: max };
    // What was found before an error counts.
    let searched = builder.build().search_reader(matcher, Cancellable { file, ctx }, &mut lines);
    if let Err(reason) = searched {
        match reason.kind() {
            // The searcher says nothing more of a line for which it may not take the memory.
            io::ErrorKind::Other => unread.add(found.path, "a line is longer than 8 MiB"),
            kind => unread.add(found.path, &kind.to_string()),
        }
    }
    lines.lines
}

struct Lines {
    lines: Vec<Line>,
    remaining: usize,
}

impl Lines {
    fn add(&mut self, number: Option<u64>, bytes: &[u8], matches: bool) {
        let text = String::from_utf8_lossy(bytes);
        let text = cut(text.trim_end_matches(['\n', '\r']), MAX_LINE_SHOWN);
        self.lines.push(Line { number: number.unwrap_or_default(), text, matches });
    }
}

impl Sink for Lines {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.remaining == 0 {
            return Ok(false);
        }
        self.remaining -= 1;
        self.add(found.line_number(), found.bytes(), true);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        self.add(around.line_number(), around.bytes(), false);
        Ok(true)
    }
}

/// A file whose reading ends with the call.
struct Cancellable<'a> {
    file: File,
    ctx: &'a ToolContext,
}

impl Read for Cancellable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ctx.is_cancelled() {
            return Err(io::Error::other("Cancelled"));
        }
        self.file.read(buffer)
    }
}

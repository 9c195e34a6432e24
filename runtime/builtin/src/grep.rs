//! Searches the lines of a file, with limits.

use std::io::{self, Read};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use toolgen_kernel::base::truncate::cut;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};

use super::walk::WalkedFile;
use super::work_dir::File;

/// Maximum memory of a compiled pattern, in bytes.
const MAX_PATTERN_MEMORY: usize = 1 << 20;
/// Maximum length of a searched line, in bytes. The search of a file stops at a longer line.
const MAX_LINE_BYTES: usize = 8 << 20;
/// Maximum length of a returned line, in characters.
const MAX_SHOWN_LINE_CHARS: usize = 500;

/// A line of a search result.
#[derive(Debug)]
pub(super) struct Line {
    /// The line number, counted from 1.
    pub(super) number: u64,
    /// The text, at most 500 characters.
    pub(super) text: String,
    /// Whether the line matches, or is only context of a match.
    pub(super) matches: bool,
}

/// Compiles a pattern.
///
/// # Errors
///
/// Returns [`ToolError::InvalidArgs`] if the pattern is not a regular expression, or is too large: `{prefix}:
/// {reason}`.
pub(super) fn compile_pattern(
    pattern: &str,
    case_sensitive: bool,
    prefix: &str,
) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(!case_sensitive).line_terminator(Some(b'\n'));
    builder.size_limit(MAX_PATTERN_MEMORY).dfa_size_limit(MAX_PATTERN_MEMORY).nest_limit(100);
    builder.build(pattern).map_err(|error| invalid_argument("/pattern", format!("{prefix}: {error}")))
}

/// Returns the error for an invalid argument.
pub(super) fn invalid_argument(pointer: &str, message: String) -> ToolError {
    let problem = ArgumentProblem { pointer: pointer.to_owned(), kind: ArgumentProblemKind::Value, message };
    ToolError::from_problems(vec![problem])
}

/// The files that were not searched to the end.
#[derive(Debug, Default)]
pub(super) struct PartialFiles {
    count: usize,
    /// The first of these files, and the reason.
    first: String,
}

impl PartialFiles {
    /// Records a file.
    fn add(&mut self, path: &str, reason: &str) {
        if self.count == 0 {
            self.first = format!("{path}: {reason}");
        }
        self.count += 1;
    }

    /// Returns a line for the end of a result; empty if all files were searched.
    pub(super) fn note(&self) -> String {
        match self.count {
            0 => String::new(),
            1 => format!("\n... (not searched to the end: {})", self.first),
            count => {
                format!("\n... ({count} files were not searched to the end, the first is {})", self.first)
            }
        }
    }
}

/// Returns the matching lines of a file, with context lines, up to a number of matches. Files that are not text are
/// skipped. A file that cannot be read to the end is searched partially and recorded.
pub(super) fn search(
    walked_file: &WalkedFile<'_>,
    matcher: &RegexMatcher,
    (context_lines, max_matches): (usize, usize),
    partial_files: &mut PartialFiles,
    ctx: &ToolContext,
) -> Vec<Line> {
    let Ok(file) = walked_file.open() else { return Vec::new() };
    let mut builder = SearcherBuilder::new();
    builder.line_number(true).binary_detection(BinaryDetection::quit(0)).heap_limit(Some(MAX_LINE_BYTES));
    builder.before_context(context_lines).after_context(context_lines);
    let mut lines = Lines { lines: Vec::new(), remaining: max_matches };
    // Matches before an error are kept.
    let result = builder.build().search_reader(matcher, Cancellable { file, ctx }, &mut lines);
    if let Err(reason) = result {
        match reason.kind() {
            // The searcher reports no details of a line that exceeds its memory limit.
            io::ErrorKind::Other => partial_files.add(walked_file.path, "a line is longer than 8 MiB"),
            kind => partial_files.add(walked_file.path, &kind.to_string()),
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
        let text = cut(text.trim_end_matches(['\n', '\r']), MAX_SHOWN_LINE_CHARS);
        self.lines.push(Line { number: number.unwrap_or_default(), text, matches });
    }
}

impl Sink for Lines {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> io::Result<bool> {
        if self.remaining == 0 {
            return Ok(false);
        }
        self.remaining -= 1;
        self.add(line.line_number(), line.bytes(), true);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> io::Result<bool> {
        self.add(line.line_number(), line.bytes(), false);
        Ok(true)
    }
}

/// A file whose reads fail when the call is cancelled.
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

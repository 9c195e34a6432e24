//! The tools `LS`, `GlobTool` and `GrepTool`.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::SystemTime;

use ignore::overrides::Override;
use toolgen_kernel::base::time::rfc3339;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_macros::tool;

use super::{check_absolute, no_start, size};
use crate::files::globs;
use crate::grep::{Line, PartialFiles, matcher, search};
use crate::walk::{Walk, WalkedFile, names, walk};
use crate::work_dir::{WorkDir, permissions};

/// Maximum number of listed names.
const MAX_LISTED: usize = 1_000;
/// Maximum number of files that are sorted by time.
const MAX_FILES: usize = 10_000;
/// Maximum number of matching lines of a search.
const MAX_MATCHES: usize = 1_000;
/// The directories of version control.
const VCS: &[&str] = &[".git", ".svn", ".hg"];

/// Lists the files and directories in a directory, except hidden ones. Prefer GlobTool and GrepTool if you know which
/// directories to search.
#[tool(name = "LS", read_only, open_world = false, spawns = false, blocking, timeout = "10s", reads("file:"))]
pub(super) fn ls(
    /// The absolute path to the directory to list.
    #[arg(non_empty, len = ..=4096)]
    path: String,
    /// A glob for names to omit.
    #[arg(non_empty, len = ..=1000)]
    ignore_pattern: Option<String>,
    ctx: &ToolContext,
) -> Result<String, ToolError> {
    check_absolute(&path, "path")?;
    let place = WorkDir::of(ctx)?;
    let failed = |error| no_start(&error, &path, "Error listing directory");
    let names = names(&place, &path).map_err(failed)?;
    let ignored = globs(ignore_pattern.as_deref(), "/ignore_pattern")?;
    let (mut directories, mut files, mut more) = (Vec::new(), Vec::new(), String::new());
    for (name, is_dir) in names {
        if name.starts_with('.') || ignored.matched(&name, is_dir).is_whitelist() {
            continue;
        }
        if directories.len() + files.len() == MAX_LISTED || ctx.is_cancelled() {
            more = format!("... (showing the first {MAX_LISTED} names)\n");
            break;
        }
        if is_dir { directories.push(name) } else { files.push(name) }
    }
    directories.sort();
    files.sort();
    let mut text = format!("Contents of {path}:\n\n");
    if !directories.is_empty() {
        let lines: String = directories.iter().map(|name| format!("  📁 {name}\n")).collect();
        text.push_str(&format!("Directories:\n{lines}\n"));
    }
    if !files.is_empty() {
        let lines: String = files.iter().map(|name| format!("  📄 {name}\n")).collect();
        text.push_str(&format!("Files:\n{lines}"));
    }
    if directories.is_empty() && files.is_empty() {
        text.push_str("Directory is empty.");
    }
    Ok(text + &more)
}

/// Finds files whose paths match a glob, newest first, with size, time and permissions. Omits hidden files.
#[tool(
    name = "GlobTool",
    read_only,
    open_world = false,
    spawns = false,
    blocking,
    timeout = "30s",
    reads("file:")
)]
pub(super) fn glob_tool(
    /// The glob for paths relative to the directory, such as `**/*.js` or `src/**/*.ts`.
    #[arg(non_empty, len = ..=1000)]
    pattern: String,
    /// The directory to search in. Default: the working directory.
    #[arg(default = ".", non_empty, len = ..=4096)]
    path: String,
    /// A glob for paths to omit.
    #[arg(non_empty, len = ..=1000)]
    exclude: Option<String>,
    /// Maximum number of files to return.
    #[arg(default = 1000, range = 1..=1000)]
    limit: usize,
    /// Whether to return absolute paths.
    #[arg(default = false)]
    absolute: bool,
    ctx: &ToolContext,
) -> Result<String, ToolError> {
    let place = WorkDir::of(ctx)?;
    let wanted = anchored(&pattern, "/pattern")?;
    let excluded = exclude.as_deref().map(|exclude| anchored(exclude, "/exclude")).transpose()?;
    let failed = |error| no_start(&error, &path, "Error finding files");
    let start = place.within(&path).map_err(failed)?;
    let mut files: Vec<(SystemTime, String)> = Vec::new();
    let how = Walk { depth: usize::MAX, ..Walk::default() };
    let visited = walk(&place, &path, how, ctx, &mut |found| {
        let below = Path::new(found.path).strip_prefix(&start).unwrap_or(Path::new(found.path));
        // A pattern that excludes a directory excludes everything in it.
        let is_excluded = excluded.as_ref().is_some_and(|excluded| {
            below.ancestors().any(|path| excluded.matched(path, path != below).is_whitelist())
        });
        if wanted.matched(below, false).is_whitelist() && !is_excluded {
            files.extend(described(&place, found, absolute || Path::new(&path).has_root()));
        }
        if files.len() == MAX_FILES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let whole = visited.map_err(failed)?;
    if files.is_empty() && whole {
        return Ok(format!("No files matched pattern: {pattern}"));
    }
    // Newest first; files with the same time are sorted by path.
    files.sort_by(|(left, _), (right, _)| right.cmp(left));
    files.truncate(limit);
    let lines: String = files.iter().map(|(_, line)| format!("{line}\n")).collect();
    let end = if whole { "" } else { "... (not all files were checked: use a narrower path)\n" };
    Ok(format!("Found {} files matching pattern: {pattern}\n\n{lines}{end}", files.len()))
}

/// Compiles a glob for paths relative to the directory of a search.
fn anchored(pattern: &str, pointer: &str) -> Result<Override, ToolError> {
    let pattern = pattern.replace('\\', "/");
    globs(Some(&format!("/{}", pattern.trim_start_matches("./").trim_start_matches('/'))), pointer)
}

/// Returns the time of a file, and a line that describes it.
fn described(place: &WorkDir, found: &WalkedFile<'_>, absolute: bool) -> Option<(SystemTime, String)> {
    let metadata = found.stat().ok()?;
    let time = metadata.modified().ok()?.into_std();
    let path = if absolute { place.absolute(found.path) } else { found.path.to_owned() };
    let (size, rights) = (size(metadata.len()), permissions(&metadata));
    let modified = rfc3339(time).replace('T', " ");
    let modified = modified.split('.').next().unwrap_or_default();
    Some((time, format!("{path} ({size}, modified {modified}, {rights})")))
}

/// Searches file contents with a regular expression. Returns the matching lines, of the newest files first. Omits
/// binary files and hidden directories.
#[tool(
    name = "GrepTool",
    read_only,
    open_world = false,
    spawns = false,
    blocking,
    timeout = "30s",
    reads("file:")
)]
pub(super) fn grep_tool(
    /// The regular expression to search for.
    #[arg(non_empty, len = ..=1000)]
    pattern: String,
    /// A glob for the files to search, such as `*.js` or `*.{ts,tsx}`.
    #[arg(non_empty, len = ..=1000)]
    include: Option<String>,
    /// The directory to search in. Default: the working directory.
    #[arg(default = ".", non_empty, len = ..=4096)]
    path: String,
    /// Number of lines to show before and after a match.
    #[arg(default = 0, range = 0..=50)]
    context: usize,
    /// Whether to ignore case.
    #[arg(default = false)]
    ignore_case: bool,
    /// Whether to also search the directories of version control.
    #[arg(default = false)]
    no_ignore_vcs: bool,
    ctx: &ToolContext,
) -> Result<String, ToolError> {
    let matcher = matcher(&pattern, !ignore_case, "Invalid regex pattern")?;
    let wanted = globs(include.as_deref(), "/include")?;
    let place = WorkDir::of(ctx)?;
    let absolute = Path::new(&path).has_root();
    let (mut files, mut remaining, mut unread) = (Vec::new(), MAX_MATCHES, PartialFiles::default());
    let displayed = if no_ignore_vcs { VCS } else { &[] };
    let how =
        Walk { depth: usize::MAX, visible_hidden_dirs: displayed, globs: Some(&wanted), ..Walk::default() };
    let visited = walk(&place, &path, how, ctx, &mut |found| {
        let lines = search(found, &matcher, (context, remaining), &mut unread, ctx);
        remaining -= lines.iter().filter(|line| line.matches).count();
        if !lines.is_empty() {
            let time = found.stat().and_then(|metadata| metadata.modified()).ok();
            let path = if absolute { place.absolute(found.path) } else { found.path.to_owned() };
            files.push((
                time.map(cap_std::time::SystemTime::into_std),
                format!("📄 {path}\n{}\n", blocks(&lines)),
            ));
        }
        if remaining == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let whole = visited.map_err(|error| no_start(&error, &path, "Error searching files"))?;
    if files.is_empty() && whole {
        return Ok(format!("No matches found for pattern: {pattern}{}", unread.note()));
    }
    files.sort_by(|(left, _), (right, _)| right.cmp(left));
    let found: String = files.iter().map(|(_, text)| text.as_str()).collect();
    let end = if whole { "" } else { "... (not all files were searched: use a narrower pattern or path)\n" };
    let (count, unread) = (files.len(), unread.note());
    Ok(format!(
        "Found matches in {count} files for pattern: {pattern}\n\n{found}{end}{}",
        unread.trim_start()
    ))
}

/// Formats lines with numbers and a mark on matching lines; gaps are marked as well.
fn blocks(lines: &[Line]) -> String {
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        if index > 0 && line.number > lines[index - 1].number + 1 {
            text.push_str("    --\n");
        }
        let mark = if line.matches { "▶ " } else { "  " };
        text.push_str(&format!("{mark}{}: {}\n", line.number, line.text));
    }
    text
}

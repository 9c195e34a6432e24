//! The tools `LS`, `GlobTool` and `GrepTool`.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::SystemTime;

use ignore::overrides::Override;
use toolgen_kernel::base::time::rfc3339;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_macros::tool;

use super::{check_absolute, format_size, search_error};
use crate::files::compile_glob;
use crate::grep::{Line, PartialFiles, compile_pattern, search};
use crate::walk::{WalkOptions, WalkedFile, list_names, walk};
use crate::work_dir::{WorkDir, format_permissions};

/// Maximum number of listed names.
const MAX_LISTED: usize = 1_000;
/// Maximum number of files that are sorted by time.
const MAX_FILES: usize = 10_000;
/// Maximum number of matching lines of a search.
const MAX_MATCHES: usize = 1_000;
/// The directories of version control.
const VCS_DIRS: &[&str] = &[".git", ".svn", ".hg"];

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
    let work_dir = WorkDir::of(ctx)?;
    let to_error = |error| search_error(&error, &path, "Error listing directory");
    let names = list_names(&work_dir, &path).map_err(to_error)?;
    let ignored = compile_glob(ignore_pattern.as_deref(), "/ignore_pattern")?;
    let (mut directories, mut files, mut note) = (Vec::new(), Vec::new(), String::new());
    for (name, is_dir) in names {
        if name.starts_with('.') || ignored.matched(&name, is_dir).is_whitelist() {
            continue;
        }
        if directories.len() + files.len() == MAX_LISTED || ctx.is_cancelled() {
            note = format!("... (showing the first {MAX_LISTED} names)\n");
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
    Ok(text + &note)
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
    let work_dir = WorkDir::of(ctx)?;
    let filter = compile_anchored_glob(&pattern, "/pattern")?;
    let excluded =
        exclude.as_deref().map(|exclude| compile_anchored_glob(exclude, "/exclude")).transpose()?;
    let to_error = |error| search_error(&error, &path, "Error finding files");
    let start = work_dir.relative_path(&path).map_err(to_error)?;
    let mut files: Vec<(SystemTime, String)> = Vec::new();
    let options = WalkOptions { max_depth: usize::MAX, ..WalkOptions::default() };
    let walk_result = walk(&work_dir, &path, options, ctx, &mut |file| {
        let relative_path = Path::new(file.path).strip_prefix(&start).unwrap_or(Path::new(file.path));
        // A pattern that excludes a directory excludes everything in it.
        let is_excluded = excluded.as_ref().is_some_and(|excluded| {
            relative_path.ancestors().any(|path| excluded.matched(path, path != relative_path).is_whitelist())
        });
        if filter.matched(relative_path, false).is_whitelist() && !is_excluded {
            files.extend(describe_file(&work_dir, file, absolute || Path::new(&path).has_root()));
        }
        if files.len() == MAX_FILES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let is_complete = walk_result.map_err(to_error)?;
    if files.is_empty() && is_complete {
        return Ok(format!("No files matched pattern: {pattern}"));
    }
    // Newest first; files with the same time are sorted by path.
    files.sort_by(|(left, _), (right, _)| right.cmp(left));
    files.truncate(limit);
    let lines: String = files.iter().map(|(_, line)| format!("{line}\n")).collect();
    let note = if is_complete { "" } else { "... (not all files were checked: use a narrower path)\n" };
    Ok(format!("Found {} files matching pattern: {pattern}\n\n{lines}{note}", files.len()))
}

/// Compiles a glob for paths relative to the directory of a search.
fn compile_anchored_glob(pattern: &str, pointer: &str) -> Result<Override, ToolError> {
    let pattern = pattern.replace('\\', "/");
    compile_glob(Some(&format!("/{}", pattern.trim_start_matches("./").trim_start_matches('/'))), pointer)
}

/// Returns the time of a file, and a line that describes it.
fn describe_file(work_dir: &WorkDir, file: &WalkedFile<'_>, absolute: bool) -> Option<(SystemTime, String)> {
    let metadata = file.read_metadata().ok()?;
    let time = metadata.modified().ok()?.into_std();
    let path = if absolute { work_dir.absolute(file.path) } else { file.path.to_owned() };
    let (size, permissions) = (format_size(metadata.len()), format_permissions(&metadata));
    let modified = rfc3339(time).replace('T', " ");
    let modified = modified.split('.').next().unwrap_or_default();
    Some((time, format!("{path} ({size}, modified {modified}, {permissions})")))
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
    let matcher = compile_pattern(&pattern, !ignore_case, "Invalid regex pattern")?;
    let filter = compile_glob(include.as_deref(), "/include")?;
    let work_dir = WorkDir::of(ctx)?;
    let absolute = Path::new(&path).has_root();
    let (mut files, mut remaining, mut partial_files) = (Vec::new(), MAX_MATCHES, PartialFiles::default());
    let vcs_dirs = if no_ignore_vcs { VCS_DIRS } else { &[] };
    let options = WalkOptions {
        max_depth: usize::MAX,
        visible_hidden_dirs: vcs_dirs,
        globs: Some(&filter),
        ..WalkOptions::default()
    };
    let walk_result = walk(&work_dir, &path, options, ctx, &mut |file| {
        let lines = search(file, &matcher, (context, remaining), &mut partial_files, ctx);
        remaining -= lines.iter().filter(|line| line.matches).count();
        if !lines.is_empty() {
            let time = file.read_metadata().and_then(|metadata| metadata.modified()).ok();
            let path = if absolute { work_dir.absolute(file.path) } else { file.path.to_owned() };
            files.push((
                time.map(cap_std::time::SystemTime::into_std),
                format!("📄 {path}\n{}\n", format_lines(&lines)),
            ));
        }
        if remaining == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let is_complete = walk_result.map_err(|error| search_error(&error, &path, "Error searching files"))?;
    if files.is_empty() && is_complete {
        return Ok(format!("No matches found for pattern: {pattern}{}", partial_files.note()));
    }
    files.sort_by(|(left, _), (right, _)| right.cmp(left));
    let matches: String = files.iter().map(|(_, text)| text.as_str()).collect();
    let note =
        if is_complete { "" } else { "... (not all files were searched: use a narrower pattern or path)\n" };
    let (count, partial_note) = (files.len(), partial_files.note());
    Ok(format!(
        "Found matches in {count} files for pattern: {pattern}\n\n{matches}{note}{}",
        partial_note.trim_start()
    ))
}

/// Formats lines with numbers and a mark on matching lines; gaps are marked as well.
fn format_lines(lines: &[Line]) -> String {
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

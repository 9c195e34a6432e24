//! Tools for files in the working directory: read, write, edit, list, search.

use std::io::{self, Read as _};
use std::ops::ControlFlow;

use base64::Engine as _;
use ignore::overrides::{Override, OverrideBuilder};
use serde_json::json;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::{Content, ToolResult};
use toolgen_macros::tool;

use super::edit::{Mismatch, replace_once};
use super::grep::{Line, PartialFiles, compile_pattern, invalid_argument, search as search_file};
use super::text::{Range, image_type, is_binary, read_excerpt, read_head};
use super::walk::{WalkOptions, walk};
use super::work_dir::{File, MissingDirs, WorkDir, file_error};

/// Maximum size of a text that is returned completely, and of a part of a larger text, in bytes: 1 MiB.
const MAX_TEXT_BYTES: u64 = 1 << 20;
/// Maximum size of an image, in bytes: 20 MiB.
const MAX_IMAGE_BYTES: u64 = 20 << 20;
/// Maximum number of listed files.
const MAX_LISTED: usize = 200;
/// Maximum number of matching lines of a search.
const MAX_MATCHES: usize = 50;
/// Note of a search that stopped at the limit on files.
const INCOMPLETE_NOTE: &str = "too many files, not all were searched";
/// Directories of build output and version control.
const SKIPPED_DIRS: &[&str] = &["target", ".git", "node_modules"];

/// Read a file. Text has line numbers; use offset and limit for a part of a large file. Images (PNG, JPEG, GIF, WebP,
/// BMP) are returned as images.
#[tool(label = "Read File", read_only, open_world = false, spawns = false, blocking, reads("file:{path}"))]
pub(super) fn read_file(
    /// The file to read, relative to the working directory.
    #[arg(non_empty, len = ..=4096)]
    path: String,
    /// The first line, counted from 1. Default: 1.
    #[arg(range = 1..)]
    offset: Option<u64>,
    /// Maximum number of lines. Default: all.
    #[arg(range = 1..)]
    limit: Option<u64>,
    ctx: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let work_dir = WorkDir::of(ctx)?;
    let (mut file, metadata) = work_dir
        .open_file(&path)
        .map_err(|error| file_error(&error, "path", &format!("Cannot access {path}"), ""))?;
    let size = metadata.len();
    let read_error = |error| file_error(&error, "path", &format!("Cannot read {path}"), "");
    let head = read_head(&mut file).map_err(read_error)?;
    if let Some(mime_type) = image_type(&head, size) {
        if size > MAX_IMAGE_BYTES {
            return Err(ToolError::failed(format!("Image too large ({}MB, max 20MB)", size >> 20)));
        }
        let image = image(file, mime_type).map_err(read_error)?;
        let details = json!({ "path": path, "bytes": size });
        return Ok(ToolResult::empty().with_content(image).with_details(details));
    }
    if is_binary(&head) {
        return Err(ToolError::failed(format!("Cannot read {path}: it is a binary file of {size} bytes")));
    }
    if size > MAX_TEXT_BYTES && offset.is_none() && limit.is_none() {
        let text = format!(
            "File too large ({size} bytes, max {MAX_TEXT_BYTES}). Use offset/limit for partial reads."
        );
        return Err(ToolError::failed(text));
    }
    let max_bytes = usize::try_from(MAX_TEXT_BYTES).unwrap_or(usize::MAX);
    let first = offset.unwrap_or(1);
    let range = Range { first, count: limit.unwrap_or(u64::MAX), max_bytes, max_line_bytes: max_bytes };
    let excerpt = read_excerpt(file, range, ctx).map_err(read_error)?;
    let (total, last) = (excerpt.total, first - 1 + excerpt.lines.len() as u64);
    if excerpt.lines.is_empty() && first > 1 {
        return Err(ToolError::failed(format!("{path} has {total} lines; line {first} does not exist")));
    }
    let is_complete = first == 1 && last == total;
    let mut text = if is_complete {
        format!("[{total} lines]\n")
    } else {
        format!("[Lines {first}-{last} of {total}]\n")
    };
    text.push_str(&number_lines(&excerpt.lines, first, 4));
    if excerpt.is_truncated {
        text.push_str(&format!(
            "\n... (more than {MAX_TEXT_BYTES} bytes: continue with offset {})",
            last + 1
        ));
    }
    Ok(ToolResult::text(text).with_details(json!({ "path": path })))
}

/// Reads an image, up to the size that it had when it was opened.
pub(super) fn image(file: File, mime_type: &str) -> io::Result<Content> {
    let mut bytes = Vec::new();
    file.take(MAX_IMAGE_BYTES).read_to_end(&mut bytes)?;
    let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
    Ok(Content::Image { data, mime_type: mime_type.to_owned() })
}

/// Prefixes lines with right-aligned numbers.
pub(super) fn number_lines(lines: &[String], first: u64, width: usize) -> String {
    let numbers = first..;
    let lines: Vec<String> =
        numbers.zip(lines).map(|(number, line)| format!("{number:>width$} | {line}")).collect();
    lines.join("\n")
}

/// Write content to a file. Creates the file and missing directories; replaces an existing file.
#[tool(
    label = "Write File",
    destructive,
    idempotent,
    open_world = false,
    spawns = false,
    files = "write",
    blocking,
    writes("file:{path}")
)]
pub(super) fn write_file(
    /// The file to write, relative to the working directory.
    #[arg(non_empty, len = ..=4096)]
    path: String,
    /// The complete content of the file.
    content: String,
    ctx: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let result = WorkDir::of(ctx)?.write(&path, content.as_bytes(), MissingDirs::Create, ctx);
    result.map_err(|error| file_error(&error, "path", &format!("Cannot write {path}"), ""))?;
    let bytes = content.len();
    let text = format!("Wrote {bytes} bytes to {path}");
    Ok(ToolResult::text(text).with_details(json!({ "path": path, "bytes": bytes })))
}

/// Edit a file: replace the exact text old_text by new_text. The old text must match exactly, including white space,
/// and must occur only once. To create files, use write_file.
#[tool(
    label = "Edit File",
    destructive,
    open_world = false,
    spawns = false,
    files = "write",
    blocking,
    writes("file:{path}")
)]
pub(super) fn edit_file(
    /// The file to edit, relative to the working directory.
    #[arg(non_empty, len = ..=4096)]
    path: String,
    /// The exact text to find, including white space.
    #[arg(non_empty)]
    old_text: String,
    /// The text that replaces it.
    new_text: String,
    ctx: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let work_dir = WorkDir::of(ctx)?;
    let hint = ". Use write_file to create new files.";
    let bytes = work_dir
        .read(&path)
        .map_err(|error| file_error(&error, "path", &format!("Cannot read {path}"), hint))?;
    let Ok(content) = String::from_utf8(bytes) else {
        return Err(ToolError::failed(format!("Cannot edit {path}: it is not UTF-8 text")));
    };
    let (old_lines, new_lines) = (old_text.lines().count(), new_text.lines().count());
    let details = json!({ "path": path, "old_lines": old_lines, "new_lines": new_lines });
    let edited =
        replace_once(&content, &old_text, &new_text).map_err(|error| mismatch_error(error, &path))?;
    if edited == content {
        return Ok(ToolResult::text("No changes (old_text == new_text)").with_details(details));
    }
    let result = work_dir.write(&path, edited.as_bytes(), MissingDirs::Reject, ctx);
    result.map_err(|error| file_error(&error, "path", &format!("Cannot write {path}"), ""))?;
    let lines = |count| if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
    let text = format!("Replaced {} with {} in {path}", lines(old_lines), lines(new_lines));
    Ok(ToolResult::text(text).with_details(details))
}

fn mismatch_error(reason: Mismatch, path: &str) -> ToolError {
    ToolError::failed(match reason {
        Mismatch::Missing(Some(similar)) => format!(
            "old_text not found in {path}.\n\nDid you mean:\n```\n{similar}\n```\nMake sure old_text matches exactly, \
             including whitespace and indentation."
        ),
        Mismatch::Missing(None) => format!(
            "old_text not found in {path}.\n\nTip: Use read_file to see the current file contents, then copy the exact \
             text you want to replace."
        ),
        Mismatch::Ambiguous(count, _) => format!(
            "old_text matches {count} locations in {path}. Include more surrounding context to make the match unique."
        ),
    })
}

/// List the files in a directory and its subdirectories. Use it to explore a project before reading its files. Omits
/// target, .git and node_modules.
#[tool(
    label = "List Files",
    read_only,
    open_world = false,
    spawns = false,
    blocking,
    timeout = "10s",
    reads("file:")
)]
pub(super) fn list_files(
    /// The directory to list, relative to the working directory.
    #[arg(default = ".", non_empty, len = ..=4096)]
    path: String,
    /// A glob for file names, such as `*.rs`, or for paths, such as `src/**/*.rs`. Default: all files.
    #[arg(non_empty, len = ..=1000)]
    pattern: Option<String>,
    /// Maximum depth: 1 for the files of the directory itself.
    #[arg(default = 3, range = 1..=64)]
    max_depth: usize,
    ctx: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let work_dir = WorkDir::of(ctx)?;
    let filter = compile_glob(pattern.as_deref(), "/pattern")?;
    let globs = Some(&filter);
    let options = WalkOptions {
        max_depth,
        skipped_dirs: SKIPPED_DIRS,
        include_hidden: true,
        globs,
        ..WalkOptions::default()
    };
    let (mut total, mut files) = (0, Vec::new());
    let walk_result = walk(&work_dir, &path, options, ctx, &mut |file| {
        total += 1;
        if files.len() < MAX_LISTED {
            files.push(file.path.to_owned());
        }
        ControlFlow::Continue(())
    });
    let is_complete = walk_result.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            ToolError::failed(format!("Directory not found: {path}. Check the path and try again."))
        }
        _ => file_error(&error, "path", &format!("Cannot list {path}"), ""),
    })?;
    let truncated = total > MAX_LISTED || !is_complete;
    let count = if is_complete { format!("{total} files") } else { format!("more than {total} files") };
    let text = match (files.is_empty(), truncated) {
        (true, _) => format!("No files found in {path}"),
        (_, true) => format!("{}\n\n... ({count}, showing first {})", files.join("\n"), files.len()),
        (_, false) => format!("{}\n\n({count})", files.join("\n")),
    };
    Ok(ToolResult::text(text).with_details(json!({ "total": total, "truncated": truncated })))
}

/// Compiles a glob by the rules of ignore files: without a `/` it matches names, and a leading `!` excludes.
pub(super) fn compile_glob(pattern: Option<&str>, pointer: &str) -> Result<Override, ToolError> {
    let mut builder = OverrideBuilder::new(".");
    let to_error = |error: ignore::Error| invalid_argument(pointer, format!("invalid glob: {error}"));
    if let Some(pattern) = pattern {
        builder.add(pattern).map_err(to_error)?;
    }
    builder.build().map_err(to_error)
}

/// Search for a pattern in files. Returns the matching lines with paths and line numbers. Omits hidden files, binary
/// files, and files that .gitignore excludes.
#[tool(
    label = "Search Files",
    read_only,
    open_world = false,
    spawns = false,
    blocking,
    timeout = "30s",
    reads("file:")
)]
pub(super) fn search(
    /// The regular expression to search for.
    #[arg(non_empty, len = ..=1000)]
    pattern: String,
    /// The directory or file to search, relative to the working directory.
    #[arg(default = ".", non_empty, len = ..=4096)]
    path: String,
    /// A glob of the files to search, such as `*.rs`. Default: all files.
    #[arg(non_empty, len = ..=1000)]
    include: Option<String>,
    /// Whether the search is case-sensitive.
    #[arg(default = false)]
    case_sensitive: bool,
    ctx: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let matcher = compile_pattern(&pattern, case_sensitive, "Search error")?;
    let filter = compile_glob(include.as_deref(), "/include")?;
    let (mut found_lines, mut partial_files): (Vec<String>, _) = (Vec::new(), PartialFiles::default());
    let globs = Some(&filter);
    let options = WalkOptions {
        max_depth: usize::MAX,
        skipped_dirs: SKIPPED_DIRS,
        use_ignore_files: true,
        globs,
        ..WalkOptions::default()
    };
    let work_dir = WorkDir::of(ctx)?;
    let walk_result = walk(&work_dir, &path, options, ctx, &mut |file| {
        // One additional match shows that there are more.
        let max = MAX_MATCHES + 1 - found_lines.len();
        let lines = search_file(file, &matcher, (0, max), &mut partial_files, ctx);
        let path = file.path;
        found_lines.extend(lines.iter().map(|Line { number, text, .. }| format!("{path}:{number}:{text}")));
        if found_lines.len() > MAX_MATCHES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let is_complete =
        walk_result.map_err(|reason| file_error(&reason, "path", &format!("Cannot search {path}"), ""))?;
    let has_more = found_lines.len() > MAX_MATCHES;
    found_lines.truncate(MAX_MATCHES);
    let count = found_lines.len();
    let text = match (count, has_more, is_complete) {
        (0, _, true) => format!("No matches found for '{pattern}'"),
        (0, ..) => format!("No matches found for '{pattern}' ({INCOMPLETE_NOTE})"),
        (_, true, _) => format!("{}\n... (showing first {MAX_MATCHES} matches)", found_lines.join("\n")),
        (.., true) => format!("{}\n({count} matches)", found_lines.join("\n")),
        (.., false) => format!("{}\n({count} matches; {INCOMPLETE_NOTE})", found_lines.join("\n")),
    };
    Ok(ToolResult::text(text + &partial_files.note()).with_details(json!({ "matches": count })))
}

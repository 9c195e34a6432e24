//! The tools `Edit` and `Replace`.

use std::io::ErrorKind;
use std::path::Path;

use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_macros::tool;

use super::{check_absolute, read_error};
use crate::edit::{Mismatch, replace_once};
use crate::text::is_binary;
use crate::work_dir::{MAX_FILE_BYTES, MissingDirs, WorkDir, file_error};

/// Edits a file: replaces ONE occurrence of old_string. It must occur only once and match exactly, including white
/// space. Include three to five lines around the change. For several changes, call it several times; to replace a
/// whole file, use Replace; to move a file, use Bash. With an empty old_string it creates a file that contains
/// new_string.
#[tool(
    name = "Edit",
    destructive,
    open_world = false,
    spawns = false,
    files = "write",
    blocking,
    writes("file:{file_path}")
)]
pub(super) fn edit(
    /// The absolute path to the file to modify.
    #[arg(non_empty, len = ..=4096)]
    file_path: String,
    /// The text to replace. Empty to create the file.
    old_string: String,
    /// The edited text to replace the old_string.
    new_string: String,
    ctx: &ToolContext,
) -> Result<String, ToolError> {
    check_absolute(&file_path, "file_path")?;
    if new_string.len() as u64 > MAX_FILE_BYTES {
        return Err(ToolError::failed("new_string is too large (over 10MB)"));
    }
    let work_dir = WorkDir::of(ctx)?;
    if old_string.is_empty() {
        work_dir.create(&file_path, new_string.as_bytes(), ctx).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => ToolError::failed(format!(
                "File already exists: {file_path}. Use a non-empty old_string to modify it."
            )),
            ErrorKind::NotFound => missing_directory(&file_path),
            _ => file_error(&error, "file_path", "Error creating file", ""),
        })?;
        return Ok(format!("Created new file: {file_path}"));
    }
    let bytes =
        work_dir.read(&file_path).map_err(|error| read_error(&error, &file_path, "Error reading file"))?;
    let content = if is_binary(&bytes) { None } else { String::from_utf8(bytes).ok() };
    let content = content.ok_or_else(|| {
        ToolError::failed("Cannot edit binary files. Use a different tool for binary file manipulation.")
    })?;
    let edited = replace_once(&content, &old_string, &new_string).map_err(mismatch_error)?;
    let result = work_dir.write(&file_path, edited.as_bytes(), MissingDirs::Reject, ctx);
    result.map_err(|error| file_error(&error, "file_path", "Error writing to file", ""))?;
    Ok(format!("Successfully edited file: {file_path}\nReplaced 1 occurrence of the specified text."))
}

fn mismatch_error(reason: Mismatch) -> ToolError {
    ToolError::failed(match reason {
        Mismatch::Missing(_) => {
            "The specified old_string was not found in the file. Please check the string and try again."
                .to_owned()
        }
        Mismatch::Ambiguous(count, lines) => {
            let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
            format!(
                "The specified old_string occurs {count} times in the file (around lines {}). Please provide a more \
                 specific string with enough context to uniquely identify the instance you want to change.",
                lines.join(", ")
            )
        }
    })
}

/// Writes a file. Overwrites the existing file if there is one.
#[tool(
    name = "Replace",
    destructive,
    idempotent,
    open_world = false,
    spawns = false,
    files = "write",
    blocking,
    writes("file:{file_path}")
)]
pub(super) fn replace(
    /// The absolute path to the file to write.
    #[arg(non_empty, len = ..=4096)]
    file_path: String,
    /// The content to write to the file.
    content: String,
    ctx: &ToolContext,
) -> Result<String, ToolError> {
    check_absolute(&file_path, "file_path")?;
    let result = WorkDir::of(ctx)?.write(&file_path, content.as_bytes(), MissingDirs::Reject, ctx);
    let existed = result.map_err(|error| match error.kind() {
        ErrorKind::NotFound => missing_directory(&file_path),
        _ => file_error(&error, "file_path", "Error writing file", ""),
    })?;
    let action = if existed { "replaced existing" } else { "created new" };
    Ok(format!("Successfully {action} file: {file_path}"))
}

fn missing_directory(path: &str) -> ToolError {
    let directory = Path::new(path).parent().unwrap_or(Path::new("/"));
    ToolError::failed(format!("Directory does not exist: {}", directory.display()))
}

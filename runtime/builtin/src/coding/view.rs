//! The tool `View`.

use toolgen_kernel::base::time::rfc3339;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;
use toolgen_macros::tool;

use super::{check_absolute, format_size, read_error};
use crate::files::{image, number_lines};
use crate::text::{Excerpt, Range, image_type, is_binary, read_excerpt, read_head};
use crate::work_dir::{Metadata, WorkDir, format_permissions};

/// Maximum size of an image, in bytes: 20 MiB.
const MAX_IMAGE_BYTES: u64 = 20 << 20;
/// Maximum length of a line, in bytes; the rest is omitted.
const MAX_LINE_BYTES: usize = 2_000;
/// Maximum size of the returned text, in bytes: 1 MiB.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// Number of bytes of a binary file that are dumped.
const HEX_DUMP_BYTES: usize = 1024;
/// Number of lines shown before and after a line that matches find_section.
const CONTEXT_LINES: (u64, u64) = (5, 15);

/// Reads a file: text by lines, images as images, and a description of other binary files. For large files use offset
/// and limit, or find_section.
#[tool(name = "View", read_only, open_world = false, spawns = false, blocking, reads("file:{file_path}"))]
#[expect(clippy::too_many_arguments, reason = "they are the arguments of the tool")]
pub(super) fn view(
    /// The absolute path to the file to read.
    #[arg(non_empty, len = ..=4096)]
    file_path: String,
    /// The first line to read, counted from 0.
    #[arg(default = 0)]
    offset: u64,
    /// Maximum number of lines to read.
    #[arg(default = 2000, range = 1..)]
    limit: u64,
    /// Whether to show line numbers.
    #[arg(default = false)]
    show_line_numbers: bool,
    /// Whether to show size, permissions and modification time.
    #[arg(default = false)]
    include_metadata: bool,
    /// Whether to show the start of a binary file in hexadecimal.
    #[arg(default = false)]
    include_hex_dump: bool,
    /// Shows the section whose heading contains this text, or else the lines around the first occurrence.
    #[arg(non_empty, len = ..=1000)]
    find_section: Option<String>,
    ctx: &ToolContext,
) -> Result<ToolResult, ToolError> {
    check_absolute(&file_path, "file_path")?;
    let work_dir = WorkDir::of(ctx)?;
    let to_error = |error| read_error(&error, &file_path, "Error reading file");
    let (mut file, metadata) = work_dir.open_file(&file_path).map_err(to_error)?;
    let length = metadata.len();
    let head = read_head(&mut file).map_err(to_error)?;
    let metadata_text =
        if include_metadata { describe_metadata(&file_path, &metadata) } else { String::new() };
    if let Some(mime_type) = image_type(&head, length).filter(|_| length <= MAX_IMAGE_BYTES) {
        let image = image(file, mime_type).map_err(to_error)?;
        let text = format!("{metadata_text}MIME type: {mime_type}\nImage file: {file_path}");
        return Ok(ToolResult::text(text).with_content(image));
    }
    if is_binary(&head) {
        return Ok(ToolResult::text(describe_binary(
            &metadata_text,
            &file_path,
            length,
            &head,
            include_hex_dump,
        )));
    }
    let (mut first, mut count) = (offset.saturating_add(1), limit);
    let mut section = String::new();
    if let Some(heading_text) = find_section {
        let range = Range { first: 1, count: u64::MAX, max_bytes: 10 << 20, max_line_bytes: MAX_LINE_BYTES };
        let lines = read_excerpt(&file, range, ctx).map_err(to_error)?.lines;
        std::io::Seek::rewind(&mut file).map_err(to_error)?;
        if let Some(location) = locate_section(&lines, &heading_text) {
            (first, count) = location;
            section = format!("Found section matching '{heading_text}':\n");
        }
    }
    let range = Range { first, count, max_bytes: MAX_TEXT_BYTES, max_line_bytes: MAX_LINE_BYTES };
    let Excerpt { lines, total, .. } = read_excerpt(file, range, ctx).map_err(to_error)?;
    if lines.is_empty() && first > 1 {
        return Err(ToolError::failed(format!("Offset {offset} exceeds file length")));
    }
    let last = first - 1 + lines.len() as u64;
    if section.is_empty() && (first > 1 || last < total) {
        section = format!("Showing lines {first} to {last} of {total}\n");
    }
    let text = if show_line_numbers { number_lines(&lines, first, 5) } else { lines.join("\n") };
    Ok(ToolResult::text(format!("{metadata_text}File: {file_path}\n{section}\n{text}")))
}

/// Describes the metadata of a file.
fn describe_metadata(path: &str, metadata: &Metadata) -> String {
    let modified = metadata.modified().map(|time| rfc3339(time.into_std())).unwrap_or_default();
    let (size, permissions) = (format_size(metadata.len()), format_permissions(metadata));
    format!("File: {path}\nSize: {size}\nPermissions: {permissions}\nModified: {modified}\n\n")
}

fn describe_binary(metadata_text: &str, path: &str, length: u64, head: &[u8], include_dump: bool) -> String {
    let default_header = format!("File: {path}\nSize: {length} bytes\n");
    let header = if metadata_text.is_empty() { &default_header } else { metadata_text };
    let details = if include_dump {
        format!("Hex Dump Preview (first 1KB):\n{}\n", hex_dump(&head[..head.len().min(HEX_DUMP_BYTES)]))
    } else {
        "This is a binary file. Use include_hex_dump=true to see a hexadecimal preview.\n".to_owned()
    };
    format!("{header}Type: Binary file\nMIME type: application/octet-stream\n\n{details}")
}

/// Formats bytes in hexadecimal and as text, 16 per line.
fn hex_dump(bytes: &[u8]) -> String {
    let lines = bytes.chunks(16).enumerate().map(|(row, bytes)| {
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let (left, right) = digits.split_at(digits.len().min(8));
        let printable =
            |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' };
        let text: String = bytes.iter().map(printable).collect();
        format!("{:08x}  {:23}  {:23}  |{text}|", row * 16, left.join(" "), right.join(" "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Locates a section: its first line, counted from 1, and its number of lines.
fn locate_section(lines: &[String], heading_text: &str) -> Option<(u64, u64)> {
    let heading_text = heading_text.to_lowercase();
    let level = |line: &str| line.trim_start().bytes().take_while(|byte| *byte == b'#').count();
    let mut matching =
        lines.iter().enumerate().filter(|(_, line)| line.to_lowercase().contains(&heading_text));
    let (first, _) = matching.clone().next()?;
    if let Some((start, heading)) = matching.find(|(_, line)| level(line) > 0) {
        let is_next = |line: &&String| (1..=level(heading)).contains(&level(line));
        let body_lines = lines[start + 1..].iter().take_while(|line| !is_next(line)).count();
        return Some((start as u64 + 1, body_lines as u64 + 1));
    }
    let start = (first as u64 + 1).saturating_sub(CONTEXT_LINES.0).max(1);
    Some((start, first as u64 + 1 + CONTEXT_LINES.1 - start + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_ends_at_the_next_heading_of_its_level() {
        let text = "intro\n# One\na\n## Two\nb\n### Three\nc\n## Four\nd\n# Five\ne";
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let cases = [
            ("one", Some((2, 8))),
            ("TWO", Some((4, 4))),
            ("three", Some((6, 2))),
            ("five", Some((10, 2))),
            ("intro", Some((1, 16))),
            ("none", None),
        ];
        for (heading_text, expected) in cases {
            assert_eq!(locate_section(&lines, heading_text), expected, "{heading_text}");
        }
        assert_eq!(locate_section(&[], "x"), None);
    }
}

//! The words that the file of a place contributes to the names of what is in it.

use std::ffi::OsStr;
use std::path::Path;

use super::MARK;

/// Returns the last name of a file without its ending, by the token of a place; `None` for other tokens.
pub(in super::super) fn stem(token: &str) -> Option<String> {
    let path = Path::new(token.strip_prefix(MARK)?);
    let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let stem = stem.split('.').next().unwrap_or(stem);
    let folder = path.parent().and_then(Path::file_name).and_then(OsStr::to_str);
    Some(match folder {
        // The name says nothing.
        Some(folder) if matches!(stem, "index" | "_index" | "schema") => folder.to_owned(),
        _ => stem.to_owned(),
    })
}

/// Returns the name of a file without its ending and those of the folders around it, the nearest first, by the token of
/// a place; `None` for other tokens.
pub(in super::super) fn around(token: &str) -> Option<Vec<String>> {
    let path = Path::new(token.strip_prefix(MARK)?);
    let folders = path.ancestors().skip(1).filter_map(|folder| folder.file_name()?.to_str());
    Some(stem(token).into_iter().chain(folders.map(str::to_owned)).collect())
}

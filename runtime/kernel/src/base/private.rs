//! Creates files that only their owner may read, since they contain arguments and results of calls.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

/// Returns options that create a private file. An existing file keeps its permissions.
fn options() -> OpenOptions {
    #[allow(unused_mut, reason = "only Unix sets permissions")]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Opens a file for appending and reading, and creates it if it does not exist.
pub fn append(path: &Path) -> io::Result<std::fs::File> {
    options().create(true).append(true).read(true).open(path)
}

/// Writes a file, and creates its directory if needed.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    options().create(true).write(true).truncate(true).open(path)?.write_all(text.as_bytes())
}

/// Creates the file of a database if it does not exist. The files that SQLite creates next to it get the same
/// permissions.
pub fn database(path: &Path) {
    let has_no_file = |name: &str| name.is_empty() || name == ":memory:" || name.starts_with("file:");
    if !path.to_str().is_some_and(has_no_file) {
        // If the file cannot be created, SQLite cannot open it either, and reports the error.
        let _ = options().write(true).create_new(true).open(path);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn new_files_are_private_and_existing_permissions_stay() {
        let dir = std::env::temp_dir().join(format!("toolgen-private-{}", std::process::id()));
        let file = dir.join("below/file");
        let mode = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        write(&file, "longer").unwrap();
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        write(&file, "text").unwrap();
        assert_eq!((mode(), std::fs::read_to_string(&file).unwrap()), (0o640, "text".to_owned()));
        std::fs::remove_dir_all(dir).unwrap();
    }
}

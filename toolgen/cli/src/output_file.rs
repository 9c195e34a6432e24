//! Writes a response body to a file or to standard output.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use toolgen_runtime::engine::http::{Files, NewFile, SavedFile};

/// A sink for one response body, regardless of its file name. An existing file is not overwritten.
#[derive(Debug)]
pub(super) struct OutputFile {
    path: PathBuf,
    max_bytes: u64,
}

impl OutputFile {
    pub(super) fn new(path: &Path, max: u64) -> OutputFile {
        OutputFile { path: path.to_owned(), max_bytes: max }
    }
}

/// Whether a path is `-`, which means standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl Files for OutputFile {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        Err(format!("`{path}` is not read"))
    }

    fn create(&self, _: &str) -> Result<Box<dyn NewFile>, String> {
        let path = self.path.clone();
        let file = match is_stdout(&path) {
            true => None,
            false => Some(create_temporary(&path).map_err(|error| error.to_string())?),
        };
        Ok(Box::new(PendingFile { file, path, remaining_bytes: self.max_bytes, max_bytes: self.max_bytes }))
    }
}

/// Creates a temporary file with an unused name in the directory of another file.
fn create_temporary(path: &Path) -> io::Result<(File, PathBuf)> {
    let mut number = 0;
    loop {
        let temporary = path.with_file_name(format!(".tmp-{}-{number}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            // A killed process left this file.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < 100 => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Renames a file, unless the new name exists. If the process is killed at any time, the name refers to the complete
/// file or to nothing.
fn rename_if_free(temporary: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, path) {
        // The file is complete under both names; failing to remove the temporary name is not an error.
        Ok(()) => drop(fs::remove_file(temporary)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
        // Not every file system has hard links. Creating the name first reserves it, so that the rename overwrites no
        // other file.
        Err(_) => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            if let Err(error) = fs::rename(temporary, path) {
                // The error of the rename matters more.
                let _ = fs::remove_file(path);
                return Err(error);
            }
        }
    }
    Ok(())
}

/// A body being written. `file` is `None` for standard output, and when the file is complete; before that, the file has
/// a temporary name.
#[derive(Debug)]
struct PendingFile {
    file: Option<(File, PathBuf)>,
    path: PathBuf,
    remaining_bytes: u64,
    max_bytes: u64,
}

impl NewFile for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        let size = bytes.len() as u64;
        if size > self.remaining_bytes {
            return Err(format!("it is larger than {} bytes (`--max-file`)", self.max_bytes));
        }
        self.remaining_bytes -= size;
        let result = match &mut self.file {
            Some((file, _)) => file.write_all(bytes),
            // Let a reader get each part immediately.
            None => io::stdout().lock().write_all(bytes).and_then(|()| io::stdout().lock().flush()),
        };
        result.map_err(|error| error.to_string())
    }

    fn commit(mut self: Box<Self>) -> Result<SavedFile, String> {
        if let Some((file, temporary)) = self.file.take() {
            // Some systems cannot rename an open file.
            drop(file);
            if let Err(error) = rename_if_free(&temporary, &self.path) {
                let _ = fs::remove_file(&temporary);
                return Err(error.to_string());
            }
        }
        Ok(SavedFile { path: self.path.display().to_string(), uri: String::new() })
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some((_, temporary)) = self.file.take() {
            // A partial file must not look complete.
            let _ = fs::remove_file(temporary);
        }
    }
}

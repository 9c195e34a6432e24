//! Files of calls: files that arguments name, and files that responses are saved to.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use toolgen_core::internal::below::{REFUSED, parent_fault};
use toolgen_kernel::call::beneath::{self, Dir, File, escape_reason, io_message, is_escape};

use super::filename;

/// A store of files: it reads files that arguments name by path, and saves responses.
pub trait Files: fmt::Debug + Send + Sync {
    /// Returns the content of the file.
    ///
    /// # Errors
    ///
    /// Returns a message for the caller of the tool if the file cannot be read.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;

    /// Whether files can be read. If not, models are not told that a file can be passed by its path.
    fn can_read(&self) -> bool {
        true
    }

    /// Creates a file with this name, or a similar name. The name is plain: no path, no control characters.
    ///
    /// # Errors
    ///
    /// Returns a message for the caller of the tool if the file cannot be created.
    fn create(&self, name: &str) -> Result<Box<dyn NewFile>, String> {
        let _ = name;
        Err("files cannot be written here".to_owned())
    }

    /// Returns the maximum size of all files of one request together, in bytes. Default: 64 MiB.
    fn max_request_bytes(&self) -> u64 {
        DEFAULT_MAX_FILE_BYTES
    }
}

/// A file that is being written. If it is dropped before it is [committed](NewFile::commit), nothing remains.
pub trait NewFile: fmt::Debug + Send {
    /// Adds bytes.
    ///
    /// # Errors
    ///
    /// Returns a message if the bytes cannot be written, for example because the file would be too large.
    fn write(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// Completes the file. It appears under its name only now.
    ///
    /// # Errors
    ///
    /// Returns a message if the file cannot be completed.
    fn commit(self: Box<Self>) -> Result<SavedFile, String>;
}

/// A saved file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedFile {
    /// The path. Models refer to the file by this path, and [`Files::read`] takes it.
    pub path: String,
    /// The URI, for clients that can open it; empty if the file has none.
    pub uri: String,
}

/// A store that neither reads nor saves files. This is the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn can_read(&self) -> bool {
        false
    }

    fn read(&self, _path: &str) -> Result<Vec<u8>, String> {
        Err("files cannot be read here because no directory for them is configured; \
             give the content in `text` or `base64`"
            .to_owned())
    }
}

/// The default maximum size of a file, in bytes: 64 MiB. [`FilesRoot::max_file_bytes`] changes it.
pub const DEFAULT_MAX_FILE_BYTES: u64 = 64 << 20;

/// The default maximum total size of the files directly in a directory of saved responses, in bytes: 1 GiB.
/// [`FilesRoot::max_saved_bytes`] changes it.
pub const DEFAULT_MAX_SAVED_BYTES: u64 = 1 << 30;

/// Maximum number of numbered names to try before a random name is used.
const MAX_NAME_ATTEMPTS: u32 = 1000;

/// The files in one directory. Neither `..` nor a symbolic link leads out of it, even if another process changes the
/// directory concurrently.
#[derive(Clone, Debug)]
pub struct FilesRoot {
    root: PathBuf,
    max_bytes: u64,
    max_total_bytes: u64,
}

impl FilesRoot {
    /// Uses the files in this directory.
    pub fn new(root: impl Into<PathBuf>) -> FilesRoot {
        FilesRoot {
            root: root.into(),
            max_bytes: DEFAULT_MAX_FILE_BYTES,
            max_total_bytes: DEFAULT_MAX_SAVED_BYTES,
        }
    }

    /// Sets the maximum size of a file, and of all files of one request together, in bytes.
    #[must_use]
    pub fn max_file_bytes(mut self, max_bytes: u64) -> FilesRoot {
        self.max_bytes = max_bytes;
        self
    }

    /// Sets the maximum total size of the files in the directory, in bytes. Beyond it, no file is written.
    #[must_use]
    pub fn max_saved_bytes(mut self, max_bytes: u64) -> FilesRoot {
        self.max_total_bytes = max_bytes;
        self
    }

    fn open(&self) -> Result<Dir, String> {
        beneath::open(&self.root).map_err(|_| "the directory for files does not exist".to_owned())
    }
}

impl Files for FilesRoot {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let denied = |reason: &str| format!("{REFUSED}: `{path}`: {reason}");
        let problem = if path.is_empty() {
            Some("the path is empty; write the path of a file")
        } else {
            parent_fault(path)
        };
        if let Some(reason) = problem {
            return Err(denied(reason));
        }
        let describe = |error: io::Error| match error.kind() {
            _ if is_escape(&error) => denied(&escape_reason(&error)),
            io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput => format!("`{path}` is not a file"),
            _ => format!("the file `{path}` cannot be read"),
        };
        let dir = self.open()?;
        let (file, _) = beneath::within(&self.root, path)
            .and_then(|path| beneath::open_file(&dir, &path))
            .map_err(describe)?;
        let mut content = Vec::new();
        let length =
            file.take(self.max_bytes.saturating_add(1)).read_to_end(&mut content).map_err(describe)?;
        if length as u64 > self.max_bytes {
            return Err(format!("the file `{path}` is larger than {} bytes", self.max_bytes));
        }
        Ok(content)
    }

    fn create(&self, name: &str) -> Result<Box<dyn NewFile>, String> {
        let dir = self.open()?;
        let describe = |error: io::Error| format!("no file can be created: {}", io_message(&error));
        let used = used_bytes(&dir).map_err(describe)?;
        let remaining = self.max_total_bytes.saturating_sub(used);
        if remaining == 0 {
            return Err(format!("the directory for files contains {used} bytes, and is full"));
        }
        let (temporary, file) = beneath::beside(&dir, true).map_err(describe)?;
        Ok(Box::new(PendingFile {
            file: Some(file),
            temporary: Path::new(&temporary).to_owned(),
            name: filename::sanitized(name),
            dir,
            root: self.root.clone(),
            remaining_bytes: remaining.min(self.max_bytes),
            max_bytes: remaining.min(self.max_bytes),
            max_total_bytes: self.max_total_bytes,
        }))
    }

    fn max_request_bytes(&self) -> u64 {
        self.max_bytes
    }
}

/// Returns the total size of the files in a directory, in bytes, including those that are being written.
fn used_bytes(dir: &Dir) -> io::Result<u64> {
    let files = dir.entries()?.filter_map(|entry| entry.ok()?.metadata().ok());
    Ok(files.filter(cap_std::fs::Metadata::is_file).map(|file| file.len()).sum())
}

/// A file that is being written, under an unguessable name.
#[derive(Debug)]
struct PendingFile {
    /// `None` once the file has its final name.
    file: Option<File>,
    temporary: PathBuf,
    name: String,
    dir: Dir,
    root: PathBuf,
    remaining_bytes: u64,
    max_bytes: u64,
    max_total_bytes: u64,
}

impl PendingFile {
    /// Returns the random part of the temporary name.
    fn random_part(&self) -> String {
        self.temporary.to_string_lossy().trim_start_matches(".tmp-").to_owned()
    }

    /// Gives the file a unique name that is similar to the requested name.
    fn unique_name(&self) -> io::Result<String> {
        for number in 0..=MAX_NAME_ATTEMPTS {
            let name = match number {
                0 => self.name.clone(),
                MAX_NAME_ATTEMPTS => filename::numbered(&self.name, &self.random_part()),
                number => filename::numbered(&self.name, &number.to_string()),
            };
            match self.name_if_free(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                outcome => return outcome.map(|()| name),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }
}

impl PendingFile {
    /// Gives the file a name, unless another file has it. Even if the program is killed, the name refers to the
    /// complete file or does not exist.
    fn name_if_free(&self, name: &str) -> io::Result<()> {
        match self.dir.hard_link(&self.temporary, &self.dir, name) {
            // The file has both names, and is complete. A temporary name that cannot be removed is not an error.
            Ok(()) => drop(self.dir.remove_file(&self.temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Not every file system has hard links. Creating the name reserves it, so the rename replaces no other
            // file.
            Err(_) => {
                let mut options = cap_std::fs::OpenOptions::new();
                self.dir.open_with(name, options.write(true).create_new(true))?;
                if let Err(error) = self.dir.rename(&self.temporary, &self.dir, name) {
                    // The error of the rename is more important.
                    let _ = self.dir.remove_file(name);
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

impl NewFile for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        let size = bytes.len() as u64;
        if size > self.remaining_bytes {
            return Err(format!("it is larger than {} bytes", self.max_bytes));
        }
        self.remaining_bytes -= size;
        let written = self.file.as_mut().map_or(Ok(()), |file| file.write_all(bytes));
        written.map_err(|error| format!("it cannot be written: {}", io_message(&error)))
    }

    fn commit(mut self: Box<Self>) -> Result<SavedFile, String> {
        let describe = |error: io::Error| format!("it cannot be written: {}", io_message(&error));
        // Other files may have been written since. If all files exceed the limit together, this file is removed before
        // the next file is measured.
        let used = used_bytes(&self.dir).map_err(describe)?;
        if used > self.max_total_bytes {
            return Err(format!(
                "the directory for files would contain {used} bytes, more than {}",
                self.max_total_bytes
            ));
        }
        // Some systems cannot rename an open file.
        drop(self.file.take());
        let name = self.unique_name();
        if name.is_err() {
            let _ = self.dir.remove_file(&self.temporary);
        }
        let path = name.map_err(describe)?;
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let uri = reqwest::Url::from_file_path(root.join(&path)).map(String::from).unwrap_or_default();
        Ok(SavedFile { path, uri })
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = self.dir.remove_file(&self.temporary);
        }
    }
}

//! Reads files that arguments name.

use std::fmt;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Reads the files that the arguments of a call name by path.
pub trait Files: fmt::Debug + Send + Sync {
    /// Returns the content of the file.
    ///
    /// # Errors
    ///
    /// Says why the file cannot be read, in words for the caller of the tool.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;
}

/// Reads no files: the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _path: &str) -> Result<Vec<u8>, String> {
        Err("files cannot be read here because no directory for them is configured; \
             give the content in `base64`"
            .to_owned())
    }
}

/// The default size limit of a file, in bytes: 64 MiB. [`FilesRoot::max_bytes`] changes it.
pub const MAX_FILE: u64 = 64 << 20;

/// The files below one directory. Neither `..` nor a symbolic link leads out of it.
#[derive(Clone, Debug)]
pub struct FilesRoot {
    root: PathBuf,
    max_bytes: u64,
}

impl FilesRoot {
    /// Reads the files below this directory.
    pub fn new(root: impl Into<PathBuf>) -> FilesRoot {
        FilesRoot { root: root.into(), max_bytes: MAX_FILE }
    }

    /// Refuses files larger than this many bytes.
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: u64) -> FilesRoot {
        self.max_bytes = max_bytes;
        self
    }
}

impl Files for FilesRoot {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let refused = || format!("path traversal not allowed: `{path}` is outside the directory for files");
        let unreadable = |_| format!("the file `{path}` cannot be read");
        let relative = Path::new(path);
        let climbs = relative.components().any(|part| matches!(part, Component::ParentDir));
        if path.is_empty() || climbs {
            return Err(refused());
        }
        // Both sides are resolved, so that a link inside the directory cannot lead out of it.
        let root =
            self.root.canonicalize().map_err(|_| "the directory for files does not exist".to_owned())?;
        let resolved = root.join(relative).canonicalize().map_err(unreadable)?;
        if !resolved.starts_with(&root) {
            return Err(refused());
        }
        let file = std::fs::File::open(&resolved).map_err(unreadable)?;
        if !file.metadata().map_err(unreadable)?.is_file() {
            return Err(format!("`{path}` is not a file"));
        }
        let mut content = Vec::new();
        let limit = self.max_bytes.saturating_add(1);
        let read = file.take(limit).read_to_end(&mut content).map_err(unreadable)?;
        if read as u64 > self.max_bytes {
            return Err(format!("the file `{path}` is larger than {} bytes", self.max_bytes));
        }
        Ok(content)
    }
}

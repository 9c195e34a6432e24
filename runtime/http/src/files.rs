//! The place of the files of calls: those that arguments name, and those that answers become.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use toolgen_core::internal::below::{REFUSED, climbs};
use toolgen_kernel::call::beneath::{self, Dir, File, io_message, is_escape, way_out};

use super::filename;

/// Keeps the files of calls: it reads those that arguments name by path, and stores those that services answer with.
pub trait Files: fmt::Debug + Send + Sync {
    /// Returns the content of the file.
    ///
    /// # Errors
    ///
    /// Says why the file cannot be read, in words for the caller of the tool.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;

    /// Whether files can be read at all. If not, models do not see that a file may be given by its path.
    fn can_read(&self) -> bool {
        true
    }

    /// Begins a new file, under this name or one like it. The name is a plain one: no path, no control characters.
    ///
    /// # Errors
    ///
    /// Says why no file can be made, in words for the caller of the tool.
    fn create(&self, name: &str) -> Result<Box<dyn NewFile>, String> {
        let _ = name;
        Err("files cannot be written here".to_owned())
    }

    /// Returns the most bytes that the files of one request may have together: 64 MiB by default.
    fn max_request_bytes(&self) -> u64 {
        DEFAULT_MAX_FILE_BYTES
    }
}

/// A file that is being written. One that is dropped before it is [kept](NewFile::commit) leaves nothing behind.
pub trait NewFile: fmt::Debug + Send {
    /// Adds bytes.
    ///
    /// # Errors
    ///
    /// Says why they cannot be written, such as that the file would be too large.
    fn write(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// Completes the file, which does not appear under its name before.
    ///
    /// # Errors
    ///
    /// Says why it cannot be completed.
    fn commit(self: Box<Self>) -> Result<SavedFile, String>;
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedFile {
    /// The path by which [`Files::read`] finds it, and by which a model names it.
    pub path: String,
    /// The URI, for clients that can open it; empty if there is none.
    pub uri: String,
}

/// Reads no files and keeps none: the default.
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

/// The default size limit of a file, in bytes: 64 MiB. [`FilesRoot::max_bytes`] changes it.
pub const DEFAULT_MAX_FILE_BYTES: u64 = 64 << 20;

/// The default limit of the size of all files directly in a directory that answers are written to, in bytes: 1 GiB.
/// [`FilesRoot::max_kept`] changes it.
pub const DEFAULT_MAX_SAVED_BYTES: u64 = 1 << 30;

/// How many names like the wanted one are tried before a random one is taken.
const MAX_NAME_ATTEMPTS: u32 = 1000;

/// The files below one directory. Neither `..` nor a symbolic link leads out of it, even if somebody changes the
/// directory meanwhile.
#[derive(Clone, Debug)]
pub struct FilesRoot {
    root: PathBuf,
    max_bytes: u64,
    max_kept: u64,
}

impl FilesRoot {
    /// Takes the files below this directory.
    pub fn new(root: impl Into<PathBuf>) -> FilesRoot {
        FilesRoot { root: root.into(), max_bytes: DEFAULT_MAX_FILE_BYTES, max_kept: DEFAULT_MAX_SAVED_BYTES }
    }

    /// Refuses files larger than this many bytes, and requests whose files have more together.
    #[must_use]
    pub fn max_file_bytes(mut self, max_bytes: u64) -> FilesRoot {
        self.max_bytes = max_bytes;
        self
    }

    /// Writes no more files once those of the directory have this many bytes together.
    #[must_use]
    pub fn max_saved_bytes(mut self, max_bytes: u64) -> FilesRoot {
        self.max_kept = max_bytes;
        self
    }

    fn open(&self) -> Result<Dir, String> {
        beneath::open(&self.root).map_err(|_| "the directory for files does not exist".to_owned())
    }
}

impl Files for FilesRoot {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let refused = |reason: &str| format!("{REFUSED}: `{path}`: {reason}");
        let wrong =
            if path.is_empty() { Some("it names nothing; write the path of a file") } else { climbs(path) };
        if let Some(reason) = wrong {
            return Err(refused(reason));
        }
        let read = |error: io::Error| match error.kind() {
            _ if is_escape(&error) => refused(&way_out(&error)),
            io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput => format!("`{path}` is not a file"),
            _ => format!("the file `{path}` cannot be read"),
        };
        let dir = self.open()?;
        let (file, _) = beneath::within(&self.root, path)
            .and_then(|path| beneath::open_file(&dir, &path))
            .map_err(read)?;
        let mut content = Vec::new();
        let length = file.take(self.max_bytes.saturating_add(1)).read_to_end(&mut content).map_err(read)?;
        if length as u64 > self.max_bytes {
            return Err(format!("the file `{path}` is larger than {} bytes", self.max_bytes));
        }
        Ok(content)
    }

    fn create(&self, name: &str) -> Result<Box<dyn NewFile>, String> {
        let dir = self.open()?;
        let failed = |error: io::Error| format!("no file can be made: {}", io_message(&error));
        let held = held(&dir).map_err(failed)?;
        let remaining = self.max_kept.saturating_sub(held);
        if remaining == 0 {
            return Err(format!("the directory for files holds {held} bytes, and it is full"));
        }
        let (temporary, file) = beneath::beside(&dir, true).map_err(failed)?;
        Ok(Box::new(Writing {
            file: Some(file),
            temporary: Path::new(&temporary).to_owned(),
            name: filename::plain(name),
            dir,
            root: self.root.clone(),
            remaining_bytes: remaining.min(self.max_bytes),
            max_bytes: remaining.min(self.max_bytes),
            max_kept: self.max_kept,
        }))
    }

    fn max_request_bytes(&self) -> u64 {
        self.max_bytes
    }
}

/// Returns how many bytes the files of a directory have together, those that are being written included.
fn held(dir: &Dir) -> io::Result<u64> {
    let files = dir.entries()?.filter_map(|entry| entry.ok()?.metadata().ok());
    Ok(files.filter(cap_std::fs::Metadata::is_file).map(|file| file.len()).sum())
}

/// A file of a directory that is being written, under an unguessable name.
#[derive(Debug)]
struct Writing {
    /// `None` once the file has its name.
    file: Option<File>,
    temporary: PathBuf,
    name: String,
    dir: Dir,
    root: PathBuf,
    remaining_bytes: u64,
    max_bytes: u64,
    max_kept: u64,
}

impl Writing {
    /// The random part of the name until the file has its own.
    fn own_part(&self) -> String {
        self.temporary.to_string_lossy().trim_start_matches(".tmp-").to_owned()
    }

    /// Gives the file a name that no other has, like the wanted one.
    fn unique_name(&self) -> io::Result<String> {
        for number in 0..=MAX_NAME_ATTEMPTS {
            let name = match number {
                0 => self.name.clone(),
                MAX_NAME_ATTEMPTS => filename::numbered(&self.name, &self.own_part()),
                number => filename::numbered(&self.name, &number.to_string()),
            };
            match self.name_if_free(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                named => return named.map(|()| name),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }
}

impl Writing {
    /// Gives the file a name, unless another has it. The name stands for the whole file or for nothing, whenever the program
    /// ends.
    fn name_if_free(&self, name: &str) -> io::Result<()> {
        match self.dir.hard_link(&self.temporary, &self.dir, name) {
            // The file has both names, and is whole; a name that cannot be removed is no reason to fail.
            Ok(()) => drop(self.dir.remove_file(&self.temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Not every file system has links. Whoever makes the name owns it, so what is renamed replaces no other file.
            Err(_) => {
                let mut options = cap_std::fs::OpenOptions::new();
                self.dir.open_with(name, options.write(true).create_new(true))?;
                if let Err(error) = self.dir.rename(&self.temporary, &self.dir, name) {
                    // The reason why it has no name matters more.
                    let _ = self.dir.remove_file(name);
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

impl NewFile for Writing {
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
        let failed = |error: io::Error| format!("it cannot be written: {}", io_message(&error));
        // Others were written meanwhile. Of those that are too much together, none is kept before the next is measured.
        let held = held(&self.dir).map_err(failed)?;
        if held > self.max_kept {
            return Err(format!(
                "the directory for files would hold {held} bytes, more than {}",
                self.max_kept
            ));
        }
        // Some systems rename no file that is open.
        drop(self.file.take());
        let done = self.unique_name();
        if done.is_err() {
            let _ = self.dir.remove_file(&self.temporary);
        }
        let path = done.map_err(failed)?;
        let real = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let uri = reqwest::Url::from_file_path(real.join(&path)).map(String::from).unwrap_or_default();
        Ok(SavedFile { path, uri })
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = self.dir.remove_file(&self.temporary);
        }
    }
}

//! The file, or the standard output, that takes the body of an answer.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use toolgen_runtime::engine::http::{Files, NewFile, SavedFile};

/// Takes one answer, whatever the service calls it. A file that exists is not replaced.
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

/// Whether a path stands for the standard output.
pub(super) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl Files for OutputFile {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        Err(format!("`{path}` is not read"))
    }

    fn create(&self, _: &str) -> Result<Box<dyn NewFile>, String> {
        let path = self.path.clone();
        let file = match is_standard(&path) {
            true => None,
            false => Some(beside(&path).map_err(|error| error.to_string())?),
        };
        Ok(Box::new(Writing { file, path, remaining_bytes: self.max_bytes, max_bytes: self.max_bytes }))
    }
}

/// Makes a file in the folder of another, under a name that is not in use.
fn beside(path: &Path) -> io::Result<(File, PathBuf)> {
    let mut number = 0;
    loop {
        let temporary = path.with_file_name(format!(".tmp-{}-{number}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            // Left by a process that was killed.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < 100 => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Gives a file its name, unless another has it. Whenever the program ends, the name refers to the whole file or to
/// nothing.
fn name_if_free(temporary: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, path) {
        // The file has both names, and is whole; a name that cannot be removed is no reason to fail.
        Ok(()) => drop(fs::remove_file(temporary)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
        // Not every file system has links. Whoever makes the name owns it, so what is renamed replaces no other file.
        Err(_) => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            if let Err(error) = fs::rename(temporary, path) {
                // The reason why it has no name matters more.
                let _ = fs::remove_file(path);
                return Err(error);
            }
        }
    }
    Ok(())
}

/// What is being written. `file` is `None` for the standard output, and once the file is whole: until then it has
/// another name.
#[derive(Debug)]
struct Writing {
    file: Option<(File, PathBuf)>,
    path: PathBuf,
    remaining_bytes: u64,
    max_bytes: u64,
}

impl NewFile for Writing {
    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        let size = bytes.len() as u64;
        if size > self.remaining_bytes {
            return Err(format!("it is larger than {} bytes (`--max-file`)", self.max_bytes));
        }
        self.remaining_bytes -= size;
        let written = match &mut self.file {
            Some((file, _)) => file.write_all(bytes),
            // Whoever reads it need not wait for more.
            None => io::stdout().lock().write_all(bytes).and_then(|()| io::stdout().lock().flush()),
        };
        written.map_err(|error| error.to_string())
    }

    fn commit(mut self: Box<Self>) -> Result<SavedFile, String> {
        if let Some((file, temporary)) = self.file.take() {
            // Some systems rename no file that is open.
            drop(file);
            if let Err(error) = name_if_free(&temporary, &self.path) {
                let _ = fs::remove_file(&temporary);
                return Err(error.to_string());
            }
        }
        Ok(SavedFile { path: self.path.display().to_string(), uri: String::new() })
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        if let Some((_, temporary)) = self.file.take() {
            // Nobody takes a part for the whole.
            let _ = fs::remove_file(temporary);
        }
    }
}

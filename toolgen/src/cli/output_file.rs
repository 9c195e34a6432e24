//! The file, or the standard output, that takes the body of an answer.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use toolgen_runtime::engine::http::{Files, KeptFile, NewFile};

/// Takes one answer, whatever the service calls it. A file that exists is not replaced.
#[derive(Debug)]
pub(super) struct OutputFile {
    path: PathBuf,
    most: u64,
}

impl OutputFile {
    pub(super) fn new(path: &Path, most: u64) -> OutputFile {
        OutputFile { path: path.to_owned(), most }
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
            false => Some(
                OpenOptions::new().write(true).create_new(true).open(&path).map_err(|why| why.to_string())?,
            ),
        };
        Ok(Box::new(Writing { file, path, left: self.most, most: self.most }))
    }
}

/// What is being written. `file` is `None` for the standard output, and once the file is whole.
#[derive(Debug)]
struct Writing {
    file: Option<File>,
    path: PathBuf,
    left: u64,
    most: u64,
}

impl NewFile for Writing {
    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        let size = bytes.len() as u64;
        if size > self.left {
            return Err(format!("it is larger than {} bytes (`--max-file`)", self.most));
        }
        self.left -= size;
        let written = match &mut self.file {
            Some(file) => file.write_all(bytes),
            None => io::stdout().lock().write_all(bytes),
        };
        written.map_err(|why| why.to_string())
    }

    fn keep(mut self: Box<Self>) -> Result<KeptFile, String> {
        match self.file.take() {
            Some(file) => drop(file),
            None => io::stdout().lock().flush().map_err(|why| why.to_string())?,
        }
        Ok(KeptFile { path: self.path.display().to_string(), uri: String::new() })
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // Nobody takes a part for the whole.
            let _ = fs::remove_file(&self.path);
        }
    }
}

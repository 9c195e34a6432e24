//! Writes files to disk. Nothing else in the library does.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Texts for a folder, by path relative to it, with `/` between folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    texts: BTreeMap<String, String>,
}

/// A file that could not be written or read.
#[derive(Debug)]
pub struct WriteError {
    /// The file or folder.
    pub path: PathBuf,
    /// The system's error.
    pub error: io::Error,
}

impl std::fmt::Display for WriteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} cannot be written: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl Files {
    /// Adds a file, or replaces it.
    pub fn insert(&mut self, path: &str, text: String) {
        self.texts.insert(path.to_owned(), text);
    }

    /// Returns the files, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Writes files that are missing or differ, and returns the paths it wrote. Equal files keep their modification
    /// time, so nothing that depends on them is rebuilt.
    ///
    /// # Errors
    ///
    /// Returns the first file that cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, WriteError> {
        let mut written = Vec::new();
        for (path, text) in &self.texts {
            let path = folder.join(path);
            if write_if_changed(&path, text)? {
                written.push(path);
            }
        }
        Ok(written)
    }

    /// Returns the paths of files that are missing or differ.
    #[must_use]
    pub fn differing(&self, folder: &Path) -> Vec<PathBuf> {
        let paths = self.texts.iter().map(|(path, text)| (folder.join(path), text));
        paths.filter(|(path, text)| !holds(path, text)).map(|(path, _)| path).collect()
    }
}

/// Writes a file unless it already holds this text. Returns whether it wrote. A reader never sees half a file.
///
/// # Errors
///
/// If the file or its folder cannot be written.
pub fn write_if_changed(path: &Path, text: &str) -> Result<bool, WriteError> {
    if holds(path, text) {
        return Ok(false);
    }
    let fail = |error| WriteError { path: path.to_path_buf(), error };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(fail)?;
    }
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}.tmp", std::process::id()));
    let draft = PathBuf::from(draft);
    let result = std::fs::write(&draft, text).and_then(|()| std::fs::rename(&draft, path));
    if let Err(error) = result {
        // The draft is useless; what matters is why it could not replace the file.
        let _ = std::fs::remove_file(&draft);
        return Err(fail(error));
    }
    Ok(true)
}

fn holds(path: &Path, text: &str) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::Files;

    #[test]
    fn only_what_differs_is_written() {
        let folder = std::env::temp_dir().join(format!("toolgen-write-{}", std::process::id()));
        let mut files = Files::default();
        files.insert("src/a.rs", "a".to_owned());
        files.insert("b.toml", "b".to_owned());
        assert_eq!(files.differing(&folder).len(), 2);
        assert_eq!(files.write(&folder).unwrap().len(), 2);
        assert_eq!(files.write(&folder).unwrap().len(), 0);
        files.insert("b.toml", "c".to_owned());
        assert_eq!(files.differing(&folder), [folder.join("b.toml")]);
        assert_eq!(files.write(&folder).unwrap(), [folder.join("b.toml")]);
        assert!(files.differing(&folder).is_empty());
        let names: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "no draft is left behind: {names:?}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let file = std::env::temp_dir().join(format!("toolgen-write-file-{}", std::process::id()));
        std::fs::write(&file, "").unwrap();
        let mut files = Files::default();
        files.insert("a", String::new());
        let error = files.write(&file).unwrap_err();
        assert!(error.to_string().contains("cannot be written"), "{error}");
        std::fs::remove_file(&file).unwrap();
    }
}

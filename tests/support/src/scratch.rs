//! Temporary files and directories for tests.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A file that is removed, with its directory, at the end of the test.
pub struct Scratch(pub PathBuf, #[allow(dead_code, reason = "it is dropped")] Folder);

impl Scratch {
    /// Creates a directory, and returns the path of a file in it.
    pub fn new(name: &str) -> Scratch {
        let dir = Folder::new(&[]);
        Scratch(dir.join(name), dir)
    }
}

/// A directory that is removed at the end of the test.
pub struct Folder(PathBuf);

impl Folder {
    /// Creates a directory with these files.
    pub fn new(files: &[(&str, &str)]) -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("toolgen-scratch-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let dir = Folder(dir);
        files.iter().for_each(|(file, text)| dir.write(file, text));
        dir
    }

    /// Writes a file, and creates its directory.
    pub fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        let file = self.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.join(file)).unwrap()
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

//! A file in a folder of its own, for tests.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A file that is gone, with its folder, when the test is over.
pub struct Scratch(pub PathBuf, #[allow(dead_code, reason = "it is dropped")] Folder);

impl Scratch {
    /// Makes a folder and names a file in it.
    pub fn new(name: &str) -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("toolgen-scratch-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Scratch(folder.join(name), Folder(folder))
    }
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

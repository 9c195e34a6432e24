//! Files from an archive or from the network that refer to each other like those in a directory.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Maximum number of files in a bundle.
pub const MAX_BUNDLED: usize = 10_000;

/// Maximum total size of the files in a bundle after unpacking, in bytes: 256 MiB.
pub const MAX_BUNDLED_BYTES: usize = 256 * 1024 * 1024;

/// Files by name: paths with `/`, or URLs. A document of a bundle can only refer to files of the bundle.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bundle {
    /// Its origin, as the user named it; empty if the names already contain it.
    origin: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
    bytes: usize,
}

/// Shows the names, not the contents.
impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bundle").field("origin", &self.origin).field("names", &self.files.keys()).finish()
    }
}

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledFile {
    /// The bundle.
    pub bundle: Arc<Bundle>,
    /// The name of the file in it.
    pub name: String,
}

impl Bundle {
    /// Creates a bundle without files. `origin` is what problems show before the names of its files; it may be empty.
    #[must_use]
    pub fn new(origin: impl Into<PathBuf>) -> Bundle {
        Bundle { origin: origin.into(), ..Bundle::default() }
    }

    /// Adds a file, replacing a file of the same name.
    ///
    /// # Errors
    ///
    /// If the bundle would have more than [`MAX_BUNDLED`] files, or more than [`MAX_BUNDLED_BYTES`]. The message says
    /// which.
    pub fn add(&mut self, name: impl Into<String>, content: Vec<u8>) -> Result<(), String> {
        self.bytes += content.len();
        if self.bytes > MAX_BUNDLED_BYTES {
            return Err(format!("the files have more than {} MB together", MAX_BUNDLED_BYTES >> 20));
        }
        self.files.insert(name.into(), content);
        if self.files.len() > MAX_BUNDLED {
            Err(format!("there are more than {MAX_BUNDLED} files"))
        } else {
            Ok(())
        }
    }

    /// Returns the names of the files, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns the content of a file.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(Vec::as_slice)
    }

    /// Returns the path of a file, as problems show it.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        if self.origin.as_os_str().is_empty() { PathBuf::from(name) } else { self.origin.join(name) }
    }

    /// Returns the name of the main document: the file named `openapi` or `swagger` in the fewest directories, or
    /// else the only JSON or YAML file.
    #[must_use]
    pub fn main(&self) -> Option<&str> {
        let is_document = |name: &&str| {
            let ending = name.rsplit('.').next().unwrap_or_default();
            ["json", "yaml", "yml"].iter().any(|extension| ending.eq_ignore_ascii_case(extension))
        };
        let depth = |name: &&str| (name.matches('/').count(), name.len());
        let has_main_name = |name: &&str| {
            let stem = name.rsplit('/').next().and_then(|last| last.split('.').next()).unwrap_or_default();
            stem.eq_ignore_ascii_case("openapi") || stem.eq_ignore_ascii_case("swagger")
        };
        let mut documents = self.names().filter(is_document);
        let main = self.names().filter(is_document).filter(has_main_name).min_by_key(depth);
        main.or_else(|| documents.next().filter(|_| documents.next().is_none()))
    }
}

//! The files that a manifest refers to, limited to its own directory and below.
//!
//! The meaning of a manifest must not depend on where it is compiled, and an untrusted manifest must not read private
//! files of its user. So a path must not be absolute or leave the directory, and a link counts as its target.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::problem::Problems;
use crate::source::{Document, plain};

/// The files that belong to a manifest.
#[derive(Debug)]
pub(super) struct Files {
    /// The directory that no path may leave, if the manifest was read from disk.
    root: Option<PathBuf>,
    /// The documents that were read, with their paths after resolving links. The first is the manifest.
    read: Vec<(PathBuf, Arc<Document>)>,
    /// The paths of files that cannot be read, after resolving links.
    unreadable: Vec<PathBuf>,
}

const HELP: &str =
    "name a file in or below the directory of the manifest, relative to the file that names it";

/// The reason why a file cannot be used: the message and the help.
pub(super) type Refusal = (String, String);

impl Files {
    /// Creates the files of a manifest; the manifest is the first file.
    pub(super) fn new(manifest: &Arc<Document>) -> Files {
        let path = &manifest.source.path;
        let real = path.canonicalize().ok().filter(|_| manifest.source.from_disk);
        let root = real.as_deref().and_then(Path::parent).map(Path::to_path_buf);
        let read = vec![(real.unwrap_or_else(|| path.clone()), Arc::clone(manifest))];
        Files { root, read, unreadable: Vec::new() }
    }

    /// Returns a document by the index that [`read`](Self::read) returned.
    pub(super) fn document(&self, index: usize) -> Option<&Arc<Document>> {
        self.read.get(index).map(|(_, document)| document)
    }

    /// Returns the paths of the files that were read in addition to the manifest, without resolving links.
    pub(super) fn sources(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> =
            self.read.iter().skip(1).map(|(_, document)| document.source.path.clone()).collect();
        paths.sort();
        paths
    }

    /// Returns the path of the file that a string in a document names, without resolving links.
    ///
    /// # Errors
    ///
    /// Returns the reason why the file must not be read.
    pub(super) fn locate(&self, text: &str, from: usize) -> Result<PathBuf, Refusal> {
        match self.resolve_path(text, from)? {
            (path, true) => Ok(path),
            (_, false) => Err((format!("`{text}` does not exist"), HELP.to_owned())),
        }
    }

    /// Returns the path of the file that a string in a document names, and whether the file exists.
    ///
    /// # Errors
    ///
    /// Returns the reason why the path is not allowed.
    pub(super) fn resolve_path(&self, text: &str, from: usize) -> Result<(PathBuf, bool), Refusal> {
        let refuse = |reason: &str, help: &str| Err((format!("`{text}` {reason}"), help.to_owned()));
        if text.contains("://") {
            return refuse("is on the network, where files are never read", "save it next to the manifest");
        }
        let path = Path::new(text);
        let has_drive = text.as_bytes().get(1) == Some(&b':');
        if path.is_absolute() || text.starts_with('/') || has_drive {
            return refuse("is an absolute path", HELP);
        }
        if text.contains('\\') {
            return refuse("contains a `\\`", "write `/` between directories, which works on all systems");
        }
        let Some(root) = &self.root else {
            return refuse(
                "cannot be found: this manifest was not read from a directory",
                "read the manifest from a file",
            );
        };
        let (Some((_, document)), true) = (self.read.get(from), !text.is_empty()) else {
            return refuse("names no file", HELP);
        };
        let dir = document.source.path.parent().unwrap_or(Path::new(""));
        let path = plain(&dir.join(path));
        match path.canonicalize() {
            Ok(real) if real.starts_with(root) => Ok((path, true)),
            Ok(_) => refuse("is outside the manifest's directory", HELP),
            Err(_) if is_outside(text, dir, root) => refuse("is outside the manifest's directory", HELP),
            Err(_) => Ok((path, false)),
        }
    }

    /// Reads the file that a string in a document names, unless it was read before, and returns its index. Reports the
    /// problems of the file.
    ///
    /// # Errors
    ///
    /// Returns the reason why the file cannot be used.
    pub(super) fn read(
        &mut self,
        text: &str,
        from: usize,
        problems: &mut Problems,
    ) -> Result<usize, Refusal> {
        let path = self.locate(text, from)?;
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if let Some(index) = self.read.iter().position(|(other, _)| *other == real) {
            return Ok(index);
        }
        let mut read_problems = Problems::new();
        let is_unreadable = self.unreadable.contains(&real);
        let document = if is_unreadable { None } else { Document::load(&path, &mut read_problems) };
        problems.append(read_problems);
        let Some(document) = document else {
            self.unreadable.push(real);
            return Err((format!("`{text}` cannot be read"), "correct that file".to_owned()));
        };
        self.read.push((real, document));
        Ok(self.read.len() - 1)
    }
}

/// Whether two documents were read from the same file.
pub(super) fn is_same_file(left: &Document, right: &Document) -> bool {
    let real = |document: &Document| document.source.path.canonicalize().ok();
    left.source.from_disk && right.source.from_disk && real(left).is_some() && real(left) == real(right)
}

/// Whether a path that does not exist would be outside a directory.
fn is_outside(text: &str, dir: &Path, root: &Path) -> bool {
    let Ok(dir) = dir.join(".").canonicalize() else { return true };
    let mut depth = dir.strip_prefix(root).map_or(0, |relative| relative.components().count());
    for component in Path::new(text).components() {
        match component {
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            _ => {}
        }
    }
    false
}

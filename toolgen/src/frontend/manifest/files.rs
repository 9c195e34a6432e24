//! Files that a manifest refers to, limited to its own directory and below.
//!
//! The meaning of a manifest must not depend on where it is compiled, and a manifest of another author must not read
//! files that its user would not show. So no path may lead upwards or be absolute, and a link counts as its target.

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

const BELOW: &str =
    "name a file in or below the directory of the manifest, relative to the file that names it";

/// The reason why a file cannot be used: the message and the help.
pub(super) type Refusal = (String, String);

impl Files {
    /// Creates the files, with the manifest as the first.
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

    /// Returns the paths of the files that were read in addition to the manifest, as a user would name them.
    pub(super) fn sources(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> =
            self.read.iter().skip(1).map(|(_, document)| document.source.path.clone()).collect();
        paths.sort();
        paths
    }

    /// Returns the path of the file that a string in one of the documents names, as a user would name it.
    ///
    /// # Errors
    ///
    /// The reason why that file must not be read.
    pub(super) fn locate(&self, text: &str, named_in: usize) -> Result<PathBuf, Refusal> {
        match self.place(text, named_in)? {
            (path, true) => Ok(path),
            (_, false) => Err((format!("`{text}` does not exist"), BELOW.to_owned())),
        }
    }

    /// Returns the path of the file that a string in one of the documents names, and whether the file exists.
    ///
    /// # Errors
    ///
    /// The reason why no such file is allowed.
    pub(super) fn place(&self, text: &str, named_in: usize) -> Result<(PathBuf, bool), Refusal> {
        let refuse = |reason: &str, help: &str| Err((format!("`{text}` {reason}"), help.to_owned()));
        if text.contains("://") {
            return refuse("is on the network, where files are never read", "save it next to the manifest");
        }
        let path = Path::new(text);
        let drive = text.as_bytes().get(1) == Some(&b':');
        if path.is_absolute() || text.starts_with('/') || drive {
            return refuse("is an absolute path", BELOW);
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
        let (Some((_, document)), true) = (self.read.get(named_in), !text.is_empty()) else {
            return refuse("names no file", BELOW);
        };
        let dir = document.source.path.parent().unwrap_or(Path::new(""));
        let path = plain(&dir.join(path));
        match path.canonicalize() {
            Ok(real) if real.starts_with(root) => Ok((path, true)),
            Ok(_) => refuse("is outside the manifest's directory", BELOW),
            Err(_) if leads_up(text, dir, root) => refuse("is outside the manifest's directory", BELOW),
            Err(_) => Ok((path, false)),
        }
    }

    /// Reads the file that a string in one of the documents names, at most once, and returns its index. Its own
    /// problems are added.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be used.
    pub(super) fn read(
        &mut self,
        text: &str,
        named_in: usize,
        problems: &mut Problems,
    ) -> Result<usize, Refusal> {
        let path = self.locate(text, named_in)?;
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if let Some(known) = self.read.iter().position(|(other, _)| *other == real) {
            return Ok(known);
        }
        let mut found = Problems::new();
        let known = self.unreadable.contains(&real);
        let document = if known { None } else { Document::load(&path, &mut found) };
        problems.append(found);
        let Some(document) = document else {
            self.unreadable.push(real);
            return Err((format!("`{text}` cannot be read"), "correct that file".to_owned()));
        };
        self.read.push((real, document));
        Ok(self.read.len() - 1)
    }
}

/// Whether two documents were read from one file.
pub(super) fn is_same_file(one: &Document, other: &Document) -> bool {
    let real = |document: &Document| document.source.path.canonicalize().ok();
    one.source.from_disk && other.source.from_disk && real(one).is_some() && real(one) == real(other)
}

/// Whether a path that does not exist would be outside a directory.
fn leads_up(text: &str, dir: &Path, root: &Path) -> bool {
    let Ok(dir) = dir.join(".").canonicalize() else { return true };
    let mut depth = dir.strip_prefix(root).map_or(0, |below| below.components().count());
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

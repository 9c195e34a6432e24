//! The files of a document: the document itself, and the files that it refers to, directly or indirectly.
//!
//! A document may refer to files in and below its own directory, and in the directories that the options name. Its
//! meaning must not depend on where it is compiled, and an untrusted document must not read private files of its
//! user: a link counts as its target, and the network is never used.
//!
//! All files are read before anything is compiled. A location in another file starts with a token for the file, which
//! is not the key of any document; [`Files::source_location`] splits the location.

mod bundled;
pub(super) mod scan;
mod texts;
pub(super) mod uri;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use self::scan::{FileReferences, scan};
use super::node::Node;
use crate::options::Options;
use crate::problem::Problems;
use crate::source::{Document, MAX_BYTES, Pointer, Source, Written, percent_decode, plain};

/// Maximum number of files of a document.
const MAX_FILES: usize = 10_000;

/// Maximum total size of all files of a document, in bytes.
const MAX_TOTAL: u64 = 256 * 1024 * 1024;

/// The first character of a file's token in a location.
const MARK: char = '\u{0}';

/// The reason why a file is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The file is on the network.
    Remote,
    /// The document was not read from a directory.
    NoDirectory,
    /// The file is outside the allowed directories.
    Outside,
    /// The file does not exist.
    Missing,
    /// The path names a directory, a device or another special file.
    NotAFile,
    /// The file, or all files together, are too large, or there are too many files.
    TooLarge,
    /// The file is neither JSON nor YAML; its own problems give the reason.
    Unreadable,
}

/// A file of a document.
#[derive(Debug)]
struct File<'d> {
    source: Arc<Source>,
    root: Cow<'d, Value>,
    /// The source text of the scalars that the tree does not preserve.
    written: Written,
    /// The token that its locations start with; empty for the document itself.
    token: String,
    /// The identity that the file declares (`$self`, OpenAPI 3.2).
    identity: Option<String>,
}

/// All files of a document; the first is the document itself.
#[derive(Debug)]
pub(super) struct Files<'d> {
    all: Vec<File<'d>>,
    /// The files by their tokens.
    tokens: BTreeMap<String, usize>,
    /// The targets of file references, by the referring file and the string that names the other file.
    targets: BTreeMap<(usize, String), Result<usize, Refusal>>,
    /// The locations of schemas, by `$id`.
    ids: BTreeMap<String, Pointer>,
    /// The `$id`s of schemas, by location.
    bases: BTreeMap<Pointer, String>,
}

impl<'d> Files<'d> {
    /// Reads the files that a document refers to, and reports their own problems.
    pub(super) fn load(document: &'d Document, options: &Options, problems: &mut Problems) -> Files<'d> {
        let mut loader = Loader::new(document, options);
        let mut next = 0;
        while next < loader.files.all.len() {
            loader.read_targets(next, problems);
            next += 1;
        }
        loader.finish()
    }

    /// Returns the root of a file.
    pub(super) fn root(&self, index: usize) -> Node<'_> {
        match self.all.get(index) {
            Some(file) if index == 0 => Node::new(&file.root, Pointer::ROOT),
            Some(file) => Node::new(&file.root, Pointer::ROOT.child(&file.token)),
            None => Node::new(&Value::Null, Pointer::ROOT),
        }
    }

    /// Returns the number of files.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the index of the file that contains a location.
    pub(super) fn index_of(&self, pointer: &Pointer) -> usize {
        if self.all.len() == 1 {
            return 0;
        }
        let token = pointer.tokens().next().filter(|token| token.starts_with(MARK));
        token.and_then(|token| self.tokens.get(&*token).copied()).unwrap_or(0)
    }

    /// Splits a location into its source and the location in the source.
    pub(super) fn source_location(&self, pointer: &Pointer) -> Option<(&Arc<Source>, Pointer)> {
        let index = self.index_of(pointer);
        let file = self.all.get(index)?;
        if index == 0 {
            return Some((&file.source, pointer.clone()));
        }
        let inner = pointer.tokens().skip(1).fold(Pointer::ROOT, |inner, token| inner.child(&token));
        Some((&file.source, inner))
    }

    /// Returns the node at a location.
    pub(super) fn node_at(&self, pointer: &Pointer) -> Option<Node<'_>> {
        let (_, inner) = self.source_location(pointer)?;
        let root = self.root(self.index_of(pointer));
        Some(Node::new(inner.resolve(root.value)?, pointer.clone()))
    }

    /// Returns the index of the file that a string in another file names.
    pub(super) fn target(&self, from: usize, text: &str) -> Result<usize, Refusal> {
        if let Some(base) = self.all.get(from).and_then(|file| file.identity.as_deref()) {
            let identity = uri::resolve(base, text);
            if let Some(index) = self.all.iter().position(|file| file.identity.as_ref() == Some(&identity)) {
                return Ok(index);
            }
        }
        let target = self.targets.get(&(from, text.to_owned())).copied();
        target.unwrap_or(if uri::is_absolute(text) { Err(Refusal::Remote) } else { Err(Refusal::Missing) })
    }

    /// Whether any schema has an `$id`.
    pub(super) fn has_ids(&self) -> bool {
        !self.ids.is_empty()
    }

    /// Returns the location of the nearest enclosing schema with an `$id`, and the identifier.
    pub(super) fn base_of(&self, pointer: &Pointer) -> Option<(&Pointer, &str)> {
        let mut next = Some(pointer.clone());
        while let Some(pointer) = next {
            if let Some((location, id)) = self.bases.get_key_value(&pointer) {
                return Some((location, id));
            }
            next = pointer.parent();
        }
        None
    }

    /// Returns the location of the schema with this `$id`.
    pub(super) fn pointer_of_id(&self, id: &str) -> Option<&Pointer> {
        self.ids.get(id)
    }

    /// Returns the paths of the files other than the document itself, sorted.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let on_disk = self.all.iter().skip(1).filter(|file| file.source.inside.is_none());
        let mut paths: Vec<PathBuf> = on_disk.map(|file| file.source.path.clone()).collect();
        paths.sort();
        paths
    }

    /// Returns the sources and roots of the files other than the document itself.
    pub(super) fn other_files(&self) -> impl Iterator<Item = (&Arc<Source>, &Value)> {
        self.all.iter().skip(1).map(|file| (&file.source, &*file.root))
    }
}

/// Reads files.
struct Loader<'d> {
    files: Files<'d>,
    /// The allowed directories, after resolving links; the first is the document's directory.
    roots: Vec<PathBuf>,
    /// The base directory of the document's own references.
    folder: Option<PathBuf>,
    /// The indices of the files that were read from disk, by their paths after resolving links.
    loaded: BTreeMap<PathBuf, usize>,
    /// The number of bytes that may still be read.
    remaining_bytes: u64,
    /// Whether any file is not a document: its content replaces the references to it.
    has_texts: bool,
}

impl<'d> Loader<'d> {
    fn new(document: &'d Document, options: &Options) -> Loader<'d> {
        let path = &document.source.path;
        let real = path.canonicalize().ok().filter(|_| document.source.from_disk);
        let mut roots: Vec<PathBuf> =
            real.iter().filter_map(|path| path.parent()).map(Path::to_path_buf).collect();
        roots.extend(options.roots.iter().filter_map(|root| root.canonicalize().ok()));
        let folder = match &real {
            Some(_) => path.parent().map(Path::to_path_buf),
            None => options.roots.first().cloned(),
        };
        let file = File {
            source: Arc::clone(&document.source),
            root: texts::with_source_texts(Cow::Borrowed(&document.root), &document.written),
            written: document.written.clone(),
            token: String::new(),
            identity: declared_identity(&document.root),
        };
        let files = Files {
            all: vec![file],
            tokens: BTreeMap::new(),
            targets: BTreeMap::new(),
            ids: BTreeMap::new(),
            bases: BTreeMap::new(),
        };
        let name_in_bundle = document.source.inside.as_ref().map(|file| PathBuf::from(&file.name));
        let loaded = real.or(name_in_bundle).into_iter().map(|real| (real, 0)).collect();
        Loader { files, roots, folder, loaded, remaining_bytes: MAX_TOTAL, has_texts: false }
    }

    /// Reads the files that a file refers to.
    fn read_targets(&mut self, index: usize, problems: &mut Problems) {
        let node = self.files.root(index);
        let FileReferences { references, ids } = scan(node.value, &node.pointer);
        let identity = self.files.all.get(index).and_then(|file| file.identity.clone());
        for (pointer, id) in ids {
            let base = self.files.base_of(&pointer).map(|(_, id)| id.to_owned()).or_else(|| identity.clone());
            let id = uri::resolve(base.as_deref().unwrap_or_default(), uri::split(&id).0);
            self.files.bases.insert(pointer.clone(), id.clone());
            self.files.ids.entry(id).or_insert(pointer);
        }
        for text in references {
            let key = (index, text);
            if !self.files.targets.contains_key(&key) {
                let target = self.read(index, &key.1, problems);
                self.files.targets.insert(key, target);
            }
        }
    }

    /// Reads the file that a string names, unless it was read before.
    fn read(&mut self, from: usize, text: &str, problems: &mut Problems) -> Result<usize, Refusal> {
        if let Some(bundled_file) = self.bundled_file(from) {
            return self.read_bundled(&bundled_file, text, problems);
        }
        let path = self.path_of(from, text)?;
        let real = path.canonicalize().map_err(|_| self.refusal_of_missing(&path))?;
        if let Some(index) = self.loaded.get(&real) {
            return Ok(*index);
        }
        if !self.roots.iter().any(|root| real.starts_with(root)) {
            return Err(Refusal::Outside);
        }
        // Checked before the file is opened: reading a pipe would never end.
        let data = real.metadata().map_err(|_| Refusal::Missing)?;
        if !data.is_file() {
            return Err(Refusal::NotAFile);
        }
        if data.len() > MAX_BYTES as u64
            || data.len() > self.remaining_bytes
            || self.files.all.len() >= MAX_FILES
        {
            return Err(Refusal::TooLarge);
        }
        self.remaining_bytes -= data.len();
        let mut read_problems = Problems::new();
        let document = if is_document(&real) {
            Document::load(&path, &mut read_problems)
        } else {
            self.has_texts = true;
            Document::load_text(&path, &mut read_problems)
        };
        problems.append(read_problems);
        Ok(self.add(document.ok_or(Refusal::Unreadable)?, real))
    }

    /// Adds a file, by its path after resolving links or its name in a bundle.
    fn add(&mut self, document: Arc<Document>, real: PathBuf) -> usize {
        let (index, token) = (self.files.all.len(), self.token_of(&real));
        self.loaded.insert(real, index);
        self.files.tokens.insert(token.clone(), index);
        let source = Arc::clone(&document.source);
        let (root, written) = match Arc::try_unwrap(document) {
            Ok(document) => (document.root, document.written),
            Err(document) => (document.root.clone(), document.written.clone()),
        };
        let identity = declared_identity(&root);
        let root = texts::with_source_texts(Cow::Owned(root), &written);
        self.files.all.push(File { source, identity, root, written, token });
        index
    }

    /// Returns the path that a string names, without resolving links, for reports.
    fn path_of(&self, from: usize, text: &str) -> Result<PathBuf, Refusal> {
        let mut text = text;
        // The identity that a document declares replaces its location.
        let root = self.files.all.first().and_then(|file| file.identity.as_deref());
        let identity_dir = root.and_then(|identity| identity.rfind('/').map(|end| &identity[..=end]));
        let mut from = from;
        if let Some(relative) = identity_dir.and_then(|dir| text.strip_prefix(dir)) {
            (text, from) = (relative, 0);
        }
        if uri::is_absolute(text) || text.starts_with("//") {
            return Err(Refusal::Remote);
        }
        let decoded = percent_decode(text).unwrap_or_else(|| text.into());
        if Path::new(&*decoded).is_absolute() {
            return Err(Refusal::Outside);
        }
        let dir = match from {
            0 => self.folder.as_deref(),
            _ => self.files.all.get(from).and_then(|file| file.source.path.parent()),
        };
        let dir = dir.ok_or(Refusal::NoDirectory)?;
        let path = plain(&dir.join(&*decoded));
        // A name may contain a literal `%`.
        let literal = plain(&dir.join(text));
        Ok(if !path.exists() && literal.exists() { literal } else { path })
    }

    /// Returns the refusal of a missing file. Outside the roots, the refusal does not reveal that the file is missing.
    fn refusal_of_missing(&self, path: &Path) -> Refusal {
        let mut next = path.parent();
        while let Some(dir) = next {
            let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
            if let Ok(real) = dir.canonicalize() {
                let is_inside = self.roots.iter().any(|root| real.starts_with(root));
                return if is_inside { Refusal::Missing } else { Refusal::Outside };
            }
            next = dir.parent();
        }
        Refusal::Missing
    }

    /// Returns the token of a file: its path below a root, independent of the location of the root.
    fn token_of(&self, real: &Path) -> String {
        let relative = self.roots.iter().enumerate().find_map(|(index, root)| {
            let relative = real.strip_prefix(root).ok()?.to_string_lossy().replace('\\', "/");
            Some(if index == 0 { relative } else { format!("{index}/{relative}") })
        });
        // A path that is not below a root is the name of a file in a bundle.
        let relative = relative.unwrap_or_else(|| real.to_string_lossy().into_owned());
        let mut token = format!("{MARK}{relative}");
        while self.files.tokens.contains_key(&token) {
            token.push('+');
        }
        token
    }

    /// Replaces references to files that are not documents by their content.
    fn finish(mut self) -> Files<'d> {
        if self.has_texts {
            for index in 0..self.files.all.len() {
                let Some(file) = self.files.all.get_mut(index) else { continue };
                let mut root = std::mem::take(&mut file.root).into_owned();
                scan::replace(&mut root, &|text| {
                    let (name, fragment) = uri::split(text);
                    let target = self.files.targets.get(&(index, name.to_owned()))?.ok()?;
                    let text = self.files.all.get(target)?.root.as_str()?;
                    fragment.is_empty().then(|| text.to_owned())
                });
                if let Some(file) = self.files.all.get_mut(index) {
                    file.root = Cow::Owned(root);
                }
            }
        }
        self.files
    }
}

/// Returns the identity that a document declares, without its fragment.
fn declared_identity(root: &Value) -> Option<String> {
    let identity = root.get("$self")?.as_str()?;
    Some(uri::split(identity).0.to_owned()).filter(|identity| !identity.is_empty())
}

/// Whether the name of a file is that of a JSON or YAML file. Other files are text, such as Markdown.
fn is_document(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    extension.is_none_or(|extension| {
        matches!(extension.as_str(), "json" | "yaml" | "yml" | "oas" | "swagger" | "openapi")
    })
}

/// Returns the base name of a file without its extension, by the token of a location; `None` for other tokens.
pub(super) fn stem(token: &str) -> Option<String> {
    let path = Path::new(token.strip_prefix(MARK)?);
    let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let stem = stem.split('.').next().unwrap_or(stem);
    let dir = path.parent().and_then(Path::file_name).and_then(OsStr::to_str);
    Some(match dir {
        // The file name is generic.
        Some(dir) if matches!(stem, "index" | "_index" | "schema") => dir.to_owned(),
        _ => stem.to_owned(),
    })
}

/// Returns the base name of a file without its extension, and the names of its directories, the nearest first, by the
/// token of a location; `None` for other tokens.
pub(super) fn path_segments(token: &str) -> Option<Vec<String>> {
    let path = Path::new(token.strip_prefix(MARK)?);
    let dirs = path.ancestors().skip(1).filter_map(|dir| dir.file_name()?.to_str());
    Some(stem(token).into_iter().chain(dirs.map(str::to_owned)).collect())
}

//! Reads documents from bytes.
//!
//! A document is read once into a plain [`serde_json::Value`]; the positions of its parts in the text are not kept. A
//! place is a [`Pointer`], and only when a problem is shown is the text read a second time to find the line
//! ([`Source::locate_all`]). A document without problems pays nothing for positions.
//!
//! Nothing here knows what a document means, nothing panics, and time and memory are bounded: a document has at most
//! [`MAX_BYTES`] and [`MAX_DEPTH`] levels, and aliases of YAML expand to a bounded number of values.
//!
//! Common mistakes in published documents that readers usually refuse are read with a problem: duplicate keys (the
//! last value is kept), numbers beyond 64 bits, bytes that are not UTF-8, text after the end of the document.

#[cfg(feature = "archives")]
mod archive;
mod bundle;
mod json;
mod locate;
mod number;
mod path;
mod pointer;
mod position;
mod written;
mod yaml;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

pub use bundle::{Bundle, Inside, MAX_BUNDLED, MAX_BUNDLED_BYTES};
pub(crate) use path::plain;
pub use pointer::Pointer;
pub(crate) use pointer::percent_decode;
pub(crate) use pointer::unescape;
pub use position::Position;
pub(crate) use written::Written;

use crate::problem::{Code, Problems, codes};

/// The maximum size of a document, in bytes.
pub const MAX_BYTES: usize = 128 * 1024 * 1024;

/// The maximum nesting of a document.
pub const MAX_DEPTH: usize = 512;

/// The text of a document and its origin.
#[derive(Default, PartialEq, Eq)]
pub struct Source {
    /// The file, as the user named it.
    pub path: PathBuf,
    /// The text, without a byte order mark.
    pub text: String,
    /// How the text is written.
    pub format: Format,
    /// Whether the text was read from the file of this path, so that files next to it can be found. Otherwise the path
    /// is only a name.
    pub from_disk: bool,
    /// The bundle that it is part of, to whose other files it may refer.
    pub inside: Option<Inside>,
}

/// Omits the text, which may be many megabytes.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The format of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// JSON (RFC 8259).
    #[default]
    Json,
    /// YAML 1.2, core schema.
    Yaml,
}

/// A document that was read.
#[derive(PartialEq)]
pub struct Document {
    /// The text.
    pub source: Arc<Source>,
    /// The text as a tree.
    pub root: Value,
    /// The texts of the scalars that the tree does not keep.
    pub(crate) written: Written,
}

/// Omits the content.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").field("source", &self.source).finish_non_exhaustive()
    }
}

/// The maximum number of findings a reader keeps: a document may consist of mistakes.
const MAX_FINDINGS: usize = 10_000;

/// A finding of a reader, before lines are known.
#[derive(Debug)]
struct Finding {
    code: Code,
    pointer: Pointer,
    at: At,
    message: String,
    help: &'static str,
}

/// The place of a reader.
#[derive(Clone, Copy, Debug)]
enum At {
    Byte(usize),
    Position(Position),
}

/// The result of reading a text: the tree, if there is one, with what it does not keep of its scalars, and all findings.
type Reading = (Option<(Value, Written)>, Vec<Finding>);

impl Document {
    /// Reads a document from disk. Its content, not its name, decides between JSON and YAML.
    ///
    /// With the feature `archives`, `api.zip` is the main document of that archive (see [`Bundle::main`]), and
    /// `api.zip/parts/pets.yaml` another one; tar archives are read, too.
    ///
    /// Returns `None` if there is no tree to work with; the problems then say why. From here on `problems` belong to
    /// this document.
    pub fn load(path: &Path, problems: &mut Problems) -> Option<Arc<Document>> {
        #[cfg(feature = "archives")]
        if let Some(document) = archive::load(path, problems) {
            return document;
        }
        match read_bounded(path) {
            Ok(bytes) => {
                let source = Source { path: path.to_path_buf(), from_disk: true, ..Source::default() };
                Document::read(source, bytes, problems)
            }
            Err(error) => {
                problems.enter(Arc::new(Source { path: path.to_path_buf(), ..Source::default() }));
                let help = "check the name, and that it is a file you may read";
                problems.report(codes::UNREADABLE_FILE, &Pointer::ROOT, error, help);
                None
            }
        }
    }

    /// Reads a file that is not a document, such as Markdown: its tree is its text.
    pub(crate) fn load_text(path: &Path, problems: &mut Problems) -> Option<Arc<Document>> {
        match read_bounded(path) {
            Ok(bytes) => {
                let source = Source { path: path.to_path_buf(), from_disk: true, ..Source::default() };
                Some(Document::of_text(source, bytes, problems))
            }
            Err(error) => {
                problems.enter(Arc::new(Source { path: path.to_path_buf(), ..Source::default() }));
                problems.report(codes::UNREADABLE_FILE, &Pointer::ROOT, error, "check that you may read it");
                None
            }
        }
    }

    /// Returns the text of the scalar at a place, as the document writes it: `1.10` for the number 1.1.
    pub(crate) fn text_at(&self, place: &Pointer) -> Option<std::borrow::Cow<'_, str>> {
        self.written.text_of(place.resolve(&self.root)?, place)
    }

    /// Takes bytes as a text that is not a document. The rest of the source is given.
    pub(crate) fn of_text(mut source: Source, bytes: Vec<u8>, problems: &mut Problems) -> Arc<Document> {
        let mut findings = Vec::new();
        source.text = decode(bytes, &mut findings);
        let root = Value::String(source.text.clone());
        let source = Arc::new(source);
        problems.enter(Arc::clone(&source));
        position::report(&source, findings, problems);
        Arc::new(Document { source, root, written: Written::default() })
    }

    /// Reads a document from text. `path` is only a name here.
    ///
    /// Returns the same as [`Document::load`].
    pub fn parse(path: &Path, text: &str, problems: &mut Problems) -> Option<Arc<Document>> {
        Document::from_bytes(path, text.as_bytes().to_vec(), problems)
    }

    /// Reads a document from bytes. `path` is only a name here.
    ///
    /// Returns the same as [`Document::load`].
    pub fn from_bytes(path: &Path, bytes: Vec<u8>, problems: &mut Problems) -> Option<Arc<Document>> {
        Document::read(Source { path: path.to_path_buf(), ..Source::default() }, bytes, problems)
    }

    /// Reads a document from bytes; everything about the source but the text is known.
    fn read(mut source: Source, bytes: Vec<u8>, problems: &mut Problems) -> Option<Arc<Document>> {
        let mut findings = Vec::new();
        source.text = decode(bytes, &mut findings);
        source.format = if looks_like_json(&source.text) { Format::Json } else { Format::Yaml };
        let root = if findings.iter().any(|finding| finding.code == codes::NOT_TEXT) {
            None
        } else {
            let (root, more) = read(&mut source);
            findings.extend(more);
            root
        };
        let source = Arc::new(source);
        problems.enter(Arc::clone(&source));
        position::report(&source, findings, problems);
        let (root, written) = root?;
        Some(Arc::new(Document { source, root, written }))
    }
}

/// Reads a file, up to the maximum size of a document.
fn read_bounded(path: &Path) -> Result<Vec<u8>, String> {
    use std::io::Read;

    let explain = |error: &std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => String::from("there is no such file"),
        _ => format!("the file cannot be read: {error}"),
    };
    let file = std::fs::File::open(path).map_err(|error| explain(&error))?;
    if file.metadata().is_ok_and(|data| data.is_dir()) {
        return Err(String::from("this is a directory, not a document"));
    }
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    file.take(limit).read_to_end(&mut bytes).map_err(|error| explain(&error))?;
    Ok(bytes)
}

/// Decodes bytes to text. Invalid UTF-8 is replaced, so that one bad letter in a description does not lose the
/// document.
fn decode(mut bytes: Vec<u8>, findings: &mut Vec<Finding>) -> String {
    let mut refuse = |message: &str, help| {
        findings.push(Finding::new(codes::NOT_TEXT, At::Byte(0), String::from(message), help));
        String::new()
    };
    if bytes.len() > MAX_BYTES {
        let message = format!("the document is larger than {} MB", MAX_BYTES / 1024 / 1024);
        return refuse(
            &message,
            "split the document, or take a version of it in which `$ref` stands for what is repeated",
        );
    }
    let save = "save the document as UTF-8";
    match bytes.as_slice() {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => return refuse("the document is UTF-16 or UTF-32", save),
        [0, _, 0, _, ..] | [_, 0, _, 0, ..] => return refuse("the document is UTF-16 without a mark", save),
        [0xef, 0xbb, 0xbf, ..] => {
            bytes.drain(..3);
        }
        _ => {}
    }
    let head = bytes.get(..8192).unwrap_or(&bytes);
    if head.contains(&0) {
        return refuse("this is a binary file, not a document", "name a JSON or YAML file");
    }
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let byte = error.as_bytes().get(offset).copied().unwrap_or_default();
            let message = format!("the byte 0x{byte:02x} is not UTF-8; such bytes are read as U+FFFD");
            findings.push(Finding::new(codes::NOT_UTF8, At::Byte(offset), message, save));
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        }
    }
}

/// Whether a text is meant to be JSON, whatever its file is called.
fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Reads a text. A file named `.yaml` that begins like JSON may still be YAML.
fn read(source: &mut Source) -> Reading {
    if source.text.trim().is_empty() {
        let message = String::from("the document is empty");
        let help = "name a document that says something";
        return (None, vec![Finding::new(codes::EMPTY_DOCUMENT, At::Byte(0), message, help)]);
    }
    if source.format == Format::Yaml {
        return yaml::read(&source.text);
    }
    let as_json = json::read(&source.text);
    let is_yaml = source.path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    if as_json.0.is_none() && is_yaml {
        let as_yaml = yaml::read(&source.text);
        if as_yaml.0.is_some() {
            source.format = Format::Yaml;
            return as_yaml;
        }
    }
    as_json
}

/// Quotes a text of a document for a message, shortened if it is long.
fn quote(text: &str) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

impl Finding {
    fn new(code: Code, at: At, message: String, help: &'static str) -> Self {
        Finding { code, pointer: Pointer::ROOT, at, message, help }
    }
}

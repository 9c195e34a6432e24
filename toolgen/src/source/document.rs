//! Parses documents, and reports errors in their texts.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::bundle::{Bundle, BundledFile};
use super::{
    Finding, Format, MAX_BYTES, ParseResult, Pointer, Source, TextPosition, Written, json, positions_at,
    read_bounded, yaml,
};
use crate::problem::{Problems, codes};

/// A parsed document.
#[derive(PartialEq)]
pub struct Document {
    /// The text.
    pub source: Arc<Source>,
    /// The text as a tree.
    pub root: Value,
    /// The source text of the scalars that the tree does not preserve.
    pub(crate) written: Written,
}

/// Omits the content.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").field("source", &self.source).finish_non_exhaustive()
    }
}

impl Document {
    /// Reads a document from disk. Its content, not its name, decides between JSON and YAML.
    ///
    /// With the feature `archives`, `api.zip` is the main document of that archive (see [`Bundle::main`]), and
    /// `api.zip/parts/pets.yaml` another one; tar archives are also read.
    ///
    /// Returns `None` if there is no tree to work with; the problems then give the reason. Sets the source of
    /// `problems` to this document.
    pub fn load(path: &Path, problems: &mut Problems) -> Option<Arc<Document>> {
        if let Some(result) = super::archive::open(path) {
            return match result {
                Ok((bundle, name)) => Document::from_bundle(&bundle, &name, problems),
                Err((message, help)) => report_unreadable(path, message, help, problems),
            };
        }
        match read_bounded(path) {
            Ok(bytes) => Document::read(on_disk(path), bytes, problems),
            Err(error) => {
                report_unreadable(path, error, "check the name and the permissions of the file", problems)
            }
        }
    }

    /// Reads a file that is not a document, such as Markdown: its tree is its text.
    pub(crate) fn load_text(path: &Path, problems: &mut Problems) -> Option<Arc<Document>> {
        match read_bounded(path) {
            Ok(bytes) => Some(Document::of_text(on_disk(path), bytes, problems)),
            Err(error) => report_unreadable(path, error, "check the permissions of the file", problems),
        }
    }

    /// Returns the scalar at a location as the document writes it: `1.10` for the number 1.1.
    pub(crate) fn text_at(&self, pointer: &Pointer) -> Option<Cow<'_, str>> {
        self.written.text_of(pointer.resolve(&self.root)?, pointer)
    }

    /// Reads bytes as plain text instead of a document. `source` contains everything but the text.
    pub(crate) fn of_text(mut source: Source, bytes: Vec<u8>, problems: &mut Problems) -> Arc<Document> {
        let mut findings = Vec::new();
        source.text = decode(bytes, &mut findings);
        let root = Value::String(source.text.clone());
        let source = Arc::new(source);
        problems.set_source(Arc::clone(&source));
        report(&source, findings, problems);
        Arc::new(Document { source, root, written: Written::default() })
    }

    /// Parses a document from a string. `path` is only a name here.
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

    /// Reads a document that is a file of a bundle. Its references are resolved to other files of the bundle.
    ///
    /// Returns the same as [`Document::load`]; `None` without a problem if there is no file of this name.
    pub fn from_bundle(bundle: &Arc<Bundle>, name: &str, problems: &mut Problems) -> Option<Arc<Document>> {
        let bytes = bundle.get(name)?.to_vec();
        let path = bundle.path_of(name);
        let inside = Some(BundledFile { bundle: Arc::clone(bundle), name: name.to_owned() });
        Document::read(Source { path, inside, ..Source::default() }, bytes, problems)
    }

    /// Parses a document from bytes. `source` contains everything but the text.
    fn read(mut source: Source, bytes: Vec<u8>, problems: &mut Problems) -> Option<Arc<Document>> {
        let mut findings = Vec::new();
        source.text = decode(bytes, &mut findings);
        source.format = if looks_like_json(&source.text) { Format::Json } else { Format::Yaml };
        let root = if findings.iter().any(|finding| finding.code == codes::NOT_TEXT) {
            None
        } else {
            let (root, parse_findings) = read(&mut source);
            findings.extend(parse_findings);
            root
        };
        let source = Arc::new(source);
        problems.set_source(Arc::clone(&source));
        report(&source, findings, problems);
        let (root, written) = root?;
        Some(Arc::new(Document { source, root, written }))
    }
}

/// Creates the source for a file on disk.
fn on_disk(path: &Path) -> Source {
    Source { path: path.to_path_buf(), from_disk: true, ..Source::default() }
}

/// Reports that there is no document.
fn report_unreadable(
    path: &Path,
    message: String,
    help: &str,
    problems: &mut Problems,
) -> Option<Arc<Document>> {
    problems.set_source(Arc::new(Source { path: path.to_path_buf(), ..Source::default() }));
    problems.report(codes::UNREADABLE_FILE, &Pointer::ROOT, message, help);
    None
}

/// Decodes bytes to text. Invalid UTF-8 is replaced, so that one invalid byte in a description does not lose the
/// document.
fn decode(mut bytes: Vec<u8>, findings: &mut Vec<Finding>) -> String {
    let mut reject = |message: &str, help| {
        findings.push(Finding::new(codes::NOT_TEXT, TextPosition::Byte(0), String::from(message), help));
        String::new()
    };
    if bytes.len() > MAX_BYTES {
        let message = format!("the document is larger than {} MB", MAX_BYTES / 1024 / 1024);
        return reject(
            &message,
            "split the document, or use a version that replaces repeated parts by `$ref`",
        );
    }
    let help = "save the document as UTF-8";
    match bytes.as_slice() {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => return reject("the document is UTF-16 or UTF-32", help),
        [0, _, 0, _, ..] | [_, 0, _, 0, ..] => return reject("the document is UTF-16 without a mark", help),
        [0xef, 0xbb, 0xbf, ..] => {
            bytes.drain(..3);
        }
        _ => {}
    }
    let head = bytes.get(..8192).unwrap_or(&bytes);
    if head.contains(&0) {
        return reject("this is a binary file, not a document", "name a JSON or YAML file");
    }
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let byte = error.as_bytes().get(offset).copied().unwrap_or_default();
            let message = format!("the byte 0x{byte:02x} is not UTF-8; such bytes are read as U+FFFD");
            findings.push(Finding::new(codes::NOT_UTF8, TextPosition::Byte(offset), message, help));
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        }
    }
}

/// Whether a text looks like JSON, regardless of the file name.
fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Parses a text. A file named `.yaml` that begins like JSON may still be YAML.
fn read(source: &mut Source) -> ParseResult {
    if source.text.trim().is_empty() {
        let message = String::from("the document is empty");
        let help = "name a document with content";
        return (None, vec![Finding::new(codes::EMPTY_DOCUMENT, TextPosition::Byte(0), message, help)]);
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

/// Turns the findings of a parser into problems.
fn report(source: &Source, mut findings: Vec<Finding>, problems: &mut Problems) {
    let offset_of = |finding: &Finding| match finding.position {
        TextPosition::Byte(offset) => offset,
        TextPosition::Position(_) => 0,
    };
    findings.sort_by_key(offset_of);
    let offsets: Vec<usize> = findings.iter().map(offset_of).collect();
    for (finding, position) in findings.into_iter().zip(positions_at(&source.text, &offsets)) {
        let position = match finding.position {
            TextPosition::Byte(_) => position,
            TextPosition::Position(position) => position,
        };
        problems.report_at(finding.code, finding.pointer, position, finding.message, finding.help);
    }
}

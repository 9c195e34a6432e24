//! The overlays of a document: those that the options name, and an overlay that is itself compiled, which names its
//! document.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::options::Options;
use crate::problem::Problems;
use crate::problem::codes::overlay as codes;
use crate::source::{Document, Pointer, percent_decode, plain};

/// A document after its overlays.
pub(crate) struct Overlaid {
    /// The document.
    pub(crate) document: Arc<Document>,
    /// The files that were read: overlays, and a document that an overlay extends.
    pub(crate) sources: Vec<PathBuf>,
}

/// Returns the document to compile, after its overlays. `None` if an overlay cannot be applied: a part that it
/// removes must not become a tool.
pub(crate) fn overlaid(
    document: &Arc<Document>,
    options: &Options,
    problems: &mut Problems,
) -> Option<Overlaid> {
    let mut overlay_problems = Problems::new();
    let result =
        apply_all(document, options, &mut overlay_problems).filter(|_| !overlay_problems.has_errors());
    problems.append(overlay_problems);
    if let Some(Overlaid { document, .. }) = &result {
        problems.set_source(Arc::clone(&document.source));
    }
    result
}

fn apply_all(document: &Arc<Document>, options: &Options, problems: &mut Problems) -> Option<Overlaid> {
    let mut result = Overlaid { document: Arc::clone(document), sources: Vec::new() };
    if is_overlay(document) {
        let path = extended_path(document, options).map_err(|(message, help)| {
            problems.set_source(Arc::clone(&document.source));
            problems.report(codes::OVERLAY, &Pointer::ROOT, message, help);
        });
        result.document = Document::load(&path.ok()?, problems)?;
        result.apply(document, problems);
    }
    for path in &options.overlays {
        let overlay = Document::load(path, problems)?;
        result.sources.push(path.clone());
        if applies_to(&overlay, &result.document) {
            result.document = Arc::new(result.document.overlaid(&overlay, problems));
        } else {
            let other = overlay.root.get("extends").and_then(Value::as_str).unwrap_or_default();
            let message = format!(
                "the overlay extends `{other}`; it is not applied to `{}`",
                result.document.source.path.display()
            );
            let help = "correct `extends`, or pass that document";
            problems.report(codes::OTHER_DOCUMENT, &Pointer::ROOT.child("extends"), message, help);
        }
    }
    Some(result)
}

impl Overlaid {
    /// Applies an overlay to the document that it extends.
    fn apply(&mut self, overlay: &Document, problems: &mut Problems) {
        self.sources.push(self.document.source.path.clone());
        self.document = Arc::new(self.document.overlaid(overlay, problems));
    }
}

/// Whether a document is only an overlay.
fn is_overlay(document: &Document) -> bool {
    let has = |key| document.root.get(key).is_some();
    has("overlay") && !["openapi", "swagger", "toolgen"].into_iter().any(has)
}

/// Returns the file that an overlay extends. As for references of a document, the file must be in or below the
/// directory of the overlay, or a directory that the options name.
fn extended_path(overlay: &Document, options: &Options) -> Result<PathBuf, (String, &'static str)> {
    const PASS_DOCUMENT: &str =
        "pass the document, and name the overlay with `--overlay` or `Options::overlay`";
    let Some(text) = overlay.root.get("extends").and_then(Value::as_str) else {
        let message = "this is an overlay, which changes a document, and it does not name one (`extends`)";
        return Err((message.to_owned(), PASS_DOCUMENT));
    };
    let path = match local_path(text, overlay) {
        Some(path) if overlay.source.from_disk => path,
        _ => {
            return Err((
                format!("the overlay extends `{text}`, which is not a file next to it"),
                PASS_DOCUMENT,
            ));
        }
    };
    let overlay_dir = overlay.source.path.canonicalize().ok();
    let overlay_dir = overlay_dir.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    let roots = options.roots.iter().filter_map(|root| root.canonicalize().ok()).chain(overlay_dir);
    let real_path = path.canonicalize();
    let real_path = real_path
        .map_err(|_| (format!("the overlay extends `{text}`, which does not exist"), PASS_DOCUMENT))?;
    if !roots.into_iter().any(|root| real_path.starts_with(root)) {
        let message = format!("the overlay extends `{text}`, which is outside its directory");
        return Err((message, "name the directory of the document (`--root`, `Options::root`)"));
    }
    Ok(path)
}

/// Whether an overlay applies to a document: it names no document, this document, or a URL, which cannot be compared.
fn applies_to(overlay: &Document, document: &Document) -> bool {
    let Some(text) = overlay.root.get("extends").and_then(Value::as_str) else { return true };
    if document.root.get("$self").and_then(Value::as_str) == Some(text) {
        return true;
    }
    match local_path(text, overlay) {
        Some(path) if document.source.from_disk => path
            .canonicalize()
            .ok()
            .is_some_and(|path| document.source.path.canonicalize().ok() == Some(path)),
        _ => true,
    }
}

/// Returns the path in a reference of an overlay, if the reference is to a file.
fn local_path(text: &str, overlay: &Document) -> Option<PathBuf> {
    let text = text.split('#').next().unwrap_or_default();
    let has_scheme = text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    });
    if has_scheme || text.is_empty() || text.starts_with("//") {
        return None;
    }
    let name = percent_decode(text).unwrap_or_else(|| text.into());
    let dir = overlay.source.path.parent().unwrap_or(Path::new(""));
    Some(plain(&dir.join(&*name)))
}

//! The files of a document in a bundle: an archive, or files fetched with the document. No other file is read.

use std::path::{Path, PathBuf};

use super::{Loader, MAX_FILES, Refusal, is_document, uri};
use crate::problem::Problems;
use crate::source::{BundledFile, Document, MAX_BYTES, Source, percent_decode};

impl Loader<'_> {
    /// Returns the bundle that contains a file and the name of the file in it, if any.
    pub(super) fn bundled_file(&self, index: usize) -> Option<BundledFile> {
        self.files.all.get(index)?.source.inside.clone()
    }

    /// Reads the file that a string in a bundled file names, unless it was read before.
    pub(super) fn read_bundled(
        &mut self,
        from: &BundledFile,
        text: &str,
        problems: &mut Problems,
    ) -> Result<usize, Refusal> {
        let BundledFile { bundle, name } = from;
        let decoded = percent_decode(text).unwrap_or_else(|| text.into());
        // A name may contain a literal `%`.
        let names = [uri::resolve(name, text), uri::resolve(name, &decoded)];
        let Some(name) = names.iter().find(|name| bundle.get(name).is_some()) else {
            let [name, _] = &names;
            return Err(if uri::is_absolute(name) {
                Refusal::Remote
            } else if name.starts_with("..") || name.starts_with('/') {
                Refusal::Outside
            } else {
                Refusal::Missing
            });
        };
        let key = PathBuf::from(name);
        if let Some(index) = self.loaded.get(&key) {
            return Ok(*index);
        }
        let bytes = bundle.get(name).unwrap_or_default();
        if bytes.len() > MAX_BYTES || self.files.all.len() >= MAX_FILES {
            return Err(Refusal::TooLarge);
        }
        let mut read_problems = Problems::new();
        let document = if is_document(Path::new(name.split('?').next().unwrap_or_default())) {
            Document::from_bundle(bundle, name, &mut read_problems)
        } else {
            self.has_texts = true;
            let inside = Some(BundledFile { bundle: bundle.clone(), name: name.clone() });
            let source = Source { path: bundle.path_of(name), inside, ..Source::default() };
            Some(Document::of_text(source, bytes.to_vec(), &mut read_problems))
        };
        problems.append(read_problems);
        Ok(self.add(document.ok_or(Refusal::Unreadable)?, key))
    }
}

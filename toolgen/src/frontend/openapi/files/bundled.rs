//! The files of a document in a bundle: an archive, or the files fetched with it. Nothing else is read.

use std::path::{Path, PathBuf};

use super::{Loader, MAX_FILES, Refused, is_document, uri};
use crate::problem::Problems;
use crate::source::{BundledFile, Document, MAX_BYTES, Source, percent_decode};

impl Loader<'_> {
    /// Returns the location of a file in its bundle, if it is in one.
    pub(super) fn inside(&self, index: usize) -> Option<BundledFile> {
        self.files.all.get(index)?.source.inside.clone()
    }

    /// Reads the file that a string in another one names, unless it was read before.
    pub(super) fn read_inside(
        &mut self,
        from: &BundledFile,
        text: &str,
        problems: &mut Problems,
    ) -> Result<usize, Refused> {
        let BundledFile { bundle, name } = from;
        let decoded = percent_decode(text).unwrap_or_else(|| text.into());
        // A name may contain a literal `%`.
        let names = [uri::joined(name, text), uri::joined(name, &decoded)];
        let Some(name) = names.iter().find(|name| bundle.get(name).is_some()) else {
            let [name, _] = &names;
            return Err(if uri::is_absolute(name) {
                Refused::Remote
            } else if name.starts_with("..") || name.starts_with('/') {
                Refused::Outside
            } else {
                Refused::Missing
            });
        };
        let key = PathBuf::from(name);
        if let Some(known) = self.loaded.get(&key) {
            return Ok(*known);
        }
        let bytes = bundle.get(name).unwrap_or_default();
        if bytes.len() > MAX_BYTES || self.files.all.len() >= MAX_FILES {
            return Err(Refused::TooLarge);
        }
        let mut found = Problems::new();
        let document = if is_document(Path::new(name.split('?').next().unwrap_or_default())) {
            Document::from_bundle(bundle, name, &mut found)
        } else {
            self.has_texts = true;
            let inside = Some(BundledFile { bundle: bundle.clone(), name: name.clone() });
            let source = Source { path: bundle.path_of(name), inside, ..Source::default() };
            Some(Document::of_text(source, bytes.to_vec(), &mut found))
        };
        problems.append(found);
        Ok(self.add(document.ok_or(Refused::Unreadable)?, key))
    }
}

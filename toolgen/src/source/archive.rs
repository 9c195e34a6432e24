//! Archives of documents: ZIP, and tar with or without gzip.
//!
//! Nothing is written to disk. Only regular files whose names stay inside the archive are used, and an archive that
//! unpacks to more than a [`Bundle`] holds is rejected.

#[cfg_attr(not(feature = "archives"), path = "archive/without_archives.rs")]
mod unpack;

use std::path::Path;
use std::sync::Arc;

use super::bundle::Bundle;
use super::read_bounded;

/// A bundle and the name of a document in it; or the error and its help.
type OpenResult = Result<(Arc<Bundle>, String), (String, &'static str)>;

/// Opens the archive in a path: `api.zip` means its main document, `api.zip/v2/api.yaml` another one. `None` if the
/// path does not name an archive.
pub(super) fn open(path: &Path) -> Option<OpenResult> {
    let archive = path.ancestors().find(|path| path.is_file())?;
    let name = archive.file_name()?.to_str()?.to_ascii_lowercase();
    if ![".zip", ".tar", ".tar.gz", ".tgz"].iter().any(|ending| name.ends_with(ending)) {
        return None;
    }
    let inner = path.strip_prefix(archive).ok()?.to_str()?.replace('\\', "/");
    let bundle = match read_bounded(archive).and_then(|bytes| unpack::bundle(archive, &bytes)) {
        Ok(bundle) => Arc::new(bundle),
        Err(error) => return Some(Err((error, "unpack it, and name the document"))),
    };
    let name = if inner.is_empty() { bundle.main().map(str::to_owned) } else { Some(inner) };
    let Some(name) = name.filter(|name| bundle.get(name).is_some()) else {
        let names: Vec<&str> = bundle.names().take(20).collect();
        let message = format!("the archive has no such document, but {}", names.join(", "));
        return Some(Err((message, "name one of them after the archive: `api.zip/api.yaml`")));
    };
    Some(Ok((bundle, name)))
}

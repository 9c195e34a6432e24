//! Unpacks archives.

use std::io::{Cursor, Read};
use std::path::{Component, Path, PathBuf};

use crate::source::bundle::{Bundle, MAX_BUNDLED, MAX_BUNDLED_BYTES};

impl Bundle {
    /// Unpacks an archive: ZIP, tar, or tar with gzip, according to its first bytes. Links, devices and names that
    /// point outside it are ignored.
    ///
    /// # Errors
    ///
    /// If it is none of these or is damaged, or has more than [`MAX_BUNDLED`] files or more than
    /// [`MAX_BUNDLED_BYTES`] unpacked.
    pub fn from_archive(origin: impl Into<PathBuf>, bytes: &[u8]) -> Result<Bundle, String> {
        let mut bundle = Bundle::new(origin);
        let result = match bytes {
            [b'P', b'K', 3 | 5, ..] => unzip(bytes, &mut bundle),
            [0x1f, 0x8b, ..] => untar(flate2::read::MultiGzDecoder::new(bytes), &mut bundle),
            _ => untar(bytes, &mut bundle),
        };
        result.map(|()| bundle).map_err(|error| format!("the archive cannot be unpacked: {error}"))
    }
}

/// Unpacks the archive at a path.
pub(super) fn bundle(path: &Path, bytes: &[u8]) -> Result<Bundle, String> {
    Bundle::from_archive(path, bytes)
}

fn unzip(bytes: &[u8], bundle: &mut Bundle) -> Result<(), String> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| error.to_string())?;
    if archive.len() > MAX_BUNDLED {
        return Err(format!("there are more than {MAX_BUNDLED} files"));
    }
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).map_err(|error| error.to_string())?;
        let name = file.enclosed_name().and_then(|name| name_of(&name));
        let Some(name) = name.filter(|_| file.is_file()) else { continue };
        let content = content(&mut file)?;
        bundle.add(name, content)?;
    }
    Ok(())
}

fn untar(reader: impl Read, bundle: &mut Bundle) -> Result<(), String> {
    // The size of skipped entries is limited, too.
    let max = 2 * MAX_BUNDLED_BYTES as u64;
    let mut archive = tar::Archive::new(reader.take(max));
    for entry in archive.entries().map_err(|error| error.to_string())? {
        let mut entry = entry.map_err(|error| error.to_string())?;
        let name = entry.path().ok().and_then(|path| name_of(&path));
        let Some(name) = name.filter(|_| entry.header().entry_type().is_file()) else { continue };
        let content = content(&mut entry)?;
        bundle.add(name, content)?;
    }
    Ok(())
}

/// Reads a file of an archive. The declared size is not trusted.
fn content(file: &mut impl Read) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let limit = MAX_BUNDLED_BYTES as u64 + 1;
    file.take(limit).read_to_end(&mut content).map_err(|error| error.to_string())?;
    Ok(content)
}

/// Returns the name of a file, if it stays inside the archive.
fn name_of(path: &Path) -> Option<String> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_str()?),
            Component::CurDir => {}
            _ => return None,
        }
    }
    (!names.is_empty()).then(|| names.join("/"))
}

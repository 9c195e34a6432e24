//! Opens files below a directory through a descriptor of the directory, so that no path and no link escapes it.
//!
//! A path that is checked first and used later is open to a race: in between, someone may replace a part of it with
//! a link. Here each step from the directory to the file uses descriptors (`openat2` with `RESOLVE_BENEATH` where
//! available), so there is no such race.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::OpenOptions;
#[doc(hidden)]
pub use cap_std::fs::{Dir, File, Metadata};
use toolgen_core::internal::below::{REFUSED, parent_fault, root_fault};

use super::roots::{LINK, OUTSIDE};

/// Opens a directory that the program names.
#[doc(hidden)]
pub fn open(root: &Path) -> io::Result<Dir> {
    Dir::open_ambient_dir(root, ambient_authority())
}

/// Returns a path relative to a directory. An absolute path must be below the directory.
#[doc(hidden)]
pub fn within(root: &Path, path: &str) -> io::Result<PathBuf> {
    let requested = Path::new(path);
    let below = if requested.has_root() || matches!(requested.components().next(), Some(Component::Prefix(_)))
    {
        let real = root.canonicalize();
        let stripped = requested.strip_prefix(root).ok();
        let stripped = stripped.or_else(|| requested.strip_prefix(real.as_deref().ok()?).ok());
        stripped.ok_or_else(|| escape(OUTSIDE))?
    } else {
        root_fault(path).map_or(Ok(requested), |reason| Err(escape(reason)))?
    };
    // The system resolves links; this only rejects names that lead outside.
    let mut depth = Some(0_usize);
    for part in below.components() {
        depth = match part {
            Component::ParentDir => depth.and_then(|depth| depth.checked_sub(1)),
            Component::Normal(_) => depth.map(|depth| depth + 1),
            _ => depth,
        };
    }
    if depth.is_none() || path.contains('\0') {
        return Err(escape(parent_fault(path).unwrap_or(OUTSIDE)));
    }
    let below: PathBuf = below.components().filter(|part| *part != Component::CurDir).collect();
    Ok(if below.as_os_str().is_empty() { PathBuf::from(".") } else { below })
}

/// Opens a regular file of a directory for reading.
#[doc(hidden)]
pub fn open_file(dir: &Dir, path: &Path) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        // Opening a pipe without a writer would block the thread.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file = dir.open_with(path, &options)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "Is a directory"));
    }
    if !metadata.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is a pipe or a device, not a file"));
    }
    Ok((file, metadata))
}

/// Creates a temporary file with an unguessable name. With `private`, only its owner may read it: use this if it gets
/// the permissions of another file later.
#[doc(hidden)]
pub fn beside(dir: &Dir, private: bool) -> io::Result<(OsString, File)> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    let name = OsString::from(format!(".tmp-{:016x}", u64::from_ne_bytes(random)));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if private {
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = private;
    let file = dir.open_with(&name, &options)?;
    Ok((name, file))
}

/// Returns the error for a path that leads out of the directory, like that of system calls on descriptors.
fn escape(reason: &str) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, format!("{REFUSED}: {reason}"))
}

/// Returns why a path leads out of the directory. If its names do not, a link does.
#[doc(hidden)]
pub fn escape_reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.strip_prefix(REFUSED).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(LINK).to_owned()
}

/// Whether the error is that of a path that leads out of the directory, not of a failed system call.
#[doc(hidden)]
pub fn is_escape(error: &io::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// Returns the description of an I/O error, without its number.
#[doc(hidden)]
pub fn io_message(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

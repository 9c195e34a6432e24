//! Opens, reads and writes files in the working directory of a tool.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use cap_std::fs::OpenOptions;

use toolgen_kernel::call::beneath::{self, beside, escape_reason, is_escape};
pub(super) use toolgen_kernel::call::beneath::{Dir, File, Metadata, io_message, open_file};
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::roots::{root_of, traversal};

/// Maximum size of a file that is read completely, in bytes: 10 MiB.
pub(super) const MAX_FILE_BYTES: u64 = 10 << 20;

/// The working directory of a tool.
pub(super) struct WorkDir {
    pub(super) dir: Dir,
    root: PathBuf,
}

impl WorkDir {
    /// Returns the working directory of a call.
    pub(super) fn of(ctx: &ToolContext) -> Result<WorkDir, ToolError> {
        WorkDir::open(&root_of("workdir", ctx)?)
    }

    /// Opens a directory that the program names.
    pub(super) fn open(root: &Path) -> Result<WorkDir, ToolError> {
        let dir = beneath::open(root).map_err(|error| {
            let text = format!("the working directory cannot be opened: {}", io_message(&error));
            ToolError::failed(text).with_operator_detail(root.display().to_string())
        })?;
        Ok(WorkDir { dir, root: root.to_owned() })
    }

    /// Returns a path relative to the directory. An absolute path must be inside the directory.
    pub(super) fn relative_path(&self, path: &str) -> io::Result<PathBuf> {
        beneath::within(&self.root, path)
    }

    /// Opens a file for reading. Rejects anything but a regular file, because reading it could block forever.
    pub(super) fn open_file(&self, path: &str) -> io::Result<(File, Metadata)> {
        open_file(&self.dir, &self.relative_path(path)?)
    }

    /// Reads a complete file of at most [`MAX_FILE_BYTES`] bytes.
    pub(super) fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let (file, metadata) = self.open_file(path)?;
        if metadata.len() > MAX_FILE_BYTES {
            return Err(too_large(metadata.len()));
        }
        let mut bytes = Vec::new();
        // The file may grow during the read.
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        let length = bytes.len() as u64;
        if length > MAX_FILE_BYTES { Err(too_large(length)) } else { Ok(bytes) }
    }

    /// Returns the absolute path for a relative one.
    pub(super) fn absolute(&self, path: &str) -> String {
        self.root.join(path).display().to_string()
    }

    /// Creates a file that does not exist.
    pub(super) fn create(&self, path: &str, bytes: &[u8], ctx: &ToolContext) -> io::Result<()> {
        check_cancelled(ctx)?;
        let path = self.relative_path(path)?;
        self.dir.open_with(&path, OpenOptions::new().write(true).create_new(true))?.write_all(bytes)
    }

    /// Creates or replaces a file atomically: concurrent readers see the old or the new content, never a mix. Its
    /// permissions are kept, and its owner if this process may change owners. Returns whether the file existed.
    pub(super) fn write(
        &self,
        path: &str,
        bytes: &[u8],
        missing_dirs: MissingDirs,
        ctx: &ToolContext,
    ) -> io::Result<bool> {
        let path = self.relative_path(path)?;
        // A link to a file is preserved, and its target is replaced.
        let path = match self.dir.canonicalize(&path) {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => path,
            Err(error) => return Err(error),
        };
        let name =
            path.file_name().ok_or_else(|| io::Error::new(ErrorKind::IsADirectory, "Is a directory"))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        if missing_dirs == MissingDirs::Create {
            self.dir.create_dir_all(parent)?;
        }
        replace(&self.dir.open_dir(parent)?, name, bytes, ctx)
    }
}

/// How to handle missing directories of a path.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum MissingDirs {
    /// Create the directories.
    Create,
    /// Return an error.
    Reject,
}

/// Replaces a file in a directory by renaming a temporary file.
fn replace(dir: &Dir, name: &OsStr, bytes: &[u8], ctx: &ToolContext) -> io::Result<bool> {
    let old = match dir.symlink_metadata(name) {
        Ok(old) => Some(check_replaceable(old)?),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let (temporary, mut file) = beside(dir, old.is_some())?;
    let result = (|| {
        file.write_all(bytes)?;
        if let Some(old) = &old {
            copy_owner(&file, old)?;
            file.set_permissions(safe_permissions(old))?;
        }
        drop(file);
        check_cancelled(ctx)?;
        dir.rename(&temporary, dir, name)
    })();
    if result.is_err() {
        // The reason for the failed write is more important.
        let _ = dir.remove_file(&temporary);
    }
    result.map(|()| old.is_some())
}

/// Returns an error if the call was cancelled: it must not change anything then.
fn check_cancelled(ctx: &ToolContext) -> io::Result<()> {
    if ctx.is_cancelled() { Err(io::Error::other("the call was cancelled")) } else { Ok(()) }
}

/// Rejects files that a write must not replace.
fn check_replaceable(old: Metadata) -> io::Result<Metadata> {
    let reject = |reason| Err(io::Error::new(ErrorKind::InvalidInput, reason));
    if old.is_symlink() {
        return reject("it is a dangling link");
    }
    if old.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "Is a directory"));
    }
    if !old.is_file() {
        return reject("it is a pipe or a device, not a file");
    }
    #[cfg(unix)]
    if cap_std::fs::MetadataExt::nlink(&old) > 1 {
        return reject("the file has other names (hard links), perhaps outside the working directory");
    }
    Ok(old)
}

/// Copies the owner of a file to another, if this process may change owners.
fn copy_owner(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt as _;
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            let (user, group) = (rustix::fs::Uid::from_raw(old.uid()), rustix::fs::Gid::from_raw(old.gid()));
            // Only an administrator may change owners.
            let _ = rustix::fs::fchown(file, Some(user), Some(group));
        }
    }
    #[cfg(not(unix))]
    let _ = (file, old);
    Ok(())
}

/// Returns the permissions of a file without setuid and setgid.
fn safe_permissions(old: &Metadata) -> cap_std::fs::Permissions {
    #[cfg(unix)]
    {
        use cap_std::fs::PermissionsExt as _;
        cap_std::fs::Permissions::from_mode(old.permissions().mode() & 0o777)
    }
    #[cfg(not(unix))]
    old.permissions()
}

/// Formats permissions like `ls`.
pub(super) fn format_permissions(metadata: &Metadata) -> String {
    #[cfg(unix)]
    {
        use cap_std::fs::PermissionsExt as _;
        let mode = metadata.permissions().mode();
        let symbol =
            |bit: u32| if mode & (1 << (8 - bit)) == 0 { '-' } else { ['r', 'w', 'x'][(bit % 3) as usize] };
        std::iter::once('-').chain((0..9).map(symbol)).collect()
    }
    #[cfg(not(unix))]
    if metadata.permissions().readonly() { "read-only".to_owned() } else { "read-write".to_owned() }
}

fn too_large(bytes: u64) -> io::Error {
    let text = format!("the file is too large ({bytes} bytes, max {MAX_FILE_BYTES})");
    io::Error::new(ErrorKind::FileTooLarge, text)
}

/// Returns the error of a tool for an argument whose file caused an error: `{prefix}: {reason}{suffix}`.
pub(super) fn file_error(error: &io::Error, argument: &str, prefix: &str, suffix: &str) -> ToolError {
    if is_escape(error) {
        return traversal(argument, &escape_reason(error));
    }
    ToolError::failed(format!("{prefix}: {}{suffix}", io_message(error)))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use toolgen_kernel::call::Turn;

    use super::*;
    use toolgen_kernel::CancellationToken;

    #[test]
    fn ended_call_changes_no_file() {
        let root = std::env::temp_dir().join(format!("toolgen-work-dir-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        let work_dir = WorkDir::open(&root).unwrap();
        let cancel = CancellationToken::new();
        let ctx = Turn::default().call_context("1", "test").with_cancel(cancel.clone());
        assert!(!work_dir.write("a", b"old", MissingDirs::Reject, &ctx).unwrap());
        cancel.cancel();
        assert!(work_dir.write("a", b"new", MissingDirs::Reject, &ctx).is_err());
        assert!(work_dir.create("b", b"new", &ctx).is_err());
        let names: Vec<_> =
            std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!((names, work_dir.read("a").unwrap()), (vec![OsString::from("a")], b"old".to_vec()));
        std::fs::remove_dir_all(&root).unwrap();
    }
}

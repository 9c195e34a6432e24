//! Prevents started programs from inheriting open files of this process.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::process::Command;

use command_fds::{CommandFdExt as _, FdMapping};

/// The flag of a file descriptor that is closed when a program starts.
const CLOEXEC: u32 = 0o2_000_000;

/// Replaces the files that a program would inherit, besides its standard streams, by `/dev/null`: files that this
/// process inherited itself, or that C libraries opened.
///
/// # Errors
///
/// Returns an error if the inherited files cannot be listed. The program is not started then.
pub(super) fn replace_inherited(command: &mut Command) -> io::Result<()> {
    let inherited =
        inherited().map_err(|error| io::Error::other(format!("the open files of this process: {error}")))?;
    if inherited.is_empty() {
        return Ok(());
    }
    let null: OwnedFd = fs::File::options().read(true).write(true).open("/dev/null")?.into();
    let mapping = |child_fd| null.try_clone().map(|parent_fd| FdMapping { parent_fd, child_fd });
    let mappings = inherited.into_iter().map(mapping).collect::<io::Result<_>>()?;
    command.fd_mappings(mappings).map(drop).map_err(io::Error::other)
}

/// Returns the descriptors from 3 up that a program started now would inherit.
fn inherited() -> io::Result<Vec<i32>> {
    let mut descriptors = Vec::new();
    for entry in fs::read_dir("/proc/self/fdinfo")? {
        let entry = entry?;
        let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(number) = number.filter(|number| *number > 2) else { continue };
        // Another thread may have closed the descriptor in the meantime.
        let Ok(text) = fs::read_to_string(entry.path()) else { continue };
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok()).unwrap_or_default();
        if flags & CLOEXEC == 0 {
            descriptors.push(number);
        }
    }
    Ok(descriptors)
}

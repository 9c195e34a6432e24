//! Confines a thread by Landlock, and with it the program that the thread starts.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

/// The oldest version that covers every way to write to a file; Linux 6.2.
const REQUIRED_ABI: ABI = ABI::V3;
/// The version that also blocks signals and abstract sockets of other processes; used if available.
const PREFERRED_ABI: ABI = ABI::V6;

/// Devices that may be written to.
const DEVICES: [&str; 2] = ["/dev/null", "/dev/full"];
/// Directories that are read-only even for a program that may write files: through these directories, it could change
/// its own limits.
const READ_ONLY_DIRECTORIES: [&str; 2] = ["/proc", "/sys"];

/// The files that a program may write to.
pub(super) struct WritableFiles {
    /// The directory for temporary files, or `None` if all files are writable.
    pub(super) only_dir: Option<PathBuf>,
}

/// Checks whether this system supports the required version.
pub(super) fn check() -> Result<(), String> {
    ruleset()
        .and_then(Ruleset::create)
        .map(drop)
        .map_err(|error| format!("no Landlock of Linux 6.2 or newer ({error})"))
}

fn ruleset() -> Result<Ruleset, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(REQUIRED_ABI))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(PREFERRED_ABI))?
        .scope(Scope::from_all(PREFERRED_ABI))
}

/// Confines this thread. It loses all capabilities, so root has no special rights.
pub(super) fn restrict(writable: &WritableFiles) -> Result<(), String> {
    let describe = |reason: &dyn std::fmt::Display| format!("Landlock: {reason}");
    let mut rules = ruleset().and_then(Ruleset::create).map_err(|error| describe(&error))?;
    let full_access = AccessFs::from_write(PREFERRED_ABI);
    for path in writable.paths().map_err(|error| describe(&error))? {
        // A path that no longer exists needs no rule.
        let Ok(fd) = PathFd::new(&path) else { continue };
        let access =
            if path.is_dir() { full_access } else { full_access & AccessFs::from_file(PREFERRED_ABI) };
        rules = rules.add_rule(PathBeneath::new(fd, access)).map_err(|error| describe(&error))?;
    }
    rules.restrict_self().map_err(|error| describe(&error))?;
    let no_capabilities = CapabilitySet::empty();
    set_capabilities(
        None,
        CapabilitySets {
            effective: no_capabilities,
            permitted: no_capabilities,
            inheritable: no_capabilities,
        },
    )
    .map_err(|error| format!("capabilities: {error}"))
}

impl WritableFiles {
    fn paths(&self) -> std::io::Result<Vec<PathBuf>> {
        if let Some(only_dir) = &self.only_dir {
            return Ok(DEVICES.iter().map(PathBuf::from).chain([only_dir.clone()]).collect());
        }
        let entries = std::fs::read_dir("/")?.filter_map(|entry| Some(entry.ok()?.path()));
        Ok(entries
            .filter(|path| !READ_ONLY_DIRECTORIES.iter().any(|read_only| path == Path::new(read_only)))
            .collect())
    }
}

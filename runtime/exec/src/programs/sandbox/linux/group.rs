//! Control groups, which limit a program and all processes that it starts together.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::ResourceLimits;
use crate::process::unique_name;

/// The mount point of control groups.
const ROOT: &str = "/sys/fs/cgroup";
/// The period of the CPU quota, in microseconds.
const PERIOD: u32 = 100_000;
/// The files that exist only if the system accounts for swapped memory.
const SWAP_FILES: [&str; 2] = ["memory.memsw.limit_in_bytes", "memory.swap.max"];
/// How long to wait for the killed members of a group to end.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// A control group, or one control group in each hierarchy of version 1. On drop, its members are killed and it is
/// removed.
pub(super) struct ControlGroup {
    dirs: Vec<PathBuf>,
}

/// A limit in both versions of control groups: its controller, and the files with their contents.
struct Setting {
    controller: &'static str,
    v1: Vec<(&'static str, String)>,
    v2: Vec<(&'static str, String)>,
}

/// Returns the settings for these limits. `own_processes` is the number of processes that the sandbox itself needs.
fn settings(limits: &ResourceLimits, own_processes: u32) -> Vec<Setting> {
    let quota = |cpus: f64| (cpus * f64::from(PERIOD)).max(1000.0).round().to_string();
    let cpu = limits.cpus.map(|cpus| Setting {
        controller: "cpu",
        v1: vec![("cpu.cfs_period_us", PERIOD.to_string()), ("cpu.cfs_quota_us", quota(cpus))],
        v2: vec![("cpu.max", format!("{} {PERIOD}", quota(cpus)))],
    });
    // Swapped memory counts as well: version 1 limits the sum of both, version 2 limits each of them.
    let memory = limits.memory.map(|bytes| Setting {
        controller: "memory",
        v1: vec![
            ("memory.limit_in_bytes", bytes.to_string()),
            ("memory.memsw.limit_in_bytes", bytes.to_string()),
        ],
        v2: vec![("memory.max", bytes.to_string()), ("memory.swap.max", "0".to_owned())],
    });
    let pids = limits.pids.map(|pids| {
        let max = vec![("pids.max", pids.saturating_add(own_processes).to_string())];
        Setting { controller: "pids", v1: max.clone(), v2: max }
    });
    cpu.into_iter().chain(memory).chain(pids).collect()
}

impl ControlGroup {
    /// Creates a group with these limits, below a group of this process.
    ///
    /// # Errors
    ///
    /// Returns a message if this process cannot create the group.
    pub(super) fn create(limits: &ResourceLimits, own_processes: u32) -> Result<ControlGroup, String> {
        let memberships = fs::read_to_string("/proc/self/cgroup")
            .map_err(|error| format!("no control groups ({error})"))?;
        let name = unique_name();
        let settings = settings(limits, own_processes);
        let mut group = ControlGroup { dirs: Vec::new() };
        let v1_dirs: Option<Vec<_>> =
            settings.iter().map(|setting| version_1(&memberships, setting.controller)).collect();
        if let Some(dirs) = v1_dirs {
            for (dir, files) in dirs.iter().zip(settings.iter().map(|setting| &setting.v1)) {
                group
                    .add(dir.join(&name), files)
                    .map_err(|error| format!("no control group in {} ({error})", dir.display()))?;
            }
            return Ok(group);
        }
        let controllers: Vec<&str> = settings.iter().map(|setting| setting.controller).collect();
        let files: Vec<_> = settings.iter().flat_map(|setting| setting.v2.clone()).collect();
        let mut reason = format!("no control group of this process delegates {}", controllers.join(", "));
        for dir in version_2(Path::new(ROOT), &memberships, &controllers) {
            match group.add(dir.join(&name), &files) {
                Ok(()) => return Ok(group),
                Err(error) => reason = format!("no control group in {} ({error})", dir.display()),
            }
        }
        Err(reason)
    }

    fn add(&mut self, dir: PathBuf, files: &[(&str, String)]) -> io::Result<()> {
        fs::create_dir(&dir)?;
        let files = files.iter().map(|(file, value)| (dir.join(file), file, value));
        let mut supported = files.filter(|(path, file, _)| !SWAP_FILES.contains(file) || path.exists());
        let outcome = supported.try_for_each(|(path, _, value)| fs::write(path, value));
        match outcome {
            Ok(()) => self.dirs.push(dir),
            Err(_) => drop(fs::remove_dir(&dir)),
        }
        outcome
    }

    /// Moves a process into the group.
    pub(super) fn join(&self, pid: Pid) -> io::Result<()> {
        self.dirs
            .iter()
            .try_for_each(|dir| fs::write(dir.join("cgroup.procs"), pid.as_raw_nonzero().to_string()))
    }
}

/// Returns the group of this process in the version 1 hierarchy of a controller.
fn version_1(memberships: &str, controller: &str) -> Option<PathBuf> {
    let path = memberships.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers.split(',').any(|name| name == controller).then_some(path)
    })?;
    Some(group_dir(&Path::new(ROOT).join(controller), path))
}

/// Returns the version 2 groups above this process that delegate these controllers, the nearest first.
fn version_2(root: &Path, memberships: &str, controllers: &[&str]) -> Vec<PathBuf> {
    let Some(path) = memberships.lines().find_map(|line| line.strip_prefix("0::")) else { return Vec::new() };
    let delegates = |dir: &&Path| {
        let list = fs::read_to_string(dir.join("cgroup.subtree_control")).unwrap_or_default();
        controllers.iter().all(|controller| list.split_whitespace().any(|name| name == *controller))
    };
    let group = group_dir(root, path);
    group
        .ancestors()
        .take_while(|dir| dir.starts_with(root))
        .filter(delegates)
        .map(Path::to_path_buf)
        .collect()
}

/// Returns the directory of a group in the existing hierarchy.
fn group_dir(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let start = Instant::now();
        for dir in &self.dirs {
            // A group with members cannot be removed, and its members may be starting more processes.
            while fs::remove_dir(dir).is_err() && dir.exists() && start.elapsed() < KILL_TIMEOUT {
                let members = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
                for pid in members.lines().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
                    // The process may have ended in the meantime.
                    let _ = kill_process(pid, Signal::KILL);
                }
                sleep(Duration::from_millis(2));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controllers_are_found_in_their_own_hierarchy() {
        let memberships = "9:name=systemd:/\n4:memory:/a/b\n2:cpu,cpuacct:/c\n0::/u\n";
        assert_eq!(version_1(memberships, "memory").unwrap(), Path::new("/sys/fs/cgroup/memory/a/b"));
        assert_eq!(version_1(memberships, "cpu").unwrap(), Path::new("/sys/fs/cgroup/cpu/c"));
        assert_eq!(version_1(memberships, "pids"), None);
    }

    #[test]
    fn cgroup_v1_and_v2_get_the_same_limits() {
        let limits = ResourceLimits::default().cpus(1.5).memory(1 << 20).pids(7);
        let files: Vec<_> = settings(&limits, 2).into_iter().flat_map(|setting| setting.v2).collect();
        let expected = [
            ("cpu.max", "150000 100000"),
            ("memory.max", "1048576"),
            ("memory.swap.max", "0"),
            ("pids.max", "9"),
        ];
        assert_eq!(files, expected.map(|(file, value)| (file, value.to_owned())));
        let files: Vec<_> = settings(&limits, 0).into_iter().flat_map(|setting| setting.v1).collect();
        assert_eq!(files[1], ("cpu.cfs_quota_us", "150000".to_owned()));
        assert_eq!(files[3], ("memory.memsw.limit_in_bytes", "1048576".to_owned()));
    }

    #[test]
    fn control_group_needs_a_parent_with_delegated_controllers() {
        let root = std::env::temp_dir().join(unique_name());
        let nearest = root.join("user.slice/app.slice");
        fs::create_dir_all(nearest.join("own.scope")).unwrap();
        fs::write(nearest.join("cgroup.subtree_control"), "memory pids\n").unwrap();
        fs::write(root.join("cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        let memberships = "0::/user.slice/app.slice/own.scope\n";
        assert_eq!(version_2(&root, memberships, &["pids"]), [nearest, root.clone()]);
        assert_eq!(version_2(&root, memberships, &["cpu", "pids"]), [root.as_path()]);
        assert!(version_2(&root, memberships, &["io"]).is_empty());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn missing_optional_cgroup_files_are_ignored() {
        let dir = std::env::temp_dir().join(unique_name());
        let files = [("memory.max", "1".to_owned()), ("memory.swap.max", "0".to_owned())];
        let mut group = ControlGroup { dirs: Vec::new() };
        group.add(dir.clone(), &files).unwrap();
        group.dirs.clear();
        assert_eq!(fs::read_to_string(dir.join("memory.max")).unwrap(), "1");
        assert!(!dir.join("memory.swap.max").exists());
        fs::remove_dir_all(dir).unwrap();
    }
}

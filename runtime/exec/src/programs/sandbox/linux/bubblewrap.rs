//! Builds the command that runs a program in Bubblewrap.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::find_program;
use crate::process::{Job, run};
use crate::{ExecError, ExecOptions};

/// The prefix of lines in which Bubblewrap reports its own failures.
pub(super) const PREFIX: &str = "bwrap: ";
/// The time limit of the test run.
const PROBE_TIMEOUT: Duration = Duration::from_secs(30);

/// Returns the path of Bubblewrap, if it works: the system may not allow this user to create namespaces. The test runs
/// only once.
pub(super) async fn path() -> Result<PathBuf, String> {
    static PATH: OnceCell<Result<PathBuf, String>> = OnceCell::const_new();
    PATH.get_or_init(probe).await.clone()
}

async fn probe() -> Result<PathBuf, String> {
    let path = find_program("bwrap").ok_or("Bubblewrap (`bwrap`) is not installed")?;
    let failed = |reason: String| format!("Bubblewrap (`bwrap`) does not work here: {}", reason.trim());
    let options = ExecOptions::default().read_only().without_network();
    let mut argv = arguments(&path, &mut Vec::new(), Path::new("/"), &path, &options)
        .map_err(|error| failed(error.to_string()))?;
    argv.extend([path.to_string_lossy().into_owned(), "--version".to_owned()]);
    let job = Job {
        argv: &argv,
        env: Vec::new(),
        work_dir: None,
        stdin: &[],
        timeout: Some(PROBE_TIMEOUT),
        max_output: 4096,
        on_line: None,
        confinement: None,
    };
    match run(job, &CancellationToken::new()).await {
        Ok(output) if output.success() => Ok(path),
        Ok(output) => Err(failed(output.stderr)),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Returns the words before a command that confine it. Variables that would affect Bubblewrap itself are moved from
/// the environment to these words.
pub(super) fn arguments(
    bwrap: &Path,
    env: &mut Vec<(OsString, OsString)>,
    work_dir: &Path,
    program: &Path,
    options: &ExecOptions,
) -> Result<Vec<String>, ExecError> {
    let mut words: Vec<OsString> = vec![bwrap.into()];
    let mut add = |added: &[&OsStr]| words.extend(added.iter().map(OsString::from));
    let split = |line: &'static str| line.split(' ').map(OsStr::new).collect::<Vec<_>>();
    add(&split("--unshare-all --die-with-parent --cap-drop ALL"));
    if !options.network_disabled {
        add(&split("--share-net"));
    }
    add(&split(if options.read_only { "--ro-bind / /" } else { "--bind / /" }));
    // Root owns the system settings in /proc and /sys, so they are read-only even if the program may write files. A
    // real terminal would execute the input that a program injects.
    add(&split(
        "--dev /dev --dev-bind /dev/null /dev/tty --proc /proc --remount-ro /proc --ro-bind-try /sys /sys",
    ));
    if options.read_only {
        add(&split("--tmpfs /tmp"));
        for path in [work_dir, program] {
            if path.starts_with("/tmp/") {
                add(&["--ro-bind".as_ref(), path.as_ref(), path.as_ref()]);
            }
        }
    }
    add(&["--chdir".as_ref(), work_dir.as_ref()]);
    let (loader_variables, other_variables): (Vec<_>, Vec<_>) =
        std::mem::take(env).into_iter().partition(|(name, _)| is_read_by_loader(name));
    *env = other_variables;
    for (name, value) in &loader_variables {
        add(&["--setenv".as_ref(), name, value]);
    }
    add(&split("--"));
    let strings = words.into_iter().map(OsString::into_string).collect::<Result<_, _>>();
    strings.map_err(|word| ExecError::invalid(format!("{} is not UTF-8", word.display())))
}

/// Whether the system's loader or C library reads a variable when a program starts. Bubblewrap is such a program.
fn is_read_by_loader(name: &OsStr) -> bool {
    const NAMES: [&str; 8] =
        ["ENV", "BASH_ENV", "GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH", "SHELLOPTS"];
    const PREFIXES: [&str; 3] = ["LD_", "MALLOC_", "BASH_FUNC_"];
    let name = name.to_string_lossy();
    NAMES.contains(&name.as_ref()) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

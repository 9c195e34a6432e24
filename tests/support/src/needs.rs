//! Requirements of tests that not every machine meets. A test that cannot run prints a note, or fails if it must run.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use crate::pages::root;

/// A requirement of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The program `bwrap`, on a system that allows it to create namespaces.
    Bubblewrap,
    /// clippy, for the code that the macros generate.
    Clippy,
    /// Control groups that the tests may create.
    ControlGroups,
    /// The corpus of real documents, which is not part of the repository.
    Corpus,
    /// An IPv6 loopback address.
    Ipv6,
    /// Landlock of Linux 6.2 or newer.
    Landlock,
    /// Third-party MCP servers, in the directory of `TOOLGEN_MCP_SERVERS`.
    McpServers,
    /// The program `node`.
    Node,
    /// The programs `podman`, `runc` and a statically linked `busybox`.
    Podman,
    /// The programs of a PostgreSQL server, and a user `postgres` if the tests run as root.
    Postgres,
    /// The program `python3`.
    Python,
    /// A Python with the package `google-re2`, whose path is in `TOOLGEN_RE2`.
    Re2,
    /// The program `redis-server`.
    Redis,
    /// Root privileges.
    Root,
    /// The programs of util-linux, such as `setsid` and `prlimit`.
    UtilLinux,
    /// The toolchain whose messages `ui/` contains.
    Ui,
}

impl Need {
    /// Returns its name in `TOOLGEN_REQUIRE`.
    pub fn name(self) -> &'static str {
        match self {
            Need::Bubblewrap => "bubblewrap",
            Need::Clippy => "clippy",
            Need::ControlGroups => "control-groups",
            Need::Corpus => "corpus",
            Need::Ipv6 => "ipv6",
            Need::Landlock => "landlock",
            Need::McpServers => "mcp-servers",
            Need::Node => "node",
            Need::Podman => "podman",
            Need::Postgres => "postgres",
            Need::Python => "python",
            Need::Re2 => "re2",
            Need::Redis => "redis",
            Need::Root => "root",
            Need::UtilLinux => "util-linux",
            Need::Ui => "ui",
        }
    }

    /// Whether its absence is a failure: `TOOLGEN_REQUIRE` names it, or `CI` is `true` and it is generally available.
    fn required(self, require: Option<&OsStr>, ci: Option<&OsStr>) -> bool {
        let named = require.and_then(OsStr::to_str).unwrap_or_default();
        let is_named = named.split(',').map(str::trim).any(|name| name == self.name() || name == "all");
        is_named || (ci.is_some_and(|ci| ci == "true") && self != Need::Corpus)
    }
}

/// Reports that a test is skipped because a requirement is missing, even if the output of tests is captured.
///
/// # Panics
///
/// Panics if the requirement must be met.
#[track_caller]
pub fn skip(need: Need, reason: &str) {
    let (require, ci) = (std::env::var_os("TOOLGEN_REQUIRE"), std::env::var_os("CI"));
    if need.required(require.as_deref(), ci.as_deref()) {
        panic!("`{}` is required, and {reason}", need.name());
    }
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let name = need.name();
    let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {reason} (TOOLGEN_REQUIRE={name} fails here)");
    // For the summary at the end of the run, see `tests/left-out`.
    if let Some(mut notes) =
        notes().and_then(|file| File::options().create(true).append(true).open(file).ok())
    {
        let _ = writeln!(notes, "{name}\t{test}");
    }
}

/// Returns the file in which all test programs of one `cargo test` note skipped tests. `None` if not on Unix.
pub fn notes() -> Option<PathBuf> {
    #[cfg(unix)]
    let cargo = Some(std::os::unix::process::parent_id());
    #[cfg(not(unix))]
    let cargo: Option<u32> = None;
    Some(std::env::temp_dir().join(format!("toolgen-skipped-tests-{}", cargo?)))
}

/// Returns the documents of the corpus, sorted by name. Without the corpus, reports it and returns none.
///
/// The corpus is in the directory of `TOOLGEN_CORPUS`, or at `../shared/corpus` next to the repository.
///
/// # Panics
///
/// Panics if the corpus must exist.
#[track_caller]
pub fn corpus() -> Vec<PathBuf> {
    let Some(dir) = corpus_folder("openapi") else { return Vec::new() };
    let entries = std::fs::read_dir(&dir).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| matches!(path.extension().and_then(OsStr::to_str), Some("json" | "yaml" | "yml")));
    paths.sort();
    if paths.is_empty() {
        skip(Need::Corpus, &format!("there is no document in {}", dir.display()));
    }
    paths
}

/// Returns the entry documents of a kind in the corpus, such as `swagger2`, in the order of their list. Without them,
/// reports it and returns none. See [`corpus`].
///
/// # Panics
///
/// Panics if they must exist.
#[track_caller]
pub fn corpus_entries(kind: &str) -> Vec<PathBuf> {
    let Some(dir) = corpus_folder(kind) else { return Vec::new() };
    let corpus = dir.join("..");
    let list = std::fs::read_to_string(corpus.join("breadth.tsv")).unwrap_or_default();
    let rows = list.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let of_kind = rows.filter(|row| row.len() > 4 && row[0] == kind && row[2] == "root");
    let paths: Vec<PathBuf> = of_kind.map(|row| corpus.join(row[4])).collect();
    if paths.is_empty() {
        skip(Need::Corpus, &format!("no row of breadth.tsv is of {kind}"));
    }
    paths
}

/// Returns a directory of the corpus by name. Without it, reports it and returns `None`. See [`corpus`].
///
/// # Panics
///
/// Panics if it must exist.
#[track_caller]
pub fn corpus_folder(name: &str) -> Option<PathBuf> {
    let dir =
        std::env::var_os("TOOLGEN_CORPUS").map_or_else(|| root().join("../shared/corpus"), PathBuf::from);
    let dir = dir.join(name);
    if !dir.is_dir() {
        skip(Need::Corpus, &format!("there is no directory {}", dir.display()));
        return None;
    }
    Some(dir)
}

#[test]
fn required_test_dependencies_must_be_present() {
    let required = |need: Need, require: Option<&str>, ci: Option<&str>| {
        need.required(require.map(OsStr::new), ci.map(OsStr::new))
    };
    assert!(!required(Need::Ui, None, None) && !required(Need::Ui, Some("corpus"), Some("false")));
    assert!(required(Need::Ui, Some("corpus, ui"), None) && required(Need::Ui, Some("all"), None));
    assert!(required(Need::Ui, None, Some("true")) && !required(Need::Corpus, None, Some("true")));
}

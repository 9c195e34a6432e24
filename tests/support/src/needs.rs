//! What some tests need and not every machine has. A test that cannot run says so, or fails where it must run.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use crate::pages::root;

/// What can be needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The program `bwrap`, in a place where it may make namespaces.
    Bubblewrap,
    /// clippy, for what the macros write.
    Clippy,
    /// Control groups that the tests may make.
    ControlGroups,
    /// The corpus of real documents, which is not part of the repository.
    Corpus,
    /// A loopback of IPv6.
    Ipv6,
    /// Landlock of Linux 6.2 or newer.
    Landlock,
    /// MCP servers of others, below the folder that `TOOLGEN_MCP_SERVERS` names.
    McpServers,
    /// The program `node`.
    Node,
    /// The programs `podman`, `runc` and a `busybox` that needs no libraries.
    Podman,
    /// The programs of a PostgreSQL server, and a user `postgres` where the tests are root.
    Postgres,
    /// The program `python3`.
    Python,
    /// A Python with the package `google-re2`, which `TOOLGEN_RE2` names.
    Re2,
    /// The program `redis-server`.
    Redis,
    /// To be root.
    Root,
    /// The programs of util-linux, such as `setsid` and `prlimit`.
    UtilLinux,
    /// The toolchain whose texts `ui/` holds.
    Ui,
}

impl Need {
    /// Its name in `TOOLGEN_REQUIRE`.
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

    /// Whether a test must not go without it: `TOOLGEN_REQUIRE` names it, or `CI` is `true` and anybody can have it.
    fn required(self, require: Option<&OsStr>, ci: Option<&OsStr>) -> bool {
        let named = require.and_then(OsStr::to_str).unwrap_or_default();
        let is_named = named.split(',').map(str::trim).any(|name| name == self.name() || name == "all");
        is_named || (ci.is_some_and(|ci| ci == "true") && self != Need::Corpus)
    }
}

/// Says that a test is skipped for want of something, also where the output of tests is captured.
///
/// # Panics
///
/// If that must be there.
#[track_caller]
pub fn skip(need: Need, reason: &str) {
    let (require, ci) = (std::env::var_os("TOOLGEN_REQUIRE"), std::env::var_os("CI"));
    if need.required(require.as_deref(), ci.as_deref()) {
        panic!("`{}` is required, and {reason}", need.name());
    }
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let name = need.name();
    let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {reason} (TOOLGEN_REQUIRE={name} fails here)");
    // For the end of the run, see `tests/left-out`.
    if let Some(mut notes) =
        notes().and_then(|file| File::options().create(true).append(true).open(file).ok())
    {
        let _ = writeln!(notes, "{name}\t{test}");
    }
}

/// The file in which all programs that one `cargo test` starts note what they skip. Elsewhere than on Unix there is none.
pub fn notes() -> Option<PathBuf> {
    #[cfg(unix)]
    let cargo = Some(std::os::unix::process::parent_id());
    #[cfg(not(unix))]
    let cargo: Option<u32> = None;
    Some(std::env::temp_dir().join(format!("toolgen-skipped-tests-{}", cargo?)))
}

/// The documents of the corpus, in the order of their names; none, and said, where it is not there.
///
/// It is where `TOOLGEN_CORPUS` says, or at `../shared/corpus` beside the repository.
///
/// # Panics
///
/// If it must be there.
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

/// The entry documents of a kind in the corpus, such as `swagger2`, in the order of their list; none, and said, where
/// they are not there. See [`corpus`].
///
/// # Panics
///
/// If they must be there.
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

/// A folder of the corpus, by its name; `None`, and said, where it is not there. See [`corpus`].
///
/// # Panics
///
/// If it must be there.
#[track_caller]
pub fn corpus_folder(name: &str) -> Option<PathBuf> {
    let dir =
        std::env::var_os("TOOLGEN_CORPUS").map_or_else(|| root().join("../shared/corpus"), PathBuf::from);
    let dir = dir.join(name);
    if !dir.is_dir() {
        skip(Need::Corpus, &format!("there is no folder {}", dir.display()));
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

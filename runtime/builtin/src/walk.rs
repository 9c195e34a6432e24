//! Walks through directories with open handles, in a stable order and with limits. Links are not followed.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::path::{Component, MAIN_SEPARATOR, Path};
use std::rc::Rc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::Override;
use toolgen_kernel::call::context::ToolContext;

use super::work_dir::{Dir, File, Metadata, WorkDir, open_file};

/// Maximum number of visited files and directories per walk.
const MAX_ENTRIES: usize = 200_000;
/// Maximum depth of a directory: each level holds a file descriptor. A deeper directory ends the walk.
const MAX_DEPTH: usize = 64;
/// Maximum size of a file of ignore rules, in bytes.
const MAX_IGNORE_FILE_BYTES: u64 = 256 << 10;

/// Options of a walk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WalkOptions<'a> {
    /// Maximum depth of a file: 1 for files of the start directory.
    pub(super) max_depth: usize,
    /// The names of skipped directories.
    pub(super) skipped_dirs: &'a [&'a str],
    /// Whether hidden files and directories are visited.
    pub(super) include_hidden: bool,
    /// The names of hidden directories that are visited even if hidden directories are skipped.
    pub(super) visible_hidden_dirs: &'a [&'a str],
    /// Whether `.gitignore` and `.ignore` files of the working directory exclude files.
    pub(super) use_ignore_files: bool,
    /// The globs of the visited files. A glob that excludes a directory excludes everything in it.
    pub(super) globs: Option<&'a Override>,
}

impl WalkOptions<'_> {
    fn excludes(&self, path: &str, is_dir: bool) -> bool {
        self.globs.is_some_and(|globs| globs.matched(path, is_dir).is_ignore())
    }
}

/// A visited file.
pub(super) struct WalkedFile<'a> {
    /// The path relative to the working directory, with `/` as the separator.
    pub(super) path: &'a str,
    dir: &'a Dir,
    /// The path relative to `dir`.
    name: &'a Path,
}

impl WalkedFile<'_> {
    /// Opens the file, which may have been removed or replaced in the meantime.
    pub(super) fn open(&self) -> io::Result<File> {
        open_file(self.dir, self.name).map(|(file, _)| file)
    }

    /// Reads the metadata of the file.
    pub(super) fn read_metadata(&self) -> io::Result<Metadata> {
        self.dir.symlink_metadata(self.name)
    }
}

type Visit<'v> = dyn FnMut(&WalkedFile<'_>) -> ControlFlow<()> + 'v;

/// Visits a file, or the files in a directory and its subdirectories, sorted by path. Unreadable directories are
/// skipped. Returns whether the walk is complete: it is not if a limit is exceeded, or if the call is cancelled.
pub(super) fn walk(
    work_dir: &WorkDir,
    path: &str,
    options: WalkOptions<'_>,
    ctx: &ToolContext,
    visit: &mut Visit<'_>,
) -> io::Result<bool> {
    let start = work_dir.relative_path(path)?;
    let path = start.to_string_lossy().replace(MAIN_SEPARATOR, "/");
    match work_dir.dir.open_dir(&start) {
        Ok(dir) => {
            let rules = if options.use_ignore_files {
                IgnoreRules::of_ancestors(work_dir, &start)
            } else {
                IgnoreRules::default()
            };
            let mut walker = Walker { options, ctx, visit, remaining: MAX_ENTRIES };
            Ok(walker.walk_dir(&dir, if path == "." { "" } else { &path }, 1, &rules).is_continue())
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(options.excludes(&path, false)
            || visit(&WalkedFile { path: &path, dir: &work_dir.dir, name: &start }).is_continue()),
        Err(error) => Err(error),
    }
}

/// An entry of a directory.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// The displayed name; directories end with `/`.
    display_name: String,
    name: OsString,
    is_dir: bool,
}

/// Returns the displayed names in a directory, each with whether it is a directory.
pub(super) fn list_names(work_dir: &WorkDir, path: &str) -> io::Result<impl Iterator<Item = (String, bool)>> {
    let entries = work_dir.dir.read_dir(work_dir.relative_path(path)?)?.filter_map(Result::ok);
    Ok(entries
        .map(|entry| (display_name(&entry.file_name()), entry.file_type().is_ok_and(|kind| kind.is_dir()))))
}

/// Converts a name for display: to one line, and to UTF-8.
fn display_name(name: &OsStr) -> String {
    name.to_string_lossy().replace(char::is_control, "\u{fffd}")
}

struct Walker<'a, 'v> {
    options: WalkOptions<'a>,
    ctx: &'a ToolContext,
    visit: &'a mut Visit<'v>,
    remaining: usize,
}

impl Walker<'_, '_> {
    fn walk_dir(&mut self, dir: &Dir, path: &str, depth: usize, outer: &IgnoreRules) -> ControlFlow<()> {
        let entries = self.sorted_entries(dir)?;
        let rules = if self.options.use_ignore_files {
            &outer.enter_dir(dir, path, entries.iter().any(|entry| entry.name == ".git"))
        } else {
            outer
        };
        for Entry { display_name: displayed, name, is_dir } in entries {
            let displayed = displayed.trim_end_matches('/');
            let child_path =
                if path.is_empty() { displayed.to_owned() } else { format!("{path}/{displayed}") };
            if self.is_excluded(displayed, &child_path, is_dir) || rules.is_ignored(&child_path, is_dir) {
                continue;
            }
            let name = Path::new(&name);
            if !is_dir {
                (self.visit)(&WalkedFile { path: &child_path, dir, name })?;
            } else if depth < self.options.max_depth
                && let Ok(inner) = dir.open_dir(name)
            {
                if depth == MAX_DEPTH {
                    return ControlFlow::Break(());
                }
                self.walk_dir(&inner, &child_path, depth + 1, rules)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns the entries of a directory, in the order of their paths.
    fn sorted_entries(&mut self, dir: &Dir) -> ControlFlow<(), Vec<Entry>> {
        let mut listed_entries = Vec::new();
        let Ok(entries) = dir.entries() else { return ControlFlow::Continue(listed_entries) };
        for entry in entries.filter_map(Result::ok) {
            if self.remaining == 0 || self.ctx.is_cancelled() {
                return ControlFlow::Break(());
            }
            self.remaining -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() || kind.is_file() {
                let (name, is_dir) = (entry.file_name(), kind.is_dir());
                let displayed = display_name(&name) + if is_dir { "/" } else { "" };
                listed_entries.push(Entry { display_name: displayed, name, is_dir });
            }
        }
        listed_entries.sort();
        ControlFlow::Continue(listed_entries)
    }

    fn is_excluded(&self, name: &str, path: &str, is_dir: bool) -> bool {
        let is_hidden = name.starts_with('.')
            && !self.options.include_hidden
            && !(is_dir && self.options.visible_hidden_dirs.contains(&name));
        is_hidden
            || (is_dir && self.options.skipped_dirs.contains(&name))
            || self.options.excludes(path, is_dir)
    }
}

/// The ignore rules of a directory, innermost last. Rules of `.ignore` take precedence over those of `.gitignore`.
#[derive(Clone, Default)]
struct IgnoreRules {
    git: Vec<Rc<Gitignore>>,
    ignore: Vec<Rc<Gitignore>>,
}

impl IgnoreRules {
    /// Returns the rules of the directories from the working directory to a start.
    fn of_ancestors(work_dir: &WorkDir, start: &Path) -> IgnoreRules {
        let is_plain = start.components().all(|part| matches!(part, Component::Normal(_)));
        let ancestors: Vec<&Path> = start.ancestors().skip(1).filter(|_| is_plain).collect();
        ancestors.into_iter().rev().fold(IgnoreRules::default(), |outer, path| {
            let name = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            let Ok(dir) = work_dir.dir.open_dir(name) else { return outer };
            let path = path.to_string_lossy().replace(MAIN_SEPARATOR, "/");
            outer.enter_dir(&dir, &path, dir.symlink_metadata(".git").is_ok())
        })
    }

    /// Returns the rules of a subdirectory. Rules of `.gitignore` do not apply in another repository.
    fn enter_dir(&self, dir: &Dir, path: &str, is_repository: bool) -> IgnoreRules {
        let mut inner = self.clone();
        if is_repository {
            inner.git.clear();
        }
        inner.git.extend(read_rules(dir, path, ".gitignore").map(Rc::new));
        inner.ignore.extend(read_rules(dir, path, ".ignore").map(Rc::new));
        inner
    }

    fn is_ignored(&self, path: &str, is_dir: bool) -> bool {
        let verdicts = self.git.iter().chain(&self.ignore).rev().map(|rules| rules.matched(path, is_dir));
        verdicts.into_iter().find(|verdict| !verdict.is_none()).is_some_and(|verdict| verdict.is_ignore())
    }
}

/// Reads the ignore rules of a directory.
fn read_rules(dir: &Dir, path: &str, name: &str) -> Option<Gitignore> {
    let (file, _) = open_file(dir, Path::new(name)).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_IGNORE_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(if path.is_empty() { "." } else { path });
    for line in text.trim_start_matches('\u{feff}').lines() {
        // An invalid rule excludes nothing.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgen_kernel::CancellationToken;
    use toolgen_kernel::call::Turn;

    #[test]
    fn walk_ends_with_its_call() {
        let work_dir = WorkDir::open(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let cancel = CancellationToken::new();
        let ctx = Turn::default().call_context("1", "test").with_cancel(cancel.clone());
        let options = WalkOptions { max_depth: 9, ..WalkOptions::default() };
        let mut visited = 0;
        let is_complete = walk(&work_dir, "src", options, &ctx, &mut |_| {
            visited += 1;
            cancel.cancel();
            ControlFlow::Continue(())
        });
        assert!(!is_complete.unwrap() && visited > 0 && visited < 100, "{visited}");
    }
}

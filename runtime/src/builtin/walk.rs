//! Walks through directories that are held open, in a stable order and within bounds. Links are not followed.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::path::{MAIN_SEPARATOR, Path};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::place::{Dir, File, Metadata, Place, open_file};
use crate::call::context::ToolContext;

/// The most files and directories that one walk looks at.
const MOST_ENTRIES: usize = 200_000;
/// The deepest directory, counted from the start: each holds a descriptor. A deeper one ends the walk.
const DEEPEST: usize = 64;
/// The longest file of ignore rules that is read, in bytes.
const LONGEST_RULES: u64 = 256 << 10;

/// How to walk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Walk<'a> {
    /// How deep a file may be: 1 for those of the first directory.
    pub(super) depth: usize,
    /// The names of directories that are left out.
    pub(super) without: &'a [&'a str],
    /// Whether files and directories whose names start with a dot are visited.
    pub(super) hidden: bool,
    /// The names of directories that are visited although they start with a dot.
    pub(super) shown: &'a [&'a str],
    /// Whether `.gitignore` and `.ignore` leave out files.
    pub(super) rules: bool,
}

/// A file on the way.
pub(super) struct Found<'a> {
    /// The path from the working directory, with `/` between its parts.
    pub(super) path: &'a str,
    dir: &'a Dir,
    /// The path from `dir`.
    name: &'a Path,
}

impl Found<'_> {
    /// Opens the file, which by now may be gone or something else.
    pub(super) fn open(&self) -> io::Result<File> {
        open_file(self.dir, self.name).map(|(file, _)| file)
    }

    /// Reads what is known about the file.
    pub(super) fn stat(&self) -> io::Result<Metadata> {
        self.dir.symlink_metadata(self.name)
    }
}

type Visit<'v> = dyn FnMut(&Found<'_>) -> ControlFlow<()> + 'v;

/// Visits a file, or the files below a directory in the order of their paths. Directories that cannot be read are left
/// out. Returns whether it came to the end: not when there is too much, or when the call is cancelled.
pub(super) fn walk(
    place: &Place,
    path: &str,
    how: Walk<'_>,
    ctx: &ToolContext,
    visit: &mut Visit<'_>,
) -> io::Result<bool> {
    let start = place.within(path)?;
    let path = start.to_string_lossy().replace(MAIN_SEPARATOR, "/");
    match place.dir.open_dir(&start) {
        Ok(dir) => {
            let mut walking = Walking { how, ctx, visit, left: MOST_ENTRIES, rules: Vec::new() };
            Ok(walking.enter(&dir, if path == "." { "" } else { &path }, 1).is_continue())
        }
        Err(why) if why.kind() == io::ErrorKind::NotADirectory => {
            Ok(visit(&Found { path: &path, dir: &place.dir, name: &start }).is_continue())
        }
        Err(why) => Err(why),
    }
}

/// A file or directory in a directory.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// The name as it is told; that of a directory ends with `/`.
    shown: String,
    name: OsString,
    is_dir: bool,
}

/// The names in a directory as they are told, each with whether it is a directory.
pub(super) fn names(place: &Place, path: &str) -> io::Result<impl Iterator<Item = (String, bool)>> {
    let entries = place.dir.read_dir(place.within(path)?)?.filter_map(Result::ok);
    Ok(entries.map(|entry| (shown(&entry.file_name()), entry.file_type().is_ok_and(|kind| kind.is_dir()))))
}

/// A name as it is told: on one line, and in UTF-8.
fn shown(name: &OsStr) -> String {
    name.to_string_lossy().replace(char::is_control, "\u{fffd}")
}

struct Walking<'a, 'v> {
    how: Walk<'a>,
    ctx: &'a ToolContext,
    visit: &'a mut Visit<'v>,
    left: usize,
    rules: Vec<Gitignore>,
}

impl Walking<'_, '_> {
    fn enter(&mut self, dir: &Dir, path: &str, depth: usize) -> ControlFlow<()> {
        let outer = self.rules.len();
        if self.how.rules {
            self.rules.extend([".gitignore", ".ignore"].iter().filter_map(|name| rules(dir, path, name)));
        }
        for Entry { shown, name, is_dir } in self.list(dir)? {
            let shown = shown.trim_end_matches('/');
            let below = if path.is_empty() { shown.to_owned() } else { format!("{path}/{shown}") };
            if self.leaves_out(shown, &below, is_dir) {
                continue;
            }
            let name = Path::new(&name);
            if !is_dir {
                (self.visit)(&Found { path: &below, dir, name })?;
            } else if depth < self.how.depth
                && let Ok(inner) = dir.open_dir(name)
            {
                if depth == DEEPEST {
                    return ControlFlow::Break(());
                }
                self.enter(&inner, &below, depth + 1)?;
            }
        }
        self.rules.truncate(outer);
        ControlFlow::Continue(())
    }

    /// The files and directories of a directory, in the order in which their paths sort.
    fn list(&mut self, dir: &Dir) -> ControlFlow<(), Vec<Entry>> {
        let mut listed = Vec::new();
        let Ok(entries) = dir.entries() else { return ControlFlow::Continue(listed) };
        for entry in entries.filter_map(Result::ok) {
            if self.left == 0 || self.ctx.is_cancelled() {
                return ControlFlow::Break(());
            }
            self.left -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() || kind.is_file() {
                let (name, is_dir) = (entry.file_name(), kind.is_dir());
                let shown = shown(&name) + if is_dir { "/" } else { "" };
                listed.push(Entry { shown, name, is_dir });
            }
        }
        listed.sort();
        ControlFlow::Continue(listed)
    }

    fn leaves_out(&self, name: &str, path: &str, is_dir: bool) -> bool {
        let hidden = name.starts_with('.') && !self.how.hidden && !(is_dir && self.how.shown.contains(&name));
        if hidden || (is_dir && self.how.without.contains(&name)) {
            return true;
        }
        let verdicts = self.rules.iter().rev().map(|rules| rules.matched(path, is_dir));
        verdicts.into_iter().find(|verdict| !verdict.is_none()).is_some_and(|verdict| verdict.is_ignore())
    }
}

/// Reads the ignore rules of a directory.
fn rules(dir: &Dir, path: &str, name: &str) -> Option<Gitignore> {
    let (file, _) = open_file(dir, Path::new(name)).ok()?;
    let mut text = String::new();
    file.take(LONGEST_RULES).read_to_string(&mut text).ok()?;
    let mut builder = GitignoreBuilder::new(if path.is_empty() { "." } else { path });
    for line in text.lines() {
        // A rule that is wrong leaves out nothing.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CancellationToken;

    #[test]
    fn a_walk_ends_with_its_call() {
        let place = Place::open(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let cancel = CancellationToken::new();
        let ctx = ToolContext::new("1", "test").with_cancel(cancel.clone());
        let how = Walk { depth: 9, ..Walk::default() };
        let mut seen = 0;
        let whole = walk(&place, "src", how, &ctx, &mut |_| {
            seen += 1;
            cancel.cancel();
            ControlFlow::Continue(())
        });
        assert!(!whole.unwrap() && seen > 0 && seen < 100, "{seen}");
    }
}

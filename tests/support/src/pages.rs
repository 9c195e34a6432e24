//! The guide and the README files: Markdown files, and the code blocks in them.

use std::fs;
use std::path::{Path, PathBuf};

/// A code block in a page.
#[derive(Debug)]
pub struct Block {
    /// The path of the page, relative to the root of the repository.
    pub page: String,
    /// The line of the fence, from 1.
    pub line: usize,
    /// The first word after the fence, such as `rust`.
    pub kind: String,
    /// The code, without the indentation of the fence.
    pub text: String,
    /// The comment in the line before the fence, such as `not run: it asks a service`.
    pub mark: String,
}

impl Block {
    /// Returns the reason after this word in the comment before the block.
    pub fn marked(&self, word: &str) -> Option<&str> {
        self.mark.strip_prefix(word)?.strip_prefix(": ")
    }

    /// Returns the path of the file that the block contains, if its first line is a comment with a path.
    pub fn file(&self) -> Option<&str> {
        let first = self.text.lines().next()?;
        let name = first.strip_prefix("// ").or_else(|| first.strip_prefix("# "))?;
        let name = name.split(':').next()?;
        let is_path = !name.contains(' ') && name.rsplit('/').next()?.contains('.');
        is_path.then_some(name)
    }

    /// Returns its location, for a message.
    pub fn place(&self) -> String {
        format!("{}:{}", self.page, self.line)
    }
}

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).canonicalize().unwrap()
}

/// Returns all files in a directory with this extension, without build output, sorted by name.
pub fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && name != ".git" {
            found.extend(files(&path, ending));
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
    found
}

/// Returns the path of a file relative to the root of the repository.
pub fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_string_lossy().into_owned()
}

/// Returns the pages for users: the README files of the crates, and the guide.
pub fn guide() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    for package in ["runtime", "tool-macros", "toolgen", "toolgen/cli"] {
        pages.push(root().join(package).join("README.md"));
    }
    pages.extend(files(&root().join("docs"), ".md"));
    pages
}

/// Returns the blocks of all these pages.
pub fn blocks(pages: &[PathBuf]) -> Vec<Block> {
    pages.iter().flat_map(|page| blocks_of(page)).collect()
}

/// Returns the blocks of one page.
pub fn blocks_of(page: &Path) -> Vec<Block> {
    let text = fs::read_to_string(page).unwrap();
    let mut found: Vec<Block> = Vec::new();
    let mut indent = None;
    let mut before = "";
    for (number, line) in text.lines().enumerate() {
        let plain = line.trim_start();
        match (indent, plain.strip_prefix("```")) {
            (None, Some(kind)) => {
                indent = Some(line.len() - plain.len());
                let kind = kind.split(',').next().unwrap_or_default().to_owned();
                let mark = before.trim().strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
                let mark = mark.unwrap_or_default().to_owned();
                found.push(Block { page: relative(page), line: number + 1, kind, text: String::new(), mark });
            }
            (Some(_), Some(_)) => indent = None,
            (Some(indent), None) => {
                let text = &mut found.last_mut().unwrap().text;
                text.push_str(line.get(indent..).unwrap_or_default());
                text.push('\n');
            }
            (None, None) => {}
        }
        before = line;
    }
    found
}

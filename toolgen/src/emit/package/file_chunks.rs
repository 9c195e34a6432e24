//! Splits the text of a module into files of bounded size.
//!
//! Each piece holds complete items and is included at their original position, so names, privacy and compile
//! times do not change. Modules are recognised by their text: items are separated by blank lines, and no literal spans
//! lines.

use std::fmt::Write as _;

use super::mark;

/// The size above which a text is split, and the maximum size of the pieces, in bytes. Larger files are slow to open
/// and to compare.
const MAX_PIECE_BYTES: usize = 1_000_000;

/// A file next to the one that includes it: its path from there, and its text.
pub(super) type IncludedFile = (String, String);

/// Returns the text of a module and the pieces that it includes. Pieces are in `dir`, next to the file of the module.
/// A small text is returned unchanged. `others` are modules whose files may also be in that directory.
pub(super) fn split(text: String, dir: &str, others: &[(String, String)]) -> (String, Vec<IncludedFile>) {
    split_at(text, dir, others, MAX_PIECE_BYTES)
}

fn split_at(text: String, dir: &str, others: &[(String, String)], max: usize) -> (String, Vec<IncludedFile>) {
    if text.len() <= max {
        return (text, Vec::new());
    }
    let mut splitter = Splitter { dir, others, max, pieces: Vec::new() };
    // The first lines describe the file and mark it as generated.
    let (head, items) = text.split_once("\n\n").unwrap_or(("", &text));
    let mut out = format!("{head}\n");
    splitter.items(items, 0, "tools", &mut out);
    (out, splitter.pieces)
}

struct Splitter<'f> {
    dir: &'f str,
    others: &'f [(String, String)],
    max: usize,
    pieces: Vec<IncludedFile>,
}

impl Splitter<'_> {
    /// Writes items as pieces. Modules that are too large for one piece are split further.
    fn items(&mut self, text: &str, indent: usize, name: &str, out: &mut String) {
        let (mut pending, mut number) = (String::new(), 0);
        for item in items(text, indent) {
            let inner = if item.len() > self.max { module(item, indent) } else { None };
            if inner.is_some() || pending.len() + item.len() > self.max {
                self.flush(&mut pending, name, &mut number, indent, out);
            }
            match inner {
                Some(Module { head, name: module_name, items: inner }) => {
                    let _ = writeln!(out, "\n{head}");
                    let name = if name == "tools" {
                        module_name.to_owned()
                    } else {
                        format!("{name}_{module_name}")
                    };
                    let first = inner.lines().find(|line| !line.is_empty()).unwrap_or_default();
                    self.items(inner, first.len() - first.trim_start().len(), &name, out);
                    let _ = writeln!(out, "{:indent$}}}", "");
                }
                None => {
                    pending.push('\n');
                    pending.push_str(item);
                }
            }
        }
        self.flush(&mut pending, name, &mut number, indent, out);
    }

    /// Writes a piece of the pending items, if any, and includes it.
    fn flush(
        &mut self,
        pending: &mut String,
        name: &str,
        number: &mut usize,
        indent: usize,
        out: &mut String,
    ) {
        if pending.is_empty() {
            return;
        }
        let mut piece_name = String::new();
        while piece_name.is_empty() || self.others.iter().any(|(other, _)| *other == piece_name) {
            *number += 1;
            piece_name = format!("{name}_{number}");
        }
        let path = format!("{}/{piece_name}.rs", self.dir);
        let _ = writeln!(out, "{:indent$}include!(\"{path}\");", "");
        self.pieces.push((path, format!("// {}\n{}", mark(), std::mem::take(pending))));
    }
}

/// Returns the items of a text whose lines have this indentation, each with its comments.
pub(super) fn items(text: &str, indent: usize) -> Vec<&str> {
    let mut items = Vec::new();
    // The modules of imported documents are not indented, so braces are also counted.
    let (mut start, mut offset, mut after_blank, mut depth) = (0, 0, false, 0_usize);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let is_outer = !trimmed.is_empty() && line.len() - line.trim_start().len() == indent;
        if is_outer && after_blank && depth == 0 {
            items.push(text[start..offset].trim_matches('\n'));
            start = offset;
        }
        if is_outer && trimmed.ends_with('{') && !trimmed.starts_with("//") {
            depth += 1;
        } else if is_outer && trimmed.starts_with('}') {
            depth = depth.saturating_sub(1);
        }
        after_blank = trimmed.is_empty();
        offset += line.len();
    }
    items.push(text[start..].trim_matches('\n'));
    items.into_iter().filter(|item| !item.is_empty()).collect()
}

/// A module as text: the text before its items, its name, and its items.
pub(super) struct Module<'t> {
    pub(super) head: &'t str,
    pub(super) name: &'t str,
    pub(super) items: &'t str,
}

/// Parses the text of a module; `None` if the item is not a module.
pub(super) fn module(item: &str, indent: usize) -> Option<Module<'_>> {
    // Comments and attributes come first.
    let start = format!("{:indent$}pub ", "");
    let mut offset = 0;
    let begin = item.split_inclusive('\n').find(|line| {
        offset += line.len();
        line.starts_with(&start)
    })?;
    let name = begin.trim().strip_prefix("pub mod ")?.strip_suffix(" {")?;
    let end = format!("\n{:indent$}}}", "");
    let (head, body) = item.split_at_checked(offset)?;
    Some(Module { head: head.trim_end(), name, items: body.strip_suffix(&end)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// Generated.\n\nconst A: u8 = 1;\n\n/// B.\npub static B: u8 = {\n    2\n};\n\n/// Types.\n#[allow(\n    dead_code\n)]\npub mod types {\n    \
                        use super::*;\n\n    /// C.\n    pub struct C {\n        c: u8,\n    }\n\n    pub struct D;\n}\n\n/// Imported.\npub mod other {\nconst F: u8 = 4;\n\npub \
                        fn g() {\n    f()\n}\n\npub mod types {\n    pub struct G;\n}\n}\n\nconst E: u8 = 3;\n";

    /// The text with the pieces inserted.
    fn reassembled(text: &str, pieces: &[IncludedFile]) -> String {
        let mut out = text.to_owned();
        for (path, piece) in pieces {
            let line =
                out.lines().find(|line| line.contains(&format!("include!(\"{path}\");"))).unwrap().to_owned();
            out = out.replace(&line, piece.split_once('\n').unwrap().1);
        }
        out.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn pieces_are_small_and_concatenate_to_the_text() {
        assert_eq!(split_at(TEXT.to_owned(), "api", &[], 1_000), (TEXT.to_owned(), Vec::new()));
        for max in [20, 60, 120] {
            let (text, pieces) = split_at(TEXT.to_owned(), "api", &[], max);
            assert_eq!(reassembled(&text, &pieces), reassembled(TEXT, &[]), "{max}");
            let is_valid =
                |piece: &str| piece.len() <= max.max(60) + 100 && piece.starts_with("// Generated by ");
            assert!(pieces.iter().all(|(_, piece)| is_valid(piece)), "{pieces:?}");
            assert!(text.starts_with("// Generated.\n"));
        }
        let (text, pieces) = split_at(TEXT.to_owned(), "api", &[], 60);
        let names: Vec<&str> = pieces.iter().map(|(path, _)| path.as_str()).collect();
        let tools = ["tools_1", "types_1", "types_2", "types_3", "other_1", "other_2", "tools_2"];
        assert_eq!(names, tools.map(|name| format!("api/{name}.rs")), "{text}");
        assert!(text.contains("\npub mod types {\n    include!(\"api/types_1.rs\");\n"), "{text}");
        let tag = [("types_2".to_owned(), String::new())];
        let (_, pieces) = split_at(TEXT.to_owned(), "api", &tag, 60);
        assert!(pieces.iter().all(|(path, _)| path != "api/types_2.rs"), "a tag has the name");
    }
}

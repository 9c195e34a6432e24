//! The guide for models: `docs/llms.txt` lists the pages in the format of llmstxt.org, and `docs/llms-full.txt` contains
//! them. Both are generated from `docs/SUMMARY.md` and its pages, and published with the book.

use std::fmt::Write as _;
use std::fs;

use toolgen_test_support::golden::assert_golden;
use toolgen_tests::pages::root;

/// The URL of the pages.
const GUIDE: &str = "https://github.com/toolgen/toolgen/blob/main/docs";

/// An entry of the summary.
enum Entry {
    Part(String),
    Page { title: String, path: String },
}

/// Returns the entries of the summary, in order.
fn summary() -> Vec<Entry> {
    let text = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let entry = |line: &str| {
        if let Some(title) = line.strip_prefix("# ") {
            return (title != "Summary").then(|| Entry::Part(title.to_owned()));
        }
        let (title, rest) = line.trim_start_matches([' ', '-']).strip_prefix('[')?.split_once("](")?;
        Some(Entry::Page { title: title.to_owned(), path: rest.strip_suffix(')')?.to_owned() })
    };
    text.lines().filter_map(entry).collect()
}

/// Returns a page without the comments that only tests read.
fn page(path: &str) -> String {
    let text = fs::read_to_string(root().join("docs").join(path)).unwrap();
    let lines = text.lines().filter(|line| !(line.trim().starts_with("<!--") && line.ends_with("-->")));
    lines.fold(String::new(), |text, line| text + line + "\n")
}

/// Returns text with the labels of its links instead of the links.
fn without_links(text: &str) -> String {
    let mut parts = text.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if let Some(start) = plain.rfind('[') {
            plain.remove(start);
        }
        plain.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    plain
}

/// Returns the first sentence below the heading of a page.
fn first_sentence(text: &str) -> String {
    let lines = text.lines().skip(1).skip_while(|line| line.is_empty());
    let paragraph = lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let plain = without_links(&paragraph);
    let end = plain.find(". ").map_or(plain.len(), |end| end + 1);
    plain[..end].trim_end_matches(':').to_owned()
}

#[test]
fn list_of_pages_is_current() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let about = readme.split("\n\n").nth(1).unwrap().replace('\n', " ");
    let mut list = format!(
        "# toolgen\n\n> {about}\n\nNeeds Rust 1.88 or later. All pages in one file: \
         [llms-full.txt]({GUIDE}/llms-full.txt). Complete programs: \
         [examples](https://github.com/toolgen/toolgen/blob/main/examples/README.md).\n"
    );
    let mut has_part = false;
    for entry in summary() {
        match entry {
            Entry::Part(title) => write!(list, "\n## {title}\n\n").unwrap(),
            Entry::Page { title, path } => {
                if !has_part {
                    list.push_str("\n## Start\n\n");
                }
                let about = first_sentence(&page(&path));
                writeln!(list, "- [{}]({GUIDE}/{path}): {about}", title.replace('`', "")).unwrap();
            }
        }
        has_part = true;
    }
    assert_golden(&root().join("docs/llms.txt"), &list);
}

#[test]
fn file_of_all_pages_is_current() {
    let mut all = format!(
        "# toolgen: all pages of the guide\n\nLinks are relative to the source of their page. {GUIDE}/llms.txt lists the \
         pages.\n"
    );
    let mut count = 0;
    for entry in summary() {
        if let Entry::Page { path, .. } = entry {
            write!(all, "\n---\n\nSource: {GUIDE}/{path}\n\n{}", page(&path)).unwrap();
            count += 1;
        }
    }
    assert!(count > 40, "{count} pages");
    assert_golden(&root().join("docs/llms-full.txt"), &all);
}

#[test]
fn descriptions_are_plain_sentences() {
    let text = "# Title\n\nRead [the `page`](a.md#b) and\n[another](c.md). Then stop.\n\nMore.\n";
    assert_eq!(first_sentence(text), "Read the `page` and another.");
    assert_eq!(first_sentence("# Title\n\nThere are two:\n\n- a\n"), "There are two");
    for entry in summary() {
        if let Entry::Page { path, .. } = entry {
            let about = first_sentence(&page(&path));
            let is_prose = about.split(' ').count() > 3
                && !["|", "```", "-", "#"].iter().any(|mark| about.starts_with(mark));
            assert!(is_prose && about.len() < 300, "docs/{path} begins with: {about}");
        }
    }
}

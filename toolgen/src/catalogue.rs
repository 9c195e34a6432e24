//! The catalogue of problems: the codes of every stage and every front end.

use crate::frontend;
use crate::problem::Code;
use crate::problem::codes::{choice, overlay, size, source, text};

/// All codes, in the order of their numbers.
#[must_use]
pub fn codes() -> Vec<Code> {
    let of_front_ends = frontend::all().iter().flat_map(|front_end| front_end.codes());
    let mut codes: Vec<Code> = [source::ALL, choice::ALL, overlay::ALL, text::ALL, size::ALL]
        .into_iter()
        .flatten()
        .chain(of_front_ends)
        .copied()
        .collect();
    codes.sort_by_key(|code| code.number());
    codes
}

/// The code with an identifier, upper or lower case.
#[must_use]
pub fn find(id: &str) -> Option<Code> {
    codes().into_iter().find(|code| code.id().eq_ignore_ascii_case(id))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn every_code_is_unique_documented_and_used() {
        let codes = codes();
        let mut ids: Vec<&str> = codes.iter().map(|code| code.id()).collect();
        assert!(ids.is_sorted_by_key(|id| &id[1..]), "the catalogue is sorted by number");
        ids.sort_by_key(|id| &id[1..]);
        ids.dedup_by_key(|id| &id[1..]);
        assert_eq!(ids.len(), codes.len(), "two codes have the same number");
        let sources = rust_sources(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src"));
        for code in codes {
            let page = code.page();
            assert!(!page.title.ends_with('.') && page.text.trim().len() > 60, "{code} says too little");
            let used = sources.iter().any(|text| text.contains(&format!("codes::{}", page.name)));
            assert!(used, "{code} ({}) is never reported", page.name);
            assert_eq!(find(&code.id().to_lowercase()), Some(code));
        }
    }

    /// The texts of all files but tables of codes and tests.
    fn rust_sources(folder: &std::path::Path) -> Vec<String> {
        let mut texts = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                texts.extend(rust_sources(&path));
            } else if !path.ends_with("tests.rs") && !path.ends_with("codes.rs") && !folder.ends_with("codes")
            {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
        texts
    }
}

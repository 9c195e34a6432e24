//! The catalogue of problems: the codes of every stage and every front end.

use crate::frontend;
use crate::problem::Code;
use crate::problem::codes::{choice, overlay, size, source, text};
use crate::selector::suggestion;

/// Returns all codes, in the order of their numbers.
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

/// Finds the code with an identifier, in upper or lower case.
#[must_use]
pub fn find(id: &str) -> Option<Code> {
    codes().into_iter().find(|code| code.id().eq_ignore_ascii_case(id))
}

/// Suggests the code, or `warnings`, that an unknown name was probably meant to be.
#[must_use]
pub fn closest_code(name: &str) -> Option<String> {
    // Names with the same digits refer to the same code, whatever their letter and leading zeros.
    let digits = |text: &str| text.trim_start_matches(|c: char| !c.is_ascii_digit() || c == '0').to_owned();
    let number = digits(name);
    let codes = codes();
    let same_number = codes.iter().find(|code| !number.is_empty() && digits(code.id()) == number);
    same_number
        .map(|code| code.id().to_owned())
        .or_else(|| suggestion(name, codes.iter().map(|code| code.id()).chain(["warnings"])))
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

    #[test]
    fn misspelled_code_gets_a_suggestion() {
        for (name, code) in
            [("E303", "E0303"), ("n706", "N0706"), ("W0303", "E0303"), ("warnngs", "warnings")]
        {
            assert_eq!(closest_code(name).as_deref(), Some(code), "{name}");
        }
        assert_eq!(closest_code("everything"), None);
    }

    /// Returns the contents of all files except tables of codes and tests.
    fn rust_sources(dir: &std::path::Path) -> Vec<String> {
        let mut texts = Vec::new();
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                texts.extend(rust_sources(&path));
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("tests.rs")
                && !path.ends_with("codes.rs")
                && !dir.ends_with("codes")
            {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
        texts
    }
}

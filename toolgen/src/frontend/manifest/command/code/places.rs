//! Finds the code among the arguments of a program.

use super::programs::{GIT, Takes};

/// Returns the indices of the arguments that are code, and whether this is certain.
pub(super) fn places(takes: &Takes, words: &[&str]) -> Vec<(usize, bool)> {
    match takes {
        Takes::Option(letters, long) => {
            let mut found = options(letters, long, words, false);
            if long.contains(&"--exec-path") {
                found.extend(options("", &GIT, words, true));
            }
            found
        }
        Takes::Anywhere(letters, long) => options(letters, long, words, true),
        Takes::Words(valued, long) => {
            let mut found = options("", long, words, true);
            let mut is_value = false;
            for (at, word) in words.iter().enumerate() {
                if let Some(option) = word.strip_prefix('-') {
                    is_value = option.len() == 1 && valued.contains(option);
                } else if !std::mem::take(&mut is_value) && word.contains('{') {
                    found.push((at, false));
                }
            }
            found.sort_unstable();
            found.dedup_by_key(|(at, _)| *at);
            found
        }
        Takes::First(valued, files, letters, long) => {
            let found = options(letters, long, words, true);
            if !found.is_empty() {
                return found;
            }
            first(valued, files, words).map(|at| (at, true)).into_iter().collect()
        }
        Takes::Command(command) => match words {
            [own, rest @ ..] if own == command => {
                first("", "", rest).map(|at| (at + 1, true)).into_iter().collect()
            }
            _ => Vec::new(),
        },
        Takes::Rest(valued, skipped) => match first(valued, "", words) {
            Some(start) => (start + skipped..words.len()).map(|at| (at, true)).collect(),
            None => Vec::new(),
        },
        Takes::After(options) => {
            let is_one = |word: &&str| options.contains(&word.to_ascii_lowercase().as_str());
            let start = words.iter().position(is_one).map_or(words.len(), |at| at + 1);
            (start..words.len()).map(|at| (at, true)).collect()
        }
    }
}

/// Returns the arguments that follow options for code, and those that are such an option with its value. Unless they
/// are recognised anywhere, options end at the first word that cannot be the value of one, which is a script.
fn options(letters: &str, long: &[&str], words: &[&str], anywhere: bool) -> Vec<(usize, bool)> {
    let (mut found, mut sure, mut after_option) = (Vec::new(), true, false);
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if word.len() < 2 || !word.starts_with(['-', '+']) {
            if !after_option && !anywhere {
                break;
            }
            // The value of the previous option, or the script.
            sure = sure && anywhere;
            after_option = false;
            continue;
        }
        if *word == "--" && !anywhere {
            break;
        }
        after_option = !word.contains('=');
        let (name, has_value) = word.split_once('=').map_or((*word, false), |(name, _)| (name, true));
        let is_long = long.contains(&name);
        let group = word.strip_prefix('-').filter(|group| !group.starts_with('-') && !is_long);
        let constant = group.map(|group| group.split('{').next().unwrap_or_default());
        let joined =
            constant.is_some_and(|constant| word.contains('{') && constant.contains(|c| letters.contains(c)));
        if (is_long && has_value) || joined {
            found.push((at - 1, sure));
        } else if is_long || constant.is_some_and(|constant| constant.ends_with(|c| letters.contains(c))) {
            // `sh -c -- CODE`
            let index = at + usize::from(words.get(at) == Some(&"--"));
            let Some(code) = words.get(index) else { break };
            found.push((index, sure));
            if !code.starts_with('-') {
                at = index + 1;
                after_option = false;
            }
        }
    }
    found
}

/// Returns the first argument that is not an option, unless an option names a file instead.
fn first(valued: &str, files: &str, words: &[&str]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            return Some(at);
        };
        if letters == "-" {
            return words.get(at + 1).map(|_| at + 1);
        }
        let is_short = !letters.starts_with('-');
        if is_short && letters.starts_with(|c| files.contains(c)) {
            return None;
        }
        let has_value_next = is_short && letters.len() == 1 && valued.contains(letters);
        at += if has_value_next { 2 } else { 1 };
    }
    None
}

//! Finds the code among the arguments of a program.

use super::programs::{CodeArgument, GIT_OPTIONS};

/// Returns the indices of the arguments that are code, and whether each certainly is code.
pub(super) fn code_indices(argument: &CodeArgument, words: &[&str]) -> Vec<(usize, bool)> {
    match argument {
        CodeArgument::Option(short_options, long_options) => {
            let mut indices = option_values(short_options, long_options, words, false);
            if long_options.contains(&"--exec-path") {
                indices.extend(option_values("", &GIT_OPTIONS, words, true));
            }
            indices
        }
        CodeArgument::Anywhere(short_options, long_options) => {
            option_values(short_options, long_options, words, true)
        }
        CodeArgument::Words(value_options, long_options) => {
            let mut indices = option_values("", long_options, words, true);
            let mut is_value = false;
            for (index, word) in words.iter().enumerate() {
                if let Some(option) = word.strip_prefix('-') {
                    is_value = option.len() == 1 && value_options.contains(option);
                } else if !std::mem::take(&mut is_value) && word.contains('{') {
                    indices.push((index, false));
                }
            }
            indices.sort_unstable();
            indices.dedup_by_key(|(index, _)| *index);
            indices
        }
        CodeArgument::First(value_options, file_options, short_options, long_options) => {
            let indices = option_values(short_options, long_options, words, true);
            if !indices.is_empty() {
                return indices;
            }
            first_operand(value_options, file_options, words).map(|index| (index, true)).into_iter().collect()
        }
        CodeArgument::Subcommand(command) => match words {
            [subcommand, args @ ..] if subcommand == command => {
                first_operand("", "", args).map(|index| (index + 1, true)).into_iter().collect()
            }
            _ => Vec::new(),
        },
        CodeArgument::Rest(value_options, skip) => match first_operand(value_options, "", words) {
            Some(start) => (start + skip..words.len()).map(|index| (index, true)).collect(),
            None => Vec::new(),
        },
        CodeArgument::After(options) => {
            let is_option = |word: &&str| options.contains(&word.to_ascii_lowercase().as_str());
            let start = words.iter().position(is_option).map_or(words.len(), |index| index + 1);
            (start..words.len()).map(|index| (index, true)).collect()
        }
    }
}

/// Returns the arguments that follow options for code, and the options that contain their value. Unless options are
/// recognised `anywhere`, they end at the first word that cannot be the value of an option, which is a script.
fn option_values(
    short_options: &str,
    long_options: &[&str],
    words: &[&str],
    anywhere: bool,
) -> Vec<(usize, bool)> {
    let (mut indices, mut is_certain, mut after_option) = (Vec::new(), true, false);
    let mut index = 0;
    while let Some(word) = words.get(index) {
        index += 1;
        if word.len() < 2 || !word.starts_with(['-', '+']) {
            if !after_option && !anywhere {
                break;
            }
            // The value of the previous option, or the script.
            is_certain = is_certain && anywhere;
            after_option = false;
            continue;
        }
        if *word == "--" && !anywhere {
            break;
        }
        after_option = !word.contains('=');
        let (name, has_value) = word.split_once('=').map_or((*word, false), |(name, _)| (name, true));
        let is_long = long_options.contains(&name);
        let short_group = word.strip_prefix('-').filter(|group| !group.starts_with('-') && !is_long);
        let constant_letters = short_group.map(|group| group.split('{').next().unwrap_or_default());
        let has_joined_value = constant_letters
            .is_some_and(|letters| word.contains('{') && letters.contains(|c| short_options.contains(c)));
        if (is_long && has_value) || has_joined_value {
            indices.push((index - 1, is_certain));
        } else if is_long
            || constant_letters.is_some_and(|letters| letters.ends_with(|c| short_options.contains(c)))
        {
            // `sh -c -- CODE`
            let code_index = index + usize::from(words.get(index) == Some(&"--"));
            let Some(code) = words.get(code_index) else { break };
            indices.push((code_index, is_certain));
            if !code.starts_with('-') {
                index = code_index + 1;
                after_option = false;
            }
        }
    }
    indices
}

/// Returns the first argument that is not an option, unless an option names a file instead.
fn first_operand(value_options: &str, file_options: &str, words: &[&str]) -> Option<usize> {
    let mut index = 0;
    while let Some(word) = words.get(index) {
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            return Some(index);
        };
        if letters == "-" {
            return words.get(index + 1).map(|_| index + 1);
        }
        let is_short = !letters.starts_with('-');
        if is_short && letters.starts_with(|c| file_options.contains(c)) {
            return None;
        }
        let has_value_next = is_short && letters.len() == 1 && value_options.contains(letters);
        index += if has_value_next { 2 } else { 1 };
    }
    None
}

//! Arguments that a program runs as code: `sh -c`, `python -c`, the command that `ssh` sends to a shell. Unless a
//! program is known to take data, an argument after a word that is mostly an option for code also counts as code. So
//! does a program that another program starts: `env {program}`.

mod places;
mod programs;
mod started;

use self::places::code_indices;
use self::programs::{DATA_PROGRAMS, base_name, code_argument, is_starter};
use self::started::started_programs;

/// An argument that is code or may be code.
pub(super) struct CodeWord<'t> {
    /// The index among the arguments.
    pub(super) index: usize,
    /// The program that runs the code.
    pub(super) program: &'t str,
    /// What to do instead.
    pub(super) help: &'static str,
    /// Whether the argument certainly is code.
    pub(super) is_certain: bool,
    /// Whether the argument is a program that is started.
    pub(super) is_started: bool,
}

/// Options after which most programs take code or a program.
const CODE_OPTIONS: [&str; 14] = [
    "-c",
    "-e",
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "/c",
    "/k",
    "--command",
    "--eval",
    "--exec",
    "--execute",
    "--expression",
    "--session-command",
];

const STARTED_HELP: &str =
    "write the program itself, and a tool for each; or list the allowed programs in the argument (`enum`)";
const HELP: &str = "keep the code constant, and pass the value as an argument or a variable";

/// Returns the arguments that are code or may be code.
pub(super) fn code_words<'t>(texts: &[&'t str]) -> Vec<CodeWord<'t>> {
    let Some(first) = texts.first().map(|first| base_name(first)) else { return Vec::new() };
    if DATA_PROGRAMS.contains(&first) {
        return Vec::new();
    }
    let started = started_programs(texts).into_iter();
    let mut words: Vec<CodeWord<'t>> = started
        .map(|(index, program)| CodeWord {
            index,
            program,
            help: STARTED_HELP,
            is_certain: true,
            is_started: true,
        })
        .collect();
    // The program that reads the next options, and whether its options are known.
    let (mut program, mut is_known) = (first, false);
    for (index, text) in texts.iter().enumerate() {
        let name = base_name(text);
        if let Some((argument, help)) = code_argument(name) {
            (program, is_known) = (name, true);
            // Another word is certainly a program only if the first program starts other programs.
            let is_program = index == 0 || is_starter(first);
            let after = texts.get(index + 1..).unwrap_or_default();
            let indices = code_indices(argument, after);
            let has_code = !indices.is_empty();
            words.extend(indices.into_iter().map(|(offset, is_certain)| CodeWord {
                index: index + 1 + offset,
                program: name,
                help,
                is_certain: is_certain && is_program,
                is_started: false,
            }));
            if has_code {
                break;
            }
        } else if DATA_PROGRAMS.contains(&name) {
            (program, is_known) = (name, true);
        } else if index > 0 && !is_known && is_option(text) {
            let has_joined_value = text.contains('{');
            let index = if has_joined_value { index } else { index + 1 };
            words.push(CodeWord { index, program, help: HELP, is_certain: false, is_started: false });
        }
    }
    words
}

/// Whether a word is an option for code, possibly with its value.
fn is_option(word: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    CODE_OPTIONS.iter().any(|option| option.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use toolgen_test_support::script;

    use super::code_words;
    use super::started::started_programs;

    #[test]
    fn code_arguments_match_the_script() {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("src/frontend/manifest/command/code/tests/words.txt");
        script::replay(&file, || {
            |command, rest| {
                let words: Vec<String> = serde_json::from_str(rest).unwrap();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let mut indices: Vec<String> = match command {
                    "code" => code_words(&words)
                        .into_iter()
                        .map(|code| format!("{}{}", code.index, if code.is_certain { "" } else { "?" }))
                        .collect(),
                    "started" => {
                        started_programs(&words).into_iter().map(|(index, _)| index.to_string()).collect()
                    }
                    other => panic!("unknown command `{other}`"),
                };
                indices.sort();
                vec![if indices.is_empty() { "nowhere".to_owned() } else { indices.join(", ") }]
            }
        });
    }
}

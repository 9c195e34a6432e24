//! Arguments that a program runs as code: `sh -c`, `python -c`, the command that `ssh` sends to a shell. Unless a
//! program is known to take data, an argument after a word that is mostly an option for code also counts as code. So
//! does a program that another one starts: `env {program}`.

mod places;
mod programs;
mod started;

use self::places::places;
use self::programs::{DATA, base, program, starts};
use self::started::started;

/// An argument that is code, or could be.
pub(super) struct Code<'t> {
    /// Its index among the arguments.
    pub(super) place: usize,
    /// The program that runs it.
    pub(super) program: &'t str,
    /// What to do instead.
    pub(super) help: &'static str,
    /// Whether it is certainly code.
    pub(super) sure: bool,
    /// Whether it is a program that is started.
    pub(super) is_started: bool,
}

/// Options after which most programs take code, or a program.
const OPTIONS: [&str; 14] = [
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

const STARTED: &str =
    "write the program itself, and a tool for each; or list the allowed programs in the argument (`enum`)";
const HELP: &str = "keep the code constant, and pass the value as an argument or a variable";

/// Returns the arguments that are code or could be, among the strings of all.
pub(super) fn code<'t>(texts: &[&'t str]) -> Vec<Code<'t>> {
    let Some(first) = texts.first().map(|first| base(first)) else { return Vec::new() };
    if DATA.contains(&first) {
        return Vec::new();
    }
    let chosen = started(texts).into_iter();
    let mut found: Vec<Code<'t>> = chosen
        .map(|(index, program)| Code { place: index, program, help: STARTED, sure: true, is_started: true })
        .collect();
    // The program that the options belong to, if known.
    let (mut runs, mut reads) = (first, false);
    for (at, text) in texts.iter().enumerate() {
        let name = base(text);
        if let Some((takes, help)) = program(name) {
            (runs, reads) = (name, true);
            // Only a program that starts others certainly runs a later word.
            let known = at == 0 || starts(first);
            let after = texts.get(at + 1..).unwrap_or_default();
            let places = places(takes, after);
            let done = !places.is_empty();
            found.extend(places.into_iter().map(|(index, sure)| Code {
                place: at + 1 + index,
                program: name,
                help,
                sure: sure && known,
                is_started: false,
            }));
            if done {
                break;
            }
        } else if DATA.contains(&name) {
            (runs, reads) = (name, true);
        } else if at > 0 && !reads && is_option(text) {
            let joined = text.contains('{');
            let index = if joined { at } else { at + 1 };
            found.push(Code { place: index, program: runs, help: HELP, sure: false, is_started: false });
        }
    }
    found
}

/// Whether a word is an option for code, possibly with its value.
fn is_option(word: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    OPTIONS.iter().any(|option| option.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use toolgen_test_support::script;

    use super::code;
    use super::started::started;

    #[test]
    fn code_arguments_match_the_script() {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("src/frontend/manifest/command/code/tests/words.txt");
        script::replay(&file, || {
            |word, rest| {
                let words: Vec<String> = serde_json::from_str(rest).unwrap();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let mut places: Vec<String> = match word {
                    "code" => code(&words)
                        .into_iter()
                        .map(|code| format!("{}{}", code.place, if code.sure { "" } else { "?" }))
                        .collect(),
                    "started" => started(&words).into_iter().map(|(index, _)| index.to_string()).collect(),
                    other => panic!("there is no word `{other}`"),
                };
                places.sort();
                vec![if places.is_empty() { "nowhere".to_owned() } else { places.join(", ") }]
            }
        });
    }
}

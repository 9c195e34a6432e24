//! Runs the scripts of `tests/scripts`: shell lines with their output.
//!
//! `file` writes a file, with the indented lines below or the rest of its line; `with` copies a file from the directory
//! of the scripts. `$` runs the command; in its output, `!` marks standard error, and `=` the exit code of a failure.
//! `sent` makes a call of `api.json` in a dry run and prints the arguments, `variable` sets an environment variable,
//! and `shows` prints a file. `/here` means the directory.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolgen_test_support::script;

use crate::support::{Folder, Ran};

fn folder_of_scripts() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts"))
}

/// Returns the standard output and the standard error of a run.
fn shown(dir: &Folder, ran: &Ran) -> Vec<String> {
    let here = dir.display().to_string();
    let lines = |text: &str| text.replace(&here, "/here").lines().map(str::to_owned).collect::<Vec<_>>();
    let reported = lines(&ran.stderr)
        .into_iter()
        .map(|line| if line.is_empty() { "!".to_owned() } else { format!("! {line}") });
    let code = match ran.code {
        Some(0) => None,
        Some(code) => Some(format!("= {code}")),
        None => Some("= a signal".to_owned()),
    };
    lines(&ran.stdout).into_iter().chain(reported).chain(code).collect()
}

/// Returns the arguments of a dry run, or the error.
fn sent(dir: &Folder, words: &str) -> Vec<String> {
    let call = "call api.json addThing --dry-run --format json --base-url https://x.example";
    let ran = dir.run(format!("{call} {words}"));
    match ran.code {
        Some(0) => vec![ran.json()["body"]["value"].as_str().unwrap().to_owned()],
        _ => shown(dir, &ran),
    }
}

fn replay(name: &str) {
    let cases = AtomicUsize::new(0);
    script::replay(&folder_of_scripts().join(name), || {
        let case = cases.fetch_add(1, Ordering::Relaxed);
        let mut dir = Some(Folder::new(&format!("scripts/{name}/{case}")));
        move |word, rest| {
            if word == "variable" {
                let (name, value) = rest.split_once(' ').unwrap();
                dir = dir.take().map(|dir| dir.variable(name, value));
                return Vec::new();
            }
            let dir = dir.as_ref().unwrap();
            match word {
                "file" => match rest.split_once('\n') {
                    Some((name, text)) => {
                        let lines = text.split('\n').map(|line| line.strip_prefix("    ").unwrap_or(line));
                        dir.write(name, lines.flat_map(|line| [line, "\n"]).collect::<String>());
                    }
                    None => {
                        let (name, text) = rest.split_once(' ').unwrap();
                        dir.write(name, text);
                    }
                },
                "with" => dir.write(rest, fs::read(folder_of_scripts().join(rest)).unwrap()),
                "$" => return shown(dir, &dir.run(rest)),
                "sent" => return sent(dir, rest),
                "shows" => return dir.read(rest).lines().map(str::to_owned).collect(),
                other => panic!("there is no word `{other}`"),
            }
            Vec::new()
        }
    });
}

#[test]
fn call_output_matches_the_script() {
    replay("calls.txt");
}

#[test]
fn project_command_output_matches_the_script() {
    replay("project.txt");
}

//! Arguments that a program runs as code: `sh -c`, `python -c`, what `ssh` sends to a shell.

use super::starters::STARTERS;

/// How code is passed to a program.
enum Takes {
    /// After an option: the letters that a group of short ones ends with, and the long ones.
    Option(&'static str, &'static [&'static str]),
    /// As the first argument that is not an option: the short options that have a value, and those that name a file
    /// instead.
    First(&'static str, &'static str),
    /// As the first argument that is not an option, after this command.
    Command(&'static str),
    /// As all that follows the first argument that is not an option: the short options that have a value.
    Rest(&'static str),
}

/// Programs that run code passed to them, and what keeps a value out of it.
const PROGRAMS: [(&[&str], Takes, &str); 12] = [
    (
        &["ash", "bash", "dash", "fish", "ksh", "sh", "zsh"],
        Takes::Option("c", &["--command"]),
        "write `\"$1\"` in the code, and the name of the program and the value after it: `[sh, -c, 'wc -l -- \"$1\"', sh, \"{file}\"]`",
    ),
    (
        &["runuser", "su"],
        Takes::Option("c", &["--command", "--session-command"]),
        "write a `script` of `shell: true`",
    ),
    (
        &["pypy", "python"],
        Takes::Option("c", &[]),
        "read it from `sys.argv`, and give the value after the code: `[python3, -c, 'import sys; print(sys.argv[1])', \"{text}\"]`",
    ),
    (&["perl"], Takes::Option("eE", &[]), "read it from `@ARGV`, and give the value after `--`"),
    (&["ruby"], Takes::Option("e", &[]), "read it from `ARGV`, and give the value after `--`"),
    (
        &["bun", "node", "nodejs"],
        Takes::Option("ep", &["--eval", "--print"]),
        "read it from `process.argv`, and give the value after `--`",
    ),
    (&["deno"], Takes::Command("eval"), "read it from `Deno.args`, and give the value after the code"),
    (&["php"], Takes::Option("r", &["--run"]), "read it from `$argv`, and give the value after `--`"),
    (
        &["lua", "Rscript", "osascript"],
        Takes::Option("e", &[]),
        "read it from the variables of the environment (`env`)",
    ),
    (
        &["awk", "gawk", "mawk"],
        Takes::First("Fv", "f"),
        "read it from `ENVIRON[\"NAME\"]`, and set the variable under `env`",
    ),
    (
        &["sed"],
        Takes::First("l", "f"),
        "use a program that takes the value as an argument, such as `grep -F` or `perl`",
    ),
    (
        &["ssh"],
        Takes::Rest("BbcDEeFIiJLlmOoPpQRSWw"),
        "send the value on the standard input (`stdin: {text: \"{name}\"}`): a shell on the other machine reads the arguments",
    ),
];

/// Returns the arguments that are code, among the texts of all: their places, the program that runs them, and what to
/// do instead.
pub(super) fn code(texts: &[&str]) -> Vec<(usize, &'static str, &'static str)> {
    let mut found = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        // Only a program that starts others makes one of a later word.
        let starts = || texts.first().is_some_and(|first| is_starter(base(first)));
        if at > 0 && !starts() {
            break;
        }
        let Some((name, takes, help)) = program(base(text)) else { continue };
        let after = texts.get(at + 1..).unwrap_or_default();
        let places = places(takes, after);
        if !places.is_empty() {
            found.extend(places.into_iter().map(|place| (at + 1 + place, name, *help)));
            break;
        }
    }
    found
}

/// Returns the name of a program without its folder and its version: `python` for `/usr/bin/python3.12`.
fn base(text: &str) -> &str {
    let name = text.rsplit('/').next().unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn program(name: &str) -> Option<(&'static str, &'static Takes, &'static &'static str)> {
    PROGRAMS.iter().find_map(|(names, takes, help)| {
        let name = names.iter().find(|known| **known == name)?;
        Some((*name, takes, help))
    })
}

fn is_starter(name: &str) -> bool {
    let others = ["chroot", "find", "flock", "ionice", "parallel", "strace", "time", "unshare", "watch"];
    others.contains(&name) || STARTERS.iter().any(|(known, _)| *known == name)
}

/// Returns which of the arguments of a program are code.
fn places(takes: &Takes, words: &[&str]) -> Vec<usize> {
    match takes {
        Takes::Option(letters, long) => option(letters, long, words).into_iter().collect(),
        Takes::First(valued, files) => first(valued, files, words).into_iter().collect(),
        Takes::Command(command) => match words {
            [own, rest @ ..] if own == command => first("", "", rest).map(|at| at + 1).into_iter().collect(),
            _ => Vec::new(),
        },
        Takes::Rest(valued) => match first(valued, "", words) {
            Some(host) => (host + 1..words.len()).collect(),
            None => Vec::new(),
        },
    }
}

/// Returns the argument of the first option that is followed by code.
fn option(letters: &str, long: &[&str], words: &[&str]) -> Option<usize> {
    for (at, word) in words.iter().enumerate() {
        if let Some((name, _)) = word.split_once('=')
            && long.contains(&name)
        {
            return Some(at);
        }
        let is_group = word.len() > 1 && word.starts_with('-') && !word.starts_with("--");
        if long.contains(word) || (is_group && word.ends_with(|c| letters.contains(c))) {
            let after = words.get(at + 1..)?;
            // `sh -c -- CODE`
            let skipped = usize::from(after.first() == Some(&"--"));
            return after.get(skipped).map(|_| at + 1 + skipped);
        }
        if !word.starts_with(['-', '+']) {
            return None;
        }
    }
    None
}

/// Returns the first argument that is not an option, if no option names a file instead.
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

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn what_programs_run_as_code_is_found() {
        for (words, places) in [
            (&["sh", "-c", "X"][..], &[2][..]),
            (&["/bin/bash", "-e", "-lc", "X", "sh", "v"], &[3]),
            (&["sh", "-c", "--", "X"], &[3]),
            (&["sh", "script.sh", "-c", "v"], &[]),
            (&["env", "-i", "python3.12", "-c", "X", "v"], &[4]),
            (&["echo", "sh", "-c", "v"], &[]),
            (&["perl", "-ne", "X", "v"], &[2]),
            (&["node", "--eval=X", "v"], &[1]),
            (&["deno", "eval", "X"], &[2]),
            (&["deno", "run", "v"], &[]),
            (&["awk", "-F", ":", "X", "v"], &[3]),
            (&["awk", "-f", "program.awk", "v"], &[]),
            (&["ssh", "-p", "22", "host", "ls", "v"], &[4, 5]),
            (&["find", ".", "-exec", "sh", "-c", "X", ";"], &[5]),
            (&["grep", "-e", "v"], &[]),
        ] {
            let found: Vec<usize> = code(words).into_iter().map(|(at, ..)| at).collect();
            assert_eq!(found, places, "{words:?}");
        }
    }
}

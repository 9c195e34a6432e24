//! Arguments that a program runs as code: `sh -c`, `python -c`, what `ssh` sends to a shell. Where nothing says that a
//! program takes data, an argument after what is mostly an option for code counts as such, too. So does a program that
//! another one starts: `env {program}`.

mod places;
mod programs;
mod started;

use self::places::places;
use self::programs::{DATA, base, program, starts};
use self::started::started;

/// An argument that is code, or may be.
pub(super) struct Code<'t> {
    /// Its place among the arguments.
    pub(super) place: usize,
    /// The program that runs it.
    pub(super) program: &'t str,
    /// What to do instead.
    pub(super) help: &'static str,
    /// Whether it surely is code.
    pub(super) sure: bool,
    /// Whether it is a program that is started.
    pub(super) is_started: bool,
}

/// Words after which most programs take code, or a program.
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
    "write the program itself, and a tool for each; or let the argument list those that there are (`enum`)";
const HELP: &str = "keep the code constant, and give it the value as an argument or a variable of its own";

/// Returns the arguments that are code or may be, among the texts of all.
pub(super) fn code<'t>(texts: &[&'t str]) -> Vec<Code<'t>> {
    let Some(first) = texts.first().map(|first| base(first)) else { return Vec::new() };
    if DATA.contains(&first) {
        return Vec::new();
    }
    let chosen = started(texts).into_iter();
    let mut found: Vec<Code<'t>> = chosen
        .map(|(place, program)| Code { place, program, help: STARTED, sure: true, is_started: true })
        .collect();
    // The program whose options the words are, as far as it is known.
    let (mut runs, mut reads) = (first, false);
    for (at, text) in texts.iter().enumerate() {
        let name = base(text);
        if let Some((takes, help)) = program(name) {
            (runs, reads) = (name, true);
            // Only a program that starts others surely makes one of a later word.
            let known = at == 0 || starts(first);
            let after = texts.get(at + 1..).unwrap_or_default();
            let places = places(takes, after);
            let done = !places.is_empty();
            found.extend(places.into_iter().map(|(place, sure)| Code {
                place: at + 1 + place,
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
            let place = if joined { at } else { at + 1 };
            found.push(Code { place, program: runs, help: HELP, sure: false, is_started: false });
        }
    }
    found
}

/// Whether a word is an option for code, or one and its value.
fn is_option(word: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    OPTIONS.iter().any(|option| option.eq_ignore_ascii_case(name))
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
            (&["find", ".", "-exec", "sh", "-c", "X", ";"], &[3, 5]),
            (&["grep", "-e", "v"], &[]),
            // Values of options before it.
            (&["bash", "-eo", "pipefail", "-c", "X"], &[4]),
            (&["bash", "-O", "extglob", "-c", "X"], &[4]),
            (&["python3", "-X", "dev", "-c", "X"], &[4]),
            (&["perl", "-I", "lib", "-e", "X"], &[4]),
            (&["ruby", "-r", "json", "-e", "X", "v"], &[4]),
            (&["perl", "-Mre", "-e", "X", "-e", "Y"], &[2, 3, 5]),
            (&["python3", "-c{X}"], &[1]),
            (&["python3", "-cprint({X})", "v"], &[1]),
            (&["grep", "-c{X}"], &[]),
            // Programs that start others.
            (&["flock", "lock", "-c", "X"], &[3]),
            (&["script", "-qc", "X", "/dev/null"], &[2]),
            (&["script", "-q", "/dev/null", "-c", "X"], &[4]),
            (&["su", "nobody", "-c", "X"], &[3]),
            (&["setpriv", "--nnp", "sh", "-c", "X"], &[4]),
            (&["chrt", "-i", "0", "sh", "-c", "X"], &[5]),
            (&["taskset", "1", "sh", "-c", "X"], &[4]),
            (&["prlimit", "--cpu=1", "sh", "-c", "X"], &[4]),
            (&["busybox", "sh", "-c", "X"], &[3]),
            (&["nsenter", "-t", "1", "sh", "-c", "X"], &[5]),
            (&["ip", "netns", "exec", "n", "sh", "-c", "X"], &[6]),
            (&["systemd-run", "--user", "sh", "-c", "X"], &[4]),
            (&["docker", "exec", "app", "sh", "-c", "X"], &[5]),
            (&["sudo", "-u", "nobody", "bash", "-lc", "X"], &[5]),
            (&["xargs", "-I", "_", "sh", "-c", "X"], &[5]),
            (&["watch", "-n", "1", "X", "v"], &[3, 4]),
            (&["parallel", "X", ":::", "v"], &[1, 2, 3]),
            (&["pwsh", "-NoProfile", "-Command", "X", "v"], &[3, 4]),
            (&["cmd.exe", "/d", "/c", "X", "v"], &[3, 4]),
            (&["git", "-c", "alias.x=X", "x"], &[2]),
            (&["git", "-C", "place", "-c", "X", "x"], &[4]),
            (&["git", "log", "-S", "v"], &[]),
            (&["git", "grep", "-e", "v"], &[]),
            (&["git", "rebase", "--exec", "X"], &[3]),
            (&["git", "clone", "--upload-pack=X", "v"], &[2]),
            (&["make", "--eval", "X"], &[2]),
            (&["make", "--eval={X}"], &[1]),
            (&["make", "{X}"], &[1]),
            (&["make", "-C", "{X}", "-j{Y}", "all"], &[]),
            (&["make", "test", "FILTER={X}"], &[2]),
            (&["tar", "-cf", "{X}", "--to-command={Y}", "{Z}"], &[3]),
            (&["tar", "-xf", "a", "-I", "X"], &[4]),
            (&["rsync", "-ae", "X", "{Y}", "b"], &[2]),
            (&["env", "{X}"], &[1]),
            (&["find", ".", "-exec", "X", "{Y}", ";"], &[3]),
            (&["gawk", "-e", "X"], &[2]),
            (&["sed", "-n", "X", "v"], &[2]),
            (&["sed", "-e", "X", "-e", "Y", "v"], &[2, 4]),
            // Programs that are not known.
            (&["made-up", "-c", "X"], &[2]),
            (&["made-up", "--command={X}"], &[1]),
            (&["made-up", "python3", "-c", "X"], &[3]),
            (&["made-up", "grep", "-e", "v"], &[]),
            (&["made-up", "--config", "v"], &[]),
        ] {
            let mut found: Vec<usize> = code(words).into_iter().map(|code| code.place).collect();
            found.sort_unstable();
            assert_eq!(found, places, "{words:?}");
        }
    }

    #[test]
    fn only_what_is_known_is_surely_code() {
        let sure = |words: &[&str]| code(words).iter().all(|code| code.sure);
        assert!(sure(&["sh", "-c", "X"]) && sure(&["timeout", "5", "sh", "-c", "X"]));
        assert!(!sure(&["made-up", "sh", "-c", "X"]), "perhaps a word like any other");
        assert!(!sure(&["python3", "-u", "script.py", "-c", "X"]), "perhaps an option of the script");
        assert!(!sure(&["made-up", "-c", "X"]));
    }
}

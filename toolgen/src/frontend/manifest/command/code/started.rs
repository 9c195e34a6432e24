//! Finds the argument of a program that is another program to start, as with `env`, `sudo` or `docker exec`.
//!
//! It is unknown whether other options have a value, so the next word could be the program or the value. In that case
//! nothing is reported, since a warning about plain data is useless.

use super::super::variables::is_decisive;
use super::programs::base;

/// A program that starts another.
struct Starter {
    names: &'static [&'static str],
    /// The subcommands that start one; empty if the program always does.
    commands: &'static [&'static str],
    /// The letters of options without a value, and of options with a value.
    flags: &'static str,
    valued: &'static str,
    /// The long options with a value. Other unknown ones are not followed, except for `flags_long`.
    valued_long: &'static [&'static str],
    flags_long: &'static [&'static str],
    /// The number of words before the program: the time of `timeout`, the container of `docker exec`.
    before: usize,
}

const PLAIN: Starter = Starter {
    names: &[],
    commands: &[],
    flags: "",
    valued: "",
    valued_long: &[],
    flags_long: &[],
    before: 0,
};

const STARTERS: [Starter; 25] = [
    Starter {
        names: &["env"],
        flags: "0iv",
        valued: "uC",
        valued_long: &["--unset", "--chdir"],
        flags_long: &["--ignore-environment", "--null", "--debug"],
        ..PLAIN
    },
    Starter {
        names: &["sudo", "doas"],
        flags: "AbEHiKklnPSsVv",
        valued: "CDghpRrTtUu",
        valued_long: &["--chdir", "--group", "--host", "--prompt", "--user"],
        flags_long: &["--login", "--non-interactive", "--preserve-env", "--set-home", "--shell", "--stdin"],
        ..PLAIN
    },
    Starter { names: &["nice"], valued: "n", valued_long: &["--adjustment"], ..PLAIN },
    Starter {
        names: &["bunx", "caffeinate", "fakeroot", "nohup", "proxychains", "torsocks", "unbuffer"],
        flags: "dims",
        flags_long: &["--bun"],
        ..PLAIN
    },
    Starter { names: &["busybox", "toybox"], ..PLAIN },
    Starter { names: &["setsid"], flags: "cfw", flags_long: &["--ctty", "--fork", "--wait"], ..PLAIN },
    Starter { names: &["stdbuf"], valued: "eio", valued_long: &["--error", "--input", "--output"], ..PLAIN },
    Starter {
        names: &["timeout"],
        flags: "fpv",
        valued: "ks",
        valued_long: &["--kill-after", "--signal"],
        flags_long: &["--foreground", "--preserve-status", "--verbose"],
        before: 1,
        ..PLAIN
    },
    Starter {
        names: &["xargs"],
        flags: "0oprtx",
        valued: "adEIJLnPRs",
        valued_long: &["--arg-file", "--delimiter", "--max-args", "--max-chars", "--max-procs"],
        flags_long: &["--interactive", "--no-run-if-empty", "--null", "--open-tty", "--verbose"],
        ..PLAIN
    },
    Starter {
        names: &["time"],
        flags: "apqv",
        valued: "fo",
        valued_long: &["--format", "--output"],
        flags_long: &["--append", "--portability", "--quiet", "--verbose"],
        ..PLAIN
    },
    Starter { names: &["chroot"], before: 1, ..PLAIN },
    Starter { names: &["chrt"], flags: "abdfiorRv", valued: "DPT", before: 1, ..PLAIN },
    Starter {
        names: &["taskset"],
        flags: "ac",
        flags_long: &["--all-tasks", "--cpu-list"],
        before: 1,
        ..PLAIN
    },
    Starter {
        names: &["ionice"],
        flags: "t",
        valued: "cn",
        valued_long: &["--class", "--classdata"],
        ..PLAIN
    },
    Starter {
        names: &["flock"],
        flags: "enosuxF",
        valued: "Ew",
        valued_long: &["--conflict-exit-code", "--timeout"],
        flags_long: &["--close", "--exclusive", "--nonblock", "--shared", "--unlock"],
        before: 1,
        ..PLAIN
    },
    Starter { names: &["nsenter"], flags: "aCFimnpTU", valued: "GSt", valued_long: &["--target"], ..PLAIN },
    Starter { names: &["unshare"], flags: "CcfimnprTUu", valued: "GRSw", flags_long: &["--fork"], ..PLAIN },
    Starter {
        names: &["setpriv"],
        valued_long: &["--groups", "--regid", "--reuid"],
        flags_long: &[
            "--clear-groups",
            "--init-groups",
            "--keep-groups",
            "--nnp",
            "--no-new-privs",
            "--reset-env",
        ],
        ..PLAIN
    },
    Starter {
        names: &["systemd-run"],
        flags: "dGPqrSt",
        valued: "EHMpu",
        valued_long: &["--property", "--setenv", "--unit", "--working-directory"],
        flags_long: &["--collect", "--pipe", "--pty", "--quiet", "--scope", "--user", "--wait"],
        ..PLAIN
    },
    Starter {
        names: &["npx"],
        flags: "yq",
        valued: "p",
        valued_long: &["--package"],
        flags_long: &["--no", "--quiet", "--yes"],
        ..PLAIN
    },
    Starter {
        names: &["uvx"],
        flags: "nqv",
        valued: "p",
        valued_long: &["--from", "--python", "--with"],
        ..PLAIN
    },
    Starter {
        names: &["uv"],
        commands: &["run"],
        flags: "nqv",
        valued: "p",
        valued_long: &["--directory", "--from", "--project", "--python", "--with"],
        flags_long: &[
            "--frozen",
            "--isolated",
            "--locked",
            "--no-project",
            "--no-sync",
            "--offline",
            "--quiet",
        ],
        ..PLAIN
    },
    Starter {
        names: &["npm", "pnpm", "yarn"],
        commands: &["dlx", "exec"],
        flags: "y",
        flags_long: &["--yes"],
        ..PLAIN
    },
    Starter {
        names: &["docker", "nerdctl", "podman"],
        commands: &["exec", "run"],
        flags: "diPqtT",
        valued: "acehlmpuvw",
        valued_long: &[
            "--cpus",
            "--env",
            "--env-file",
            "--hostname",
            "--label",
            "--memory",
            "--mount",
            "--name",
            "--network",
            "--platform",
            "--publish",
            "--pull",
            "--user",
            "--volume",
            "--workdir",
        ],
        flags_long: &[
            "--detach",
            "--init",
            "--interactive",
            "--privileged",
            "--quiet",
            "--read-only",
            "--rm",
            "--tty",
        ],
        before: 1,
    },
    Starter { names: &["ip"], commands: &["exec"], before: 1, ..PLAIN },
];

/// Returns the indices of programs that an argument chooses, with the program that starts each. A word that
/// determines which code a program runs, such as `PATH=…` before the program of `env`, is treated the same.
pub(super) fn started<'t>(texts: &[&'t str]) -> Vec<(usize, &'t str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some((name, next)) = texts.get(at).and_then(|text| {
        let name = base(text);
        Some((name, at + 1 + place(name, texts.get(at + 1..)?, |index| found.push((at + 1 + index, name)))?))
    }) {
        if texts.get(next).is_some_and(|text| text.contains('{')) {
            found.push((next, name));
            break;
        }
        at = next;
    }
    found
}

/// Returns the index of the started program among the arguments; `None` if there is none, or if it is unknown.
fn place(name: &str, words: &[&str], mut decides: impl FnMut(usize)) -> Option<usize> {
    if name == "kubectl" {
        let runs = words.iter().any(|word| ["debug", "exec", "run"].contains(word));
        return words.iter().position(|word| *word == "--").filter(|_| runs).map(|at| at + 1);
    }
    let starter = STARTERS.iter().find(|known| known.names.contains(&name))?;
    let mut at = match starter.commands {
        [] => 0,
        commands => words.iter().position(|word| commands.contains(word))? + 1,
    };
    let (mut before, mut ended) = (starter.before, false);
    loop {
        let word = *words.get(at)?;
        let option = word.strip_prefix('-').filter(|rest| !rest.is_empty() && !ended);
        match option {
            Some("-") => ended = true,
            Some(_) if name == "env" && is_split(word) => {
                let is_joined = word.contains('{');
                return Some(if is_joined { at } else { at + 1 });
            }
            Some(option) => at += usize::from(starter.has_value(option)?),
            None => match word.split_once('=').filter(|_| matches!(name, "env" | "sudo")) {
                Some((variable, _)) => {
                    if variable.contains('{') || is_decisive(variable) && word.contains('{') {
                        decides(at);
                    }
                }
                None if before > 0 => before -= 1,
                None => return Some(at),
            },
        }
        at += 1;
    }
}

/// Whether a word is the option of `env` whose value is a program and its arguments.
fn is_split(word: &str) -> bool {
    word.starts_with("--split-string")
        || word.starts_with('-') && word.trim_start_matches(['-', 'i', 'v']).starts_with('S')
}

impl Starter {
    /// Whether the next word is the value of an option; `None` if unknown.
    fn has_value(&self, option: &str) -> Option<bool> {
        if let Some(name) = option.strip_prefix('-') {
            let long = |known: &&str| known.strip_prefix("--") == Some(name);
            return match name.contains('=') {
                true => Some(false),
                false if self.valued_long.iter().any(&long) => Some(true),
                false => self.flags_long.iter().any(long).then_some(false),
            };
        }
        for (at, letter) in option.char_indices() {
            if self.valued.contains(letter) {
                return Some(at + letter.len_utf8() == option.len());
            }
            if !self.flags.contains(letter) {
                // `nice -5`
                return letter.is_ascii_digit().then_some(false);
            }
        }
        Some(false)
    }
}

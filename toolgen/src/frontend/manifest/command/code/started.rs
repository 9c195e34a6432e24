//! Finds the argument of a program that is another program to start, as with `env`, `sudo` or `docker exec`.
//!
//! If it is unknown whether an option has a value, the next word could be the program or the value. In that case
//! nothing is reported, to avoid false warnings about data.

use super::super::variables::determines_code;
use super::programs::base_name;

/// A program that starts another program.
struct Starter {
    names: &'static [&'static str],
    /// The subcommands that start a program; empty if the program always starts another program.
    commands: &'static [&'static str],
    /// The letters of short options without a value.
    flags: &'static str,
    /// The letters of short options with a value.
    valued: &'static str,
    /// The long options with a value. The search ends at a long option that is neither here nor in `flags_long`.
    valued_long: &'static [&'static str],
    /// The long options without a value.
    flags_long: &'static [&'static str],
    /// The number of words before the program: the time of `timeout`, the container of `docker exec`.
    before: usize,
}

const DEFAULT: Starter = Starter {
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
        ..DEFAULT
    },
    Starter {
        names: &["sudo", "doas"],
        flags: "AbEHiKklnPSsVv",
        valued: "CDghpRrTtUu",
        valued_long: &["--chdir", "--group", "--host", "--prompt", "--user"],
        flags_long: &["--login", "--non-interactive", "--preserve-env", "--set-home", "--shell", "--stdin"],
        ..DEFAULT
    },
    Starter { names: &["nice"], valued: "n", valued_long: &["--adjustment"], ..DEFAULT },
    Starter {
        names: &["bunx", "caffeinate", "fakeroot", "nohup", "proxychains", "torsocks", "unbuffer"],
        flags: "dims",
        flags_long: &["--bun"],
        ..DEFAULT
    },
    Starter { names: &["busybox", "toybox"], ..DEFAULT },
    Starter { names: &["setsid"], flags: "cfw", flags_long: &["--ctty", "--fork", "--wait"], ..DEFAULT },
    Starter {
        names: &["stdbuf"],
        valued: "eio",
        valued_long: &["--error", "--input", "--output"],
        ..DEFAULT
    },
    Starter {
        names: &["timeout"],
        flags: "fpv",
        valued: "ks",
        valued_long: &["--kill-after", "--signal"],
        flags_long: &["--foreground", "--preserve-status", "--verbose"],
        before: 1,
        ..DEFAULT
    },
    Starter {
        names: &["xargs"],
        flags: "0oprtx",
        valued: "adEIJLnPRs",
        valued_long: &["--arg-file", "--delimiter", "--max-args", "--max-chars", "--max-procs"],
        flags_long: &["--interactive", "--no-run-if-empty", "--null", "--open-tty", "--verbose"],
        ..DEFAULT
    },
    Starter {
        names: &["time"],
        flags: "apqv",
        valued: "fo",
        valued_long: &["--format", "--output"],
        flags_long: &["--append", "--portability", "--quiet", "--verbose"],
        ..DEFAULT
    },
    Starter { names: &["chroot"], before: 1, ..DEFAULT },
    Starter { names: &["chrt"], flags: "abdfiorRv", valued: "DPT", before: 1, ..DEFAULT },
    Starter {
        names: &["taskset"],
        flags: "ac",
        flags_long: &["--all-tasks", "--cpu-list"],
        before: 1,
        ..DEFAULT
    },
    Starter {
        names: &["ionice"],
        flags: "t",
        valued: "cn",
        valued_long: &["--class", "--classdata"],
        ..DEFAULT
    },
    Starter {
        names: &["flock"],
        flags: "enosuxF",
        valued: "Ew",
        valued_long: &["--conflict-exit-code", "--timeout"],
        flags_long: &["--close", "--exclusive", "--nonblock", "--shared", "--unlock"],
        before: 1,
        ..DEFAULT
    },
    Starter { names: &["nsenter"], flags: "aCFimnpTU", valued: "GSt", valued_long: &["--target"], ..DEFAULT },
    Starter { names: &["unshare"], flags: "CcfimnprTUu", valued: "GRSw", flags_long: &["--fork"], ..DEFAULT },
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
        ..DEFAULT
    },
    Starter {
        names: &["systemd-run"],
        flags: "dGPqrSt",
        valued: "EHMpu",
        valued_long: &["--property", "--setenv", "--unit", "--working-directory"],
        flags_long: &["--collect", "--pipe", "--pty", "--quiet", "--scope", "--user", "--wait"],
        ..DEFAULT
    },
    Starter {
        names: &["npx"],
        flags: "yq",
        valued: "p",
        valued_long: &["--package"],
        flags_long: &["--no", "--quiet", "--yes"],
        ..DEFAULT
    },
    Starter {
        names: &["uvx"],
        flags: "nqv",
        valued: "p",
        valued_long: &["--from", "--python", "--with"],
        ..DEFAULT
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
        ..DEFAULT
    },
    Starter {
        names: &["npm", "pnpm", "yarn"],
        commands: &["dlx", "exec"],
        flags: "y",
        flags_long: &["--yes"],
        ..DEFAULT
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
    Starter { names: &["ip"], commands: &["exec"], before: 1, ..DEFAULT },
];

/// Returns the indices of words that choose a program by an argument, with the program that starts it. Words that
/// determine which code a program runs, such as `PATH=…` before the program of `env`, are also returned.
pub(super) fn started_programs<'t>(texts: &[&'t str]) -> Vec<(usize, &'t str)> {
    let mut programs = Vec::new();
    let mut index = 0;
    while let Some((name, next)) = texts.get(index).and_then(|text| {
        let (name, start) = (base_name(text), index + 1);
        let report = |offset| programs.push((start + offset, name));
        Some((name, start + started_index(name, texts.get(start..)?, report)?))
    }) {
        if texts.get(next).is_some_and(|text| text.contains('{')) {
            programs.push((next, name));
            break;
        }
        index = next;
    }
    programs
}

/// Returns the index of the started program among the arguments; `None` if there is no such program or it is unknown.
fn started_index(name: &str, words: &[&str], mut report: impl FnMut(usize)) -> Option<usize> {
    if name == "kubectl" {
        let starts_program = words.iter().any(|word| ["debug", "exec", "run"].contains(word));
        return words.iter().position(|word| *word == "--").filter(|_| starts_program).map(|index| index + 1);
    }
    let starter = STARTERS.iter().find(|starter| starter.names.contains(&name))?;
    let mut index = match starter.commands {
        [] => 0,
        commands => words.iter().position(|word| commands.contains(word))? + 1,
    };
    let (mut remaining_operands, mut options_ended) = (starter.before, false);
    loop {
        let word = *words.get(index)?;
        let option = word.strip_prefix('-').filter(|option| !option.is_empty() && !options_ended);
        match option {
            Some("-") => options_ended = true,
            Some(_) if name == "env" && is_split_string(word) => {
                let is_joined = word.contains('{');
                return Some(if is_joined { index } else { index + 1 });
            }
            Some(option) => index += usize::from(starter.has_value(option)?),
            None => match word.split_once('=').filter(|_| matches!(name, "env" | "sudo")) {
                Some((variable, _)) => {
                    if variable.contains('{') || determines_code(variable) && word.contains('{') {
                        report(index);
                    }
                }
                None if remaining_operands > 0 => remaining_operands -= 1,
                None => return Some(index),
            },
        }
        index += 1;
    }
}

/// Whether a word is the option of `env` whose value is a program and its arguments.
fn is_split_string(word: &str) -> bool {
    word.starts_with("--split-string")
        || word.starts_with('-') && word.trim_start_matches(['-', 'i', 'v']).starts_with('S')
}

impl Starter {
    /// Whether the next word is the value of an option; `None` if unknown.
    fn has_value(&self, option: &str) -> Option<bool> {
        if let Some(name) = option.strip_prefix('-') {
            let is_option = |long_option: &&str| long_option.strip_prefix("--") == Some(name);
            return match name.contains('=') {
                true => Some(false),
                false if self.valued_long.iter().any(&is_option) => Some(true),
                false => self.flags_long.iter().any(is_option).then_some(false),
            };
        }
        for (index, letter) in option.char_indices() {
            if self.valued.contains(letter) {
                return Some(index + letter.len_utf8() == option.len());
            }
            if !self.flags.contains(letter) {
                // `nice -5`
                return letter.is_ascii_digit().then_some(false);
            }
        }
        Some(false)
    }
}

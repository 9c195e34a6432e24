//! Programs that run code passed to them, programs that start others, and programs that only take data.

use super::super::starters::STARTERS;

/// How code is passed to a program.
pub(super) enum Takes {
    /// After an option: the last letters of a group of short options, and the long ones.
    Option(&'static str, &'static [&'static str]),
    /// After such an option, in any position.
    Anywhere(&'static str, &'static [&'static str]),
    /// As the first argument that is not an option, or after an option for code: the short options that have a value,
    /// those that name a file instead, and those for code with their long forms.
    First(&'static str, &'static str, &'static str, &'static [&'static str]),
    /// Possibly as any argument that is not an option, or after an option for code: the short options that have a
    /// value, and the long ones for code.
    Words(&'static str, &'static [&'static str]),
    /// As the first argument that is not an option, after this command.
    Command(&'static str),
    /// As everything that follows a number of arguments that are not options: the short options that have a value.
    Rest(&'static str, usize),
    /// As everything that follows one of these options, in any case.
    After(&'static [&'static str]),
}

type Program = (&'static [&'static str], Takes, &'static str);

const ELSE: &str = "read it from an environment variable (`env`)";

/// Programs that run code passed to them, and how to keep a value from being code.
const PROGRAMS: [Program; 24] = [
    (
        &[
            "ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "rbash", "sh", "tcsh",
            "xonsh", "yash", "zsh",
        ],
        Takes::Option("c", &["--command"]),
        "write `\"$1\"` in the code, and the name of the program and the value after it: `[sh, -c, 'wc -l -- \"$1\"', sh, \"{file}\"]`",
    ),
    (
        &["flock", "runuser", "script", "su"],
        Takes::Anywhere("c", &["--command", "--session-command"]),
        "write a `script` of `shell: true`",
    ),
    (
        &["ipython", "pypy", "python"],
        Takes::Option("c", &[]),
        "read it from `sys.argv`, and pass the value after the code: `[python3, -c, 'import sys; \
         print(sys.argv[1])', \"{text}\"]`",
    ),
    (&["perl"], Takes::Option("eE", &[]), "read it from `@ARGV`, and pass the value after `--`"),
    (&["ruby"], Takes::Option("e", &[]), "read it from `ARGV`, and pass the value after `--`"),
    (
        &["bun", "node", "nodejs"],
        Takes::Option("ep", &["--eval", "--print"]),
        "read it from `process.argv`, and pass the value after `--`",
    ),
    (&["deno"], Takes::Command("eval"), "read it from `Deno.args`, and pass the value after the code"),
    (
        &["php"],
        Takes::Option("rBRE", &["--run", "--process-begin", "--process-code", "--process-end"]),
        "read it from `$argv`, and pass the value after `--`",
    ),
    (&["guile"], Takes::Option("ce", &[]), ELSE),
    (
        &["elixir", "groovy", "julia", "lua", "luajit", "osascript", "Rscript", "scala"],
        Takes::Option("eE", &["--eval", "--print"]),
        ELSE,
    ),
    (&["emacs", "erl", "octave"], Takes::Anywhere("", &["--eval", "--execute", "-eval", "-execute"]), ELSE),
    (&["nvim", "vi", "view", "vim"], Takes::Anywhere("c", &["--cmd"]), ELSE),
    (&["gdb", "lldb"], Takes::Anywhere("o", &["-ex", "-iex", "--eval-command", "--one-line"]), ELSE),
    (
        &["awk", "gawk", "mawk", "nawk"],
        Takes::First("Fv", "f", "e", &["--source"]),
        "read it from `ENVIRON[\"NAME\"]`, and set the variable under `env`",
    ),
    (
        &["gsed", "sed"],
        Takes::First("l", "f", "e", &["--expression"]),
        "use a program that takes the value as an argument, such as `grep -F` or `perl`",
    ),
    (
        &["ssh"],
        Takes::Rest("BbcDEeFIiJLlmOoPpQRSWw", 1),
        "send the value to standard input (`stdin: {text: \"{name}\"}`): a shell on the other machine reads the \
         arguments",
    ),
    (
        &["watch"],
        Takes::Rest("nq", 0),
        "write a tool for the program itself: `watch` passes its arguments to a shell",
    ),
    (
        &["parallel", "sem"],
        Takes::Rest("aCdEIjLnNPSsU", 0),
        "use `xargs`: `parallel` passes its arguments to a shell",
    ),
    (
        &["powershell", "pwsh"],
        Takes::After(&["-c", "-command", "-commandwithargs", "-cwa", "-e", "-ec", "-enc", "-encodedcommand"]),
        "write a script file with parameters, and run it by `-File`",
    ),
    (&["cmd"], Takes::After(&["/c", "/k", "/r"]), "start the program itself, without `cmd`"),
    (
        &["git"],
        Takes::Option("c", &["--config-env", "--exec-path"]),
        "keep settings constant: many of them are programs",
    ),
    (
        &["bsdtar", "gtar", "tar"],
        Takes::Anywhere(
            "FI",
            &[
                "--checkpoint-action",
                "--info-script",
                "--new-volume-script",
                "--rmt-command",
                "--rsh-command",
                "--to-command",
                "--use-compress-program",
            ],
        ),
        "keep the program that `tar` starts constant",
    ),
    (
        &["rsync"],
        Takes::Anywhere("e", &["--rsh", "--rsync-path"]),
        "keep the program that `rsync` starts constant",
    ),
    (
        &["gmake", "make"],
        Takes::Words("CfIjloW", &["--eval"]),
        "list the targets (`enum`): a recipe runs the value of others, such as `SHELL=…`; pass a string as an \
         environment variable (`env`), and read it in a recipe as `\"$$NAME\"`",
    ),
];

/// Long options of `git` that name a program, in any position.
pub(super) const GIT: [&str; 5] =
    ["--exec", "--extcmd", "--open-files-in-pager", "--receive-pack", "--upload-pack"];

/// Programs that start others, in addition to those that do not recognise `--` for the other one.
const OTHERS: [&str; 26] = [
    "bwrap",
    "busybox",
    "chpst",
    "chroot",
    "chrt",
    "exec",
    "find",
    "firejail",
    "ionice",
    "ip",
    "nsenter",
    "numactl",
    "parallel",
    "prlimit",
    "runuser",
    "setarch",
    "setpriv",
    "strace",
    "su",
    "systemd-run",
    "taskset",
    "time",
    "toybox",
    "unshare",
    "watch",
    "flock",
];

/// Programs all of whose options take data.
pub(super) const DATA: [&str; 56] = [
    "ack",
    "ag",
    "basename",
    "bzip",
    "cat",
    "cc",
    "clang",
    "cmp",
    "column",
    "cp",
    "curl",
    "cut",
    "date",
    "dd",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expand",
    "fgrep",
    "file",
    "fold",
    "g++",
    "gcc",
    "grep",
    "gzip",
    "head",
    "hexdump",
    "join",
    "jq",
    "ls",
    "md5sum",
    "mkdir",
    "mv",
    "nl",
    "od",
    "paste",
    "ping",
    "printf",
    "ps",
    "readlink",
    "rev",
    "rg",
    "rm",
    "rustc",
    "sha256sum",
    "sort",
    "stat",
    "tail",
    "test",
    "tr",
    "uniq",
    "wc",
    "xz",
];

/// Returns the name of a program without its directory and its version: `python` for `/usr/bin/python3.12`.
pub(super) fn base(text: &str) -> &str {
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    if DATA.contains(&name) {
        return name;
    }
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// Returns how code is passed to the program of this name, and the help.
pub(super) fn program(name: &str) -> Option<(&'static Takes, &'static str)> {
    PROGRAMS.iter().find(|(names, ..)| names.contains(&name)).map(|(_, takes, help)| (takes, *help))
}

/// Whether the program of this name starts others.
pub(super) fn starts(name: &str) -> bool {
    OTHERS.contains(&name) || STARTERS.iter().any(|(known, _)| *known == name)
}

//! Programs that run code passed to them, programs that start other programs, and programs that only take data.

use super::super::starters::STARTERS;

/// The arguments of a program that are code.
pub(super) enum CodeArgument {
    /// The argument after an option: the letters that may end a group of short options, and the long options.
    Option(&'static str, &'static [&'static str]),
    /// The argument after an option in any position: as for `Option`.
    Anywhere(&'static str, &'static [&'static str]),
    /// The first argument that is not an option, or the argument after an option for code: the short options with a
    /// value, the short options that name a file instead, the short options for code, and the long options for code.
    First(&'static str, &'static str, &'static str, &'static [&'static str]),
    /// Possibly any argument that is not an option, or the argument after an option for code: the short options with a
    /// value, and the long options for code.
    Words(&'static str, &'static [&'static str]),
    /// The first argument after this subcommand that is not an option.
    Subcommand(&'static str),
    /// All arguments after a number of arguments that are not options: the short options with a value, and the number.
    Rest(&'static str, usize),
    /// All arguments after one of these case-insensitive options.
    After(&'static [&'static str]),
}

type Program = (&'static [&'static str], CodeArgument, &'static str);

const ENV_HELP: &str = "read it from an environment variable (`env`)";

/// Programs that run code passed to them, their arguments that are code, and the help.
const PROGRAMS: [Program; 24] = [
    (
        &[
            "ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "rbash", "sh", "tcsh",
            "xonsh", "yash", "zsh",
        ],
        CodeArgument::Option("c", &["--command"]),
        "write `\"$1\"` in the code, and the name of the program and the value after it: `[sh, -c, 'wc -l -- \"$1\"', sh, \"{file}\"]`",
    ),
    (
        &["flock", "runuser", "script", "su"],
        CodeArgument::Anywhere("c", &["--command", "--session-command"]),
        "write a `script` of `shell: true`",
    ),
    (
        &["ipython", "pypy", "python"],
        CodeArgument::Option("c", &[]),
        "read it from `sys.argv`, and pass the value after the code: `[python3, -c, 'import sys; \
         print(sys.argv[1])', \"{text}\"]`",
    ),
    (&["perl"], CodeArgument::Option("eE", &[]), "read it from `@ARGV`, and pass the value after `--`"),
    (&["ruby"], CodeArgument::Option("e", &[]), "read it from `ARGV`, and pass the value after `--`"),
    (
        &["bun", "node", "nodejs"],
        CodeArgument::Option("ep", &["--eval", "--print"]),
        "read it from `process.argv`, and pass the value after `--`",
    ),
    (
        &["deno"],
        CodeArgument::Subcommand("eval"),
        "read it from `Deno.args`, and pass the value after the code",
    ),
    (
        &["php"],
        CodeArgument::Option("rBRE", &["--run", "--process-begin", "--process-code", "--process-end"]),
        "read it from `$argv`, and pass the value after `--`",
    ),
    (&["guile"], CodeArgument::Option("ce", &[]), ENV_HELP),
    (
        &["elixir", "groovy", "julia", "lua", "luajit", "osascript", "Rscript", "scala"],
        CodeArgument::Option("eE", &["--eval", "--print"]),
        ENV_HELP,
    ),
    (
        &["emacs", "erl", "octave"],
        CodeArgument::Anywhere("", &["--eval", "--execute", "-eval", "-execute"]),
        ENV_HELP,
    ),
    (&["nvim", "vi", "view", "vim"], CodeArgument::Anywhere("c", &["--cmd"]), ENV_HELP),
    (
        &["gdb", "lldb"],
        CodeArgument::Anywhere("o", &["-ex", "-iex", "--eval-command", "--one-line"]),
        ENV_HELP,
    ),
    (
        &["awk", "gawk", "mawk", "nawk"],
        CodeArgument::First("Fv", "f", "e", &["--source"]),
        "read it from `ENVIRON[\"NAME\"]`, and set the variable under `env`",
    ),
    (
        &["gsed", "sed"],
        CodeArgument::First("l", "f", "e", &["--expression"]),
        "use a program that takes the value as an argument, such as `grep -F` or `perl`",
    ),
    (
        &["ssh"],
        CodeArgument::Rest("BbcDEeFIiJLlmOoPpQRSWw", 1),
        "send the value to standard input (`stdin: {text: \"{name}\"}`): a shell on the other machine reads the \
         arguments",
    ),
    (
        &["watch"],
        CodeArgument::Rest("nq", 0),
        "write a tool for the program itself: `watch` passes its arguments to a shell",
    ),
    (
        &["parallel", "sem"],
        CodeArgument::Rest("aCdEIjLnNPSsU", 0),
        "use `xargs`: `parallel` passes its arguments to a shell",
    ),
    (
        &["powershell", "pwsh"],
        CodeArgument::After(&[
            "-c",
            "-command",
            "-commandwithargs",
            "-cwa",
            "-e",
            "-ec",
            "-enc",
            "-encodedcommand",
        ]),
        "write a script file with parameters, and run it by `-File`",
    ),
    (&["cmd"], CodeArgument::After(&["/c", "/k", "/r"]), "start the program itself, without `cmd`"),
    (
        &["git"],
        CodeArgument::Option("c", &["--config-env", "--exec-path"]),
        "keep settings constant: many of them are programs",
    ),
    (
        &["bsdtar", "gtar", "tar"],
        CodeArgument::Anywhere(
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
        CodeArgument::Anywhere("e", &["--rsh", "--rsync-path"]),
        "keep the program that `rsync` starts constant",
    ),
    (
        &["gmake", "make"],
        CodeArgument::Words("CfIjloW", &["--eval"]),
        "list the targets (`enum`): a recipe runs the value of others, such as `SHELL=…`; pass a string as an \
         environment variable (`env`), and read it in a recipe as `\"$$NAME\"`",
    ),
];

/// Long options of `git` that name a program, in any position.
pub(super) const GIT_OPTIONS: [&str; 5] =
    ["--exec", "--extcmd", "--open-files-in-pager", "--receive-pack", "--upload-pack"];

/// Programs that start other programs, in addition to [`STARTERS`].
const OTHER_STARTERS: [&str; 26] = [
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

/// Programs whose options all take data.
pub(super) const DATA_PROGRAMS: [&str; 56] = [
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
pub(super) fn base_name(text: &str) -> &str {
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    if DATA_PROGRAMS.contains(&name) {
        return name;
    }
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// Returns the arguments of the program with this name that are code, and the help.
pub(super) fn code_argument(name: &str) -> Option<(&'static CodeArgument, &'static str)> {
    PROGRAMS.iter().find(|(names, ..)| names.contains(&name)).map(|(_, argument, help)| (argument, *help))
}

/// Whether the program with this name starts other programs.
pub(super) fn is_starter(name: &str) -> bool {
    OTHER_STARTERS.contains(&name) || STARTERS.iter().any(|(starter, _)| *starter == name)
}

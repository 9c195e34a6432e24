//! Programs that are started, as data.

use crate::base::frozen::{List, Text};
use crate::spec::template::{Condition, Template};

/// A program to start: how the arguments of a call are passed, and how its output is interpreted.
///
/// A placeholder is part of one argument of the program and is never interpreted by a shell.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandPlan {
    /// The program and its arguments. With `script`, the positional parameters of the script.
    pub argv: List<ArgvTemplate>,
    /// A script for `sh`. It contains no placeholders: the variables of `env` and the positional parameters pass the
    /// values. Empty for none.
    pub script: Text,
    /// The standard input of the program.
    pub stdin: Stdin,
    /// The environment variables that are set, by name.
    pub env: List<(Text, Template)>,
    /// The environment variables that the program inherits, in addition to those that the executor passes.
    pub inherit: List<Text>,
    /// The working directory, relative to that of the context. `None` uses that of the context.
    pub work_dir: Option<Template>,
    /// The format of the standard output.
    pub output: CommandOutput,
    /// The meaning of exit codes. Of codes that are not listed, 0 is success, and all others are failures.
    pub exit_codes: List<ExitCode>,
    /// Whether each line of output is reported as progress while the program runs.
    pub stream: bool,
    /// Maximum size of the output, and of the error output, in bytes; 0 for the default of the executor.
    pub max_output: u64,
    /// Maximum number of processors; `None` for no limit.
    pub cpus: Option<f64>,
    /// Maximum memory, in bytes; `None` for no limit.
    pub memory: Option<u64>,
    /// Maximum number of concurrent processes; `None` for no limit.
    pub pids: Option<u32>,
    /// Other programs that must be available, in addition to the one that is started.
    pub programs: List<Text>,
}

impl CommandPlan {
    /// A command without a program: the base of every literal.
    pub const EMPTY: CommandPlan = CommandPlan {
        argv: List::EMPTY,
        script: Text::EMPTY,
        stdin: Stdin::Nothing,
        env: List::EMPTY,
        inherit: List::EMPTY,
        work_dir: None,
        output: CommandOutput::Text,
        exit_codes: List::EMPTY,
        stream: false,
        max_output: 0,
        cpus: None,
        memory: None,
        pids: None,
        programs: List::EMPTY,
    };
}

/// One or several arguments of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgvTemplate {
    /// One argument. It is omitted if an optional value in it is missing.
    One {
        /// The text of the argument.
        text: Template,
        /// Whether a value at the start of the argument may begin with `-`, which makes it an option. Values after an
        /// argument `--` always may.
        allow_leading_dash: bool,
    },
    /// One argument for each item of a list.
    Each {
        /// The list.
        list: Template,
        /// Whether an item may begin with `-`.
        allow_leading_dash: bool,
    },
    /// Arguments that are omitted together if an optional value in any of them is missing, or if the condition does
    /// not hold.
    Group {
        /// The condition, if there is one.
        condition: Option<Condition>,
        /// The arguments.
        words: List<ArgvTemplate>,
    },
}

/// The standard input of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Stdin {
    /// No input: standard input is closed.
    Nothing,
    /// This text.
    Text(Template),
    /// The arguments of the call, as one JSON object.
    Arguments,
}

/// The format of the standard output of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutput {
    /// Text.
    Text,
    /// One JSON value.
    Json,
    /// A JSON value on each line; the result is a list of them.
    JsonLines,
    /// One JSON object: `{"result": …}`, `{"results": […]}`, or `{"error": "…", "code": "…"}`.
    Envelope,
}

/// The meaning of an exit code.
#[derive(Clone, Debug, PartialEq)]
pub struct ExitCode {
    /// The code; 128 plus the signal number if a signal ended the program. [`ExitCode::OTHER`] stands for all codes
    /// that are neither 0 nor listed.
    pub code: i32,
    /// Whether the call succeeded.
    pub success: bool,
    /// A message for the model, before the output. May be empty.
    pub message: Text,
}

impl ExitCode {
    /// The code that stands for all codes that are neither 0 nor listed. If these codes are a success, the result
    /// consists of the exit code and all output: the tool runs code of the model, which learns from the outcome.
    pub const OTHER: i32 = -1;
}

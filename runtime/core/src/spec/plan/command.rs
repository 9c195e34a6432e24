//! A program that is started, as data.

use crate::base::frozen::{List, Text};
use crate::spec::template::{Condition, Template};

/// A program to start: where the arguments of a call go, and what its output means.
///
/// A placeholder is part of one argument of the program and is never read by a shell.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandPlan {
    /// The program and its arguments. With `script`, the positional parameters of the script.
    pub argv: List<ArgvTemplate>,
    /// A script for `sh`. It holds no placeholders: the variables of `env` and the positional parameters carry them.
    /// Empty for none.
    pub script: Text,
    /// What the program reads from its standard input.
    pub stdin: Stdin,
    /// The environment variables that are set, by their names.
    pub env: List<(Text, Template)>,
    /// The variables of the process's own environment that the program gets, in addition to those the executor passes.
    pub inherit: List<Text>,
    /// The working directory; relative to that of the context. `None` is that of the context.
    pub work_dir: Option<Template>,
    /// What the standard output holds.
    pub output: CommandOutput,
    /// What exit codes mean. Codes that are not listed: 0 is success, all others are failures.
    pub exit_codes: List<ExitCode>,
    /// Whether each line of output is an update of the call while the program runs.
    pub stream: bool,
    /// The most bytes of output that are kept, and as many of errors; 0 for the default of the executor.
    pub max_output: u64,
    /// The number of processors the program may use; `None` is not a limit.
    pub cpus: Option<f64>,
    /// The memory the program may use, in bytes; `None` is not a limit.
    pub memory: Option<u64>,
    /// The number of simultaneous processes; `None` is not a limit.
    pub pids: Option<u32>,
    /// Further programs that must be available, in addition to the one that is started.
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
    /// One argument. It is left out if an optional value of it is missing.
    One {
        /// The text of the argument.
        text: Template,
        /// Whether a value may be the start of the argument and begin with `-`, which makes it an option. Values after
        /// an argument `--` always may.
        allow_leading_dash: bool,
    },
    /// One argument for each item of a list.
    Each {
        /// The list.
        list: Template,
        /// Whether an item may begin with `-`.
        allow_leading_dash: bool,
    },
    /// Arguments that are left out together if an optional value of any is missing, or the condition does not hold.
    Group {
        /// The condition, if there is one.
        condition: Option<Condition>,
        /// The arguments.
        words: List<ArgvTemplate>,
    },
}

/// What a program reads from its standard input.
#[derive(Clone, Debug, PartialEq)]
pub enum Stdin {
    /// Nothing: it is closed.
    Nothing,
    /// A text.
    Text(Template),
    /// The arguments of the call, as one JSON object.
    Arguments,
}

/// What the standard output of a program holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutput {
    /// Text.
    Text,
    /// One JSON value.
    Json,
    /// A JSON value on each line; the result is their list.
    JsonLines,
    /// One JSON object: `{"result": …}`, `{"results": […]}`, or `{"error": "…", "code": "…"}`.
    Envelope,
}

/// The meaning of an exit code.
#[derive(Clone, Debug, PartialEq)]
pub struct ExitCode {
    /// The code; 128 plus the signal number if a signal ended the program. [`ExitCode::OTHER`] stands for all codes that
    /// are neither 0 nor listed.
    pub code: i32,
    /// Whether the call succeeded.
    pub success: bool,
    /// A text for the model, before the output. May be empty.
    pub message: Text,
}

impl ExitCode {
    /// The code of the meaning of all codes that are neither 0 nor listed. If they are a success, the code and all output
    /// are the result: the tool runs what a model writes, and the model learns from how that ends.
    pub const OTHER: i32 = -1;
}

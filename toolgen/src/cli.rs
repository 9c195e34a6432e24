//! The command line: the only part of `toolgen` that prints.
//!
//! [`args`] turns words into an [`args::Invocation`], a file a command carries it out, [`output`] writes. Results
//! go to the standard output, everything said about them to the standard error, so that a result can be piped.

mod args;
mod call;
mod check;
mod compile;
mod docs;
mod explain;
mod generate;
mod list;
mod output;
mod schema;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use args::{Invocation, Task};
use output::Output;

/// How a command ended, unless writing its result failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// As it should.
    Fine,
    /// Problems were found; they have been shown.
    Problems,
    /// The command cannot be carried out as it was given; why has been shown.
    Usage,
}

/// Runs the command line and gives the exit code: 0 fine, 1 problems found, 2 wrong usage.
pub(crate) fn main(words: Vec<OsString>) -> ExitCode {
    let invocation = match args::parse(words) {
        Ok(invocation) => invocation,
        Err(error) => {
            // Help and version are errors of code 0 to the parser. A reader who has left does not matter.
            let _ = error.print();
            return exit(if error.exit_code() == 0 { Outcome::Fine } else { Outcome::Usage });
        }
    };
    let mut output = Output::new();
    let result = run(&invocation, &mut output).and_then(|outcome| output.finish().map(|()| outcome));
    match result {
        Ok(outcome) => exit(outcome),
        // The reader, such as `head`, has what it wants.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => exit(Outcome::Fine),
        Err(error) => {
            output.complain(&format!("the result cannot be written: {error}"));
            exit(Outcome::Problems)
        }
    }
}

fn run(invocation: &Invocation, output: &mut Output) -> io::Result<Outcome> {
    match &invocation.task {
        Task::Check(task) => check::run(task, output),
        Task::List(task) => list::run(task, output),
        Task::Schema(task) => schema::run(task, output),
        Task::Docs(task) => docs::run(task, output),
        Task::Generate(task) => generate::run(task, output),
        Task::Call(task) => call::run(task, output),
        Task::Explain(task) => explain::run(task, output),
    }
}

fn exit(outcome: Outcome) -> ExitCode {
    ExitCode::from(match outcome {
        Outcome::Fine => 0,
        Outcome::Problems => 1,
        Outcome::Usage => 2,
    })
}

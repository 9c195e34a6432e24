//! `cargo toolgen`: tools for LLM agents from the command line, the only part of the compiler that prints.
//!
//! [`args`] parses the arguments into an [`args::Invocation`], one module per command runs it, and [`output`] prints.
//! Results go to standard output, diagnostics to standard error, so that results can be piped.
//!
//! The program is a library so that tests of the workspace can turn on its features; it is no interface.
#![doc(hidden)]

mod approvals;
mod args;
mod bin;
mod call;
mod check;
mod compile;
mod diff;
mod discovery;
mod docs;
mod doctor;
mod engines;
mod explain;
mod fetch;
mod generate;
mod graph;
mod init;
mod list;
mod lock;
mod mcp;
mod new;
mod output;
mod output_file;
mod policy;
mod prompt;
mod record;
mod schema;
mod serve;
mod shell;
mod store_location;
mod test;
mod timeline;
#[cfg_attr(not(feature = "tokens"), path = "without_tokens.rs")]
mod tokens;

use std::io;
use std::process::{Command, ExitCode};

use args::{Invocation, Task};
use output::Output;

/// The outcome of a command, unless writing its result failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Success.
    Fine,
    /// Errors were reported, and have been printed.
    Problems,
    /// Usage error; the reason has been printed.
    Usage,
}

/// Runs the command line and returns the exit code: 0 success, 1 errors, 2 usage error.
#[must_use]
pub fn main() -> ExitCode {
    let invocation = match args::parse(std::env::args_os().collect()) {
        Ok(invocation) => invocation,
        Err(error) => {
            // clap treats help and version as errors with exit code 0. A closed output is ignored.
            let _ = error.print();
            return exit(if error.exit_code() == 0 { Outcome::Fine } else { Outcome::Usage });
        }
    };
    let mut output = Output::new();
    let result = run(&invocation, &mut output).and_then(|outcome| output.finish().map(|()| outcome));
    match result {
        Ok(outcome) => exit(outcome),
        // The reader, such as `head`, closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => exit(Outcome::Fine),
        Err(error) => {
            output.error(&format!("the result cannot be written: {error}"));
            exit(Outcome::Problems)
        }
    }
}

fn run(invocation: &Invocation, output: &mut Output) -> io::Result<Outcome> {
    match &invocation.task {
        Task::Check(task) => check::run(task, output),
        Task::Lock(task) => lock::run(task, output),
        Task::Diff(task) => diff::run(task, output),
        Task::List(task) => list::run(task, output),
        Task::Schema(task) => schema::run(task, output),
        Task::Docs(task) => docs::run(task, output),
        Task::Generate(task) => generate::run(task, output),
        Task::Policy(task) => policy::run(task, output),
        Task::Call(task) => call::run(task, output),
        Task::Serve(task) => serve::run(task, output),
        Task::Explain(task) => explain::run(task, output),
        Task::Graph(task) => graph::run(task, output),
        Task::Bin(task) => bin::run(task, output),
        Task::Mcp(task) => mcp::run(task, output),
        Task::Init(task) => init::run(task, output),
        Task::New(task) => new::run(task, output),
        Task::Test(task) => test::run(task, output),
        Task::Record(task) => record::run(task, output),
        Task::Timeline(task) => timeline::run(task, output),
        Task::Approvals(task) => approvals::run(task, output),
        Task::Tokens(task) => tokens::run(task, output),
        Task::Doctor(task) => doctor::run(task, output),
        Task::Completions(task) => shell::completions(task.shell, output),
        Task::Man(task) => shell::man(&task.dir, output),
    }
}

fn exit(outcome: Outcome) -> ExitCode {
    ExitCode::from(match outcome {
        Outcome::Fine => 0,
        Outcome::Problems => 1,
        Outcome::Usage => 2,
    })
}

/// Says how to get what this build of the program lacks.
#[cfg_attr(
    all(feature = "postgres", feature = "redis", feature = "sqlite", feature = "tokens", feature = "man"),
    expect(dead_code, reason = "this build lacks nothing")
)]
fn lacks_feature(feature: &str, what: &str) -> String {
    format!(
        "this build of cargo-toolgen has no {what}: install it with the feature `{feature}` (`cargo install cargo-toolgen \
         --features {feature}`), or take a published binary, which has everything"
    )
}

/// Returns the cargo that runs this command, or the one in `PATH`.
fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

//! A program that runs one call of a tool.

use std::ffi::OsString;
use std::fmt;
#[cfg(unix)]
use std::future::poll_fn;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;
#[cfg(unix)]
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;
use toolgen_core::internal::closest_match;

use super::{MAX_INPUT_BYTES, OneShotOutput, run_call, unreadable};
use crate::base::printable::printable;
use crate::call::Turn;
use crate::call::error::ToolError;
use crate::toolbox::{ToolMeta, Toolbox};

/// The time that the program waits at its end for work that cannot be interrupted.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// The request of the command line.
enum Request {
    Help,
    List,
    Schema(Option<String>),
    Call(Option<String>),
}

/// Runs a program that runs one call and exits: `NAME TOOL < arguments.json`. The name of the tool may be omitted if
/// there is only one tool. `--list` prints the tools as JSON, `--schema TOOL` prints the schema of its arguments, and
/// `--help` describes the usage.
///
/// Standard output gets one JSON object, see [`one_shot`](super). Progress, and error details that only an operator may
/// see, go to standard error. The size of the arguments is limited to [`MAX_INPUT_BYTES`]. An
/// interruption (`SIGINT`, `SIGTERM`) cancels the call, which ends the programs that it started.
///
/// `args` is the command line, with the name of the program first; `toolbox` builds the toolbox, in the asynchronous
/// runtime of the program. Disable paging there ([`without_paging`](crate::toolbox::ToolboxBuilder::without_paging)),
/// because there is no second call to read the rest of a result.
///
/// ```no_run
/// use std::process::ExitCode;
/// use toolgen_runtime::toolbox::{Toolbox, ToolboxError, one_shot};
/// use toolgen_runtime::{Registry, tool, toolset};
///
/// /// Adds two numbers.
/// #[tool(read_only, undocumented)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// fn toolbox() -> Result<Toolbox, ToolboxError> {
///     let registry = Registry::new(toolset![add]).map_err(ToolboxError::NotSealed)?;
///     Toolbox::builder(&registry).without_paging().build()
/// }
///
/// fn main() -> ExitCode {
///     one_shot::main(std::env::args_os(), toolbox)
/// }
/// ```
pub fn main<E: fmt::Display>(
    args: impl IntoIterator<Item = OsString>,
    toolbox: impl FnOnce() -> Result<Toolbox, E>,
) -> ExitCode {
    let mut args = args.into_iter();
    let name = args.next().unwrap_or_default();
    let name = Path::new(&name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (text, status) = match run(&name, args, toolbox) {
        Ok((text, status)) => (text, status),
        Err(response) => (response.json.to_string(), response.status),
    };
    match writeln!(io::stdout(), "{text}") {
        // A reader that closes the pipe needs no more output.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "the output cannot be written: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::from(status),
    }
}

/// Returns the content of standard output, and the exit status.
fn run<E: fmt::Display>(
    name: &str,
    args: impl Iterator<Item = OsString>,
    toolbox: impl FnOnce() -> Result<Toolbox, E>,
) -> Result<(String, u8), OneShotOutput> {
    let request = parse_args(name, args).map_err(|error| usage_error("INVALID_INPUT", error))?;
    let failed = |reason: String| OneShotOutput::failed(&ToolError::failed(reason));
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(format!("The program cannot run: {error}")))?;
    let toolbox = {
        let _guard = runtime.enter();
        toolbox().map_err(|error| failed(error.to_string()))?
    };
    let tools = toolbox.list();
    let output = match request {
        Request::Help => (printable(&help(name, &tools)).into_owned(), 0),
        Request::List => {
            let tools: Vec<Value> = tools.iter().map(ToolMeta::to_json).collect();
            (json!({ "tools": tools }).to_string(), 0)
        }
        Request::Schema(tool) => (find_tool(tool, &tools)?.input_schema.to_string(), 0),
        Request::Call(tool) => {
            let tool = find_tool(tool, &tools)?;
            let input = read_input().map_err(|error| OneShotOutput::failed(&unreadable(&error)))?;
            let response = runtime.block_on(run_interruptible(&toolbox, &tool.name, &input));
            if !response.detail.is_empty() {
                let _ = writeln!(io::stderr(), "{}", printable(&response.detail));
            }
            (response.json.to_string(), response.status)
        }
    };
    shut_down(runtime);
    Ok(output)
}

/// Shuts the runtime down even if a thread is still working, since threads cannot be stopped.
fn shut_down(runtime: Runtime) {
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
}

fn parse_args(name: &str, args: impl Iterator<Item = OsString>) -> Result<Request, String> {
    let help = format!("see `{name} --help`");
    let mut strings = Vec::new();
    for arg in args {
        strings.push(arg.into_string().map_err(|_| format!("An argument is not UTF-8; {help}"))?);
    }
    let args: Vec<&str> = strings.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["-h" | "--help", ..] => Ok(Request::Help),
        ["--list"] => Ok(Request::List),
        ["--schema"] => Ok(Request::Schema(None)),
        ["--schema", tool] => Ok(Request::Schema(Some((*tool).to_owned()))),
        [] => Ok(Request::Call(None)),
        [tool] if !tool.starts_with('-') => Ok(Request::Call(Some((*tool).to_owned()))),
        [option, ..] if option.starts_with('-') => Err(format!("Unknown option `{option}`; {help}")),
        [_, extra, ..] => Err(format!(
            "Unexpected argument `{extra}`: the tool reads its arguments as JSON from standard input; {help}"
        )),
        _ => Err(help),
    }
}

/// Returns the named tool, or the only tool if none is named.
fn find_tool(name: Option<String>, tools: &[ToolMeta]) -> Result<&ToolMeta, OneShotOutput> {
    let names = || tools.iter().map(|tool| tool.name.as_str());
    let list = || names().collect::<Vec<_>>().join(", ");
    match (name, tools) {
        (None, [tool]) => Ok(tool),
        (None, _) => Err(usage_error("TOOL_NOT_FOUND", format!("Name one of the tools: {}", list()))),
        (Some(name), _) => tools.iter().find(|tool| tool.name == *name).ok_or_else(|| {
            let hint = match closest_match(&name, names()) {
                Some(suggestion) => format!("did you mean '{suggestion}'?"),
                None => format!("there are {}", list()),
            };
            usage_error("TOOL_NOT_FOUND", format!("Tool not found: {name}; {hint}"))
        }),
    }
}

fn usage_error(code: &'static str, reason: String) -> OneShotOutput {
    OneShotOutput { status: 2, ..OneShotOutput::failed(&ToolError::failed_with(code, reason)) }
}

/// Reads standard input, at most one byte more than is allowed.
fn read_input() -> Result<Vec<u8>, String> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        let _ =
            writeln!(io::stderr(), "Enter the arguments as a JSON object, and end the input to send them:");
    }
    let mut bytes = Vec::new();
    let max = u64::try_from(MAX_INPUT_BYTES).unwrap_or(u64::MAX);
    let read = stdin.lock().take(max.saturating_add(1)).read_to_end(&mut bytes);
    read.map(|_| bytes).map_err(|error| error.to_string())
}

/// Runs a call that an interruption of the program cancels.
async fn run_interruptible(toolbox: &Toolbox, tool: &str, input: &[u8]) -> OneShotOutput {
    let cancel = CancellationToken::new();
    let watch = tokio::spawn({
        let cancel = cancel.clone();
        async move {
            interrupted().await;
            cancel.cancel();
        }
    });
    let turn = Turn::new("one-shot").with_cancel(cancel).with_on_progress(|line| {
        let _ = writeln!(io::stderr(), "{}", printable(&line));
    });
    let response = run_call(toolbox, tool, input, &turn).await;
    watch.abort();
    response
}

/// Completes when the program is asked to stop: at the first `SIGINT` or `SIGTERM` after the first poll. From then on,
/// these signals do not end the program. If no handler can be set, they do, and this future never completes.
#[cfg(unix)]
pub async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
    let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    let poll = |cx: &mut Context<'_>| {
        let has_signal = signals.iter_mut().any(|signal| signal.poll_recv(cx).is_ready());
        if has_signal { Poll::Ready(()) } else { Poll::Pending }
    };
    poll_fn(poll).await;
}

/// Completes when the program is asked to stop.
#[cfg(not(unix))]
pub async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn help(name: &str, tools: &[ToolMeta]) -> String {
    let usage = match tools {
        [_] => format!("{name} < arguments.json"),
        _ => format!("{name} TOOL < arguments.json"),
    };
    let width = tools.iter().map(|tool| tool.name.len()).max().unwrap_or(0);
    let lines = tools.iter().map(|tool| {
        let (name, first) = (tool.name.as_str(), tool.description.lines().next().unwrap_or_default());
        format!("  {name:width$}  {first}\n")
    });
    format!(
        "Runs one call of a tool: reads the arguments as a JSON object from standard input and writes \
         {{\"result\": …}}, {{\"results\": […]}} or {{\"error\": …, \"code\": …}}.\n\n\
         Usage:\n  {usage}\n  {name} --schema TOOL    prints the schema of the arguments\n  \
         {name} --list           prints all tools as JSON\n\n\
         Tools:\n{}\n\
         Exit status: 0 a result, 1 an error, 2 a usage error, 130 interrupted",
        lines.collect::<String>()
    )
}

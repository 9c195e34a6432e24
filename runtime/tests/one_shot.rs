//! One-shot programs. The test starts itself as the program, so it has no harness of its own.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test")]

use std::io::Write;
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgen_runtime::engine::executor::{ExecOptions, Executor, LocalExecutor};
use toolgen_runtime::toolbox::{ToolboxContext, ToolboxError, one_shot};
use toolgen_runtime::{Registry, ToolContext, ToolError, Toolbox, tool, toolset};

/// Adds two numbers.
#[tool(read_only, undocumented)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Greets.
#[tool(undocumented)]
fn greet(
    name: &str,
    #[arg(default = false)] politely: bool,
    #[arg(secret, default = "")] pin: &str,
    ctx: &ToolContext,
) -> Result<String, ToolError> {
    ctx.progress("greeting");
    match name {
        "locked" => {
            let detail =
                format!("{pin} does not fit\x1b[2J, set TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345");
            Err(ToolError::failed("locked").with_operator_detail(detail))
        }
        "nobody" => Err(ToolError::failed("nobody to greet").with_operator_detail("set NAME")),
        name if politely => Ok(format!("Good morning, {name}.")),
        name => Ok(format!("Hello, {name}.")),
    }
}

/// Starts a program that never ends, and tells its number.
#[tool(undocumented)]
async fn wait(file: &str, ctx: &ToolContext) -> Result<String, ToolError> {
    let script = format!("echo $$ > {file}.part; mv {file}.part {file}; sleep 1000");
    let argv = ["sh", "-c", &script].map(str::to_owned);
    let output = LocalExecutor::new().run(&argv, &ExecOptions::default(), ctx.cancel()).await?;
    Ok(output.stdout)
}

fn toolbox() -> Result<Toolbox, ToolboxError> {
    let tools = toolset![add, greet, wait];
    let registry = Registry::new(tools).map_err(ToolboxError::NotSealed)?;
    Toolbox::builder(&registry).context(ToolboxContext::new()).without_paging().build()
}

fn single() -> Result<Toolbox, ToolboxError> {
    let registry = Registry::new(toolset![add]).map_err(ToolboxError::NotSealed)?;
    Toolbox::builder(&registry).without_paging().build()
}

fn main() -> ExitCode {
    match std::env::var("ONE_SHOT_PROGRAM").as_deref() {
        Ok("all") => return one_shot::main(std::env::args_os(), toolbox),
        Ok("single") => return one_shot::main(std::env::args_os(), single),
        Ok(_) => return one_shot::main(std::env::args_os(), || Err::<Toolbox, _>("there is no key")),
        Err(_) => {}
    }
    let tests: [(&str, fn()); 7] = [
        ("program_reads_its_input_and_writes_one_object", program_reads_its_input_and_writes_one_object),
        ("single_tool_needs_no_name", single_tool_needs_no_name),
        ("unknown_arguments_are_a_usage_error", unknown_arguments_are_a_usage_error),
        ("tools_can_be_listed", tools_can_be_listed),
        ("endless_input_is_rejected", endless_input_is_rejected),
        ("closed_output_pipe_is_not_an_error", closed_output_pipe_is_not_an_error),
        ("interruption_ends_started_calls", interruption_ends_started_calls),
    ];
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| {
        wanted.is_empty() || wanted.iter().any(|part| format!("one_shot::{name}").contains(part.as_str()))
    };
    for (name, test) in tests.into_iter().filter(|(name, _)| is_wanted(name)) {
        println!("test one_shot::{name}");
        test();
    }
    ExitCode::SUCCESS
}

fn start(program: &str, words: &[&str]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(words).env("ONE_SHOT_PROGRAM", program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn run(program: &str, words: &[&str], input: &[u8]) -> Output {
    let mut child = start(program, words);
    // A program that refuses its words is gone already.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// The exit status, and the only line of the standard output.
fn told(output: &Output) -> (i32, Value) {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    assert!(text.ends_with('\n') && text.lines().count() == 1, "{text}");
    (output.status.code().unwrap(), serde_json::from_str(text).unwrap())
}

fn program_reads_its_input_and_writes_one_object() {
    let output = run("all", &["greet"], br#"{"name": "Ada", "politely": true}"#);
    assert_eq!(told(&output), (0, json!({"result": "Good morning, Ada."})));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "greeting\n");
    let (status, json) = told(&run("all", &["greet"], b"{}"));
    assert_eq!((status, &json["code"]), (1, &json!("MISSING_PARAMETER")));
    let output = run("all", &["greet"], br#"{"name": "nobody"}"#);
    assert_eq!(told(&output), (1, json!({"error": "nobody to greet", "code": "EXECUTION_ERROR"})));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "greeting\nset NAME\n");
    let output = run("all", &["greet"], br#"{"name": "locked", "pin": "4711-4712"}"#);
    assert_eq!(told(&output), (1, json!({"error": "locked", "code": "EXECUTION_ERROR"})));
    let operator = "greeting\n[REDACTED] does not fit [2J, set TOKEN=[REDACTED]\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), operator);
    let (status, json) = told(&run("broken", &["greet"], b"{}"));
    assert_eq!((status, json), (1, json!({"error": "there is no key", "code": "EXECUTION_ERROR"})));
}

fn single_tool_needs_no_name() {
    for words in [&[][..], &["add"]] {
        assert_eq!(told(&run("single", words, br#"{"a": 2, "b": 3}"#)), (0, json!({"result": 5})));
    }
    let (status, json) = told(&run("single", &["--schema"], b""));
    assert_eq!((status, &json["properties"]["a"]["type"]), (0, &json!("integer")));
}

fn unknown_arguments_are_a_usage_error() {
    for (words, text) in [
        (&[][..], "Name one of the tools: add, greet, wait"),
        (&["ad"], "Tool not found: ad; did you mean 'add'?"),
        (&["--schema", "nothing_of_the_kind"], "Tool not found: nothing_of_the_kind; there are add, greet"),
        (&["--lists"], "Unknown option `--lists`"),
        (
            &["add", "{}"],
            "Unexpected argument `{}`: the tool reads its arguments as JSON from standard input",
        ),
    ] {
        let (status, json) = told(&run("all", words, b"{}"));
        assert_eq!(status, 2, "{json}");
        assert!(json["error"].as_str().unwrap().starts_with(text) && json["code"].is_string(), "{json}");
    }
}

fn tools_can_be_listed() {
    let (status, json) = told(&run("all", &["--list"], b""));
    let names: Vec<&str> =
        json["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(status, 0);
    assert_eq!(names, ["add", "greet", "wait"]);
    assert_eq!(json["tools"][0]["input_schema"]["required"], json!(["a", "b"]));
    let help = String::from_utf8(run("all", &["--help"], b"").stdout).unwrap();
    for part in ["TOOL < arguments.json", "  add    Adds two numbers.", "--schema TOOL", "130 interrupted"] {
        assert!(help.contains(part), "{help}");
    }
}

fn endless_input_is_rejected() {
    let mut child = start("all", &["greet"]);
    let mut stdin = child.stdin.take().unwrap();
    let piece = [b' '; 1 << 16];
    while stdin.write_all(&piece).is_ok() {}
    let (status, json) = told(&child.wait_with_output().unwrap());
    assert_eq!((status, &json["code"]), (1, &json!("INVALID_INPUT")));
    assert!(json["error"].as_str().unwrap().contains("it is longer than 16777216 bytes"), "{json}");
}

fn closed_output_pipe_is_not_an_error() {
    let mut child = start("all", &["add"]);
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(br#"{"a": 1, "b": 1}"#).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[cfg(not(unix))]
fn interruption_ends_started_calls() {}

#[cfg(unix)]
fn interruption_ends_started_calls() {
    for signal in ["-INT", "-TERM"] {
        let file = Arc::new(format!("{}/one-shot{signal}", env!("CARGO_TARGET_TMPDIR")));
        let _ = std::fs::remove_file(&*file);
        let mut child = start("all", &["wait"]);
        let input = json!({ "file": *file }).to_string();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        eventually("the program was started", || std::path::Path::new(&*file).exists());
        let started = std::fs::read_to_string(&*file).unwrap();
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let (status, json) = told(&child.wait_with_output().unwrap());
        assert_eq!((status, json), (130, json!({"error": "Cancelled", "code": "CANCELLED"})));
        eventually("the program ended", || !runs(started.trim()));
    }
}

#[cfg(unix)]
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A process of this number runs; one that ended and was not fetched yet does not.
#[cfg(unix)]
fn runs(pid: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let stat = String::from_utf8(output.stdout).unwrap();
    !stat.trim().is_empty() && !stat.trim_start().starts_with('Z')
}

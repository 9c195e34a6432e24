//! One-shot programs. The test starts itself as the program, so it has no harness of its own.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test")]

use std::io::Write;
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};
use toolgen_runtime::engine::executor::{ExecOptions, Executor, LocalExecutor};
use toolgen_runtime::provider::{ProviderContext, ProviderError, one_shot};
use toolgen_runtime::{Content, Provider, Registry, ToolContext, ToolError, ToolResult, tool, toolset};

/// Adds two numbers.
#[tool(read_only, undocumented)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Greets.
#[tool(undocumented)]
fn greet(name: &str, #[arg(default = false)] politely: bool, ctx: &ToolContext) -> Result<String, ToolError> {
    ctx.progress("greeting");
    match name {
        "nobody" => Err(ToolError::failed("nobody to greet")),
        "king" => Err(ToolError::failed_with("TOO_HIGH", "not without a bow")),
        name if politely => Ok(format!("Good morning, {name}.")),
        name => Ok(format!("Hello, {name}.")),
    }
}

#[derive(Serialize)]
struct Point {
    x: i64,
    y: i64,
}

/// A line of points.
#[tool(read_only, undocumented)]
fn line(#[arg(range = 0..=3)] length: i64) -> Vec<Point> {
    (0..length).map(|x| Point { x, y: 0 }).collect()
}

/// A point.
#[tool(read_only)]
fn point() -> Point {
    Point { x: 1, y: 2 }
}

/// A report that failed, and says so.
#[tool(read_only)]
fn report() -> ToolResult {
    ToolResult::text("half of it").with_details(json!({"success": false, "code": "HALF"}))
}

/// A service that answered with a status.
#[tool(read_only)]
fn status() -> ToolResult {
    ToolResult::text("no pets").with_details(json!({"status": 404, "ok": false}))
}

/// A text, with notes for the program.
#[tool(read_only)]
fn noted() -> ToolResult {
    ToolResult::text("seen").with_details(json!({"exit_code": 0}))
}

/// A picture.
#[tool(read_only)]
fn picture() -> Content {
    Content::Image { data: "AQ==".to_owned(), mime_type: "image/png".to_owned() }
}

/// Needs the other.
#[tool(requires(tool("point")))]
fn after() -> String {
    String::new()
}

/// Starts a program that never ends, and tells its number.
#[tool(undocumented)]
async fn wait(file: &str, ctx: &ToolContext) -> Result<String, ToolError> {
    let script = format!("echo $$ > {file}.part; mv {file}.part {file}; sleep 1000");
    let argv = ["sh", "-c", &script].map(str::to_owned);
    let output = LocalExecutor::new().run(&argv, &ExecOptions::default(), ctx.cancel()).await?;
    Ok(output.stdout)
}

fn provider() -> Result<Provider, ProviderError> {
    let tools = toolset![add, greet, line, point, report, status, noted, picture, after, wait];
    let registry = Registry::new(tools).map_err(ProviderError::NotSealed)?;
    Provider::builder(&registry).context(ProviderContext::new()).without_pages().build()
}

fn single() -> Result<Provider, ProviderError> {
    let registry = Registry::new(toolset![add]).map_err(ProviderError::NotSealed)?;
    Provider::builder(&registry).without_pages().build()
}

fn main() -> ExitCode {
    match std::env::var("ONE_SHOT_PROGRAM").as_deref() {
        Ok("all") => return one_shot::main(std::env::args_os(), provider),
        Ok("single") => return one_shot::main(std::env::args_os(), single),
        Ok(_) => return one_shot::main(std::env::args_os(), || Err::<Provider, _>("there is no key")),
        Err(_) => {}
    }
    let tests: [(&str, fn()); 8] = [
        ("answers_have_the_documented_form", answers_have_the_documented_form),
        ("a_program_reads_its_input_and_writes_one_object", a_program_reads_its_input_and_writes_one_object),
        ("the_only_tool_needs_no_name", the_only_tool_needs_no_name),
        ("words_that_mean_nothing_are_wrong_usage", words_that_mean_nothing_are_wrong_usage),
        ("the_tools_can_be_listed", the_tools_can_be_listed),
        ("an_input_without_end_is_refused", an_input_without_end_is_refused),
        ("a_reader_that_leaves_is_no_error", a_reader_that_leaves_is_no_error),
        ("an_interruption_ends_what_was_started", an_interruption_ends_what_was_started),
    ];
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
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

fn answers_have_the_documented_form() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let cases = [
        ("greet", r#"{"name": "Ada"}"#, 0, json!({"result": "Hello, Ada."})),
        ("add", r#"{"a": 1, "b": 2}"#, 0, json!({"result": 3})),
        ("point", "", 0, json!({"result": {"x": 1, "y": 2}})),
        ("point", "{}", 0, json!({"result": {"x": 1, "y": 2}})),
        ("line", r#"{"length": 2}"#, 0, json!({"results": [{"x": 0, "y": 0}, {"x": 1, "y": 0}]})),
        ("line", r#"{"length": 0}"#, 0, json!({"results": []})),
        ("noted", "{}", 0, json!({"result": "seen"})),
        ("greet", r#"{"name": "nobody"}"#, 1, json!({"error": "nobody to greet", "code": "EXECUTION_ERROR"})),
        ("greet", r#"{"name": "king"}"#, 1, json!({"error": "not without a bow", "code": "TOO_HIGH"})),
        ("report", "{}", 1, json!({"error": "half of it", "code": "HALF"})),
        ("status", "{}", 1, json!({"error": "no pets", "code": "EXECUTION_ERROR"})),
    ];
    for (tool, input, status, wanted) in cases {
        let (code, json) = answered(tool, input.as_bytes());
        assert_eq!((code, json), (status, wanted), "{tool} {input}");
    }
    let problems = [
        ("greet", &b"{}"[..], "name is required", "MISSING_PARAMETER"),
        ("add", b"{}", "a is required; b is required", "MISSING_PARAMETER"),
        ("greet", b"", "name is required", "MISSING_PARAMETER"),
        ("add", b"{", "Failed to parse input: the arguments are not JSON", "INVALID_INPUT"),
        ("add", b"[1]", "Failed to parse input: Expected object parameters, got", "INVALID_INPUT"),
        ("add", b"\xff", "Failed to parse input: it is not UTF-8", "INVALID_INPUT"),
        ("add", deep.as_bytes(), "Failed to parse input: ", "INVALID_INPUT"),
        ("line", br#"{"length": 9}"#, "Invalid arguments: /length", "INVALID_PARAMS"),
        ("ad", b"{}", "Tool not found: ad", "TOOL_NOT_FOUND"),
        ("after", b"{}", "Cannot execute 'after': prerequisites not met: ", "dependency_not_met"),
    ];
    for (tool, input, error, code) in problems {
        let (status, json) = answered(tool, input);
        let text = json["error"].as_str().unwrap();
        assert_eq!((status, &json["code"]), (1, &json!(code)), "{json}");
        assert!(text.starts_with(error) && json.get("result").is_none(), "{json}");
    }
    assert_eq!(answered("after", b"{}").1["suggested_order"], json!(["point"]));
    let (_, json) = answered("picture", b"{}");
    assert_eq!(json["content"][0]["mimeType"], "image/png");
}

fn answered(tool: &str, input: &[u8]) -> (i32, Value) {
    let provider = provider().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(one_shot::answer(&provider, tool, input, &ToolContext::new("t", "")));
    (answer.status().into(), answer.json().clone())
}

fn a_program_reads_its_input_and_writes_one_object() {
    let output = run("all", &["greet"], br#"{"name": "Ada", "politely": true}"#);
    assert_eq!(told(&output), (0, json!({"result": "Good morning, Ada."})));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "greeting\n");
    let (status, json) = told(&run("all", &["greet"], b"{}"));
    assert_eq!((status, &json["code"]), (1, &json!("MISSING_PARAMETER")));
    let (status, json) = told(&run("broken", &["greet"], b"{}"));
    assert_eq!((status, json), (1, json!({"error": "there is no key", "code": "EXECUTION_ERROR"})));
}

fn the_only_tool_needs_no_name() {
    for words in [&[][..], &["add"]] {
        assert_eq!(told(&run("single", words, br#"{"a": 2, "b": 3}"#)), (0, json!({"result": 5})));
    }
    let (status, json) = told(&run("single", &["--schema"], b""));
    assert_eq!((status, &json["properties"]["a"]["type"]), (0, &json!("integer")));
}

fn words_that_mean_nothing_are_wrong_usage() {
    for (words, text) in [
        (&[][..], "Name one of the tools: add, after, greet"),
        (&["ad"], "Tool not found: ad; did you mean 'add'?"),
        (&["--schema", "nothing_of_the_kind"], "Tool not found: nothing_of_the_kind; there are add, after"),
        (&["--lists"], "There is no option `--lists`"),
        (&["add", "{}"], "`{}` is too much: the arguments are a JSON object on the standard input"),
    ] {
        let (status, json) = told(&run("all", words, b"{}"));
        assert_eq!(status, 2, "{json}");
        assert!(json["error"].as_str().unwrap().starts_with(text) && json["code"].is_string(), "{json}");
    }
}

fn the_tools_can_be_listed() {
    let (status, json) = told(&run("all", &["--list"], b""));
    let names: Vec<&str> =
        json["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(status, 0);
    assert_eq!(
        names,
        ["add", "after", "greet", "line", "noted", "picture", "point", "report", "status", "wait"]
    );
    assert_eq!(json["tools"][0]["input_schema"]["required"], json!(["a", "b"]));
    let help = String::from_utf8(run("all", &["--help"], b"").stdout).unwrap();
    for part in ["TOOL < arguments.json", "  add      Adds two numbers.", "--schema TOOL", "130 interrupted"]
    {
        assert!(help.contains(part), "{help}");
    }
}

fn an_input_without_end_is_refused() {
    let mut child = start("all", &["greet"]);
    let mut stdin = child.stdin.take().unwrap();
    let piece = [b' '; 1 << 16];
    while stdin.write_all(&piece).is_ok() {}
    let (status, json) = told(&child.wait_with_output().unwrap());
    assert_eq!((status, &json["code"]), (1, &json!("INVALID_INPUT")));
    assert!(json["error"].as_str().unwrap().contains("it is longer than 16777216 bytes"), "{json}");
}

fn a_reader_that_leaves_is_no_error() {
    let mut child = start("all", &["add"]);
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(br#"{"a": 1, "b": 1}"#).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[cfg(not(unix))]
fn an_interruption_ends_what_was_started() {}

#[cfg(unix)]
fn an_interruption_ends_what_was_started() {
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

//! What `run.py` measures of ours: calls of ready-made tools, starts of programs, and manifests that are compiled. See
//! `tests/README.md`.

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;
use toolgen::{Document, Options, Problems};
use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::executor::{ExecOptions, Executor, LocalExecutor, ResourceLimits, Sandbox};
use toolgen_runtime::{
    AgentTool, CancellationToken, Provider, ProviderContext, Registry, ToolCall, ToolContext, builtin,
};

/// A manifest of a command.
const MANIFEST: &str = "toolgen: 1
tools:
  say:
    description: Prints a text.
    parameters: { text: string - The text. }
    command: { argv: [printf, '%s', '{text}'] }
";

const USAGE: &str = "peers-bench tool DIRECTORY NAME ARGUMENTS
peers-bench start (plain|executor|engine|read-only|landlock|limits) COUNT MEGABYTES
peers-bench stream BYTES (lines|kept)
peers-bench manifest FILE COUNT";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["tool", directory, name, given] => tool(directory, name, given).await,
        ["start", how, count, megabytes] => {
            // The memory of an agent, every page of it in use.
            let memory = vec![1_u8; megabytes.parse::<usize>().unwrap() << 20];
            start(how, count.parse().unwrap()).await;
            drop(black_box(memory));
        }
        ["stream", bytes, how] => stream(bytes, how == "lines").await,
        ["manifest", file, count] => manifest(Path::new(file), count.parse().unwrap()),
        _ => panic!("{USAGE}"),
    }
}

/// Calls a ready-made tool and prints its text.
async fn tool(directory: &str, name: &str, arguments: &str) {
    let tools = if name.starts_with(char::is_uppercase) { builtin::coding() } else { builtin::pack() };
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    let answer = provider(tools, ProviderContext::new().with_work_dir(directory));
    let answer = answer.call(ToolCall::new("1", name, arguments), &ToolContext::new("turn", "")).await;
    println!("{}", answer.text());
}

fn provider(tools: Vec<std::sync::Arc<dyn AgentTool>>, context: ProviderContext) -> Provider {
    Provider::builder(&Registry::new(tools).unwrap()).context(context).without_pages().build().unwrap()
}

/// Prints the best time of a start of a program, in microseconds, and the mean of all.
async fn start(how: &str, count: usize) {
    let argv = ["printf", "%s", "x"].map(String::from);
    let limits = ResourceLimits::default().memory(1 << 28).pids(64);
    let options = match how {
        "read-only" | "landlock" => ExecOptions::default().read_only().without_network(),
        "limits" => ExecOptions::default().read_only().without_network().limits(limits),
        _ => ExecOptions::default(),
    };
    let sandbox = if how == "landlock" { Sandbox::Landlock } else { Sandbox::Auto };
    let (executor, never) = (LocalExecutor::new().sandbox(sandbox), CancellationToken::new());
    let mut problems = Problems::new();
    let document = Document::parse(Path::new("say.yaml"), MANIFEST, &mut problems).unwrap();
    let program = toolgen::compile(&document, &Options::default(), &mut problems).unwrap();
    let provider = provider(Engines::new().tools_from(program.into_tools()).unwrap(), ProviderContext::new());
    let (mut best, all) = (f64::INFINITY, Instant::now());
    for _ in 0..count {
        let one = Instant::now();
        let printed = match how {
            "plain" => {
                let output = Command::new(&argv[0]).args(&argv[1..]).stdin(Stdio::null()).output().unwrap();
                String::from_utf8(output.stdout).unwrap()
            }
            "engine" => {
                let call = ToolCall::new("1", "say", serde_json::json!({ "text": "x" }));
                provider.call(call, &ToolContext::new("turn", "")).await.text()
            }
            _ => executor.run(&argv, &options, &never).await.unwrap().stdout,
        };
        assert_eq!(printed, "x");
        best = best.min(one.elapsed().as_secs_f64());
    }
    println!("{:.1} {:.1}", best * 1e6, all.elapsed().as_secs_f64() * 1e6 / count as f64);
}

/// Reads what a program prints, by lines or only as bytes.
async fn stream(bytes: &str, lines: bool) {
    let line = "The quick brown fox jumps over the lazy dog, again and again and again.";
    let argv = ["sh", "-c", &format!("yes '{line}' | head -c {bytes}")].map(String::from);
    let mut options = ExecOptions::default();
    if lines {
        options = options.on_line(|line| {
            black_box(line.len());
        });
    }
    let output = LocalExecutor::new().run(&argv, &options, &CancellationToken::new()).await.unwrap();
    println!("{}", output.stdout.len() as u64 + output.stdout_dropped);
}

/// Prints the best time to compile a document into a module, in milliseconds, and its number of tools.
fn manifest(file: &Path, count: usize) {
    let (mut best, mut tools) = (f64::INFINITY, 0);
    for _ in 0..count {
        let one = Instant::now();
        let mut problems = Problems::new();
        let document = Document::load(file, &mut problems).unwrap();
        let program = toolgen::compile(&document, &Options::default(), &mut problems).unwrap();
        tools = program.all_tools().len();
        black_box(&problems);
        best = best.min(one.elapsed().as_secs_f64());
    }
    println!("{:.2} {tools}", best * 1e3);
}

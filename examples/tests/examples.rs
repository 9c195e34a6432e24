//! Runs each example and compares its output with the expected output; `TOOLGEN_UPDATE=1` updates the expected
//! output.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use toolgen_test_support::golden;
use toolgen_test_support::needs;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs an example with this input, and returns what it prints.
fn run(program: &str, input: &str) -> String {
    let mut command = Command::new(program);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} failed: {text}");
    String::from_utf8(output.stdout).unwrap()
}

/// Compares the output of an example with its `expected.txt`.
fn expected(name: &str, printed: &str) {
    golden::assert_golden(&Path::new(env!("CARGO_MANIFEST_DIR")).join(name).join("expected.txt"), printed);
}

#[test]
fn agent_loop() {
    let program = env!("CARGO_BIN_EXE_agent-loop");
    let printed = run(program, "");
    // The conversation is the same for every vendor.
    let conversations: Vec<&str> =
        printed.split("# ").skip(1).map(|one| one.split_once('\n').unwrap().1).collect();
    assert_eq!(conversations.len(), 5);
    assert!(conversations.iter().all(|one| *one == conversations[0]), "{printed}");
    expected("agent-loop", &printed);
}

#[test]
fn approvals() {
    let printed = run(env!("CARGO_BIN_EXE_approvals"), "y\nn He is not done yet.\nI will ask.\n");
    expected("approvals", &printed);
}

#[test]
fn api_agent() {
    let printed = run(env!("CARGO_BIN_EXE_api-agent"), "");
    let port = printed.split_once("http://127.0.0.1:").unwrap().1.split('/').next().unwrap().to_owned();
    expected("api-agent", &printed.replace(&port, "PORT"));
}

#[cfg(target_os = "linux")]
#[test]
fn command_tools() {
    let printed = run(env!("CARGO_BIN_EXE_command-tools"), "");
    if printed.contains("cannot enforce") {
        return needs::skip(needs::Need::Landlock, "there is no sandbox for the commands");
    }
    expected("command-tools", &printed);
}

#[test]
fn mcp_gateway() {
    expected("mcp-gateway", &run(env!("CARGO_BIN_EXE_mcp-gateway"), ""));
}

#[test]
fn sub_agents() {
    expected("sub-agents", &run(env!("CARGO_BIN_EXE_sub-agents"), ""));
}

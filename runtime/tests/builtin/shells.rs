//! Tools that run shell commands.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use toolgen_runtime::builtin::{self, Bash};
use toolgen_runtime::engine::executor::{
    ExecError, ExecOptions, ExecOutput, LocalExecutor, ScriptedExecutor,
};
use toolgen_runtime::{CancellationToken, Effects};

use crate::prelude::*;
use crate::{Bench, SANDBOXES, no_promise};

fn local(tools: Vec<Arc<dyn toolgen_runtime::AgentTool>>) -> Bench {
    let mut bench = Bench::new(tools);
    bench.context = bench.context.clone().with_executor(Arc::new(LocalExecutor::new()));
    bench
}

fn scripted(
    tools: Vec<Arc<dyn toolgen_runtime::AgentTool>>,
    outcome: Result<ExecOutput, ExecError>,
) -> (Bench, Arc<ScriptedExecutor>) {
    let executor = Arc::new(ScriptedExecutor::new([outcome]));
    let mut bench = Bench::new(tools);
    bench.context = bench.context.clone().with_executor(Arc::clone(&executor) as Arc<_>);
    (bench, executor)
}

async fn bash(bash: Bash, command: &str) -> String {
    local(toolset![(bash)]).text("bash", json!({ "command": command })).await
}

#[tokio::test]
async fn bash_exit_code_is_not_an_error() {
    let bench = local(builtin::pack());
    let result = bench.result("bash", json!({"command": "exit 3"})).await;
    assert_eq!(result.details, json!({"exit_code": 3, "ok": false}));
    assert!(!result.is_error(), "an exit code is not a failure of the tool");
    assert_eq!(bench.toolbox().get("bash").unwrap().label(), "Execute Command");
}

#[tokio::test]
async fn bash_is_configurable() {
    let denied = bash(Bash::default().deny("git push -f"), "cd x; git -C y push origin -f").await;
    assert!(denied.starts_with("Command blocked by safety policy: contains 'git push -f'"), "{denied}");
    let allowed = bash(Bash::default().clear_denied(), "dd if=/dev/null 2>/dev/null").await;
    assert_eq!(allowed, "Exit code: 0\n");
    let asked = bash(Bash::default().confirm(|command| command == "echo yes"), "echo no").await;
    assert_eq!(asked, "Command was not confirmed by the user.");
    assert_eq!(bash(Bash::default().confirm(|_| true), "echo yes").await, "Exit code: 0\nyes\n");
    let panicked = bash(Bash::default().confirm(|_| panic!("no")), "echo no").await;
    assert_eq!(panicked, "Command was not confirmed by the user.");
    let cut = bash(Bash::default().max_output(4), "printf 'aä€'; printf '€€' >&2").await;
    assert_eq!(cut, "Exit code: 0\nSTDOUT:\naä\n... (output truncated)\nSTDERR:\n€\n... (output truncated)");
    let started = Instant::now();
    let late = bash(Bash::default().timeout(Duration::from_millis(200)), "sleep 30").await;
    assert_eq!(late, "Command timed out after 200ms");
    assert!(started.elapsed() < Duration::from_secs(10));
    let (bench, executor) = scripted(builtin::pack(), Ok(ExecOutput::default()));
    bench.text("bash", json!({"command": "ls"})).await;
    let options = ExecOptions::default().timeout(Duration::from_secs(120)).work_dir(bench.path("."));
    let asked = &executor.commands()[0];
    assert_eq!(
        (&asked.0[..], asked.1.timeout),
        (&["bash", "-c", "ls"].map(String::from)[..], options.timeout)
    );
    assert_eq!(asked.1.max_output, 256 * 1024);
}

#[tokio::test]
async fn cancelled_command_is_killed() {
    let bench = local(builtin::pack());
    let cancel = CancellationToken::new();
    let ctx = Turn::new("turn").with_cancel(cancel.clone());
    let started = bench.path("started");
    let arguments = json!({ "command": "touch started; (sleep 2; touch late) & wait" });
    let (response, ()) = tokio::join!(bench.call_in("bash", arguments, &ctx), async {
        while !started.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        cancel.cancel();
    });
    assert_eq!(response.outcome, Err(ToolError::Cancelled));
    tokio::time::sleep(Duration::from_millis(2_300)).await;
    assert!(!bench.path("late").exists(), "what the command started lived on");
}

#[tokio::test]
async fn shell_returns_the_complete_outcome() {
    let bench = local(builtin::shell()).file("sub/a", "");
    let mut result = bench.result("shell", json!({"cmd": "ls; exit 2", "cwd": "sub"})).await.details;
    let duration = result.as_object_mut().unwrap().remove("duration").unwrap();
    assert!(duration.is_string());
    let expected = json!({
        "stdout": "a\n", "stderr": "", "exit_code": 2, "cwd": "sub", "command": "ls; exit 2",
    });
    assert_eq!(result, expected);
    let keys = ["stdout", "stderr", "exit_code", "duration", "cwd", "command"];
    let message: Value = serde_json::from_str(&bench.text("shell", json!({"cmd": "true"})).await).unwrap();
    assert_eq!(message.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
    let absolute = bench.path("sub").to_str().unwrap().to_owned();
    let there = bench.result("shell", json!({"cmd": "ls", "cwd": absolute})).await;
    assert_eq!(there.details["stdout"], "a\n");
    let fine = bench.result("shell", json!({"cmd": "rm -rf /no/such/thing"})).await;
    assert_eq!(fine.details["exit_code"], 0);
}

#[tokio::test]
async fn executor_failures_are_reported() {
    let lost = Err(ExecError::Lost { message: "the pipe broke".into() });
    let (bench, _) = scripted(builtin::shell(), lost);
    let error = bench.call("shell", json!({"cmd": "ls"})).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "shell command failed: ls");
    assert!(error.operator_text().contains("the pipe broke"));
    for (name, tools) in [("bash", builtin::pack()), ("shell", builtin::shell()), ("Bash", builtin::coding())]
    {
        let bench = Bench::new(tools);
        let error = bench.toolbox().get(name).err().unwrap().to_string();
        assert_eq!(error, format!("failed to create tool '{name}': {name} tool requires an executor"));
    }
}

#[tokio::test]
async fn commands_get_the_limits_of_their_context() {
    let commands = [
        ("bash", json!({"command": "touch x"}), builtin::pack as fn() -> _),
        ("shell", json!({"cmd": "touch x"}), builtin::shell),
        ("Bash", json!({"command": "touch x"}), builtin::coding),
    ];
    for (name, arguments, tools) in commands {
        let (bench, executor) = scripted(tools(), Ok(ExecOutput::default()));
        let bench = bench.limits(EffectLimits::PLANNING);
        assert!(!bench.call(name, arguments.clone()).await.is_error(), "{name}");
        let options = &executor.commands()[0].1;
        assert!(options.read_only && options.network_disabled, "{name}: {options:?}");
        assert_eq!(
            options.work_dir.as_deref(),
            Some(bench.path("").as_path()).map(|path| path.parent().map_or(path, |_| path))
        );
        // A run whose guarantees cannot be enforced is rejected.
        let (bench, _) = scripted(tools(), Err(no_promise()));
        let bench = bench.limits(EffectLimits::PLANNING);
        assert!(matches!(bench.call(name, arguments.clone()).await.outcome, Err(ToolError::Denied { .. })));
        for sandbox in SANDBOXES {
            let mut bench = Bench::new(tools()).limits(EffectLimits::PLANNING);
            let executor = LocalExecutor::new().sandbox(sandbox);
            bench.context = bench.context.clone().with_executor(Arc::new(executor));
            let outcome = bench.call(name, arguments.clone()).await.outcome;
            let held = match &outcome {
                Ok(result) => result.to_text().contains("touch: "),
                Err(error) => matches!(error, ToolError::Denied { .. }),
            };
            assert!(held, "{name}, {sandbox:?}: {outcome:?}");
            assert!(!bench.path("x").exists(), "{name}, {sandbox:?}");
        }
        let nothing = local(tools()).limits(EffectLimits { spawns: false, ..EffectLimits::ANY });
        assert!(matches!(nothing.call(name, arguments).await.outcome, Err(ToolError::Denied { .. })));
        let tool = bench.tools.iter().find(|tool| tool.name() == name).unwrap();
        let worst = Effects { open_world: true, ..Effects::UNDECLARED };
        assert_eq!(tool.spec().effects, worst, "{name}");
        assert_eq!(tool.effects_in_context(&ToolboxContext::new()), worst, "{name}");
    }
}

/// The resource limits of a process of this user.
#[cfg(target_os = "linux")]
fn limits_of(victim: &std::process::Child) -> String {
    fs::read_to_string(format!("/proc/{}/limits", victim.id())).unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn planning_shell_cannot_affect_other_processes() {
    let mut victim = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let (before, pid) = (limits_of(&victim), victim.id());
    for (name, key, tools) in [
        ("bash", "command", builtin::pack as fn() -> _),
        ("shell", "cmd", builtin::shell),
        ("Bash", "command", builtin::coding),
    ] {
        for sandbox in SANDBOXES {
            let mut bench = Bench::new(tools()).limits(EffectLimits::PLANNING);
            let executor = LocalExecutor::new().sandbox(sandbox);
            bench.context = bench.context.clone().with_executor(Arc::new(executor));
            for attack in ["prlimit --pid PID --cpu=1:1", "prlimit --pid PID --fsize=0:0", "kill -KILL PID"] {
                let command = attack.replace("PID", &pid.to_string()) + " && echo done";
                let outcome = bench.call(name, json!({ key: command })).await.outcome;
                let held = match &outcome {
                    Ok(result) => !result.to_text().contains("done\n"),
                    Err(error) => matches!(error, ToolError::Denied { .. } | ToolError::Failed { .. }),
                };
                assert!(held, "{name}, {sandbox:?}: {attack}: {outcome:?}");
                assert_eq!(limits_of(&victim), before, "{name}, {sandbox:?}: {attack}");
                assert!(victim.try_wait().unwrap().is_none(), "{name}, {sandbox:?}: {attack}");
            }
        }
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
}

#[tokio::test]
async fn coding_bash_truncates_output() {
    let bench = local(builtin::coding());
    let bash = |command: &str| json!({ "command": command });
    let long = bench.text("Bash", bash("yes äöü€ | head -n 10000")).await;
    let (kept, message) = long.split_at(long.find("\n\n... [").unwrap());
    assert!(kept.len() <= 30_000 && kept.len() > 29_990 && kept.starts_with("äöü€\n"));
    assert_eq!(message, "\n\n... [Output truncated. Total length: 100000 characters]");
    let (bench, executor) = scripted(builtin::coding(), Ok(ExecOutput::default()));
    bench.text("Bash", bash("ls")).await;
    assert_eq!(executor.commands()[0].1.timeout, Some(Duration::from_secs(600)));
}

#[tokio::test]
async fn confirm_function_may_block() {
    let asked = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&asked);
    let slow = Bash::default().confirm(move |_| {
        std::thread::sleep(Duration::from_millis(300));
        seen.store(true, Ordering::SeqCst);
        true
    });
    let bench = local(toolset![(slow)]);
    let beats = async {
        let mut beats = 0;
        while !asked.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(10)).await;
            beats += 1;
        }
        beats
    };
    let (output, beats) = tokio::join!(bench.text("bash", json!({"command": "echo a"})), beats);
    assert_eq!(output, "Exit code: 0\na\n");
    assert!(beats > 3, "other tasks were blocked meanwhile");
}

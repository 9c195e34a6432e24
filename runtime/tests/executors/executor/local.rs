//! Tests of programs on this machine.

use std::time::Instant;

use crate::executor::needs::{Need, skip};
use crate::executor::{argv, directory, eventually, run, runs, shell};
use crate::prelude::*;

#[tokio::test]
async fn result_contains_streams_and_exit_code() {
    let script = shell("echo out; echo err >&2; exit 3");
    let output = run(&LocalExecutor::new(), &script, &ExecOptions::default()).await.unwrap();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.exit_code), ("out\n", "err\n", 3));
    assert!(!output.success() && !output.is_truncated());
    assert!(output.duration < Duration::from_secs(20));
    let message = output.to_json();
    assert_eq!((&message["exit_code"], &message["stdout"]), (&3.into(), &"out\n".into()));
    assert!(message["duration"].is_string() && message.get("stdout_dropped").is_none());
}

#[tokio::test]
async fn arguments_are_never_parsed_by_a_shell() {
    let words = argv(&["printf", "%s|", "$(echo x); `id`", "a b", "*", "'", "--"]);
    let output = run(&LocalExecutor::new(), &words, &ExecOptions::default()).await.unwrap();
    assert_eq!(output.stdout, "$(echo x); `id`|a b|*|'|--|");
}

#[tokio::test]
async fn signal_exit_code_follows_shell_convention() {
    let output = run(&LocalExecutor::new(), &shell("kill -TERM $$"), &ExecOptions::default()).await.unwrap();
    assert_eq!(output.exit_code, 128 + 15);
}

#[tokio::test]
async fn unenforceable_options_are_rejected() {
    let path = directory("refused");
    let touch = argv(&["touch", path.join("x").to_str().unwrap()]);
    let error = run(&LocalExecutor::new(), &touch, &ExecOptions::default().user("nobody")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the local executor cannot enforce user, so nothing was run: programs run as the user of this process; \
         run the program in a container"
    );
    assert!(matches!(ToolError::from(error), ToolError::Denied { .. }));
    assert!(!path.join("x").exists());
}

#[tokio::test]
async fn program_gets_a_minimal_environment() {
    // Cargo sets this variable for every test.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let options = ExecOptions::default().env("GIVEN", "a=b c");
    let output = run(&LocalExecutor::new(), &argv(&["env"]), &options).await.unwrap();
    assert!(output.stdout.lines().any(|line| line == "GIVEN=a=b c"), "{}", output.stdout);
    assert!(output.stdout.contains("PATH="), "{}", output.stdout);
    assert!(!output.stdout.contains("CARGO_MANIFEST_DIR"), "{}", output.stdout);
    let executor = LocalExecutor::new().inherit_nothing().inherit("CARGO_MANIFEST_DIR");
    let output = run(&executor, &argv(&["/usr/bin/env"]), &ExecOptions::default()).await.unwrap();
    assert!(output.stdout.starts_with("CARGO_MANIFEST_DIR=") && output.stdout.lines().count() == 1);
    for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "\0")] {
        let options = ExecOptions::default().env(name, value);
        let error = run(&executor, &argv(&["/usr/bin/env"]), &options).await.unwrap_err();
        assert!(matches!(error, ExecError::Invalid { .. }), "{error}");
    }
}

#[tokio::test]
async fn program_starts_in_the_given_directory() {
    let path = directory("work_dir");
    fs::create_dir(path.join("sub")).unwrap();
    let here = LocalExecutor::new().work_dir(&path);
    let output = run(&here, &shell("pwd -P"), &ExecOptions::default().work_dir("sub")).await.unwrap();
    assert_eq!(output.stdout.trim_end(), path.canonicalize().unwrap().join("sub").to_str().unwrap());
    let gone = ExecOptions::default().work_dir(path.join("gone"));
    let error = run(&here, &shell("pwd"), &gone).await.unwrap_err();
    assert!(matches!(error, ExecError::Start { .. }) && error.to_string().contains("gone"), "{error}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn program_is_found_in_its_own_path() {
    let here = directory("path");
    fs::create_dir(here.join("bin")).unwrap();
    std::os::unix::fs::symlink("/bin/cat", here.join("bin/own")).unwrap();
    let (executor, command) = (LocalExecutor::new().work_dir(&here), argv(&["own", "/proc/self/cmdline"]));
    // Relative to the directory in which the program starts.
    let options = ExecOptions::default().env("PATH", "none:bin");
    let output = run(&executor, &command, &options).await.unwrap();
    assert_eq!(output.stdout, "own\0/proc/self/cmdline\0");
    let error = run(&executor, &command, &ExecOptions::default()).await.unwrap_err();
    assert!(matches!(error, ExecError::Start { .. }), "{error}");
}

#[tokio::test]
async fn missing_program_is_an_error() {
    let error = run(&LocalExecutor::new(), &argv(&["no-such-program-at-all"]), &ExecOptions::default()).await;
    let error = error.unwrap_err();
    assert!(error.to_string().starts_with("cannot start 'no-such-program-at-all': "), "{error}");
    let error = run(&LocalExecutor::new(), &[], &ExecOptions::default()).await.unwrap_err();
    assert_eq!(error, ExecError::Invalid { message: "the command is empty".into() });
}

#[tokio::test]
async fn program_reads_its_stdin() {
    let text = "x".repeat(300_000);
    let options = ExecOptions::default().stdin(text.clone()).max_output(1 << 20);
    let output = run(&LocalExecutor::new(), &argv(&["cat"]), &options).await.unwrap();
    assert!(output.stdout == text && !output.is_truncated());
    // The program does not have to read its input, and empty input ends as well.
    let output = run(&LocalExecutor::new(), &argv(&["true"]), &options).await.unwrap();
    assert!(output.success());
    let output = run(&LocalExecutor::new(), &argv(&["cat"]), &ExecOptions::default()).await.unwrap();
    assert_eq!(output.stdout, "");
}

#[tokio::test]
async fn both_streams_are_drained_and_truncated() {
    // Far more than a pipe holds, on both streams.
    let script =
        shell("i=0; while [ $i -lt 4000 ]; do printf '%0100d' $i; printf '%050d' $i >&2; i=$((i+1)); done");
    let options = ExecOptions::default().max_output(1000);
    let output = run(&LocalExecutor::new(), &script, &options).await.unwrap();
    assert_eq!((output.stdout.len(), output.stderr.len()), (1000, 1000));
    assert_eq!((output.stdout_dropped, output.stderr_dropped), (399_000, 199_000));
    assert!(output.is_truncated());
    assert_eq!(output.to_json()["stdout_dropped"], 399_000);
}

#[tokio::test]
async fn output_is_truncated_between_characters() {
    let options = ExecOptions::default().max_output(4);
    let output = run(&LocalExecutor::new(), &argv(&["printf", "aaa€"]), &options).await.unwrap();
    assert_eq!((output.stdout.as_str(), output.stdout_dropped), ("aaa", 3));
}

#[tokio::test]
async fn lines_are_reported_while_a_program_runs() {
    let path = directory("lines");
    // The program waits until the listener has received its first line.
    let script =
        shell("echo one; echo other >&2; while [ ! -e heard ]; do sleep 0.01; done; printf 'two\\nthr€e'");
    let (message, lines) = std::sync::mpsc::channel();
    let options = ExecOptions::default().work_dir(&path).max_output(5).on_line(move |line| {
        fs::write(path.join("heard"), "").unwrap();
        message.send(line.to_owned()).unwrap();
    });
    let output = run(&LocalExecutor::new(), &script, &options).await.unwrap();
    drop(options);
    assert_eq!(lines.iter().collect::<Vec<_>>(), ["one", "two", "thr€e"]);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("one\nt", "other"));
}

#[tokio::test]
async fn line_updates_end_at_the_timeout() {
    let (message, lines) = std::sync::mpsc::channel();
    let options = ExecOptions::default().timeout(Duration::from_secs(2));
    let options = options.on_line(move |line| message.send(line.to_owned()).unwrap());
    let script = shell("printf 'one\\ntwo'; sleep 300");
    let error = run(&LocalExecutor::new(), &script, &options).await.unwrap_err();
    assert!(matches!(error, ExecError::Timeout { .. }), "{error}");
    drop(options);
    assert_eq!(lines.iter().collect::<Vec<_>>(), ["one", "two"]);
}

/// A program whose child would run for minutes. It writes the child's process ID to a file.
fn with_child(name: &str) -> (PathBuf, Vec<String>) {
    let file = directory(name).join("pid");
    let script =
        format!("sleep 300 & echo $! > '{0}.new'; mv '{0}.new' '{0}'; echo started; wait", file.display());
    (file, shell(&script))
}

#[tokio::test]
async fn process_group_is_killed_after_a_timeout() {
    let (file, script) = with_child("timeout");
    let start = Instant::now();
    let options = ExecOptions::default().timeout(Duration::from_secs(2));
    let error = run(&LocalExecutor::new(), &script, &options).await.unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(10));
    let ExecError::Timeout { duration, output } = &error else { panic!("{error}") };
    assert_eq!((*duration, output.stdout.as_str()), (Duration::from_secs(2), "started\n"));
    assert_eq!(error.to_string(), "Command timed out after 2s");
    assert!(matches!(ToolError::from(error), ToolError::Timeout { .. }));
    let child = fs::read_to_string(file).unwrap();
    eventually("the child is gone", || !runs(child.trim())).await;
}

#[tokio::test]
async fn process_group_is_killed_after_cancellation() {
    let (file, script) = with_child("cancel");
    let cancel = CancellationToken::new();
    let running = tokio::spawn({
        let cancel = cancel.clone();
        async move { LocalExecutor::new().run(&script, &ExecOptions::default(), &cancel).await }
    });
    eventually("the child runs", || file.exists()).await;
    let child = fs::read_to_string(file).unwrap();
    assert!(runs(child.trim()));
    cancel.cancel();
    assert_eq!(running.await.unwrap(), Err(ExecError::Cancelled));
    eventually("the child is gone", || !runs(child.trim())).await;
    // No further program is started.
    let error = LocalExecutor::new().run(&argv(&["true"]), &ExecOptions::default(), &cancel).await;
    assert_eq!(error, Err(ExecError::Cancelled));
}

#[tokio::test]
async fn process_group_is_killed_if_the_future_is_dropped() {
    let (file, script) = with_child("drop");
    let executor: Arc<dyn Executor> = Arc::new(LocalExecutor::new());
    let running = tokio::spawn({
        let executor = Arc::clone(&executor);
        async move { run(&executor, &script, &ExecOptions::default()).await }
    });
    eventually("the child runs", || file.exists()).await;
    let child = fs::read_to_string(file).unwrap();
    running.abort();
    eventually("the child is gone", || !runs(child.trim())).await;
}

#[tokio::test]
async fn background_processes_end_with_the_program() {
    let start = Instant::now();
    let script = shell("sleep 300 & echo $!");
    let output = run(&LocalExecutor::new(), &script, &ExecOptions::default()).await.unwrap();
    assert_eq!(output.exit_code, 0);
    assert!(start.elapsed() < Duration::from_secs(10), "the child held the output open");
    eventually("the child is gone", || !runs(output.stdout.trim())).await;
}

#[tokio::test]
async fn detached_process_does_not_delay_the_result() {
    if std::process::Command::new("setsid").arg("true").status().is_err() {
        skip(Need::UtilLinux, "`setsid` is not installed");
        return;
    }
    let start = Instant::now();
    let script = shell("setsid sleep 15 & echo done");
    let output = run(&LocalExecutor::new(), &script, &ExecOptions::default()).await.unwrap();
    assert_eq!(output.stdout, "done\n");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn programs_run_concurrently() {
    let start = Instant::now();
    let running: Vec<_> = (0..20)
        .map(|index| {
            tokio::spawn(async move {
                let script = shell(&format!("sleep 0.3; echo {index}"));
                run(&LocalExecutor::new(), &script, &ExecOptions::default()).await.unwrap().stdout
            })
        })
        .collect();
    for (index, running) in running.into_iter().enumerate() {
        assert_eq!(running.await.unwrap(), format!("{index}\n"));
    }
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[tokio::test]
async fn preflight_reports_available_programs() {
    let never = CancellationToken::new();
    let programs = ["sh", "no-such-program-1", "cat", "$(touch x)", "-v"];
    let there = preflight(&LocalExecutor::new(), &programs, &ExecOptions::default(), &never).await.unwrap();
    assert_eq!(there.found, ["sh", "cat"]);
    assert_eq!(there.missing, ["no-such-program-1", "$(touch x)", "-v"]);
    assert_eq!(there.message(), "missing required programs: no-such-program-1, $(touch x), -v");
    let there = preflight(&LocalExecutor::new(), &["sh"], &ExecOptions::default(), &never).await.unwrap();
    assert!(there.success() && there.has("sh") && !there.has("git"));
    assert_eq!(there.message(), "validation passed");
    // It uses no shell, and searches where the command would.
    let path = directory("preflight");
    let words = ["-c", "printf '#!/bin/sh\n' > own; chmod +x own; printf x > text"];
    assert!(std::process::Command::new("sh").args(words).current_dir(&path).status().unwrap().success());
    let options = ExecOptions::default().work_dir(&path).env("PATH", &*path.to_string_lossy());
    let programs = ["sh", "own", "text", "./own", "/bin/sh"];
    let there = preflight(&LocalExecutor::new(), &programs, &options, &never).await.unwrap();
    assert_eq!(there.found, ["own", "./own", "/bin/sh"]);
}

//! Tests of containers: the command that creates a container, and its removal. A script replaces Docker.

use toolgen_runtime::engine::executor::ContainerExecutor;

use crate::executor::{argv, directory, eventually, run, runs, shell};
use crate::prelude::*;

fn line(executor: &ContainerExecutor, options: &ExecOptions) -> String {
    executor.argv(&shell("ls -la"), options).unwrap().join(" ")
}

#[test]
fn container_command_snapshot() {
    let executor = ContainerExecutor::new("maestro-dev:latest", "/srv/agents/7").allow_new_privileges();
    let writable = ExecOptions::default();
    assert_eq!(
        line(&executor, &writable),
        "docker run --rm -v /srv/agents/7:/workspace:rw -w /workspace --tmpfs /tmp:rw,noexec,nosuid,size=2g \
         maestro-dev:latest sh -c ls -la"
    );
    let executor = ContainerExecutor::new("maestro-dev:latest", "/srv/agents/7");
    assert_eq!(
        line(&executor, &writable),
        "docker run --rm -v /srv/agents/7:/workspace:rw -w /workspace --tmpfs /tmp:rw,noexec,nosuid,size=2g \
         --security-opt no-new-privileges maestro-dev:latest sh -c ls -la"
    );
    let narrow = ExecOptions::default()
        .read_only()
        .without_network()
        .limits(ResourceLimits::default().cpus(1.5).memory(512 << 20).pids(128))
        .user("1000:1000")
        .env("RUST_LOG", "debug info")
        .stdin("x")
        .work_dir("src/./bin");
    assert_eq!(
        line(&executor.program("podman").with_args(["--pull", "never"]), &narrow),
        "podman run --rm -v /srv/agents/7:/workspace:ro -w /workspace/src/bin \
         --tmpfs /tmp:rw,noexec,nosuid,size=2g --security-opt no-new-privileges --network none --read-only \
         --cpus 1.5 --memory 536870912 --pids-limit 128 --user 1000:1000 --env RUST_LOG=debug info \
         --interactive --pull never maestro-dev:latest sh -c ls -la"
    );
}

#[test]
fn global_arguments_precede_the_command() {
    let executor =
        ContainerExecutor::new("i", "/w").program("podman").with_global_args(["--runtime", "runc"]);
    let executor = executor.with_args(["--network", "host"]);
    assert_eq!(
        line(&executor, &ExecOptions::default()),
        "podman --runtime runc run --rm -v /w:/workspace:rw -w /workspace --tmpfs /tmp:rw,noexec,nosuid,size=2g \
         --security-opt no-new-privileges --network host i sh -c ls -la"
    );
    let error = executor.argv(&argv(&["ls"]), &ExecOptions::default().without_network()).unwrap_err();
    assert!(error.to_string().contains("choose a network"), "{error}");
}

#[test]
fn command_cannot_inject_container_options() {
    let executor = ContainerExecutor::new("i", "/w");
    let words = argv(&["--privileged", "-v", "/:/host", "; rm -rf /"]);
    let line = executor.argv(&words, &ExecOptions::default()).unwrap();
    let image = line.iter().position(|word| word == "i").unwrap();
    assert_eq!(line[image + 1..], words);
}

#[test]
fn invalid_container_options_are_rejected() {
    let check = |executor: ContainerExecutor, words: &[&str], options: &ExecOptions| {
        executor.argv(&argv(words), options).unwrap_err().to_string()
    };
    let fine = ExecOptions::default();
    assert_eq!(check(ContainerExecutor::new("i", "/w"), &[], &fine), "the command is empty");
    assert_eq!(check(ContainerExecutor::new("--privileged", "/w"), &["ls"], &fine), "the image has no name");
    assert!(check(ContainerExecutor::new("i", "w"), &["ls"], &fine).contains("absolute"));
    assert!(check(ContainerExecutor::new("i", "/w:/etc"), &["ls"], &fine).contains("colon"));
    assert!(check(ContainerExecutor::new("i", "/w"), &["ls"], &fine.clone().env("A=B", "")).contains("A=B"));
    for outside in ["../x", "a/../../x", "/etc", "/workspace/../etc", "/w/../x"] {
        let message = check(ContainerExecutor::new("i", "/w"), &["ls"], &fine.clone().work_dir(outside));
        assert_eq!(message, format!("{outside} is not in the workspace"));
    }
    for (inside, seen) in [("/w/a", "/workspace/a"), ("/workspace/a", "/workspace/a"), ("a", "/workspace/a")]
    {
        let line = line(&ContainerExecutor::new("i", "/w"), &fine.clone().work_dir(inside));
        assert!(line.contains(&format!(" -w {seen} --tmpfs ")), "{line}");
    }
}

/// A script that replaces `docker`: it records its arguments, and runs the command after the image `i`. Like a
/// container, that command is stopped by `rm`, but not when the script is killed.
fn docker(name: &str) -> (PathBuf, ContainerExecutor) {
    let path = directory(&format!("container-{name}"));
    let program = path.join("docker");
    let script = format!(
        "#!/bin/sh
place='{}'
echo \"$@\" >> \"$place/asked\"
case $1 in
rm)
    kill -KILL \"$(cat \"$place/container\")\" 2>/dev/null
    echo gone >> \"$place/gone\"
    exit 0;;
run)
    while [ \"$1\" != i ]; do shift; done
    shift
    case $1 in
    fail) echo \"docker: Error response from daemon: no such image\" >&2; exit 125;;
    esac
    setsid \"$@\" &
    echo $! > \"$place/container\"
    wait $!;;
esac
",
        path.display()
    );
    // A program cannot be started while a process has it open for writing, and a program that another test starts may
    // inherit the open file. Therefore another process writes it.
    let words =
        ["-c", "printf %s \"$1\" > \"$2\"; chmod +x \"$2\"", "sh", &script, program.to_str().unwrap()];
    assert!(std::process::Command::new("sh").args(words).status().unwrap().success());
    let executor = ContainerExecutor::new("i", "/w").program(program.to_str().unwrap());
    (path, executor)
}

fn read(path: &Path, file: &str) -> String {
    fs::read_to_string(path.join(file)).unwrap_or_default()
}

/// Returns the name of the container, from the line that created it.
fn name(asked: &str) -> &str {
    asked.lines().next().unwrap().split_once("run --rm --name ").unwrap().1.split(' ').next().unwrap()
}

#[tokio::test]
async fn container_returns_streams_and_exit_code() {
    let (path, executor) = docker("result");
    let script = shell("echo out; echo err >&2; exit 3");
    let output = run(&executor, &script, &ExecOptions::default()).await.unwrap();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.exit_code), ("out\n", "err\n", 3));
    let asked = read(&path, "asked");
    let mark = format!("toolgen-{}-", std::process::id());
    assert!(name(&asked).strip_prefix(&mark).is_some_and(|rest| rest.len() == 16), "{asked}");
    assert_eq!(asked.lines().count(), 1, "nothing to remove: {asked}");
}

#[tokio::test]
async fn containers_have_unique_names() {
    let (path, executor) = docker("names");
    for _ in 0..3 {
        run(&executor, &argv(&["true"]), &ExecOptions::default()).await.unwrap();
    }
    let asked = read(&path, "asked");
    let mut names: Vec<&str> = asked.lines().map(name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 3, "{asked}");
}

#[tokio::test]
async fn container_is_removed_after_a_timeout() {
    let (path, executor) = docker("timeout");
    let options = ExecOptions::default().timeout(Duration::from_secs(2));
    let error = run(&executor, &argv(&["sleep", "300"]), &options).await.unwrap_err();
    assert!(matches!(error, ExecError::Timeout { .. }), "{error}");
    // It is removed before the call returns.
    let asked = read(&path, "asked");
    assert_eq!(asked.lines().last().unwrap(), format!("rm --force {}", name(&asked)));
    eventually("it is gone", || !runs(read(&path, "container").trim())).await;
}

#[tokio::test]
async fn container_is_removed_after_cancellation() {
    let (path, executor) = docker("cancel");
    let cancel = CancellationToken::new();
    let running = tokio::spawn({
        let cancel = cancel.clone();
        async move { executor.run(&argv(&["sleep", "300"]), &ExecOptions::default(), &cancel).await }
    });
    eventually("it runs", || !read(&path, "container").is_empty()).await;
    cancel.cancel();
    assert_eq!(running.await.unwrap(), Err(ExecError::Cancelled));
    eventually("it is gone", || !runs(read(&path, "container").trim())).await;
}

#[tokio::test]
async fn container_is_removed_if_the_future_is_dropped() {
    let (path, executor) = docker("drop");
    let running =
        tokio::spawn(async move { run(&executor, &argv(&["sleep", "300"]), &ExecOptions::default()).await });
    eventually("it runs", || !read(&path, "container").is_empty()).await;
    assert!(runs(read(&path, "container").trim()));
    running.abort();
    eventually("it is removed", || !read(&path, "gone").is_empty()).await;
    eventually("it is gone", || !runs(read(&path, "container").trim())).await;
}

#[tokio::test]
async fn container_start_failure_is_an_error() {
    let (_, executor) = docker("fail");
    let error = run(&executor, &argv(&["fail"]), &ExecOptions::default()).await.unwrap_err();
    assert!(matches!(error, ExecError::Start { .. }), "{error}");
    assert!(error.to_string().ends_with("docker: Error response from daemon: no such image"), "{error}");
    // A program may end with the same code.
    let output = run(&executor, &shell("exit 125"), &ExecOptions::default()).await.unwrap();
    assert_eq!(output.exit_code, 125);
    let nowhere = ContainerExecutor::new("i", "/w").program("no-such-container-program");
    let error = run(&nowhere, &argv(&["ls"]), &ExecOptions::default()).await.unwrap_err();
    assert!(matches!(error, ExecError::Start { .. }), "{error}");
}

#[tokio::test]
async fn context_limits_become_container_flags() {
    let (path, executor) = docker("policy");
    let planning = GuardedExecutor::new(executor)
        .restricted_to(&EffectLimits::PLANNING)
        .limits(ResourceLimits::default().pids(64));
    run(&planning, &argv(&["true"]), &ExecOptions::default()).await.unwrap();
    let asked = read(&path, "asked");
    for flag in [
        " -v /w:/workspace:ro ",
        " --network none ",
        " --read-only ",
        " --pids-limit 64 ",
        " no-new-privileges ",
    ] {
        assert!(asked.contains(flag), "{flag} in {asked}");
    }
}

//! Tests of resource limits of programs, and of how confined programs end.

use toolgen_runtime::engine::executor::Sandbox;

use crate::executor::needs::{Need, skip};
use crate::executor::sandbox::{closed, executors};
use crate::executor::{argv, eventually, left, run, shell};
use crate::prelude::*;

/// Returns the outcome of a program with limits, or `None`, with a message, if the limits cannot be enforced.
async fn limited(executor: &LocalExecutor, script: &str, limits: ResourceLimits) -> Option<ExecOutput> {
    let options = ExecOptions::default().limits(limits);
    match run(executor, &shell(script), &options).await {
        Err(error @ ExecError::Unsupported { .. }) => {
            assert!(error.to_string().contains("control group"), "{error}");
            skip(Need::ControlGroups, &error.to_string());
            None
        }
        outcome => Some(outcome.unwrap()),
    }
}

/// Starts sixty programs that wait for each other, and counts those that ran.
const BOMB: &str = "i=0; while [ $i -lt 60 ]; do (sleep 3; echo alive) & i=$((i+1)); done; wait";

#[tokio::test]
async fn fork_bomb_is_stopped() {
    for (sandbox, executor) in executors().await {
        let limits = ResourceLimits::default().pids(12);
        let Some(output) = limited(&executor, BOMB, limits).await else { continue };
        let alive = output.stdout.lines().count();
        assert!(alive <= 12, "{sandbox:?}: {output:?}");
        assert!(output.stderr.contains("ork"), "{sandbox:?}: {output:?}");
        // Below the limit it runs.
        let few = "i=0; while [ $i -lt 10 ]; do (sleep 0.1; echo alive) & i=$((i+1)); done; wait";
        let output = limited(&executor, few, ResourceLimits::default().pids(30)).await.unwrap();
        assert_eq!((output.stdout.lines().count(), output.exit_code), (10, 0), "{sandbox:?}: {output:?}");
    }
}

#[tokio::test]
async fn memory_limit_is_enforced() {
    let hungry = "x=$(head -c 100000000 /dev/zero | tr '\\0' 'x'); echo ${#x}";
    for (sandbox, executor) in executors().await {
        let Some(output) = limited(&executor, hungry, ResourceLimits::default().memory(40 << 20)).await
        else {
            continue;
        };
        assert_eq!(output.stdout, "", "{sandbox:?}: {output:?}");
        assert!(!output.success(), "{sandbox:?}: {output:?}");
        // The limit applies to all its processes together.
        let many = format!(
            "for i in 1 2 3 4; do ({}; sleep 1) & done; wait",
            hungry.replace("100000000", "20000000")
        );
        let output = limited(&executor, &many, ResourceLimits::default().memory(40 << 20)).await.unwrap();
        assert!(output.stdout.lines().count() < 4, "{sandbox:?}: {output:?}");
        let output =
            limited(&executor, "echo fine", ResourceLimits::default().memory(40 << 20)).await.unwrap();
        assert_eq!(output.stdout, "fine\n", "{sandbox:?}: {output:?}");
    }
}

#[tokio::test]
async fn cpu_limit_is_enforced() {
    let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; times";
    for (sandbox, executor) in executors().await {
        let options = ExecOptions::default()
            .limits(ResourceLimits::default().cpus(0.1))
            .timeout(Duration::from_secs(2));
        let busy = shell("while :; do :; done & while :; do :; done");
        match run(&executor, &busy, &options).await {
            Err(ExecError::Unsupported { .. }) => skip(Need::ControlGroups, "no control group"),
            outcome => assert!(matches!(outcome, Err(ExecError::Timeout { .. })), "{sandbox:?}: {outcome:?}"),
        }
    }
    for (sandbox, executor) in executors().await {
        let Some(output) = limited(&executor, busy, ResourceLimits::default().cpus(0.1)).await else {
            continue;
        };
        // `times` prints the used time: `0m0.30s 0m0.01s`, for the shell and for its children.
        let used: f64 = output.stdout.split(['m', 's']).nth(1).unwrap().parse().unwrap();
        let share = used / output.duration.as_secs_f64();
        assert!(share < 0.3, "{sandbox:?}: {share} of a processor: {output:?}");
    }
}

#[tokio::test]
async fn invalid_limits_are_rejected() {
    let none = ResourceLimits::default();
    for limits in [none.cpus(0.0), none.cpus(f64::NAN), none.cpus(-1.0), none.memory(0), none.pids(0)] {
        let error =
            run(&LocalExecutor::new(), &shell("echo ran"), &ExecOptions::default().limits(limits)).await;
        assert!(matches!(error, Err(ExecError::Invalid { .. })), "{error:?}");
    }
}

/// Programs that start other processes, some of which leave their group, are killed at varying moments.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn control_group_is_removed_however_a_program_ends() {
    for (sandbox, executor) in executors().await {
        // Each program sleeps for this number of seconds, which no other process does.
        let mark = format!("{}.{}", 4321, std::process::id());
        let script = format!(
            "sleep {mark} & (sleep {mark} & sleep {mark}) & {} wait",
            match sandbox {
                Sandbox::Bubblewrap => format!("setsid sh -c 'sleep {mark} & sleep {mark}' &"),
                _ => String::new(),
            }
        );
        let limited = run(&executor, &argv(&["true"]), &closed().limits(ResourceLimits::default().pids(50)))
            .await
            .is_ok();
        let mut random = 0x9e37_79b9_u64;
        for round in 0..200_u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let delay = Duration::from_micros((random >> 33) % 60_000);
            let mut options = closed();
            if limited && round % 4 == 3 {
                options = options.limits(ResourceLimits::default().pids(50));
            }
            let cancel = CancellationToken::new();
            match round % 3 {
                0 => {
                    let outcome = executor.run(&shell(&script), &options.timeout(delay), &cancel).await;
                    assert!(matches!(outcome, Err(ExecError::Timeout { .. })), "{sandbox:?}: {outcome:?}");
                }
                1 => {
                    let words = shell(&script);
                    let running = executor.run(&words, &options, &cancel);
                    let (outcome, ()) = tokio::join!(running, async {
                        tokio::time::sleep(delay).await;
                        cancel.cancel();
                    });
                    assert_eq!(outcome, Err(ExecError::Cancelled), "{sandbox:?}");
                }
                _ => {
                    let words = shell(&script);
                    let running = executor.run(&words, &options, &cancel);
                    assert!(tokio::time::timeout(delay, running).await.is_err(), "{sandbox:?}");
                }
            }
        }
        eventually("nothing is left", || left(&mark).is_empty()).await;
        eventually("no group is left", || groups_of(std::process::id()).is_empty()).await;
    }
}

/// Returns the control groups that a process created.
fn groups_of(process: u32) -> Vec<PathBuf> {
    fn below(dir: &Path, mark: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok) {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name().to_string_lossy().starts_with(mark) {
                    found.push(entry.path());
                }
                below(&entry.path(), mark, found);
            }
        }
    }
    let mut found = Vec::new();
    below(Path::new("/sys/fs/cgroup"), &format!("toolgen-{process}-"), &mut found);
    found
}

/// Runs a program with limits, and exits right after it.
#[tokio::test]
async fn process_can_exit_right_after_a_limited_program() {
    if std::env::var_os("TOOLGEN_TEST_EXIT").is_none() {
        return;
    }
    let limits = ResourceLimits::default().pids(20).memory(64 << 20);
    let left_over = "sleep 5 & sleep 5 & echo done";
    for (_, executor) in executors().await {
        let _ = run(&executor, &shell(left_over), &ExecOptions::default().limits(limits)).await;
    }
    std::process::exit(0);
}

#[test]
fn no_control_group_outlives_its_process() {
    for _ in 0..5 {
        let mut process = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "executor::limits::process_can_exit_right_after_a_limited_program"])
            .env("TOOLGEN_TEST_EXIT", "1")
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        assert!(process.wait().unwrap().success());
        assert_eq!(groups_of(process.id()), Vec::<PathBuf>::new());
    }
}

#[tokio::test]
async fn detached_child_of_a_limited_program_is_killed() {
    for (sandbox, executor) in executors().await {
        let mark = format!("4324.{}", std::process::id());
        let script = format!("setsid sh -c 'sleep {mark} & sleep {mark}' & sleep 0.2; echo done");
        let Some(output) = limited(&executor, &script, ResourceLimits::default().pids(20)).await else {
            continue;
        };
        assert_eq!(output.stdout, "done\n", "{sandbox:?}: {output:?}");
        eventually("nothing is left", || left(&mark).is_empty()).await;
    }
}

/// Runs a program that ends only when this process ends.
#[tokio::test]
async fn result_waits_for_the_end_of_the_process() {
    let Some(mark) = std::env::var_os("TOOLGEN_TEST_MARK") else { return };
    let executor = LocalExecutor::new().sandbox(Sandbox::Bubblewrap);
    let words = argv(&["setsid", "sleep", mark.to_str().unwrap()]);
    let _ = run(&executor, &words, &closed().without_timeout()).await;
}

#[tokio::test]
async fn program_ends_if_its_parent_process_is_killed() {
    if !executors().await.iter().any(|(sandbox, _)| *sandbox == Sandbox::Bubblewrap) {
        return;
    }
    let mark = format!("4325.{}", std::process::id());
    let mut process = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "executor::limits::result_waits_for_the_end_of_the_process"])
        .env("TOOLGEN_TEST_MARK", &mark)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // The program itself, not Bubblewrap before it starts the program.
    eventually("it runs", || left(&mark).iter().any(|command| command.starts_with("sleep"))).await;
    process.kill().unwrap();
    process.wait().unwrap();
    eventually("nothing is left", || left(&mark).is_empty()).await;
}

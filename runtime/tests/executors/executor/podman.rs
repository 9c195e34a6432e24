//! Tests of real containers with Podman: an image that contains only BusyBox, and is in no registry.

use std::net::TcpListener;
use std::process::{Command, Output};
use std::sync::OnceLock;

use toolgen_runtime::engine::executor::ContainerExecutor;

use crate::executor::needs::{Need, skip};
use crate::executor::{argv, directory, eventually, run, shell};
use crate::prelude::*;

const IMAGE: &str = "localhost/toolgen-test:1";
/// The same image without a shell.
const BARE: &str = "localhost/toolgen-bare:1";
const TOOLS: [&str; 12] =
    ["cat", "chmod", "echo", "head", "ln", "ls", "mv", "nc", "rm", "sh", "sleep", "touch"];

/// Arguments of every command, which select the images and containers of these tests only.
fn global() -> Vec<String> {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("executor-podman");
    let [root, run] = ["root", "run"].map(|name| root.join(name).to_str().unwrap().to_owned());
    let words = ["--storage-driver", "vfs", "--runtime", "runc", "--root", &root, "--runroot", &run];
    words.map(String::from).to_vec()
}

fn podman(words: &[&str]) -> Output {
    Command::new("podman").args(global()).args(words).output().unwrap()
}

/// Creates the images once. Returns what is missing if that is not possible.
fn images() -> Result<(), String> {
    static IMAGES: OnceLock<Result<(), String>> = OnceLock::new();
    IMAGES.get_or_init(|| image(IMAGE, &TOOLS).and_then(|()| image(BARE, &["cat"]))).clone()
}

fn image(name: &str, tools: &[&str]) -> Result<(), String> {
    for program in ["podman", "runc", "busybox"] {
        Command::new(program).arg("--help").output().map_err(|error| format!("`{program}`: {error}"))?;
    }
    let path = directory(&format!("image-{}", tools.len()));
    let script = "mkdir -p bin tmp workspace proc sys dev etc && cp \"$(command -v busybox)\" bin/ && \
                  for tool; do ln -s busybox bin/$tool; done && tar -cf ../$0.tar .";
    let tar = tools.len().to_string();
    let made = Command::new("sh").args(["-c", script, &tar]).args(tools).current_dir(&path).status();
    assert!(made.unwrap().success());
    let tar = path.with_file_name(tar).with_extension("tar");
    let imported = podman(&["import", tar.to_str().unwrap(), name]);
    if !imported.status.success() {
        return Err(String::from_utf8_lossy(&imported.stderr).into_owned());
    }
    let tried = podman(&[
        "run",
        "--rm",
        "--network",
        "none",
        "--ulimit",
        "nofile=1024:1024",
        "--ulimit",
        "nproc=1024:1024",
        name,
        "cat",
        "/dev/null",
    ]);
    if tried.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&tried.stderr).into_owned()) }
}

/// Returns a directory, and an executor that shows it to containers. Returns `None`, with a message, if there are no
/// containers.
fn container(name: &str) -> Option<(PathBuf, ContainerExecutor)> {
    if let Err(error) = images() {
        skip(Need::Podman, &format!("Podman runs no containers here: {}", error.trim()));
        return None;
    }
    let path = directory(&format!("podman-{name}"));
    Some((path.clone(), executor(IMAGE, &path)))
}

fn executor(image: &str, path: &Path) -> ContainerExecutor {
    let limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"];
    ContainerExecutor::new(image, path).program("podman").with_global_args(global()).with_args(limits)
}

/// Options without a network, because container networks are not tested here.
fn options() -> ExecOptions {
    ExecOptions::default().without_network()
}

#[tokio::test]
async fn program_runs_unchanged_in_a_container() {
    let Some((path, executor)) = container("same") else { return };
    fs::create_dir(path.join("sub")).unwrap();
    let given = options().stdin("in").env("GIVEN", "a b").work_dir("sub").user("1000:1000");
    let output = run(
        &executor,
        &shell("cat; echo \" $GIVEN $PWD $(ls -n /proc/self/cmdline | head -c 99)\"; echo err >&2; exit 3"),
        &given,
    )
    .await
    .unwrap();
    assert!(output.stdout.starts_with("in a b /workspace/sub -"), "{output:?}");
    assert!(output.stdout.contains(" 1000 "), "{output:?}");
    assert_eq!((output.stderr.as_str(), output.exit_code), ("err\n", 3));
    let output = run(&executor, &shell("echo new > file; cat /proc/self/status"), &options()).await.unwrap();
    assert_eq!(fs::read_to_string(path.join("file")).unwrap(), "new\n");
    assert!(output.stdout.contains("NoNewPrivs:\t1"), "{output:?}");
    let (message, lines) = std::sync::mpsc::channel();
    let received = options().on_line(move |line| message.send(line.to_owned()).unwrap());
    run(&executor, &shell("echo one; echo two"), &received).await.unwrap();
    drop(received);
    assert_eq!(lines.iter().collect::<Vec<_>>(), ["one", "two"]);
}

#[tokio::test]
async fn unstartable_command_in_a_container_is_an_error() {
    let Some((path, executor)) = container("start") else { return };
    for words in [&["no-such-program"][..], &["/etc"]] {
        let error = run(&executor, &argv(words), &options()).await.unwrap_err();
        assert!(matches!(error, ExecError::Start { .. }), "{error}");
    }
    // The shell in the container found no such program, but did start.
    let output = run(&executor, &shell("no-such-program"), &options()).await.unwrap();
    assert_eq!(output.exit_code, 127);
    let never = CancellationToken::new();
    let there = preflight(&executor, &["ls", "git", "gh"], &options().read_only(), &never).await.unwrap();
    assert_eq!(there.message(), "missing required programs: git, gh");
    let bare = self::executor(BARE, &path);
    let error = preflight(&bare, &["cat"], &options(), &never).await.unwrap_err().to_string();
    assert!(error.ends_with("without it, other programs cannot be checked"), "{error}");
    assert!(run(&bare, &argv(&["cat", "/dev/null"]), &options()).await.unwrap().success());
}

#[tokio::test]
async fn read_only_container_changes_no_file() {
    let Some((path, executor)) = container("read-only") else { return };
    fs::write(path.join("file"), "abc").unwrap();
    for attempt in [
        "echo x > new",
        "echo x >> file",
        "rm file",
        "mv file other",
        "chmod 777 file",
        "ln file hard",
        "touch file",
        "touch /new /bin/new /etc/new",
        "echo 60 > /proc/sys/vm/swappiness",
        "cat /bin/busybox > /tmp/program && chmod +x /tmp/program && /tmp/program true",
    ] {
        let output = run(&executor, &shell(attempt), &options().read_only()).await.unwrap();
        assert!(!output.success(), "{attempt}: {output:?}");
        let names: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["file"], "{attempt}");
        assert_eq!(fs::read_to_string(path.join("file")).unwrap(), "abc", "{attempt}");
    }
    let output =
        run(&executor, &shell("cat file > /tmp/copy && cat /tmp/copy"), &options().read_only()).await;
    assert_eq!(output.unwrap().stdout, "abc");
}

#[tokio::test]
async fn container_without_network_is_isolated() {
    let Some((_, executor)) = container("network") else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let script = shell(&format!("echo x | nc 127.0.0.1 {}", listener.local_addr().unwrap().port()));
    let open = executor.clone().with_args(["--network", "host"]);
    let (reachable, cancel) = (ExecOptions::default(), CancellationToken::new());
    let connected = async {
        eventually("with a network it is reached", || listener.accept().is_ok()).await;
        cancel.cancel();
    };
    let outcome = tokio::join!(open.run(&script, &reachable, &cancel), connected).0;
    assert!(matches!(outcome, Ok(_) | Err(ExecError::Cancelled)), "{outcome:?}");
    let output = run(&executor, &script, &options()).await.unwrap();
    assert!(!output.success() && listener.accept().is_err(), "{output:?}");
}

#[tokio::test]
async fn container_limits_are_enforced() {
    let Some((_, executor)) = container("limits") else { return };
    let bomb = shell("i=0; while [ $i -lt 60 ]; do (sleep 3; echo alive) & i=$((i+1)); done; wait");
    let few = options().limits(ResourceLimits::default().pids(12));
    let output = run(&executor, &bomb, &few).await.unwrap();
    assert!(output.stdout.lines().count() <= 12 && output.stderr.contains("ork"), "{output:?}");
    let little = options().limits(ResourceLimits::default().memory(40 << 20).cpus(0.5));
    let hungry = shell("x=$(head -c 100000000 /dev/zero | tr '\\0' x); echo ${#x}");
    let output = run(&executor, &hungry, &little).await.unwrap();
    // Podman's monitor leaves this in the directory of this process.
    let _ = fs::remove_file("oom");
    assert!(!output.success() && output.stdout.is_empty(), "{output:?}");
    let output = run(&executor, &shell("cat /proc/1/environ"), &little).await.unwrap();
    assert!(!output.stdout.contains("CARGO_MANIFEST_DIR"), "{output:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn container_is_removed_however_its_program_ends() {
    let Some((_, executor)) = container("ends") else { return };
    let mark = format!("4323.{}", std::process::id());
    let script = shell(&format!("sleep {mark} & (sleep {mark} &) ; sleep {mark}"));
    for round in 0..24_u64 {
        let delay = Duration::from_millis(round * 30);
        let cancel = CancellationToken::new();
        let options = options();
        let outcome = match round % 3 {
            0 => executor.run(&script, &options.timeout(delay), &cancel).await,
            1 => {
                let running = executor.run(&script, &options, &cancel);
                let stop = async {
                    tokio::time::sleep(delay).await;
                    cancel.cancel();
                };
                tokio::join!(running, stop).0
            }
            _ => match tokio::time::timeout(delay, executor.run(&script, &options, &cancel)).await {
                Ok(outcome) => outcome,
                Err(_) => continue,
            },
        };
        assert!(matches!(outcome, Err(ExecError::Timeout { .. } | ExecError::Cancelled)), "{outcome:?}");
    }
    let left = || crate::executor::left(&mark).into_iter().chain(containers()).collect::<Vec<_>>();
    eventually("nothing is left", || left().is_empty()).await;
}

/// Returns the containers of these tests that have this image and the command of the test above.
fn containers() -> Vec<String> {
    let listed = podman(&["ps", "--all", "--format", "{{.Names}} {{.Command}}"]);
    let text = String::from_utf8(listed.stdout).unwrap();
    text.lines().filter(|line| line.contains("4323.")).map(str::to_owned).collect()
}

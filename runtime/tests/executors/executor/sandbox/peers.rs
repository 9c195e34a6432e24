//! Tests of confined programs and other processes of the same user.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use toolgen_runtime::engine::executor::{ContainerExecutor, Sandbox};

use crate::executor::needs::{Need, skip};
use crate::executor::sandbox::{closed, executors, tempdir};
use crate::executor::{argv, run, shell};
use crate::prelude::*;

const SCRIPT: &str = include_str!("peers.py");

/// What a program can do to other processes if it is not confined, for every user.
const POSSIBLE: [&str; 17] = [
    "prlimit",
    "prlimit of files",
    "setpriority",
    "setpriority of a group",
    "setpriority of a user",
    "sched_setaffinity",
    "sched_setscheduler",
    "ioprio_set",
    "shmget",
    "shmat",
    "semop",
    "msgsnd",
    "shmctl",
    "semctl",
    "msgctl",
    "flock",
    "lease",
];

/// A process of this user in a separate process group, with shared resources.
struct Victim {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    known: String,
}

impl Victim {
    fn start(path: &Path) -> Victim {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new("python3");
        command.args(["-c", SCRIPT, "victim"]).arg(path).process_group(0);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut victim = Victim { process, input, output, known: String::new() };
        victim.known = victim.line();
        victim
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "it ended");
        line
    }

    fn state(&mut self) -> String {
        self.input.write_all(b"\n").unwrap();
        self.line()
    }

    fn end(mut self) {
        drop(self.input);
        self.process.wait().unwrap();
    }
}

/// The restrictions of each program of these tests that this machine supports.
async fn confined() -> Vec<(Sandbox, LocalExecutor, ExecOptions)> {
    let mut all = Vec::new();
    for (sandbox, executor) in executors().await {
        for options in
            [closed(), ExecOptions::default().read_only(), ExecOptions::default().without_network()]
        {
            all.push((sandbox, executor.clone(), options));
        }
        let limits = ExecOptions::default().limits(ResourceLimits::default().pids(50));
        match run(&executor, &argv(&["true"]), &limits).await {
            Ok(_) => all.push((sandbox, executor, limits)),
            Err(error) => skip(Need::ControlGroups, &error.to_string()),
        }
    }
    all
}

#[tokio::test]
async fn program_cannot_affect_other_processes_of_the_user() {
    if Command::new("python3").arg("-V").output().is_err() {
        return skip(Need::Python, "`python3` is not installed");
    }
    let path = tempdir("peers");
    let mut victim = Victim::start(&path);
    let attack = argv(&["python3", "-c", SCRIPT, "attack", &victim.known]);
    let before = victim.state();
    for (sandbox, executor, options) in confined().await {
        for words in [attack.clone(), [argv(&["unshare", "--user"]), attack.clone()].concat()] {
            let options = options.clone().work_dir(&path);
            let output = run(&executor, &words, &options).await.unwrap();
            assert_eq!(victim.state(), before, "{sandbox:?}: {options:?} {output:?}");
            if sandbox == Sandbox::Landlock {
                // A program that may write files may also lock them.
                let message = output.stdout.replace("flock\nlease\n", "");
                assert_eq!(message, "", "{options:?} {output:?}");
                assert!(!options.read_only || output.stdout.is_empty(), "{output:?}");
            }
        }
    }
    victim.end();
    // All of these work without confinement. The changes disappear with the process.
    let mut victim = Victim::start(&path);
    let before = victim.state();
    let attack = argv(&["python3", "-c", SCRIPT, "attack", &victim.known]);
    let output = Command::new("setsid").args(["-w"]).args(&attack).output().unwrap();
    let done = String::from_utf8(output.stdout).unwrap();
    for name in POSSIBLE {
        assert!(done.lines().any(|line| line == name), "what proves nothing: {name}: {done}");
    }
    assert_ne!(victim.state(), before);
    victim.end();
    fs::remove_dir_all(path).unwrap();
}

#[tokio::test]
async fn program_can_set_its_own_limits_and_priorities() {
    if Command::new("prlimit").arg("--version").output().is_err() {
        return skip(Need::UtilLinux, "`prlimit` is not installed");
    }
    for (sandbox, executor, options) in confined().await {
        for (script, message) in [
            ("prlimit --nofile=64:64 sh -c 'ulimit -n'", "64\n"),
            ("ulimit -c 0; ulimit -c", "0\n"),
            ("nice -n 5 nice", "5\n"),
            ("ionice -c 3 ionice", "idle\n"),
            ("chrt -i 0 chrt -p 0 > /dev/null && echo idle", "idle\n"),
            ("taskset 1 sh -c 'echo one'", "one\n"),
            ("prlimit --pid $$ --nofile > /dev/null && echo read", "read\n"),
        ] {
            let output = run(&executor, &shell(script), &options).await.unwrap();
            assert_eq!(output.stdout, message, "{sandbox:?} {options:?}: {script}: {output:?}");
        }
    }
}

/// Runs programs in a process that has inherited open files.
#[tokio::test]
async fn programs_of_a_process_with_inherited_files() {
    if std::env::var_os("TOOLGEN_TEST_INHERITED").is_none() {
        return;
    }
    let mut all = confined().await;
    all.push((Sandbox::Auto, LocalExecutor::new(), ExecOptions::default()));
    for (sandbox, executor, options) in all {
        for script in
            ["echo written >&7", "head -c 6 <&8", "echo written >&9", "exec 3<&-; echo x > /proc/self/fd/7"]
        {
            let output = run(&executor, &shell(script), &options).await.unwrap();
            assert_eq!(output.stdout, "", "{sandbox:?} {options:?}: {script}: {output:?}");
        }
        let output = run(&executor, &shell("echo fine; ls -l /proc/$$/fd"), &options).await.unwrap();
        assert!(output.stdout.starts_with("fine\n"), "{output:?}");
        assert!(!output.stdout.contains("inherited"), "{sandbox:?} {options:?}: {output:?}");
    }
    // A script that replaces `docker`, and is called to remove the container that timed out.
    let path = tempdir("removed");
    let docker = path.join("docker");
    let script =
        "#!/bin/sh\nls -l /proc/$$/fd > \"$0.$1\"; [ \"$1\" = run ] && exec sleep 60; echo removed\n";
    fs::write(&docker, script).unwrap();
    fs::set_permissions(&docker, fs::Permissions::from_mode(0o755)).unwrap();
    let executor = ContainerExecutor::new("i", "/w").program(docker.to_str().unwrap());
    let brief = ExecOptions::default().timeout(Duration::from_millis(500));
    let outcome = run(&executor, &shell("true"), &brief).await;
    assert!(matches!(outcome, Err(ExecError::Timeout { .. })), "{outcome:?}");
    for word in ["run", "rm"] {
        let open = fs::read_to_string(path.join(format!("docker.{word}"))).unwrap();
        assert!(open.contains("0 -> ") && !open.contains("inherited"), "{word}: {open}");
    }
    fs::remove_dir_all(path).unwrap();
}

#[test]
fn programs_inherit_no_open_files() {
    let path = tempdir("inherited");
    let file = path.join("inherited");
    fs::write(&file, "secret").unwrap();
    let this = std::env::current_exe().unwrap();
    let script = "exec 7>>\"$1\" 8<\"$1\" 9<>\"$1\"; shift; exec \"$@\"";
    let output = Command::new("bash")
        .args(["-c", script, "bash"])
        .arg(&file)
        .arg(this)
        .args(["--exact", "executor::sandbox::peers::programs_of_a_process_with_inherited_files"])
        .env("TOOLGEN_TEST_INHERITED", "x")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(fs::read_to_string(&file).unwrap(), "secret");
    fs::remove_dir_all(path).unwrap();
}

//! Programs that are confined to this machine's files, without a network, and to few resources: by each means that is
//! here.

use std::fs;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolgen_runtime::CancellationToken;
use toolgen_runtime::engine::executor::{
    ExecError, ExecOptions, ExecOutput, Executor, LocalExecutor, ResourceLimits, Sandbox, preflight,
};

use crate::needs::{Need, skip};
use crate::{argv, directory, eventually, left, run, shell};

const MEANS: [(Sandbox, Need); 2] =
    [(Sandbox::Bubblewrap, Need::Bubblewrap), (Sandbox::Landlock, Need::Landlock)];

/// An executor for each means that works here.
async fn executors() -> Vec<(Sandbox, LocalExecutor)> {
    let mut executors = Vec::new();
    for (sandbox, need) in MEANS {
        let executor = LocalExecutor::new().sandbox(sandbox);
        match run(&executor, &argv(&["true"]), &ExecOptions::default().read_only().without_network()).await {
            Ok(output) => {
                assert!(output.success(), "{sandbox:?}: {output:?}");
                executors.push((sandbox, executor));
            }
            Err(why) => skip(need, &why.to_string()),
        }
    }
    executors
}

fn closed() -> ExecOptions {
    ExecOptions::default().read_only().without_network()
}

/// What a directory holds: names, sizes and modes.
fn listing(dir: &Path) -> Vec<String> {
    let mut list: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let data = fs::symlink_metadata(&path).unwrap();
            let text = if data.is_file() { fs::read_to_string(&path).unwrap() } else { String::new() };
            format!(
                "{} {:o} {:?} {text:?}",
                path.display(),
                data.permissions().mode(),
                data.modified().unwrap()
            )
        })
        .collect();
    list.sort();
    list
}

#[tokio::test]
async fn a_read_only_program_changes_no_file() {
    let attempts = [
        "echo x > new",
        "echo x >> file",
        ": > file",
        "truncate -s 1 file",
        "rm file",
        "mv file other",
        "mv link other",
        "ln file hard",
        "ln -s file soft",
        "mkdir dir",
        "rmdir empty",
        "chmod 777 file",
        "chmod 777 .",
        "touch file",
        "touch -d 2001-01-01 file",
        "chown 0:0 file && chown 1:1 file",
        "echo x >> link",
        "echo x > link-out",
        "echo x >> hard-in",
        "rm hard-in",
        "mkfifo pipe",
        "mknod device c 1 3",
        "sed -i s/a/b/ file",
        "cp -p file copy",
        "dd if=/dev/zero of=file bs=1 count=1 conv=notrunc",
        "echo x > /proc/self/cwd/file",
        "echo x > /proc/1/root$PWD/new",
        "mount -o remount,rw / && echo x > new",
        "unshare -rm sh -c 'mount -o remount,rw,bind / / && echo x > new'",
        "setfattr -n user.a -v b file || python3 -c 'import os; os.setxattr(\"file\", \"user.a\", b\"b\")'",
        "chattr +d file",
        "cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness && touch changed",
    ];
    for (sandbox, executor) in executors().await {
        let place = directory(&format!("read_only_{sandbox:?}"));
        let outside = directory(&format!("read_only_{sandbox:?}_outside"));
        fs::write(place.join("file"), "abc").unwrap();
        fs::write(outside.join("file"), "abc").unwrap();
        fs::create_dir(place.join("empty")).unwrap();
        fs::hard_link(outside.join("file"), place.join("hard-in")).unwrap();
        std::os::unix::fs::symlink("file", place.join("link")).unwrap();
        std::os::unix::fs::symlink(outside.join("file"), place.join("link-out")).unwrap();
        let before = (listing(&place), listing(&outside));
        for attempt in attempts {
            let options = closed().work_dir(&place);
            let output = run(&executor, &shell(attempt), &options).await.unwrap();
            assert!(!output.success(), "{sandbox:?}: {attempt} succeeded: {output:?}");
            assert_eq!((listing(&place), listing(&outside)), before, "{sandbox:?}: {attempt}");
        }
        let output =
            run(&executor, &shell("cat file; ls > /dev/null"), &closed().work_dir(&place)).await.unwrap();
        assert_eq!((output.stdout.as_str(), output.exit_code), ("abc", 0), "{sandbox:?}: it reads");
    }
}

#[tokio::test]
async fn temporary_files_are_a_programs_own() {
    let mark = format!("toolgen-mark-{}", std::process::id());
    for (sandbox, executor) in executors().await {
        let script = format!(
            "f=\"$(mktemp)\" && echo kept > \"$f\" && cat \"$f\" && echo x > \"$TMPDIR/{mark}\" && echo \"$TMPDIR\""
        );
        let output = run(&executor, &shell(&script), &closed()).await.unwrap();
        let (kept, dir) = output.stdout.split_once('\n').unwrap();
        assert_eq!((kept, output.exit_code), ("kept", 0), "{sandbox:?}: {output:?}");
        assert!(!Path::new("/tmp").join(&mark).exists() && !std::env::temp_dir().join(&mark).exists());
        if sandbox == Sandbox::Landlock {
            let dir = PathBuf::from(dir.trim_end());
            eventually("its directory is gone", || !dir.exists()).await;
        }
        // Nobody sees what others have there, nor what a former program left.
        let output =
            run(&executor, &shell(&format!("! test -e \"$TMPDIR/{mark}\"")), &closed()).await.unwrap();
        assert!(output.success(), "{sandbox:?}: {output:?}");
    }
    let place = tempdir("private");
    for (sandbox, executor) in executors().await {
        fs::write(place.join("secret"), "s").unwrap();
        let seen = format!("cat {}/secret", place.display());
        let output = run(&executor, &shell(&seen), &closed().work_dir("/")).await.unwrap();
        assert_eq!(output.success(), sandbox == Sandbox::Landlock, "{sandbox:?}: only Bubblewrap hides /tmp");
        // But the directory it is to work in is there.
        let output = run(&executor, &argv(&["cat", "secret"]), &closed().work_dir(&place)).await.unwrap();
        assert_eq!(output.stdout, "s", "{sandbox:?}");
    }
    fs::remove_dir_all(place).unwrap();
}

/// A directory in /tmp.
fn tempdir(name: &str) -> PathBuf {
    let path = PathBuf::from(format!("/tmp/toolgen-test-{}-{name}", std::process::id()));
    fs::create_dir_all(&path).unwrap();
    path
}

/// A program that may write still writes, and where it is told.
#[tokio::test]
async fn a_program_that_may_write_writes() {
    for (sandbox, executor) in executors().await {
        let place = directory(&format!("writes_{sandbox:?}"));
        let options = ExecOptions::default().without_network().work_dir(&place);
        let output =
            run(&executor, &shell("echo x > new && chmod 600 new && mv new old"), &options).await.unwrap();
        assert!(output.success(), "{sandbox:?}: {output:?}");
        assert_eq!(fs::read_to_string(place.join("old")).unwrap(), "x\n");
        // Not to what its limits are made of.
        let script =
            shell("echo $$ > /sys/fs/cgroup/cgroup.procs || echo $$ > /sys/fs/cgroup/pids/cgroup.procs");
        let output = run(&executor, &script, &options).await.unwrap();
        assert!(!output.success(), "{sandbox:?}: {output:?}");
    }
}

const CONNECT: &str = r"
import socket, sys
kind, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
family = socket.AF_INET6 if ':' in host else socket.AF_INET
s = socket.socket(family, socket.SOCK_STREAM if kind == 'tcp' else socket.SOCK_DGRAM)
s.settimeout(5)
if kind == 'tcp':
    s.connect((host, port))
else:
    s.sendto(b'x', (host, port))
print('sent')
";

#[tokio::test]
async fn a_program_without_a_network_reaches_nobody() {
    if std::process::Command::new("python3").arg("-V").output().is_err() {
        return skip(Need::Python, "`python3` is not installed");
    }
    for host in ["127.0.0.1", "::1"] {
        let address = |port| SocketAddr::new(host.parse().unwrap(), port);
        let (Ok(tcp), Ok(udp)) = (TcpListener::bind(address(0)), UdpSocket::bind(address(0))) else {
            skip(Need::Ipv6, "this machine has no IPv6");
            continue;
        };
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        let attempts = [("tcp", tcp.local_addr().unwrap()), ("udp", udp.local_addr().unwrap())];
        let reached = || (tcp.accept().is_ok(), udp.recv(&mut [0; 9]).is_ok());
        for (sandbox, executor) in executors().await {
            for (kind, address) in attempts {
                let port = address.port().to_string();
                let words = argv(&["python3", "-c", CONNECT, kind, host, &port]);
                let output = run(&executor, &words, &ExecOptions::default().read_only()).await.unwrap();
                assert_eq!(output.stdout, "sent\n", "{sandbox:?}: with a network it is reached: {output:?}");
                assert_eq!(reached(), (kind == "tcp", kind == "udp"), "{sandbox:?}");
                let output = run(&executor, &words, &ExecOptions::default().without_network()).await.unwrap();
                // A datagram is sent into a network where nobody is.
                assert!(!output.success() || (kind, sandbox) == ("udp", Sandbox::Bubblewrap), "{output:?}");
                tokio::time::sleep(Duration::from_millis(20)).await;
                assert_eq!(reached(), (false, false), "{sandbox:?} {kind} {host}");
            }
        }
    }
}

#[tokio::test]
async fn no_process_outside_acts_for_a_program() {
    if std::process::Command::new("python3").arg("-V").output().is_err() {
        return skip(Need::Python, "`python3` is not installed");
    }
    // In the test's own directory, which the sandbox shows.
    let place = tempdir("unix");
    let path = place.join("socket");
    let stream = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let datagram = std::os::unix::net::UnixDatagram::bind(place.join("datagram")).unwrap();
    stream.set_nonblocking(true).unwrap();
    datagram.set_nonblocking(true).unwrap();
    let attempts = [
        "import socket; socket.socket(socket.AF_UNIX).connect('socket')",
        "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', 'datagram')",
        "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', 'datagram')",
        "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)[0].sendto(b'x', 'datagram')",
        "import socket; socket.socket(socket.AF_VSOCK)",
        "import ctypes; c = ctypes.CDLL(None); p = ctypes.create_string_buffer(120); exit(c.syscall(425, 8, p) < 0)",
    ];
    for (sandbox, executor) in executors().await {
        for options in [ExecOptions::default().read_only(), ExecOptions::default().without_network()] {
            for attempt in attempts {
                let words = argv(&["python3", "-c", attempt]);
                let output = run(&executor, &words, &options.clone().work_dir(&place)).await.unwrap();
                assert!(!output.success(), "{sandbox:?}: {attempt}");
                assert!(
                    stream.accept().is_err() && datagram.recv(&mut [0; 9]).is_err(),
                    "{sandbox:?}: {attempt}"
                );
            }
            let pair = "import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))";
            let output = run(&executor, &argv(&["python3", "-c", pair]), &options).await.unwrap();
            assert_eq!(output.stdout, "b'x'\n", "{sandbox:?}: a pair of its own is fine: {output:?}");
        }
    }
    fs::remove_dir_all(place).unwrap();
}

#[tokio::test]
async fn the_environment_and_memory_of_this_process_stay_with_it() {
    let this = std::process::id();
    for (sandbox, executor) in executors().await {
        for options in [closed(), ExecOptions::default().without_network()] {
            for file in ["environ", "mem", "maps", "fd/0", "root/etc/passwd"] {
                let output =
                    run(&executor, &shell(&format!("cat /proc/{this}/{file}")), &options).await.unwrap();
                assert!(!output.success(), "{sandbox:?}: {file}");
                assert_eq!(output.stdout, "", "{sandbox:?}: {file}");
            }
            // Nor do others of the same user, whose number the program does not know.
            let every = "for p in /proc/[0-9]*; do case $p in */$$) ;; *) cat $p/environ 2>/dev/null;; esac; done | tr '\\0' '\\n' | grep -a ^CARGO_MANIFEST_DIR=";
            let output = run(&executor, &shell(every), &options).await.unwrap();
            assert_eq!(output.stdout, "", "{sandbox:?}");
        }
    }
}

#[tokio::test]
async fn a_program_gains_no_privileges() {
    let mut all = executors().await;
    all.push((Sandbox::Auto, LocalExecutor::new()));
    for (sandbox, executor) in all {
        let options = if sandbox == Sandbox::Auto { ExecOptions::default() } else { closed() };
        let output = run(&executor, &argv(&["cat", "/proc/self/status"]), &options).await.unwrap();
        assert!(output.stdout.contains("NoNewPrivs:\t1"), "{sandbox:?}: {}", output.stdout);
        let capabilities = output.stdout.lines().find(|line| line.starts_with("CapEff:")).unwrap();
        assert!(sandbox == Sandbox::Auto || capabilities.ends_with("\t0000000000000000"), "{capabilities}");
    }
}

#[tokio::test]
async fn a_program_is_the_same_inside() {
    for (sandbox, executor) in executors().await {
        let options = closed().stdin("in").env("LD_MADE_UP", "a b").env("GIVEN", "c");
        let script = shell("cat; echo \" $LD_MADE_UP $GIVEN\"; echo err >&2; exit 7");
        let output = run(&executor, &script, &options).await.unwrap();
        let told = (output.stdout.as_str(), output.stderr.as_str(), output.exit_code);
        assert_eq!(told, ("in a b c\n", "err\n", 7), "{sandbox:?}");
        let output = run(&executor, &shell("kill -TERM $$"), &closed()).await.unwrap();
        assert_eq!(output.exit_code, 128 + 15, "{sandbox:?}");
        let error = run(&executor, &argv(&["no-such-program-at-all"]), &closed()).await.unwrap_err();
        assert!(error.to_string().starts_with("cannot start 'no-such-program-at-all': "), "{error}");
        let error = run(&executor, &argv(&["ls"]), &closed().work_dir("/no/such/dir")).await.unwrap_err();
        assert!(
            matches!(&error, ExecError::Start { .. }) && error.to_string().contains("/no/such/dir"),
            "{error}"
        );
        let error = run(&executor, &argv(&["/etc/passwd"]), &closed()).await.unwrap_err();
        assert!(matches!(error, ExecError::Start { .. }), "{error}");
        let never = CancellationToken::new();
        let there = preflight(&executor, &["sh", "no-such-program-1"], &closed(), &never).await.unwrap();
        assert_eq!(there.message(), "missing required programs: no-such-program-1");
    }
}

/// The outcome of a program with limits, or nothing where they cannot be enforced and that was said.
async fn limited(executor: &LocalExecutor, script: &str, limits: ResourceLimits) -> Option<ExecOutput> {
    let options = ExecOptions::default().limits(limits);
    match run(executor, &shell(script), &options).await {
        Err(why @ ExecError::Unsupported { .. }) => {
            assert!(why.to_string().contains("control group"), "{why}");
            skip(Need::ControlGroups, &why.to_string());
            None
        }
        outcome => Some(outcome.unwrap()),
    }
}

/// Starts sixty programs that wait for each other, and counts those that ran.
const BOMB: &str = "i=0; while [ $i -lt 60 ]; do (sleep 3; echo alive) & i=$((i+1)); done; wait";

#[tokio::test]
async fn a_program_that_multiplies_is_stopped() {
    for (sandbox, executor) in executors().await {
        let limits = ResourceLimits::default().pids(12);
        let Some(output) = limited(&executor, BOMB, limits).await else { continue };
        let alive = output.stdout.lines().count();
        assert!(alive <= 12, "{sandbox:?}: {output:?}");
        assert!(output.stderr.contains("ork"), "{sandbox:?}: {output:?}");
        // Under the limit it runs.
        let few = "i=0; while [ $i -lt 10 ]; do (sleep 0.1; echo alive) & i=$((i+1)); done; wait";
        let output = limited(&executor, few, ResourceLimits::default().pids(30)).await.unwrap();
        assert_eq!((output.stdout.lines().count(), output.exit_code), (10, 0), "{sandbox:?}: {output:?}");
    }
}

#[tokio::test]
async fn a_program_gets_no_more_memory_than_it_may() {
    let hungry = "x=$(head -c 100000000 /dev/zero | tr '\\0' 'x'); echo ${#x}";
    for (sandbox, executor) in executors().await {
        let Some(output) = limited(&executor, hungry, ResourceLimits::default().memory(40 << 20)).await
        else {
            continue;
        };
        assert_eq!(output.stdout, "", "{sandbox:?}: {output:?}");
        assert!(!output.success(), "{sandbox:?}: {output:?}");
        // All its processes together.
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
async fn a_program_gets_no_more_of_the_processors_than_it_may() {
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
        // `times` tells what it used: `0m0.30s 0m0.01s`, for the shell and for its children.
        let used: f64 = output.stdout.split(['m', 's']).nth(1).unwrap().parse().unwrap();
        let share = used / output.duration.as_secs_f64();
        assert!(share < 0.3, "{sandbox:?}: {share} of a processor: {output:?}");
    }
}

#[tokio::test]
async fn limits_that_are_none_are_refused() {
    let none = ResourceLimits::default();
    for limits in [none.cpus(0.0), none.cpus(f64::NAN), none.cpus(-1.0), none.memory(0), none.pids(0)] {
        let error =
            run(&LocalExecutor::new(), &shell("echo ran"), &ExecOptions::default().limits(limits)).await;
        assert!(matches!(error, Err(ExecError::Invalid { .. })), "{error:?}");
    }
}

/// A kind of end, in the middle of a program that starts others, some of which leave its group.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_however_a_program_ends() {
    for (sandbox, executor) in executors().await {
        // Each program waits for this number of seconds, which nothing else here does.
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
        let groups = || fs::read_dir("/sys/fs/cgroup/pids").into_iter().flatten().filter_map(Result::ok);
        let is_ours = |name: &str| name.starts_with("toolgen-");
        eventually("no group is left", || {
            !groups().any(|entry| is_ours(&entry.file_name().to_string_lossy()))
        })
        .await;
    }
}

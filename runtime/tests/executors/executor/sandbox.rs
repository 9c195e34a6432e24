//! Tests of programs that are confined to this machine's files, without a network, and with limited resources, in
//! each available sandbox.

mod peers;

use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;

use toolgen_runtime::engine::executor::Sandbox;

use crate::executor::needs::{Need, skip};
use crate::executor::{argv, directory, eventually, run, shell};
use crate::prelude::*;

const MEANS: [(Sandbox, Need); 2] =
    [(Sandbox::Bubblewrap, Need::Bubblewrap), (Sandbox::Landlock, Need::Landlock)];

/// Returns an executor for each sandbox that works here.
pub(crate) async fn executors() -> Vec<(Sandbox, LocalExecutor)> {
    let mut executors = Vec::new();
    for (sandbox, need) in MEANS {
        let executor = LocalExecutor::new().sandbox(sandbox);
        match run(&executor, &argv(&["true"]), &ExecOptions::default().read_only().without_network()).await {
            Ok(output) => {
                assert!(output.success(), "{sandbox:?}: {output:?}");
                executors.push((sandbox, executor));
            }
            Err(error) => skip(need, &error.to_string()),
        }
    }
    executors
}

pub(crate) fn closed() -> ExecOptions {
    ExecOptions::default().read_only().without_network()
}

/// Lists the content of a directory: names, sizes and modes.
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

/// Changes that a program can make if it is not confined.
const CHANGES: [&str; 22] = [
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
    "echo x >> link",
    "echo x > link-out",
    "echo x >> hard-in",
    "rm hard-in",
    "mkfifo pipe",
    "sed -i s/a/b/ file",
    "echo x > /proc/self/cwd/file",
];

/// Changes that not every user, machine or file system supports.
const MORE_CHANGES: [&str; 8] = [
    "chown 1:1 file",
    "mknod device c 1 3",
    "echo x > /proc/1/root$PWD/new",
    "mount -o remount,rw / && echo x > new",
    "unshare -rm sh -c 'mount -o remount,rw,bind / / && echo x > new'",
    "setfattr -n user.a -v b file || python3 -c 'import os; os.setxattr(\"file\", \"user.a\", b\"b\")'",
    "chattr +d file",
    "cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness",
];

/// Creates a directory with files and links, one of which points to a file in another directory.
fn files(name: &str) -> (PathBuf, PathBuf) {
    let (path, outside) = (directory(&format!("{name}-in")), directory(&format!("{name}-out")));
    fs::write(path.join("file"), "abc").unwrap();
    fs::write(outside.join("file"), "abc").unwrap();
    fs::create_dir(path.join("empty")).unwrap();
    fs::hard_link(outside.join("file"), path.join("hard-in")).unwrap();
    std::os::unix::fs::symlink("file", path.join("link")).unwrap();
    std::os::unix::fs::symlink(outside.join("file"), path.join("link-out")).unwrap();
    (path, outside)
}

#[tokio::test]
async fn read_only_program_changes_no_file() {
    for (sandbox, executor) in executors().await {
        let (path, outside) = files(&format!("read-only-{sandbox:?}"));
        let before = (listing(&path), listing(&outside));
        for attempt in CHANGES.into_iter().chain(MORE_CHANGES) {
            let options = closed().work_dir(&path);
            let output = run(&executor, &shell(attempt), &options).await.unwrap();
            assert!(!output.success(), "{sandbox:?}: {attempt} succeeded: {output:?}");
            assert_eq!((listing(&path), listing(&outside)), before, "{sandbox:?}: {attempt}");
        }
        let output =
            run(&executor, &shell("cat file; ls > /dev/null"), &closed().work_dir(&path)).await.unwrap();
        assert_eq!((output.stdout.as_str(), output.exit_code), ("abc", 0), "{sandbox:?}: it reads");
    }
    for attempt in CHANGES {
        let (path, _) = files("writable");
        let output =
            run(&LocalExecutor::new(), &shell(attempt), &ExecOptions::default().work_dir(path)).await;
        assert!(output.as_ref().unwrap().success(), "what proves nothing: {attempt}: {output:?}");
    }
}

#[tokio::test]
async fn program_has_private_temporary_files() {
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
        // A program sees neither the files of other processes there, nor those of an earlier program.
        let output =
            run(&executor, &shell(&format!("! test -e \"$TMPDIR/{mark}\"")), &closed()).await.unwrap();
        assert!(output.success(), "{sandbox:?}: {output:?}");
    }
    let path = tempdir("private");
    for (sandbox, executor) in executors().await {
        fs::write(path.join("secret"), "s").unwrap();
        let seen = format!("cat {}/secret", path.display());
        let output = run(&executor, &shell(&seen), &closed().work_dir("/")).await.unwrap();
        assert_eq!(output.success(), sandbox == Sandbox::Landlock, "{sandbox:?}: only Bubblewrap hides /tmp");
        // But its working directory is available.
        let output = run(&executor, &argv(&["cat", "secret"]), &closed().work_dir(&path)).await.unwrap();
        assert_eq!(output.stdout, "s", "{sandbox:?}");
    }
    fs::remove_dir_all(path).unwrap();
}

/// A directory in /tmp.
pub(crate) fn tempdir(name: &str) -> PathBuf {
    let path = PathBuf::from(format!("/tmp/toolgen-test-{}-{name}", std::process::id()));
    fs::create_dir_all(&path).unwrap();
    path
}

#[tokio::test]
async fn program_with_write_access_can_write() {
    for (sandbox, executor) in executors().await {
        let path = directory(&format!("writes_{sandbox:?}"));
        let options = ExecOptions::default().without_network().work_dir(&path);
        let output =
            run(&executor, &shell("echo x > new && chmod 600 new && mv new old"), &options).await.unwrap();
        assert!(output.success(), "{sandbox:?}: {output:?}");
        assert_eq!(fs::read_to_string(path.join("old")).unwrap(), "x\n");
        // It cannot write to the files of its control group.
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
async fn program_without_network_is_isolated() {
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
                // A datagram is sent into a network without hosts.
                assert!(!output.success() || (kind, sandbox) == ("udp", Sandbox::Bubblewrap), "{output:?}");
                tokio::time::sleep(Duration::from_millis(20)).await;
                assert_eq!(reached(), (false, false), "{sandbox:?} {kind} {host}");
            }
        }
    }
}

#[tokio::test]
async fn sandboxed_program_cannot_reach_outside_sockets() {
    if std::process::Command::new("python3").arg("-V").output().is_err() {
        return skip(Need::Python, "`python3` is not installed");
    }
    // In the test's own directory, which the sandbox shows.
    let dir = tempdir("unix");
    let path = dir.join("socket");
    let stream = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let datagram = std::os::unix::net::UnixDatagram::bind(dir.join("datagram")).unwrap();
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
                let output = run(&executor, &words, &options.clone().work_dir(&dir)).await.unwrap();
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
    fs::remove_dir_all(dir).unwrap();
}

#[tokio::test]
async fn program_cannot_read_environment_or_memory_of_its_parent() {
    let this = std::process::id();
    for (sandbox, executor) in executors().await {
        for options in [closed(), ExecOptions::default().without_network()] {
            for file in ["environ", "mem", "maps", "fd/0", "root/etc/passwd"] {
                let output =
                    run(&executor, &shell(&format!("cat /proc/{this}/{file}")), &options).await.unwrap();
                assert!(!output.success(), "{sandbox:?}: {file}");
                assert_eq!(output.stdout, "", "{sandbox:?}: {file}");
            }
            // Nor those of other processes of the same user, whose IDs the program does not know.
            let every = "for p in /proc/[0-9]*; do case $p in */$$) ;; *) cat $p/environ 2>/dev/null;; esac; done | tr '\\0' '\\n' | grep -a ^CARGO_MANIFEST_DIR=";
            let output = run(&executor, &shell(every), &options).await.unwrap();
            assert_eq!(output.stdout, "", "{sandbox:?}");
        }
    }
}

#[tokio::test]
async fn program_gains_no_privileges() {
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
async fn program_runs_unchanged_in_a_sandbox() {
    for (sandbox, executor) in executors().await {
        let options = closed().stdin("in").env("LD_MADE_UP", "a b").env("GIVEN", "c");
        let script = shell("cat; echo \" $LD_MADE_UP $GIVEN\"; echo err >&2; exit 7");
        let output = run(&executor, &script, &options).await.unwrap();
        let count = (output.stdout.as_str(), output.stderr.as_str(), output.exit_code);
        assert_eq!(count, ("in a b c\n", "err\n", 7), "{sandbox:?}");
        let output = run(&executor, &shell("echo out > /dev/stdout; echo err > /dev/stderr"), &closed())
            .await
            .unwrap();
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("out\n", "err\n"), "{sandbox:?}");
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

/// The message if Bubblewrap is not available.
#[tokio::test]
async fn missing_sandbox_error_includes_help() {
    if std::env::var_os("TOOLGEN_TEST_WITHOUT").is_none() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "executor::sandbox::missing_sandbox_error_includes_help"])
            .env("TOOLGEN_TEST_WITHOUT", "x")
            .env("PATH", "/no/such/dir")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let words = argv(&["/bin/sh", "-c", "echo ran; : > /tmp/../toolgen-test"]);
    match run(&LocalExecutor::new(), &words, &closed()).await {
        Ok(output) => assert_eq!((output.stdout.as_str(), output.success()), ("ran\n", false), "by Landlock"),
        Err(reason) => assert!(reason.to_string().contains("Landlock"), "{reason}"),
    }
    let executor = LocalExecutor::new().sandbox(Sandbox::Bubblewrap);
    let error = run(&executor, &words, &closed()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the local executor cannot enforce read_only, network_disabled, so nothing was run: Bubblewrap (`bwrap`) is \
         not installed. Install Bubblewrap (`bwrap`) and allow this user to create namespaces, or run the program in a \
         container"
    );
}

/// Runs the tests above, and those of limits, as a user without privileges, as most users are.
#[test]
fn unprivileged_users_are_sandboxed() {
    if std::env::var_os("TOOLGEN_TEST_PLACE").is_some() {
        return;
    }
    let dir = tempdir("nobody");
    let (program, scratch) = (dir.join("executor"), dir.join("scratch"));
    fs::create_dir(&scratch).unwrap();
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for path in [&dir, &program, &scratch] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let required = std::env::var("TOOLGEN_REQUIRE").unwrap_or_default();
    let required: Vec<&str> = required.split(',').filter(|need| *need != "control-groups").collect();
    let output = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(&program)
        .args(["sandbox::", "limits::"])
        .env("TOOLGEN_TEST_PLACE", &scratch)
        .env("TOOLGEN_REQUIRE", required.join(","))
        .env_remove("CI")
        .current_dir(&dir)
        .output();
    fs::remove_dir_all(dir).unwrap();
    let Ok(output) = output else { return skip(Need::Root, "`setpriv` is not installed") };
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if message.contains("setresuid failed") || message.contains("setgroups failed") {
        return skip(Need::Root, "only root becomes another user");
    }
    eprint!("{message}");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

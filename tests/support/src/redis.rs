//! A Redis server for a test: on a free loopback port, without persistence.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::needs::{Need, skip};

/// A running server. It is killed at the end of the test.
pub struct Server {
    process: Child,
    port: u16,
    folder: PathBuf,
    more: Vec<String>,
}

impl Server {
    /// Starts a server. Without `redis-server`, reports it and returns `None`.
    #[track_caller]
    pub fn start() -> Option<Server> {
        Server::start_with(|_| Vec::new())
    }

    /// Starts a server with additional options, which may name files in a directory.
    #[track_caller]
    pub fn start_with(more: impl Fn(&Path) -> Vec<String>) -> Option<Server> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let known = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status();
        if !known.is_ok_and(|status| status.success()) {
            skip(Need::Redis, "there is no program `redis-server`");
            return None;
        }
        let name = format!("toolgen-redis-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        let more = more(&dir);
        // A free port may be in use when the server binds it.
        for _ in 0..20 {
            let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
            if let Some(process) = run(port, &dir, &more) {
                return Some(Server { process, port, folder: dir, more });
            }
        }
        panic!("redis-server did not start, see {}", dir.join("log").display());
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Restarts the server at the same port, without data.
    pub fn start_again(&mut self) {
        self.process = run(self.port, &self.folder, &self.more).expect("the port is still free");
    }

    /// Returns the process, for signals.
    pub fn process(&self) -> &Child {
        &self.process
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Starts a server and waits until it listens; `None` if it exits instead.
fn run(port: u16, directory: &Path, more: &[String]) -> Option<Child> {
    let plain =
        if more.iter().any(|option| option == "--tls-port") { "0".to_owned() } else { port.to_string() };
    let more = more.iter().map(|option| option.replace("PORT", &port.to_string()));
    let mut process = Command::new("redis-server")
        .args(["--port", &plain, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir"])
        .arg(directory)
        .arg("--logfile")
        .arg(directory.join("log"))
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(30) {
        if process.try_wait().unwrap().is_some() {
            return None;
        }
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Some(process);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = process.kill();
    let _ = process.wait();
    None
}

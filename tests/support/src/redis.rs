//! A Redis server of a test's own: on a free port of the loopback, keeping nothing on disk.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::needs::{Need, skip};

/// A running server. It is killed when the test is over.
pub struct Server {
    process: Child,
    port: u16,
    folder: PathBuf,
    more: Vec<String>,
}

impl Server {
    /// Starts a server; `None`, and said, where there is no program for it.
    #[track_caller]
    pub fn start() -> Option<Server> {
        Server::start_with(|_| Vec::new())
    }

    /// Starts a server with further options, which may name files of a folder.
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
        // A port that was free may be taken by the time the server asks for it.
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

    /// Starts the server again, at its old port and with nothing in it.
    pub fn start_again(&mut self) {
        self.process = run(self.port, &self.folder, &self.more).expect("the port is still free");
    }

    /// The process, for signals.
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

/// Starts a server and waits until it listens; `None` if it ends instead.
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

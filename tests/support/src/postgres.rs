//! A PostgreSQL server for a test: on a free loopback port, with its files in a temporary directory.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use crate::needs::{Need, skip};

/// The password of the user `audit`, as encoded in a URL. No error may show it.
pub const PASSWORD: &str = "hunter2%40x";

/// A server that stops after the last test that uses it.
pub struct Server {
    programs: PathBuf,
    folder: PathBuf,
    /// The user that the server runs as, because it refuses to run as root.
    user: Option<(u32, u32)>,
    pub port: u16,
    running: Mutex<Option<Child>>,
    settings: Vec<String>,
}

/// How a server is stopped.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// SIGKILL: no cleanup.
    Killed,
    /// SIGQUIT: connections are dropped, and nothing is flushed.
    Immediate,
    /// SIGINT: clients are notified, and everything is flushed.
    Fast,
}

/// The processes of a server, which are suspended until this is dropped.
pub struct Stalled(Vec<u32>);

impl Stalled {
    fn signal(&self, signal: &str) {
        let processes = self.0.iter().map(u32::to_string);
        // A process that has exited needs no signal.
        let _ = Command::new("kill").arg(signal).args(processes).stderr(Stdio::null()).status();
    }
}

impl Drop for Stalled {
    fn drop(&mut self) {
        self.signal("-CONT");
    }
}

/// Returns the server that the tests of a program share. Without PostgreSQL, reports it and returns `None`.
#[track_caller]
pub fn shared() -> Option<Arc<Server>> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap();
    if let Some(server) = shared.upgrade() {
        return Some(server);
    }
    let server = Arc::new(Server::start(&["fsync=off"])?);
    *shared = Arc::downgrade(&server);
    Some(server)
}

impl Server {
    /// Starts a server with these settings. Without PostgreSQL, reports it and returns `None`.
    #[track_caller]
    pub fn start(settings: &[&str]) -> Option<Server> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let Some(programs) = programs() else {
            skip(Need::Postgres, "there is no program `psql`, or no /usr/lib/postgresql/*/bin/initdb");
            return None;
        };
        let user = match is_root().then(user_of_postgres) {
            Some(None) => {
                skip(Need::Postgres, "there is no user `postgres`, and PostgreSQL does not run as root");
                return None;
            }
            user => user.flatten(),
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("toolgen-postgres-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("password"), PASSWORD.replace("%40", "@")).unwrap();
        if let Some((user, group)) = user {
            for path in [dir.clone(), dir.join("password")] {
                chown(path, Some(user), Some(group)).unwrap();
            }
        }
        // The system assigns free ports in turn, so that no other process gets this one soon.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let server = Server { programs, folder: dir, user, port, running: Mutex::new(None), settings };
        let made = server
            .program("initdb")
            .args(["-A", "scram-sha-256", "-U", "audit", "-E", "UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(server.data())
            .arg("--pwfile")
            .arg(server.folder.join("password"))
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        server.run();
        Some(server)
    }

    /// Returns the data directory, with the configuration.
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Writes a file that only the server reads.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.data().join(name);
        fs::write(&path, text).unwrap();
        Command::new("chmod").arg("600").arg(&path).status().unwrap();
        if let Some((user, group)) = self.user {
            chown(&path, Some(user), Some(group)).unwrap();
        }
        path
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.current_dir(&self.folder).env("PGPASSWORD", PASSWORD.replace("%40", "@"));
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }

    fn answers(&self) -> bool {
        let port = self.port.to_string();
        let response = self.program("pg_isready").args(["-q", "-h", "127.0.0.1", "-p", &port]).status();
        response.unwrap().success()
    }

    /// Restarts the server, and waits until it accepts connections.
    pub fn run(&self) {
        let mut running = self.running.lock().unwrap();
        assert!(running.is_none(), "the server runs");
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let log = self.folder.join("log");
            let log = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
            let mut server = self.program("postgres");
            server.arg("-D").arg(self.data()).args(["-p", &self.port.to_string()]);
            server.args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]);
            for setting in &self.settings {
                server.args(["-c", setting]);
            }
            let mut server = server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
            // It does not start while processes of the previous run exist.
            while server.try_wait().unwrap().is_none() {
                if self.answers() {
                    *running = Some(server);
                    return;
                }
                assert!(Instant::now() < deadline, "{}", self.log());
                std::thread::sleep(Duration::from_millis(20));
            }
            assert!(Instant::now() < deadline, "{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Stops the server.
    pub fn stop(&self, how: End) {
        let Some(mut server) = self.running.lock().unwrap().take() else { return };
        let signal = match how {
            End::Killed => "-KILL",
            End::Immediate => "-QUIT",
            End::Fast => "-INT",
        };
        Command::new("kill").args([signal, &server.id().to_string()]).status().unwrap();
        server.wait().unwrap();
    }

    /// Suspends all processes of the server until the returned value is dropped: connections are accepted, but get no
    /// response.
    pub fn stall(&self) -> Stalled {
        let first = self.running.lock().unwrap().as_ref().map(Child::id).unwrap();
        let mut stalled = Stalled(vec![first]);
        stalled.signal("-STOP");
        // It starts no other processes now.
        stalled.0.extend(fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let number: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let status = fs::read_to_string(format!("/proc/{number}/status")).ok()?;
            let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
            (parent.trim() == first.to_string()).then_some(number)
        }));
        stalled.signal("-STOP");
        stalled
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// Creates an empty database, and returns its URL.
    pub fn database(&self, name: &str) -> String {
        self.query("postgres", &format!("CREATE DATABASE {name}"));
        self.url(name)
    }

    /// Returns the URL of a database.
    pub fn url(&self, name: &str) -> String {
        format!("postgres://audit:{PASSWORD}@127.0.0.1:{}/{name}", self.port)
    }

    /// Returns the result of a query: rows are lines, and columns are separated by `|`.
    pub fn query(&self, database: &str, query: &str) -> String {
        let response = self
            .program("psql")
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", "audit"])
            .args(["-p", &self.port.to_string(), "-d", database, "-c", query])
            .output()
            .unwrap();
        assert!(response.status.success(), "{query}: {}", String::from_utf8_lossy(&response.stderr));
        String::from_utf8(response.stdout).unwrap().trim_end().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop(End::Immediate);
        // Only remove a directory of this helper, even if the code above changes.
        if self.folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("toolgen-postgres-"))
        {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Returns the directory with the programs of the newest installed PostgreSQL.
fn programs() -> Option<PathBuf> {
    Command::new("psql").arg("--version").stdout(Stdio::null()).status().ok()?;
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(|version| {
            let dir = version.ok()?.path();
            let number = dir.file_name()?.to_str()?.parse().ok()?;
            Some((number, dir.join("bin")))
        })
        .filter(|(_, dir)| {
            ["initdb", "postgres", "psql", "pg_isready"].iter().all(|name| dir.join(name).is_file())
        })
        .collect();
    found.sort();
    found.pop().map(|(_, dir)| dir)
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn user_of_postgres() -> Option<(u32, u32)> {
    let users = fs::read_to_string(Path::new("/etc/passwd")).ok()?;
    let line = users.lines().find(|line| line.starts_with("postgres:"))?;
    let mut words = line.split(':').skip(2);
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

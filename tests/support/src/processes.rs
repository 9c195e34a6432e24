//! Child processes of a test program. Each runs one of its tests, which does nothing unless it was started this way.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A running process, and its messages. It is killed at the end of the test.
pub struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts this program for one test, given by its full path, with additional environment variables.
    pub fn start(test: &str, variables: &[(&str, &dyn AsRef<OsStr>)]) -> Process {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let variables = variables.iter().map(|(name, value)| (name, value.as_ref()));
        let mut child = command.envs(variables).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Process { child, lines }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Lets it continue if it [waits](wait_for_others).
    pub fn begin(&mut self) {
        writeln!(self.child.stdin.as_mut().unwrap(), "begin").unwrap();
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Waits for its end, and returns whether it succeeded.
    pub fn succeeded(&mut self) -> bool {
        self.child.wait().unwrap().success()
    }
}

/// Iterates over its messages, until its end.
impl Iterator for Process {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| Some(line.strip_prefix("said:")?.to_owned()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// In a child process: waits until it may [begin](Process::begin).
pub fn wait_for_others() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    assert_eq!(line, "begin\n");
}

/// In a child process: sends a message to the parent.
pub fn say(what: impl std::fmt::Display) {
    let mut out = std::io::stdout();
    writeln!(out, "\nsaid:{what}").unwrap();
    out.flush().unwrap();
}

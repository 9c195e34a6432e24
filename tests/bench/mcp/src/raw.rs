//! What cannot be beaten: lines of JSON that are written to a pipe and read from another, without a runtime.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Peer, TEXT};

pub(crate) struct Raw(RefCell<Pipes>);

struct Pipes {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: usize,
    started: Vec<Instant>,
}

impl Pipes {
    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = Value::from("2.0");
        self.stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = Vec::new();
        self.stdout.read_until(b'\n', &mut line).unwrap();
        serde_json::from_slice(&line).unwrap()
    }

    fn call(&mut self) {
        self.started.push(Instant::now());
        let params = json!({ "name": "echo", "arguments": { "message": TEXT } });
        self.send(json!({ "id": self.next, "method": "tools/call", "params": params }));
        self.next += 1;
    }

    /// Waits for the answer to a call, and returns how long it took.
    fn answer(&mut self, first: usize) -> Duration {
        loop {
            let answer = self.read();
            // Servers also say what nobody asked for.
            let Some(id) = answer["id"].as_u64() else { continue };
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            assert!(text.ends_with(TEXT));
            return self.started[id as usize - first].elapsed();
        }
    }
}

impl Raw {
    pub(crate) async fn start(server: &[String]) -> Raw {
        let mut command = Command::new(&server[0]);
        command.args(&server[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut pipes = Pipes { child, stdin, stdout, next: 1, started: Vec::new() };
        let info = json!({ "name": "raw", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        pipes.send(json!({ "id": 0, "method": "initialize", "params": params }));
        pipes.read();
        pipes.send(json!({ "method": "notifications/initialized" }));
        Raw(RefCell::new(pipes))
    }
}

impl Peer for Raw {
    /// One thread keeps as many calls on their way as the tasks of the others do.
    async fn calls(&self, tasks: usize, each: usize) -> Vec<Duration> {
        let mut pipes = self.0.borrow_mut();
        pipes.started.clear();
        let (first, mut times) = (pipes.next, Vec::new());
        (0..tasks).for_each(|_| pipes.call());
        while times.len() < tasks * each {
            let took = pipes.answer(first);
            times.push(took);
            if pipes.started.len() < tasks * each {
                pipes.call();
            }
        }
        times
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let mut pipes = self.0.borrow_mut();
        pipes.child.kill().unwrap();
        pipes.child.wait().unwrap();
    }
}

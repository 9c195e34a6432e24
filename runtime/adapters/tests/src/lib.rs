//! What the tests of all adapters share: a model that only pretends, and a toolbox of tools.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "it is for tests, which fail by panicking"
)]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

pub mod tools;

/// A host of models on this machine: it gives the replies it was made with, one after the other, and keeps the requests.
#[derive(Debug)]
pub struct FakeModel {
    /// The URL of the host, without a slash at its end.
    pub url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl FakeModel {
    /// Starts a host that gives these replies.
    #[must_use]
    pub fn start(replies: impl IntoIterator<Item = Value>) -> FakeModel {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut replies: VecDeque<Value> = replies.into_iter().collect();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        thread::spawn(move || {
            while let Some(reply) = replies.pop_front() {
                let (stream, _) = listener.accept().unwrap();
                kept.lock().unwrap().push(exchange(stream, &reply));
            }
        });
        FakeModel { url, requests }
    }

    /// The bodies of the requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

/// Reads a request and answers it; returns its body.
fn exchange(mut stream: TcpStream, reply: &Value) -> Value {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let reply = reply.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        reply.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(reply.as_bytes()).unwrap();
    serde_json::from_slice(&body).unwrap()
}

//! Shared code of the adapter tests: a fake model host, and a toolbox.

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

/// A fake model host on this machine: it sends prepared replies in order, and records the requests.
#[derive(Debug)]
pub struct FakeModel {
    /// The URL of the host, without a trailing slash.
    pub url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl FakeModel {
    /// Starts a host with these replies.
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

    /// Returns the bodies of the requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

/// Reads a request and responds to it; returns its body.
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

//! The service of `specs/tasks.yaml`, reduced to one operation: `POST /tasks`, with a bearer token.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Map, Value, json};

/// The token that the service accepts.
pub(crate) const TOKEN: &str = "quickstart-token";

/// Starts the service on a free loopback port, and returns its base URL.
pub(crate) fn start() -> io::Result<String> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        // Two tasks exist already.
        for (stream, id) in listener.incoming().flatten().zip(3..) {
            // Errors of a client that disconnects during a request are ignored.
            drop(answer(&stream, id));
        }
    });
    Ok(format!("http://{address}/v1"))
}

/// Reads a request, and answers it. This is as much of HTTP as one client of one operation needs.
fn answer(mut stream: &TcpStream, id: u64) -> io::Result<()> {
    let mut request = BufReader::new(stream);
    let lines = request.by_ref().lines();
    let head = lines.take_while(|line| !matches!(line, Ok(line) if line.is_empty()));
    let head = head.collect::<io::Result<Vec<String>>>()?;
    let header = |name: &str| {
        let mut headers = head.iter().filter_map(|line| line.split_once(": "));
        headers.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    };
    let length = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = Vec::new();
    request.take(length).read_to_end(&mut body)?;

    let (status, value) = if header("authorization") != Some(&format!("Bearer {TOKEN}")) {
        ("401 Unauthorized", json!({ "error": "a bearer token is needed" }))
    } else if head.first().map(String::as_str) != Some("POST /v1/tasks HTTP/1.1") {
        ("404 Not Found", json!({ "error": "there is no such path" }))
    } else {
        create(id, &body)
    };
    let text = value.to_string();
    let length = text.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{text}"
    )
}

/// Returns the status and the new task.
fn create(id: u64, body: &[u8]) -> (&'static str, Value) {
    match serde_json::from_slice::<Map<String, Value>>(body) {
        Ok(mut task) => {
            task.insert("id".to_owned(), id.into());
            ("201 Created", task.into())
        }
        Err(error) => ("400 Bad Request", json!({ "error": error.to_string() })),
    }
}

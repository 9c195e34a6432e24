//! HTTP servers of a test's own, on free ports of the loopback. They run on threads, so tests with and without a runtime
//! use them alike, and last as long as the test program. What comes is recorded as it came; what goes out is whatever the
//! test says, byte by byte if it wants.

use std::fmt::Display;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// All up to the body, with the empty line.
    pub head: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// Reads a request; `None` if the client leaves before its end.
    fn read(stream: &mut TcpStream, before: &mut Vec<u8>) -> Option<Request> {
        let end = loop {
            if let Some(end) = before.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            more(stream, before)?;
        };
        let head = String::from_utf8_lossy(&before[..end]).into_owned();
        let lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
        let headers = lines.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
        let mut request = Request { head, headers, body: Vec::new() };
        let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
        while before.len() < end + length {
            more(stream, before)?;
        }
        let rest = before.split_off(end + length);
        request.body = std::mem::replace(before, rest).split_off(end);
        Some(request)
    }

    /// The first line.
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    pub fn method(&self) -> &str {
        self.line().split(' ').next().unwrap_or_default()
    }

    /// The path and the query.
    pub fn target(&self) -> &str {
        self.line().split(' ').nth(1).unwrap_or_default()
    }

    pub fn path(&self) -> &str {
        self.target().split('?').next().unwrap_or_default()
    }

    /// The value of a name in the query, as it stands there.
    pub fn query(&self, name: &str) -> Option<&str> {
        let pairs = self.target().split_once('?')?.1.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The first header of a name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let mut part = [0; 4096];
    let length = stream.read(&mut part).ok().filter(|length| *length > 0)?;
    bytes.extend_from_slice(&part[..length]);
    Some(())
}

/// One step of an answer.
#[derive(Clone, Debug)]
pub enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Sends the same over and over until nobody reads any more.
    Flood(Vec<u8>),
    /// Waits until the client leaves.
    Hold,
    /// Takes a further request on the connection.
    Keep,
}

/// An answer: its steps, and then the end of the connection.
pub type Reply = Vec<Step>;

/// These bytes, whatever they are. None at all end the connection.
pub fn raw(bytes: impl AsRef<[u8]>) -> Reply {
    vec![Step::Send(bytes.as_ref().to_vec())]
}

/// A whole answer, and the end of the connection. Each header ends its line; that of the length is added.
pub fn reply(status: impl Display, headers: &str, body: impl AsRef<[u8]>) -> Reply {
    whole(status, &format!("{headers}Connection: close\r\n"), body.as_ref())
}

/// As [`reply`], on a connection that goes on.
pub fn kept(status: impl Display, headers: &str, body: impl AsRef<[u8]>) -> Reply {
    [whole(status, headers, body.as_ref()), vec![Step::Keep]].concat()
}

fn whole(status: impl Display, headers: &str, body: &[u8]) -> Reply {
    let head = format!("HTTP/1.1 {status} \r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    raw([head.as_bytes(), body].concat())
}

/// A whole answer with status 200 of this media type.
pub fn ok(media_type: &str, body: impl AsRef<[u8]>) -> Reply {
    reply(200, &format!("Content-Type: {media_type}\r\n"), body)
}

/// A whole answer that is JSON.
pub fn json(body: &Value) -> Reply {
    ok("application/json", body.to_string())
}

/// The start of an answer whose end is the end of the connection.
pub fn open(headers: &str) -> Step {
    Step::Send(format!("HTTP/1.1 200 OK\r\n{headers}Connection: close\r\n\r\n").into_bytes())
}

/// A URL where nobody listens.
pub fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[derive(Debug, Default)]
struct Record {
    seen: Mutex<Vec<Request>>,
    connections: AtomicUsize,
    flooded: AtomicUsize,
}

/// A running server.
#[derive(Clone, Debug)]
pub struct Server {
    /// Without a path.
    pub url: String,
    record: Arc<Record>,
}

impl Server {
    /// Starts a server that answers every request with what this returns.
    pub fn start(response: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
        Server::at("127.0.0.1:0", response)
    }

    /// As [`Server::start`], at an address such as that of [`nobody`], without its `http://`.
    pub fn at(address: &str, response: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind(address).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let record = Arc::<Record>::default();
        let (kept, response) = (Arc::clone(&record), Arc::new(response));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                kept.connections.fetch_add(1, Ordering::SeqCst);
                let (record, response) = (Arc::clone(&kept), Arc::clone(&response));
                std::thread::spawn(move || serve(stream, &record, &*response));
            }
        });
        Server { url, record }
    }

    /// Starts a server that gives these answers in turn, and then the last one again.
    pub fn in_turn(responses: impl IntoIterator<Item = Reply>) -> Server {
        let responses: Vec<Reply> = responses.into_iter().collect();
        let next = AtomicUsize::new(0);
        Server::start(move |_| {
            responses[next.fetch_add(1, Ordering::SeqCst).min(responses.len() - 1)].clone()
        })
    }

    /// Starts a server that answers 200 and `ok` to everything.
    pub fn ok() -> Server {
        Server::start(|_| ok("text/plain", "ok"))
    }

    pub fn address(&self) -> SocketAddr {
        self.url["http://".len()..].parse().unwrap()
    }

    pub fn port(&self) -> u16 {
        self.address().port()
    }

    /// The requests that came.
    pub fn seen(&self) -> Vec<Request> {
        self.record.seen.lock().unwrap().clone()
    }

    /// The requests that came since it was asked last.
    pub fn take(&self) -> Vec<Request> {
        std::mem::take(&mut *self.record.seen.lock().unwrap())
    }

    /// The one request that came.
    ///
    /// # Panics
    ///
    /// If there were none or several.
    #[track_caller]
    pub fn only(&self) -> Request {
        let mut seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen.remove(0)
    }

    /// How many connections clients have made.
    pub fn connections(&self) -> usize {
        self.record.connections.load(Ordering::SeqCst)
    }

    /// How many bytes floods have sent.
    pub fn flooded(&self) -> usize {
        self.record.flooded.load(Ordering::SeqCst)
    }
}

/// Answers the requests of a connection.
fn serve(mut stream: TcpStream, record: &Record, response: &impl Fn(&Request) -> Reply) {
    let mut bytes = Vec::new();
    'next: while let Some(request) = Request::read(&mut stream, &mut bytes) {
        record.seen.lock().unwrap().push(request.clone());
        for step in response(&request) {
            match step {
                Step::Send(bytes) if stream.write_all(&bytes).is_err() => return,
                Step::Send(_) => {}
                Step::Wait(time) => std::thread::sleep(time),
                Step::Flood(bytes) => {
                    while stream.write_all(&bytes).is_ok() {
                        record.flooded.fetch_add(bytes.len(), Ordering::SeqCst);
                    }
                }
                Step::Hold => while more(&mut stream, &mut bytes).is_some() {},
                Step::Keep => continue 'next,
            }
        }
        return;
    }
}

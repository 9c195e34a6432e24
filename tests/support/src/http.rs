//! HTTP servers for tests, on free loopback ports.
//!
//! They run on threads, so that tests with and without an async runtime can use them, and live as long as the test
//! program. Requests are recorded verbatim; responses are defined by the test, byte by byte if necessary.

use std::fmt::Display;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

/// A request, verbatim.
#[derive(Clone, Debug)]
pub struct Request {
    /// Everything before the body, including the empty line.
    pub head: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// Reads a request; `None` if the client disconnects before its end.
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

    /// Returns the request line.
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    pub fn method(&self) -> &str {
        self.line().split(' ').next().unwrap_or_default()
    }

    /// Returns the path and the query.
    pub fn target(&self) -> &str {
        self.line().split(' ').nth(1).unwrap_or_default()
    }

    pub fn path(&self) -> &str {
        self.target().split('?').next().unwrap_or_default()
    }

    /// Returns the raw value of a query parameter.
    pub fn query(&self, name: &str) -> Option<&str> {
        let pairs = self.target().split_once('?')?.1.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Returns the first header with a name, ignoring case.
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

/// One step of a response.
#[derive(Clone, Debug)]
pub enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Sends the same bytes repeatedly until the client disconnects.
    Flood(Vec<u8>),
    /// Waits until the client disconnects.
    Hold,
    /// Accepts another request on the connection.
    Keep,
}

/// A response: its steps, and then the end of the connection.
pub type Reply = Vec<Step>;

/// Sends these bytes. An empty response closes the connection.
pub fn raw(bytes: impl AsRef<[u8]>) -> Reply {
    vec![Step::Send(bytes.as_ref().to_vec())]
}

/// A complete response, and the end of the connection. Each header includes its line break; `Content-Length` is added.
pub fn reply(status: impl Display, headers: &str, body: impl AsRef<[u8]>) -> Reply {
    whole(status, &format!("{headers}Connection: close\r\n"), body.as_ref())
}

/// Like [`reply`], on a connection that stays open.
pub fn kept(status: impl Display, headers: &str, body: impl AsRef<[u8]>) -> Reply {
    [whole(status, headers, body.as_ref()), vec![Step::Keep]].concat()
}

fn whole(status: impl Display, headers: &str, body: &[u8]) -> Reply {
    let head = format!("HTTP/1.1 {status} \r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    raw([head.as_bytes(), body].concat())
}

/// A complete response with status 200 and this media type.
pub fn ok(media_type: &str, body: impl AsRef<[u8]>) -> Reply {
    reply(200, &format!("Content-Type: {media_type}\r\n"), body)
}

/// A complete JSON response.
pub fn json(body: &Value) -> Reply {
    ok("application/json", body.to_string())
}

/// The start of a response that ends with the connection.
pub fn open(headers: &str) -> Step {
    Step::Send(format!("HTTP/1.1 200 OK\r\n{headers}Connection: close\r\n\r\n").into_bytes())
}

/// Returns a URL of a closed port.
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
    /// The base URL, without a path.
    pub url: String,
    record: Arc<Record>,
}

impl Server {
    /// Starts a server that sends the result of this function for every request.
    pub fn start(response: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
        Server::at("127.0.0.1:0", response)
    }

    /// Like [`Server::start`], at an address such as that of [`nobody`], without `http://`.
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

    /// Starts a server that sends these responses in turn, and then repeats the last one.
    pub fn in_turn(responses: impl IntoIterator<Item = Reply>) -> Server {
        let responses: Vec<Reply> = responses.into_iter().collect();
        let next = AtomicUsize::new(0);
        Server::start(move |_| {
            responses[next.fetch_add(1, Ordering::SeqCst).min(responses.len() - 1)].clone()
        })
    }

    /// Starts a server that responds with 200 and `ok` to every request.
    pub fn ok() -> Server {
        Server::start(|_| ok("text/plain", "ok"))
    }

    pub fn address(&self) -> SocketAddr {
        self.url["http://".len()..].parse().unwrap()
    }

    pub fn port(&self) -> u16 {
        self.address().port()
    }

    /// Returns the received requests.
    pub fn seen(&self) -> Vec<Request> {
        self.record.seen.lock().unwrap().clone()
    }

    /// Returns the requests received since the last call.
    pub fn take(&self) -> Vec<Request> {
        std::mem::take(&mut *self.record.seen.lock().unwrap())
    }

    /// Returns the only received request.
    ///
    /// # Panics
    ///
    /// Panics if there were none or several.
    #[track_caller]
    pub fn only(&self) -> Request {
        let mut seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen.remove(0)
    }

    /// Returns the number of connections of clients.
    pub fn connections(&self) -> usize {
        self.record.connections.load(Ordering::SeqCst)
    }

    /// Returns the number of bytes sent by [`Step::Flood`].
    pub fn flooded(&self) -> usize {
        self.record.flooded.load(Ordering::SeqCst)
    }
}

/// Responds to the requests of a connection.
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

//! A server that records what it gets as it came, and answers what it is told to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use toolgen_runtime::engine::http::{HttpEngine, HttpEngineBuilder};
use toolgen_runtime::schema::shape::{Kind, ObjectRules};
use toolgen_runtime::spec::plan::{
    Call, Encoding, Location, Parameter, Placement, RequestPlan, SecurityRequirement, SecurityScheme, Server,
    Tool,
};
use toolgen_runtime::{List, Registry, Shape, ToolContext, ToolError, ToolName, ToolResult, ToolSpec};

/// One step of an answer.
#[derive(Clone)]
pub(crate) enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Sends the same over and over until nobody reads any more.
    Flood(Vec<u8>),
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }

    /// The path and the query.
    pub(crate) fn target(&self) -> &str {
        self.line.split(' ').nth(1).unwrap()
    }
}

pub(crate) struct TestServer {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    pub(crate) flooded: Arc<Mutex<usize>>,
}

impl TestServer {
    pub(crate) async fn start(answer: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let flooded = Arc::new(Mutex::new(0));
        let (record, flood, answer) = (seen.clone(), flooded.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, record.clone(), flood.clone(), answer.clone()));
            }
        });
        TestServer { url, seen, flooded }
    }

    /// Answers 200 and `ok` to everything.
    pub(crate) async fn ok() -> TestServer {
        TestServer::start(|_| reply(200, "Content-Type: text/plain\r\n", b"ok")).await
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The one request that came.
    pub(crate) fn only(&self) -> Seen {
        let mut seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen.remove(0)
    }
}

async fn serve(
    mut socket: TcpStream,
    seen: Arc<Mutex<Vec<Seen>>>,
    flooded: Arc<Mutex<usize>>,
    answer: Arc<impl Fn(&Seen) -> Vec<Step>>,
) {
    let Some(request) = receive(&mut socket).await else { return };
    let steps = answer(&request);
    seen.lock().unwrap().push(request);
    for step in steps {
        match step {
            Step::Send(bytes) => {
                if socket.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Step::Wait(time) => tokio::time::sleep(time).await,
            Step::Flood(bytes) => {
                while socket.write_all(&bytes).await.is_ok() {
                    *flooded.lock().unwrap() += bytes.len();
                }
            }
        }
    }
    let _ = socket.shutdown().await;
}

async fn receive(socket: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let line = lines.next()?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let mut seen = Seen { line, headers, body: bytes[end + 4..].to_vec() };
    let length = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
    while seen.body.len() < length {
        if socket.read_buf(&mut seen.body).await.ok()? == 0 {
            return None;
        }
    }
    Some(seen)
}

/// A whole answer.
pub(crate) fn reply(status: u16, headers: &str, body: &[u8]) -> Vec<Step> {
    let head = format!(
        "HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    vec![Step::Send([head.as_bytes(), body].concat())]
}

/// The start of an answer whose end is the end of the connection.
pub(crate) fn open(headers: &str) -> Step {
    Step::Send(format!("HTTP/1.1 200 OK\r\n{headers}Connection: close\r\n\r\n").into_bytes())
}

pub(crate) fn engine() -> HttpEngineBuilder {
    HttpEngine::builder().private_host("127.0.0.1")
}

pub(crate) fn parameter(name: &str, location: Location, encoding: Encoding) -> Parameter {
    Parameter { argument: name.to_owned().into(), name: name.to_owned().into(), location, encoding }
}

pub(crate) fn plan(method: &'static str, url: &str, path: &str) -> RequestPlan {
    RequestPlan {
        method: method.into(),
        path: path.to_owned().into(),
        servers: vec![Server { url: url.to_owned().into(), variables: List::EMPTY }].into(),
        ..RequestPlan::EMPTY
    }
}

pub(crate) fn secured(plan: RequestPlan, placement: Placement) -> RequestPlan {
    let scheme =
        SecurityScheme { id: "s".into(), placement, scopes: List::EMPTY, env: "TOOLGEN_TEST_NOT_SET".into() };
    RequestPlan { security: vec![SecurityRequirement { schemes: vec![scheme].into() }].into(), ..plan }
}

/// A tool that takes any arguments.
pub(crate) fn tool(plan: RequestPlan) -> Tool {
    let input = Shape::of(Kind::Object(ObjectRules::ANY)).into();
    Tool { spec: ToolSpec { name: ToolName::new("t"), input, ..ToolSpec::EMPTY }, call: Call::Http(plan) }
}

pub(crate) fn ctx() -> ToolContext {
    ToolContext::new("1", "t")
}

/// Calls the one tool the way a model's call comes in.
pub(crate) async fn call(
    engine: HttpEngineBuilder,
    plan: RequestPlan,
    arguments: Value,
) -> Result<ToolResult, ToolError> {
    let engine = engine.build().unwrap();
    Registry::new([engine.tool(tool(plan))]).unwrap().call_without_layers("t", arguments, &ctx()).await
}

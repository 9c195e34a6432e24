//! The target as a service that is called over HTTP.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use toolgen_runtime::engine::http::HttpEngine;
use toolgen_runtime::spec::plan::{Call, Encoding, Location, Parameter, RequestPlan, Server, Style, Tool};
use toolgen_runtime::spec::template::{Reference, Root, Segment, Template};
use toolgen_runtime::{AgentTool, List};

use crate::matrix::evidence::{Ran, World, said, stem};

/// One for all cells: it takes longer to build than a cell takes to run.
static ENGINE: LazyLock<HttpEngine> =
    LazyLock::new(|| HttpEngine::builder().private_host("127.0.0.1").build().unwrap());

/// A tool whose service notes what it is asked for.
pub(crate) async fn tool(world: Arc<World>) -> Arc<dyn AgentTool> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let world = Arc::clone(&world);
            tokio::spawn(async move { drop(serve(socket, world).await) });
        }
    });
    let parameter = |name: &'static str, location| Parameter {
        argument: name.into(),
        name: name.into(),
        location,
        encoding: Encoding::Style { style: Style::Form, explode: true, allow_reserved: false },
    };
    let pin = Reference { root: Root::Argument("pin".into()), path: List::EMPTY, optional: false };
    let made = Template::Text(vec![Segment::Literal("-".into()), Segment::Value(pin)].into());
    let plan = RequestPlan {
        method: "POST".into(),
        path: "/do".into(),
        servers: vec![Server { url: url.into(), variables: List::EMPTY }].into(),
        parameters: vec![
            parameter("path", Location::Query),
            parameter("note", Location::Query),
            Parameter { argument: "=pin".into(), ..parameter("pin", Location::Query) },
        ]
        .into(),
        derived: vec![("=pin".into(), made)].into(),
        ..RequestPlan::EMPTY
    };
    let mut spec = crate::matrix::kinds::spec();
    spec.effects.network = toolgen_runtime::spec::Network::Hosts(vec!["127.0.0.1".into()].into());
    ENGINE.tool(Tool { spec, call: Call::Http(plan) })
}

async fn serve(mut socket: TcpStream, world: Arc<World>) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
        if socket.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
    }
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let target = head.split(' ').nth(1).unwrap_or_default().replace("%2F", "/");
    let value = |name: &str| {
        let pairs = target.split_once('?').map_or("", |(_, query)| query).split('&');
        pairs
            .filter_map(|pair| pair.split_once('='))
            .find(|(key, _)| *key == name)
            .map_or("", |(_, value)| value)
    };
    let path = value("path");
    if stem(path) == "/slow" {
        tokio::time::sleep(Duration::from_secs(30)).await;
        return Ok(());
    }
    world.ran.lock().unwrap().push(Ran { path: path.to_owned(), note: value("note").to_owned() });
    let (status, body) = match stem(path) {
        "/fail" => (500, format!("it broke at {}{}", value("note"), value("pin"))),
        // The connection breaks.
        "/panic" => return Ok(()),
        path => (200, said(path, &format!("{}{}", value("note"), value("pin")))),
    };
    let answer = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(answer.as_bytes()).await?;
    socket.shutdown().await
}

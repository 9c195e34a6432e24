//! A server on this machine that records requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::http::{CredentialRequest, Credentials, HttpEngine, Secret};

use super::bench::World;

/// Adds an engine whose requests go to a server of the world, whatever their host.
pub(super) fn with_http(engines: Engines, world: &Arc<World>) -> Result<Engines, String> {
    let address = serve(Arc::clone(world)).map_err(|error| format!("no server can be started: {error}"))?;
    let engine = HttpEngine::builder().base_url(address).credentials(Any).files_root(".").build();
    Ok(engines.with(engine.map_err(|error| error.to_string())?))
}

/// Has a credential for everything; it goes to the server of this world only.
#[derive(Debug)]
struct Any;

impl Credentials for Any {
    fn credential(&self, _: &CredentialRequest<'_>) -> Option<Secret> {
        Some(Secret::new("user:test"))
    }
}

/// Starts a server, and returns its address. It ends with this program.
fn serve(world: Arc<World>) -> std::io::Result<String> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A request that breaks off is no answer, and the tool says so.
            let _ = answer(stream, &world);
        }
    });
    Ok(format!("http://{address}"))
}

fn answer(stream: TcpStream, world: &World) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(("content-length", value)) = line.to_ascii_lowercase().split_once(':') {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink())?;
    world.ask();
    let (status, body) =
        if world.fails { ("500 Internal Server Error", "it failed") } else { ("200 OK", &*world.says) };
    let kind = if world.fails { "text/plain" } else { "application/json" };
    write!(
        reader.get_mut(),
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

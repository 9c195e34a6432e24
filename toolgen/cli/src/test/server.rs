//! A local server that records requests.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::http::{CredentialRequest, Credentials, HttpEngine, Secret};

use super::simulation::Simulation;

/// A server and the engine that sends everything to it.
struct Server {
    /// The current simulation.
    simulation: Arc<Mutex<Arc<Simulation>>>,
    engine: HttpEngine,
}

thread_local! {
    /// One server for all calls of a thread, which run sequentially.
    static SERVER: RefCell<Option<Server>> = const { RefCell::new(None) };
}

/// Adds an HTTP engine that sends all requests to the simulation, regardless of their host.
pub(super) fn with_http(engines: Engines, simulation: &Arc<Simulation>) -> Result<Engines, String> {
    SERVER.with_borrow_mut(|server| {
        let server = match server {
            Some(server) => server,
            None => server.insert(start(Arc::clone(simulation))?),
        };
        *server.simulation.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(simulation);
        Ok(engines.with(server.engine.clone()))
    })
}

/// Credentials for every scheme. They are only sent to the local server.
#[derive(Debug)]
struct TestCredentials;

impl Credentials for TestCredentials {
    fn credential(&self, _: &CredentialRequest<'_>) -> Option<Secret> {
        Some(Secret::new("user:test"))
    }
}

/// Starts a server that runs until the process exits.
fn start(simulation: Arc<Simulation>) -> Result<Server, String> {
    let start_error = |error: std::io::Error| format!("no server can be started: {error}");
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(start_error)?;
    let address = format!("http://{}", listener.local_addr().map_err(start_error)?);
    let simulation = Arc::new(Mutex::new(simulation));
    let current = Arc::clone(&simulation);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let simulation = Arc::clone(&current.lock().unwrap_or_else(PoisonError::into_inner));
            // If the connection closes early, the tool reports it.
            let _ = respond(stream, &simulation);
        }
    });
    let engine = HttpEngine::builder().base_url(address).credentials(TestCredentials).files_root(".").build();
    Ok(Server { simulation, engine: engine.map_err(|error| error.to_string())? })
}

fn respond(stream: TcpStream, simulation: &Simulation) -> std::io::Result<()> {
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
    simulation.count_request();
    let (status, body) = if simulation.fails {
        ("500 Internal Server Error", "it failed")
    } else {
        ("200 OK", &*simulation.output)
    };
    let content_type = if simulation.fails { "text/plain" } else { "application/json" };
    write!(
        reader.get_mut(),
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

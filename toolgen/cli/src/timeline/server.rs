//! The server of the page, for this machine only, and only for users who know the URL with its key.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::super::store_location::StoreLocation;
use super::data::{self, Log};
use super::page;
use super::queue::Queue;

/// Serves the page and its data over HTTP.
#[derive(Clone)]
pub(super) struct Server {
    log: Arc<Mutex<Log>>,
    /// The location of the log.
    location: Arc<StoreLocation>,
    title: Arc<str>,
    queue: Arc<Queue>,
    address: SocketAddr,
    /// The secret part of the URL.
    key: Arc<str>,
}

/// The content security policy: the page may load only itself.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

impl Server {
    /// Creates a server for this address.
    pub(super) fn new(
        (log, location): (Log, StoreLocation),
        queue: Queue,
        address: SocketAddr,
    ) -> Result<Server, String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| format!("no random key can be generated: {error}"))?;
        let mut key = String::new();
        for byte in bytes {
            // Writing to a `String` cannot fail.
            let _ = write!(key, "{byte:02x}");
        }
        let title = log.title().into();
        let (log, location, queue) = (Arc::new(Mutex::new(log)), Arc::new(location), Arc::new(queue));
        Ok(Server { log, location, title, queue, address, key: key.into() })
    }

    /// Returns the URL of the page.
    pub(super) fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.key)
    }

    /// Serves requests forever.
    pub(super) async fn listen(self, listener: TcpListener) -> std::io::Result<()> {
        let routes = Router::new()
            .route("/", get(the_page))
            .route("/data", get(changes))
            .route("/call", get(call))
            .route("/find", get(find))
            .layer(middleware::from_fn_with_state(self.clone(), guard))
            .with_state(self);
        axum::serve(listener, routes).await
    }

    /// Reads the log on a separate thread, because a database may be slow.
    async fn log<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut Log) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let log = Arc::clone(&self.log);
        // A panic during a read leaves the log unchanged: records are added only after they are complete.
        run_blocking(move || read(&mut log.lock().unwrap_or_else(PoisonError::into_inner))).await
    }

    /// Whether `Host` is a name of this address. Other names may resolve to it, for example in a DNS rebinding attack.
    fn is_allowed_host(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
        let port = self.address.port();
        [self.address.to_string(), format!("localhost:{port}")].iter().any(|name| name == host)
    }

    /// Whether the request has the key: in the URL for the page, in a header for data.
    fn has_key(&self, request: &Request) -> bool {
        let bearer = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
        let query = request.uri().query().unwrap_or("");
        let token = query.split('&').find_map(|pair| pair.strip_prefix("token="));
        let token = token.filter(|_| request.uri().path() == "/");
        bearer.or(token).is_some_and(|key| constant_time_eq(key.as_bytes(), self.key.as_bytes()))
    }
}

/// Runs a blocking function on a separate thread.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(format!("reading the log failed: {error}")),
    }
}

/// Compares two strings in constant time.
fn constant_time_eq(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

async fn guard(State(server): State<Server>, request: Request, next: Next) -> Response {
    let mut response = if !server.is_allowed_host(request.headers()) {
        (StatusCode::FORBIDDEN, "this page is not served for that host\n").into_response()
    } else if !server.has_key(&request) {
        (StatusCode::UNAUTHORIZED, "open the whole address that `cargo toolgen timeline` printed\n")
            .into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    let security_headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in security_headers {
        headers.insert(name, header::HeaderValue::from_static(value));
    }
    response
}

/// Returns a parameter of a query string.
fn query_parameter(query: RawQuery, name: &str) -> String {
    let query = query.0.unwrap_or_default();
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    parameters.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

async fn the_page(State(server): State<Server>) -> Response {
    let page = page::served(&server.title);
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

async fn changes(State(server): State<Server>, query: RawQuery) -> Response {
    let mark = query_parameter(RawQuery(query.0.clone()), "approvals");
    let after = query_parameter(query, "after").parse().unwrap_or(0);
    let approvals = match server.queue.changed(&mark).await {
        Ok(approvals) => approvals,
        Err(error) => return json_response(Err(error)),
    };
    let data = server.log(move |log| log.data(after)).await;
    json_response(data.map(|mut data| {
        data["approvals"] = approvals;
        data
    }))
}

async fn call(State(server): State<Server>, query: RawQuery) -> Response {
    let id = query_parameter(query, "id");
    match server.log(move |log| log.call(&id)).await {
        Ok(None) => (StatusCode::NOT_FOUND, "there is no such call\n").into_response(),
        Ok(Some(call)) => json_response(Ok(call)),
        Err(error) => json_response(Err(error)),
    }
}

async fn find(State(server): State<Server>, query: RawQuery) -> Response {
    let text = query_parameter(query, "text");
    let location = Arc::clone(&server.location);
    json_response(
        run_blocking(move || data::find(&location, &text)).await.map(|found| json!({ "found": found })),
    )
}

fn json_response(value: Result<Value, String>) -> Response {
    match value {
        Ok(value) => ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error).into_response(),
    }
}

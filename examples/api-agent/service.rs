//! The service behind `forge.yaml`: two issues in memory, behind a bearer token.

use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The token that the service accepts.
pub(crate) const TOKEN: &str = "forge-token";

/// Starts the service on a free port and returns its URL.
pub(crate) async fn start() -> io::Result<String> {
    let issues = Arc::new(Mutex::new(vec![
        json!({ "number": 7, "title": "The door sticks (fixed in May)", "state": "open" }),
        json!({ "number": 8, "title": "A lamp flickers", "state": "closed" }),
    ]));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let issues = Arc::clone(&issues);
            let service = service_fn(move |request| {
                let issues = Arc::clone(&issues);
                async move { Ok::<_, Infallible>(answer(request, &issues).await) }
            });
            let connection = hyper::server::conn::http1::Builder::new();
            tokio::spawn(connection.serve_connection(TokioIo::new(stream), service));
        }
    });
    Ok(url)
}

async fn answer(request: Request<Incoming>, issues: &Mutex<Vec<Value>>) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut issues = issues.lock().unwrap_or_else(PoisonError::into_inner);
    let number = head.uri.path().strip_prefix("/repository/issues/").and_then(|number| number.parse().ok());
    let issue = issues.iter_mut().find(|issue| number.is_some_and(|number: u64| issue["number"] == number));
    let (status, reply) = match (&head.method, issue) {
        _ if head.headers.get(AUTHORIZATION).is_none_or(|sent| *sent != format!("Bearer {TOKEN}")) => {
            (StatusCode::UNAUTHORIZED, json!({ "error": "a token is needed" }))
        }
        (&Method::PATCH, Some(issue)) => {
            issue["state"] = sent["state"].clone();
            (StatusCode::OK, issue.clone())
        }
        (&Method::GET, None) if number.is_none() => {
            let wanted = head.uri.query().and_then(|query| query.strip_prefix("state="));
            let fits = |issue: &&Value| wanted.is_none_or(|wanted| issue["state"] == wanted);
            (StatusCode::OK, issues.iter().filter(fits).cloned().collect())
        }
        _ => (StatusCode::NOT_FOUND, json!({ "error": "there is nothing here" })),
    };
    let mut response = Response::new(Full::from(reply.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

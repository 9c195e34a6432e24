//! The service behind `specs/petstore.yaml`: pets in memory, behind a key.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

/// The key that the service accepts, also as a bearer token.
pub(crate) const KEY: &str = "shelter-key";

type Pets = Arc<Mutex<Vec<Value>>>;
type Answer = Response<Full<Bytes>>;

/// Starts the service on a free port and returns the URL of its base path.
pub(crate) async fn start() -> std::io::Result<String> {
    let pets = Pets::default();
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&pets)));
        }
    });
    Ok(format!("http://{address}/v1"))
}

async fn serve(stream: TcpStream, pets: Pets) {
    let service = service_fn(|request| {
        let pets = Arc::clone(&pets);
        async move { Ok::<_, Infallible>(route(request, &pets).await) }
    });
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // A client that disconnects during a request is not an error of the server.
    drop(connection.await);
}

async fn route(request: Request<Incoming>, pets: &Pets) -> Answer {
    let given = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    if given("x-api-key") != Some(KEY) && given("authorization") != Some(&format!("Bearer {KEY}")) {
        return problem(StatusCode::UNAUTHORIZED, "a key is needed");
    }
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let given: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut pets = pets.lock().unwrap_or_else(PoisonError::into_inner);
    let id = head.uri.path().strip_prefix("/v1/pets/").and_then(|id| id.parse::<u64>().ok());
    let found = pets.iter().position(|pet| Some(&pet["id"]) == id.map(Value::from).as_ref());
    match (&head.method, id, found) {
        (&Method::GET, None, _) => {
            let waiting = head.uri.query().is_some_and(|query| query.contains("status=waiting"));
            let wanted = |pet: &&Value| !waiting || pet["status"] == "waiting";
            answer(StatusCode::OK, &pets.iter().filter(wanted).cloned().collect())
        }
        (&Method::POST, None, _) => {
            let mut pet = merged(json!({ "id": pets.len() + 1, "status": "waiting" }), given);
            pet["id"] = json!(pets.len() + 1);
            pets.push(pet.clone());
            answer(StatusCode::CREATED, &pet)
        }
        (&Method::GET, _, Some(at)) => answer(StatusCode::OK, &pets[at]),
        (&Method::PATCH, _, Some(at)) => {
            pets[at] = merged(pets[at].clone(), given);
            answer(StatusCode::OK, &pets[at])
        }
        (&Method::DELETE, _, Some(at)) => {
            pets.remove(at);
            let mut empty = Answer::default();
            *empty.status_mut() = StatusCode::NO_CONTENT;
            empty
        }
        _ => problem(StatusCode::NOT_FOUND, "there is no such pet"),
    }
}

/// Sets the members of `change` in `pet`.
fn merged(mut pet: Value, change: Value) -> Value {
    if let (Value::Object(pet), Value::Object(change)) = (&mut pet, change) {
        pet.extend(change);
    }
    pet
}

fn problem(status: StatusCode, message: &str) -> Answer {
    answer(status, &json!({ "code": status.as_u16(), "message": message }))
}

fn answer(status: StatusCode, value: &Value) -> Answer {
    let mut response = Response::new(Full::from(value.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

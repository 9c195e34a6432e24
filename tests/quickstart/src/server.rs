//! The service behind `specs/tasks.yaml`: a list in memory, behind a bearer token.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value, json};
use tokio::net::{TcpListener, TcpStream};

/// The token that the service accepts.
pub(crate) const TOKEN: &str = "quickstart-token";

type Tasks = Arc<Mutex<Vec<Value>>>;
type Answer = Response<Full<Bytes>>;

/// Starts the service on a free loopback port, and returns its base URL.
pub(crate) async fn start() -> std::io::Result<String> {
    let tasks: Tasks = Arc::new(Mutex::new(vec![
        json!({ "id": 1, "title": "Write the specification", "status": "done", "tags": ["paper"] }),
        json!({ "id": 2, "title": "Call it from an agent", "status": "open", "due": null }),
    ]));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&tasks)));
        }
    });
    Ok(format!("http://{address}/v1"))
}

async fn serve(stream: TcpStream, tasks: Tasks) {
    let service = service_fn(|request| {
        let tasks = Arc::clone(&tasks);
        async move { Ok::<_, Infallible>(route(request, &tasks).await) }
    });
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // Errors of a client that disconnects during a request are ignored.
    drop(connection.await);
}

async fn route(request: Request<Incoming>, tasks: &Tasks) -> Answer {
    let token = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    if token != Some(&format!("Bearer {TOKEN}")) {
        return problem(StatusCode::UNAUTHORIZED, "a bearer token is needed");
    }
    let (head, body) = request.into_parts();
    let id = head.uri.path().strip_prefix("/v1/tasks/").map(str::parse);
    match (&head.method, id) {
        (&Method::GET, None) if head.uri.path() == "/v1/tasks" => {
            list(tasks, head.uri.query().unwrap_or_default())
        }
        (&Method::POST, None) if head.uri.path() == "/v1/tasks" => match body.collect().await {
            Ok(body) => create(tasks, &body.to_bytes()),
            Err(error) => problem(StatusCode::BAD_REQUEST, &error.to_string()),
        },
        (&Method::GET, Some(Ok(id))) => find(tasks, id),
        (&Method::DELETE, Some(Ok(id))) => remove(tasks, id),
        _ => problem(StatusCode::NOT_FOUND, "there is no such path"),
    }
}

fn answer(status: StatusCode, value: &Value) -> Answer {
    let mut response = Response::new(Full::from(value.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    response
}

fn problem(status: StatusCode, error: &str) -> Answer {
    answer(status, &json!({ "error": error }))
}

fn lock(tasks: &Tasks) -> std::sync::MutexGuard<'_, Vec<Value>> {
    tasks.lock().unwrap_or_else(PoisonError::into_inner)
}

fn list(tasks: &Tasks, query: &str) -> Answer {
    let text = |key: &str| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs.find(|(name, _)| name == key).map(|(_, value)| value)
    };
    let limit = text("limit").and_then(|limit| limit.parse().ok()).unwrap_or(20);
    let wanted = |task: &&Value| {
        let tagged =
            |tag: &str| task["tags"].as_array().is_some_and(|tags| tags.iter().any(|one| one == tag));
        text("status").is_none_or(|status| task["status"] == *status)
            && text("tags").is_none_or(|tags| tags.split(',').all(tagged))
    };
    answer(StatusCode::OK, &lock(tasks).iter().rev().filter(wanted).take(limit).cloned().collect())
}

fn create(tasks: &Tasks, body: &[u8]) -> Answer {
    let Ok(mut task) = serde_json::from_slice::<Map<String, Value>>(body) else {
        return problem(StatusCode::BAD_REQUEST, "a task is an object");
    };
    let mut tasks = lock(tasks);
    let id = tasks.iter().filter_map(|task| task["id"].as_u64()).max().unwrap_or(0) + 1;
    task.insert("id".to_owned(), json!(id));
    task.entry("status").or_insert_with(|| json!("open"));
    let task = Value::Object(task);
    tasks.push(task.clone());
    answer(StatusCode::CREATED, &task)
}

fn find(tasks: &Tasks, id: u64) -> Answer {
    match lock(tasks).iter().find(|task| task["id"] == id) {
        Some(task) => answer(StatusCode::OK, task),
        None => problem(StatusCode::NOT_FOUND, &format!("there is no task {id}")),
    }
}

fn remove(tasks: &Tasks, id: u64) -> Answer {
    let mut tasks = lock(tasks);
    let before = tasks.len();
    tasks.retain(|task| task["id"] != id);
    if tasks.len() == before {
        return problem(StatusCode::NOT_FOUND, &format!("there is no task {id}"));
    }
    let mut empty = Answer::default();
    *empty.status_mut() = StatusCode::NO_CONTENT;
    empty
}

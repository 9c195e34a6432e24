//! The service behind `specs/tasks.yaml`: a list in memory, behind a bearer token.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Map, Value, json};

/// The token the service accepts.
pub(crate) const TOKEN: &str = "quickstart-token";

type Tasks = Arc<Mutex<Vec<Value>>>;

/// Starts the service on a free port of this machine and gives the URL of its base path.
pub(crate) async fn start() -> std::io::Result<String> {
    let tasks: Tasks = Arc::new(Mutex::new(vec![
        json!({ "id": 1, "title": "Write the specification", "status": "done", "tags": ["paper"] }),
        json!({ "id": 2, "title": "Call it from an agent", "status": "open", "due": null }),
    ]));
    let api = Router::new()
        .route("/v1/tasks", get(list).post(create))
        .route("/v1/tasks/{id}", get(find).delete(remove))
        .layer(from_fn(authorize))
        .with_state(tasks);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, api).await });
    Ok(format!("http://{address}/v1"))
}

async fn authorize(request: Request, next: Next) -> Response {
    let given = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    if given == Some(&format!("Bearer {TOKEN}")) {
        next.run(request).await
    } else {
        problem(StatusCode::UNAUTHORIZED, "a bearer token is needed")
    }
}

fn answer(status: StatusCode, value: &Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

fn problem(status: StatusCode, error: &str) -> Response {
    answer(status, &json!({ "error": error }))
}

fn lock(tasks: &Tasks) -> std::sync::MutexGuard<'_, Vec<Value>> {
    tasks.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn list(State(tasks): State<Tasks>, Query(query): Query<Map<String, Value>>) -> Response {
    let text = |key: &str| query.get(key).and_then(Value::as_str);
    let limit = text("limit").and_then(|limit| limit.parse().ok()).unwrap_or(20);
    let wanted = |task: &&Value| {
        let tagged =
            |tag: &str| task["tags"].as_array().is_some_and(|tags| tags.iter().any(|one| one == tag));
        text("status").is_none_or(|status| task["status"] == status)
            && text("tags").is_none_or(|tags| tags.split(',').all(tagged))
    };
    let tasks = lock(&tasks);
    answer(StatusCode::OK, &tasks.iter().rev().filter(wanted).take(limit).cloned().collect())
}

async fn create(State(tasks): State<Tasks>, body: String) -> Response {
    let Ok(mut task) = serde_json::from_str::<Map<String, Value>>(&body) else {
        return problem(StatusCode::BAD_REQUEST, "a task is an object");
    };
    let mut tasks = lock(&tasks);
    let id = tasks.iter().filter_map(|task| task["id"].as_u64()).max().unwrap_or(0) + 1;
    task.insert("id".to_owned(), json!(id));
    task.entry("status").or_insert_with(|| json!("open"));
    let task = Value::Object(task);
    tasks.push(task.clone());
    answer(StatusCode::CREATED, &task)
}

async fn find(State(tasks): State<Tasks>, Path(id): Path<u64>) -> Response {
    match lock(&tasks).iter().find(|task| task["id"] == id) {
        Some(task) => answer(StatusCode::OK, task),
        None => problem(StatusCode::NOT_FOUND, &format!("there is no task {id}")),
    }
}

async fn remove(State(tasks): State<Tasks>, Path(id): Path<u64>) -> Response {
    let mut tasks = lock(&tasks);
    let before = tasks.len();
    tasks.retain(|task| task["id"] != id);
    if tasks.len() < before {
        StatusCode::NO_CONTENT.into_response()
    } else {
        problem(StatusCode::NOT_FOUND, &format!("there is no task {id}"))
    }
}

//! The table of failures in `docs/failures.md`: each row is produced here.

use std::fs;
use std::path::Path;

use serde_json::json;
use toolgen_runtime::engine::http::{EnvCredentials, HttpEngine, Secret, StaticCredentials};
use toolgen_runtime::layers::audit::{AuditError, AuditIntent, AuditOutcome, AuditSink, Auditor};
use toolgen_runtime::{Registry, ToolResponse, Toolbox};
use toolgen_test_support::http::{Server, nobody, reply};
use toolgen_tests::pages::root;

use crate::readme::petstore;

const BEGIN: &str = "<!-- table of failures -->\n";
const END: &str = "<!-- end of the table -->\n";

fn engine(url: &str) -> toolgen_runtime::engine::http::HttpEngineBuilder {
    let credentials = StaticCredentials::new().with("api_key", Secret::new("an-old-token"));
    HttpEngine::builder().base_url(url).credentials(credentials)
}

async fn call(toolbox: &Toolbox) -> ToolResponse {
    toolbox.call("listPets", json!({"limit": 5})).await
}

async fn called(engine: HttpEngine) -> ToolResponse {
    call(&Toolbox::new(engine.tools(petstore::TOOLS)).unwrap()).await
}

/// A service that responds with this status, headers and body.
fn service(status: &'static str, headers: &'static str, body: &'static str) -> Server {
    Server::start(move |_| reply(status, headers, body))
}

/// Returns a row: the failure, what the model reads, and what the operator reads.
fn row(failure: &str, model: &str, operator: &str) -> String {
    let cell = |text: &str| text.trim().replace('|', "\\|").replace('\n', "<br>");
    format!("| {failure} | {} | {} |\n", cell(model), cell(operator))
}

fn row_of(failure: &str, response: &ToolResponse) -> String {
    let operator = response.operator_text().map(std::borrow::Cow::into_owned).unwrap_or_default();
    row(failure, &response.text(), &operator)
}

/// A log on a device that is always full.
struct FullDisk;

impl AuditSink for FullDisk {
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
        let written = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .and_then(|mut file| std::io::Write::write_all(&mut file, intent.tool_name.as_bytes()));
        written.map_err(|error| AuditError::new(format!("calls.jsonl: {error}")))
    }

    fn outcome(&mut self, intent: &AuditIntent, _: &AuditOutcome) -> Result<(), AuditError> {
        self.intent(intent)
    }
}

async fn rows() -> Vec<String> {
    const JSON: &str = "Content-Type: application/json\r\n";
    let mut rows = Vec::new();

    let refusing = service("401 Unauthorized", JSON, r#"{"message":"Bad credentials"}"#);
    rows.push(row_of("A refused credential", &called(engine(&refusing.url).build().unwrap()).await));

    let without = HttpEngine::builder().base_url(&refusing.url).credentials(EnvCredentials::new()).build();
    rows.push(row_of("A missing credential", &called(without.unwrap()).await));

    rows.push(row_of("A dead host", &called(engine(&nobody()).build().unwrap()).await));

    let limiting = service(
        "429 Too Many Requests",
        "Content-Type: application/json\r\nRetry-After: 3600\r\n",
        r#"{"message":"Slow down"}"#,
    );
    rows.push(row_of("A rate limit (429)", &called(engine(&limiting.url).build().unwrap()).await));

    let page = service(
        "502 Bad Gateway",
        "Content-Type: text/html\r\n",
        "<!doctype html><title>502</title><h1>Bad gateway</h1>",
    );
    let retries = toolgen_runtime::engine::http::RetryPolicy::NONE;
    rows.push(row_of(
        "A page of a gateway (502)",
        &called(engine(&page.url).retries(retries).build().unwrap()).await,
    ));

    let auditor = Auditor::builder(FullDisk).durable(true).start().unwrap();
    let registry = Registry::new(engine(&refusing.url).build().unwrap().tools(petstore::TOOLS)).unwrap();
    let audited = Toolbox::builder(&registry).layer(auditor).build().unwrap();
    refusing.take();
    let response = call(&audited).await;
    assert!(refusing.take().is_empty(), "a call that cannot be recorded does not run");
    rows.push(row_of("A full disk of a durable audit log", &response));

    let manifest =
        "toolgen: 1\ntools:\n  list:\n    descripton: Lists files.\n    command:\n      argv: [ls]\n";
    let mut problems = toolgen::Problems::new();
    let document = toolgen::Document::parse(Path::new("tools.yaml"), manifest, &mut problems).unwrap();
    let compiled = toolgen::compile(&document, &toolgen::Options::default(), &mut problems);
    assert!(problems.has_errors(), "{compiled:?}");
    let shown = problems.to_string();
    rows.push(row("A wrong key in a manifest", "nothing: there is no program", &shown));
    rows
}

#[tokio::test]
async fn table_of_failures_is_what_they_give() {
    let path = root().join("docs/failures.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    let head = "\n| failure | the model reads | the operator reads |\n|---|---|---|\n";
    let mut expected = format!("{head}{}\n", rows().await.concat());
    // Servers of tests choose their ports.
    let ports = regex::Regex::new(r"127\.0\.0\.1:\d+").unwrap();
    expected = ports.replace_all(&expected, "api.example").into_owned();
    if std::env::var_os("TOOLGEN_UPDATE").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{expected}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(
        table, expected,
        "`TOOLGEN_UPDATE=1 cargo test --workspace --test guide failures` writes the table"
    );
}

//! Tests of the messages for operators about credentials that a service rejects.

use toolgen_runtime::engine::http::{EnvCredentials, NoCredentials, RetryPolicy};
use toolgen_runtime::layers::audit::{Auditor, MemorySink};
use toolgen_runtime::spec::plan::SecurityRequirement;
use toolgen_runtime::{ToolResponse, Toolbox};

use crate::prelude::*;
use crate::server::{engine, plan, secured, tool, turn};

const VALUE: &str = "Bearer-of-a-secret-1234";

fn answering(status: u16, headers: &'static str) -> Server {
    Server::start(move |_| reply(status, headers, br#"{"message":"no"}"#))
}

/// Calls the tool through a toolbox with an audit log. Returns the response and the row, as JSON.
async fn called(engine: HttpEngineBuilder, plan: RequestPlan) -> (ToolResponse, Value) {
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let registry = Registry::new([engine.build().unwrap().tool(tool(plan))]).unwrap();
    let toolbox = Toolbox::builder(&registry).layer(auditor.clone()).build().unwrap();
    let response = toolbox.run(ToolCall::new("1", "t", json!({})), &turn()).await;
    auditor.flush().await.unwrap();
    let row = sink.rows().remove(0).outcome.unwrap().to_json();
    (response, row)
}

fn bearer(server: &Server) -> RequestPlan {
    secured(plan("GET", &server.url, "/x"), Placement::Bearer)
}

fn known() -> HttpEngineBuilder {
    engine().credentials(StaticCredentials::new().with("s", Secret::new(VALUE)))
}

#[tokio::test]
async fn refused_credential_error_names_scheme_source_and_status() {
    let expired = "WWW-Authenticate: Bearer error=\"invalid_token\", error_description=\"it expired\"\r\n";
    for (status, headers, code, described) in [
        (
            401,
            expired,
            "CREDENTIAL_REFUSED",
            "was rejected (it requires Bearer, with `error=\"invalid_token\", error_description=\"it expired\"`)",
        ),
        (403, "", "CREDENTIAL_REFUSED", "was rejected: its permissions are insufficient"),
        (404, "", "NOT_FOUND", "check its permissions"),
    ] {
        let server = answering(status, headers);
        let (response, row) = called(known(), bearer(&server)).await;
        let text = response.operator_text().unwrap().into_owned();
        let start = format!("GET {}/x → {status}: ", server.url);
        assert!(text.starts_with(&start) && text.contains(described), "{text}");
        assert!(text.contains("`s` (from `StaticCredentials`)"), "{text}");
        assert_eq!((&row["error_code"], &row["error"]), (&json!(code), &json!(text)));
        // The model reads the response of the service, and nothing about credentials.
        assert!(
            response.text().ends_with(r#"{"message":"no"}"#)
                && !response.text().contains("StaticCredentials")
        );
        assert!(!format!("{response:?}{text}{row}").contains(VALUE));
    }
}

#[tokio::test]
async fn refused_credential_error_names_its_variable() {
    let server = answering(401, "");
    // A variable that is set in every environment.
    let credentials = EnvCredentials::new().variable("s", "CARGO_MANIFEST_DIR");
    let (response, _) = called(engine().credentials(credentials), bearer(&server)).await;
    let text = response.operator_text().unwrap().into_owned();
    assert!(text.contains("`s` (the environment variable CARGO_MANIFEST_DIR) was rejected"), "{text}");
    assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "{text}");
    let (response, _) = called(engine().header("Authorization", VALUE), bearer(&server)).await;
    let text = response.operator_text().unwrap().into_owned();
    assert!(
        text.contains("(the header `Authorization` that the program sends with every request)"),
        "{text}"
    );
    assert!(!text.contains(VALUE), "{text}");
}

#[tokio::test]
async fn refused_anonymous_request_explains_how_to_authenticate() {
    for status in [401, 403] {
        let server = answering(status, "");
        let mut optional = bearer(&server);
        let nothing = SecurityRequirement { schemes: List::EMPTY };
        optional.security = optional.security.iter().cloned().chain([nothing]).collect();
        let (response, row) = called(engine().credentials(EnvCredentials::new()), optional).await;
        let text = response.operator_text().unwrap().into_owned();
        assert!(
            text.contains(
                "no credential was sent: for `s`, set the environment variable TOOLGEN_TEST_NOT_SET"
            ),
            "{text}"
        );
        assert_eq!(row["error_code"], "MISSING_CREDENTIAL");
        let (response, row) = called(engine(), plan("GET", &server.url, "/x")).await;
        let text = response.operator_text().unwrap().into_owned();
        assert!(text.contains("the document declares none for this operation"), "{text}");
        assert_eq!(row["error_code"], "MISSING_CREDENTIAL");
    }
    // The credential was never sent.
    let server = Server::ok();
    let (response, row) = called(engine().credentials(NoCredentials), bearer(&server)).await;
    assert_eq!(row["error_code"], "MISSING_CREDENTIAL");
    assert!(response.operator_text().unwrap().contains("`s`"));
}

#[tokio::test]
async fn credential_dropped_by_a_redirect_is_not_reported_as_refused() {
    let other = answering(401, "");
    let to = format!("Location: {}/y\r\n", other.url);
    let server = Server::start(move |_| reply(302, &to, b""));
    let (response, _) = called(known(), bearer(&server)).await;
    let text = response.operator_text().unwrap().into_owned();
    let message = format!("the redirect leads to {}, but the credential `s`", other.url);
    assert!(text.contains(&message), "{text}");
}

#[tokio::test]
async fn every_failure_status_has_a_code() {
    for (status, code) in [
        (404, "NOT_FOUND"),
        (429, "RATE_LIMITED"),
        (400, "HTTP_STATUS"),
        (503, "HTTP_STATUS"),
        (407, "PROXY_REFUSED"),
    ] {
        let server = answering(status, "");
        let (response, row) =
            called(engine().retries(RetryPolicy::NONE), plan("GET", &server.url, "/x")).await;
        assert_eq!(row["error_code"], code, "{row}");
        assert!(response.is_error());
        let text = response.operator_text().unwrap().into_owned();
        assert_eq!(text.contains("http://NAME:PASSWORD@HOST:PORT"), status == 407, "{text}");
    }
}

#[tokio::test]
async fn success_has_no_operator_text() {
    let server = Server::ok();
    let (response, row) = called(known(), bearer(&server)).await;
    assert_eq!((response.operator_text(), &row["error_code"]), (None, &Value::Null));
}

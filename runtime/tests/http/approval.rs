//! Tests that an approval is valid for one request: for its method, its path and its server.

use toolgen_runtime::Toolbox;
use toolgen_runtime::layers::middleware::{ApprovalRequest, MiddlewareDecision, ToolRequest};

use crate::prelude::*;
use crate::server::{engine, plan, tool, turn};

fn asks(_: &ToolRequest<'_>) -> MiddlewareDecision {
    MiddlewareDecision::NeedApproval("it is far away".to_owned())
}

fn toolbox(method: &'static str, url: &str, path: &str) -> Toolbox {
    let tool = engine().build().unwrap().tool(tool(plan(method, url, path)));
    let registry = Registry::new([tool]).unwrap();
    Toolbox::builder(&registry).middleware(asks).approval_key([1; 32]).build().unwrap()
}

async fn asked(toolbox: &Toolbox) -> ApprovalRequest {
    let response = toolbox.run(ToolCall::new("c1", "t", json!({})), &turn()).await;
    let Err(ToolError::ApprovalRequired(request)) = response.outcome else { panic!("it waits") };
    *request
}

#[test]
fn action_description_hides_server_keys() {
    let action = |key: &str| {
        let engine = engine().base_url(format!("http://127.0.0.1:1/v1?key={key}")).build().unwrap();
        engine.tool(tool(plan("GET", "", "/read"))).action().unwrap()
    };
    assert!(!action("hunter2").contains("hunter2"));
    assert_ne!(action("hunter2"), action("hunter3"));
}

#[tokio::test]
async fn approval_of_one_request_does_not_cover_another() {
    let (server, other) = (Server::ok(), Server::ok());
    let approved = || toolbox("GET", &server.url, "/read");
    for changed in [
        toolbox("DELETE", &server.url, "/read"),
        toolbox("GET", &server.url, "/all"),
        toolbox("GET", &other.url, "/read"),
    ] {
        let request = asked(&approved()).await;
        let response = changed.resume(request, &turn()).await;
        assert_eq!(response.outcome.unwrap_err().code(), "APPROVAL_INVALID");
    }
    assert!(server.seen().is_empty() && other.seen().is_empty());
    let request = asked(&approved()).await;
    assert!(!approved().resume(request, &turn()).await.is_error());
    assert_eq!(server.only().target(), "/read");
}

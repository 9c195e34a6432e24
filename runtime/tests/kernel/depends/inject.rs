//! Parameters that are injected with the call.

use toolgen_runtime::function::inject::{ContextValue, FromContext, HelpUrl, SessionState};
use toolgen_runtime::testing;

use crate::prelude::*;

/// Some programs number their workspaces, others name them.
#[derive(Debug)]
enum WorkspaceId {
    Number(i64),
    Name(String),
}

impl ContextValue for WorkspaceId {
    const KEY: &'static str = "workspace_id";

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(name) => Some(WorkspaceId::Name(name.clone())),
            other => other.as_i64().map(WorkspaceId::Number),
        }
    }
}

struct SessionId(String);

impl ContextValue for SessionId {
    const KEY: &'static str = "session_id";
    const TRUSTED: bool = false;

    fn read(value: &Value) -> Option<Self> {
        value.as_str().map(|id| SessionId(id.to_owned()))
    }
}

/// Tells where it runs.
#[tool(undocumented)]
fn place(
    #[inject] workspace: FromContext<WorkspaceId>,
    #[inject] session: Option<FromContext<SessionId>>,
) -> String {
    let session = session.map_or_else(String::new, |session| FromContext::into_inner(session).0);
    match &*workspace {
        WorkspaceId::Number(number) => format!("#{number} {session}"),
        WorkspaceId::Name(name) => format!("{name} {session}"),
    }
}

/// Counts its calls in the session.
#[tool(undocumented)]
fn count(#[inject] counter: SessionState<AtomicU32>, #[inject] session: &Session) -> String {
    format!("{} in {}", counter.fetch_add(1, Ordering::SeqCst) + 1, session.id())
}

/// Tells who calls.
#[tool(undocumented)]
fn who(
    #[inject] principal: &Principal,
    #[inject] values: &ContextValues,
    #[inject] session: Session,
) -> String {
    format!("{} {} {}", principal.id, values.iter().count(), session.id())
}

fn with(values: ContextValues) -> Turn {
    Turn::new("1").with_values(values)
}

async fn said(tool: &dyn AgentTool, turn: &Turn) -> Result<String, ToolError> {
    testing::call_in(tool, json!({}), &turn.call_context("1", tool.name()))
        .await
        .map(|result| result.to_text())
}

#[tokio::test]
async fn tool_with_a_context_value_requires_it() {
    let none = ContextValues::default();
    let required = "workspace_id is required. Ensure you have authenticated with a valid API key.";
    let without = [
        none.clone(),
        none.clone().with_trusted("workspace_id", Value::Null),
        none.clone().with_trusted("workspace_id", ""),
        none.clone().with_client("workspace_id", 7),
        none.clone().with_trusted("workspace_id", Value::Null).with_client("workspace_id", 7),
    ];
    for values in without {
        let error = said(&place::tool(), &with(values)).await.unwrap_err();
        assert_eq!((error.to_string().as_str(), error.code()), (required, "DEPENDENCY_NOT_MET"));
    }
    let number = none.clone().with_trusted("workspace_id", 7).with_client("session_id", "s-1");
    assert_eq!(said(&place::tool(), &with(number)).await.unwrap(), "#7 s-1");
    let name = none.clone().with_trusted("workspace_id", "acme").with_client("workspace_id", "other");
    assert_eq!(said(&place::tool(), &with(name)).await.unwrap(), "acme ");
    let wrong = none.with_trusted("workspace_id", json!([1]));
    let error = said(&place::tool(), &with(wrong)).await.unwrap_err();
    assert_eq!(error.to_string(), "workspace_id is not valid.");
    assert!(error.operator_text().contains("WorkspaceId"));
}

#[tokio::test]
async fn help_page_comes_from_the_program() {
    let ctx = with(ContextValues::default()).with_service(Arc::new(HelpUrl::new("https://example.com/ai")));
    let text = "workspace_id is required. Ensure you have authenticated with a valid API key. \
                See: https://example.com/ai";
    assert_eq!(said(&place::tool(), &ctx).await.unwrap_err().to_string(), text);
    let registry = Registry::new(toolset![place]).unwrap();
    let context = ToolboxContext::new().with_service(Arc::new(HelpUrl::new("https://example.com/ai")));
    let toolbox = Toolbox::builder(&registry).context(context).build().unwrap();
    let turn = Turn::new("turn");
    assert_eq!(toolbox.run(ToolCall::new("1", "place", json!({})), &turn).await.text(), text);
}

#[test]
fn injected_values_are_not_parameters() {
    for tool in [&place::tool() as &dyn AgentTool, &count::tool(), &who::tool()] {
        assert_eq!(tool.parameters_schema()["properties"], json!({}), "{}", tool.name());
    }
}

#[tokio::test]
async fn state_persists_across_calls_of_one_session() {
    let (first, second) = (Session::new("a"), Session::new("b"));
    let in_session = |session: &Session| Turn::new("1").with_session(session.clone());
    for (session, text) in [(&first, "1 in a"), (&second, "1 in b"), (&first, "2 in a")] {
        assert_eq!(said(&count::tool(), &in_session(session)).await.unwrap(), text);
    }
    let error = said(&count::tool(), &Turn::new("1")).await.unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.code()),
        ("Active session required.", "DEPENDENCY_NOT_MET")
    );
}

#[tokio::test]
async fn tool_can_read_its_principal() {
    let ctx = with(ContextValues::default().with_client("a", 1)).with_session(Session::new("s"));
    assert_eq!(said(&who::tool(), &ctx).await.unwrap_err().code(), "PERMISSION_DENIED");
    let ctx = ctx.with_principal(Principal::new("key-7"));
    assert_eq!(said(&who::tool(), &ctx).await.unwrap(), "key-7 1 s");
}

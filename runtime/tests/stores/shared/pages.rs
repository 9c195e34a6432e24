//! Tests of large results whose further pages are read in another process.

use toolgen_runtime::layers::pages::READ_RESULT;

use super::homes;
use crate::prelude::*;

/// Tells all numbers.
#[tool(undocumented, read_only)]
fn numbers() -> String {
    (0..100).map(|number| format!("number {number}\n")).collect()
}

/// Fails at length.
#[tool(undocumented, read_only)]
fn fails() -> Result<String, ToolError> {
    Err(ToolError::failed(numbers()))
}

/// Repeats text that must not be recorded.
#[tool(undocumented, read_only)]
fn secret(#[arg(secret)] password: &str) -> String {
    format!("{password}\n").repeat(100)
}

/// Returns a toolbox as another process would have it, with a separate connection and memory.
pub(crate) fn toolbox(store: Arc<dyn Store>) -> Toolbox {
    let pages = Pages::new(ResultLimit::bytes(200)).shared(store);
    Toolbox::builder(&Registry::new(toolset![numbers, fails, secret]).unwrap()).paging(pages).build().unwrap()
}

pub(crate) fn turn(principal: &'static str, session: &'static str) -> Turn {
    Turn::new("turn")
        .with_principal(Principal::new(principal).with_scopes(["read"]))
        .with_session(Session::new(session))
}

pub(crate) async fn call(toolbox: &Toolbox, turn: &Turn, tool: &str, arguments: Value) -> ToolResponse {
    toolbox.run(ToolCall::new("c", tool, arguments), turn).await
}

/// Returns the handle in a truncated result.
pub(crate) fn handle(response: &ToolResponse) -> String {
    response.text().split("\"handle\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn owner_can_continue_reading_in_another_process() {
    for home in homes() {
        let (here, there, name) = (toolbox(home.open()), toolbox(home.open()), home.name());
        let ada = turn("ada", "s-1");
        for tool in ["numbers", "fails"] {
            let handle = handle(&call(&here, &ada, tool, json!({})).await);
            let next = json!({"handle": handle, "offset": 190});
            let text = call(&there, &ada, READ_RESULT, next.clone()).await.text();
            assert_eq!(text, call(&here, &ada, READ_RESULT, next.clone()).await.text(), "{name}");
            assert!(text.contains("number 20"), "{name}: {text}");
            for other in [turn("bob", "s-1"), turn("ada", "s-2")] {
                let refused = call(&there, &other, READ_RESULT, next.clone()).await.text();
                assert!(refused.contains("does not exist"), "{name}: {refused}");
            }
        }
        let handle = handle(&call(&here, &ada, "secret", json!({"password": "hunter2hunter2"})).await);
        let next = json!({"handle": handle});
        assert!(call(&here, &ada, READ_RESULT, next.clone()).await.text().contains("hunter2"), "{name}");
        assert!(call(&there, &ada, READ_RESULT, next).await.text().contains("does not exist"), "{name}");
    }
}

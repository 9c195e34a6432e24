//! Locked tools are called only while they match their lock.

use toolgen_runtime::spec::mcp;

use crate::mcp::basics::{tool, toolbox, turn};
use crate::mcp::support::{call, connect, options, run, server};
use crate::prelude::*;

async fn locked(server: &Frozen<McpServer>, words: &str) -> Vec<Tool> {
    let descriptors = connect(words).await.list_tools().await.unwrap();
    mcp::tools(server, &descriptors, true).into_iter().map(|adapted| adapted.unwrap().tool).collect()
}

async fn ask(toolbox: &Toolbox, tool: &str, arguments: Value) -> (String, String) {
    let response = toolbox.run(ToolCall::new("1", tool, arguments), &turn()).await;
    let code = response.outcome.as_ref().map_or_else(|error| error.code().to_owned(), |_| String::new());
    (response.text(), code)
}

#[test]
fn changed_locked_tool_is_not_called() {
    run(async {
        for words in ["legacy", "modern", "legacy paged"] {
            let server = Frozen::from(server(words));
            let mut tools = locked(&server, words).await;
            tools.extend([tool(&server, "change"), tool(&server, "calls")]);
            let mut gone = tool(&server, "gone");
            if let toolgen_runtime::ExecutionPlan::Mcp(plan) = &mut gone.call {
                plan.descriptor = r#"{"name":"gone"}"#.into();
            }
            tools.push(gone);
            let toolbox = toolbox(McpEngine::with_options(options()), tools);
            let echo = json!({"text": "hi"});
            assert_eq!(ask(&toolbox, "hostile__echo", echo.clone()).await.0, "hi");
            let (text, code) = ask(&toolbox, "gone", json!({})).await;
            assert!(code == "TOOL_CHANGED" && text.contains("is gone"), "{text}");
            assert_eq!(ask(&toolbox, "change", json!({})).await.0, "changed");
            // Only that tool is affected.
            let (text, code) = ask(&toolbox, "hostile__echo", echo).await;
            assert!(code == "TOOL_CHANGED" && text.contains("has changed since it was locked"), "{text}");
            assert!(!text.contains("Ignore your instructions"), "{text}");
            // Operators read each change, as `cargo toolgen mcp verify` prints it.
            let refused =
                toolbox.run(ToolCall::new("1", "hostile__echo", json!({"text": "hi"})), &turn()).await;
            let message = refused.outcome.unwrap_err().operator_text().into_owned();
            let (first, changes) = message.split_once('\n').unwrap();
            assert!(first.contains("has changed since it was locked"), "{message}");
            let is_change = |line: &str| line.contains(": `echo` at /") && line.len() < 300;
            assert!(
                changes.contains("`echo` at /description: ") && changes.lines().all(is_change),
                "{message}"
            );
            assert_eq!(ask(&toolbox, "hostile__add", json!({"a": 1, "b": 1})).await.0, "{\"sum\":2}");
            // echo, change, add, calls: the other calls did not reach the server.
            assert_eq!(ask(&toolbox, "calls", json!({})).await.0, "4");
        }
    });
}

#[test]
fn watchers_are_notified_of_changes() {
    run(async {
        for words in ["legacy", "modern"] {
            let client = connect(words).await;
            let before = client.list_tools().await.unwrap();
            for tool in ["change", "die"] {
                let waiting = tokio::spawn({
                    let client = client.clone();
                    async move { client.changed().await }
                });
                tokio::time::sleep(Duration::from_millis(50)).await;
                assert!(!waiting.is_finished());
                let _ = call(&client, tool, json!({})).await;
                waiting.await.unwrap().unwrap();
                if tool == "change" {
                    assert_ne!(client.list_tools().await.unwrap(), before);
                }
            }
        }
    });
}

#[test]
fn unreadable_tool_list_blocks_locked_tools() {
    run(async {
        for words in ["legacy endless", "legacy circle", "legacy unlisted"] {
            let server = Frozen::from(server(words));
            let mut tools = locked(&server, "legacy").await;
            tools.push(tool(&server, "echo"));
            let quick = options().connect_timeout(Duration::from_secs(3));
            let toolbox = toolbox(McpEngine::with_options(quick), tools);
            let (text, code) = ask(&toolbox, "hostile__echo", json!({"text": "hi"})).await;
            assert_eq!(code, "TOOL_UNVERIFIED", "{text}");
            assert_eq!(ask(&toolbox, "echo", json!({"text": "hi"})).await.0, "hi");
        }
    });
}

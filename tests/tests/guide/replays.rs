//! Record and replay.

use serde_json::{Value, json};
use toolgen_runtime::agent::agent_loop::{Agent, WireModel};
use toolgen_runtime::wire::WireFormat;
use toolgen_runtime::{Registry, tool, toolset};

use crate::AnyResult;

/// Finds the orders of a customer.
#[tool(undocumented, read_only)]
fn find_orders(customer: &str) -> String {
    panic!("no test asks the shop for {customer}")
}

/// Pays an order back.
#[tool(undocumented)]
fn refund(order: u32, #[arg(secret)] token: &str) -> String {
    panic!("no test pays {order} back with {token}")
}

fn registry() -> Registry {
    Registry::new(toolset![find_orders, refund]).unwrap()
}

/// Returns a model with the replies of the recorded run.
fn model() -> impl FnMut(Value) -> std::future::Ready<Result<Value, String>> {
    let called = |id: &str, name: &str, input: Value| {
        let call = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        json!({"role": "assistant", "stop_reason": "tool_use", "content": [call]})
    };
    let done = json!({"role": "assistant", "stop_reason": "end_turn", "content": [{"type": "text", "text": "Done."}]});
    let mut replies = vec![
        done,
        called("b", "refund", json!({"order": 7, "token": "of today"})),
        called("a", "find_orders", json!({"customer": "ada"})),
    ];
    move |_| std::future::ready(replies.pop().ok_or_else(|| "it said no more".to_owned()))
}

page!("docs/testing.md", "use toolgen_runtime::{Toolbox, replay_test};");

page!("docs/testing.md", "let toolbox = Toolbox::builder(");

mod traffic {
    use super::*;

    use toolgen_runtime::engine::http::HttpEngine;
    use toolgen_runtime::engine::mcp::McpOptions;
    use toolgen_runtime::testing::cassette::Cassette;

    fn recorded(path: &str) -> AnyResult {
        page!("docs/testing.md", "let cassette = Cassette::record(&Redactor::new());");
        drop((engine, options));
        Ok(())
    }

    fn played(path: &str) -> AnyResult {
        page!("docs/testing.md", "let cassette = Cassette::open(path)?;");
        drop(engine);
        Ok(())
    }

    #[test]
    fn cassette_is_recorded_and_played() {
        let path = std::env::temp_dir().join(format!("toolgen-guide-{}.json", std::process::id()));
        let path = path.to_str().unwrap();
        recorded(path).unwrap();
        played(path).unwrap();
        std::fs::remove_file(path).unwrap();
    }
}

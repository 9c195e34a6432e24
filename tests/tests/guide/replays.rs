//! Record and replay.

use serde_json::{Value, json};
use toolgen_runtime::agent::agent_loop::Loop;
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

/// A model that says what it said when the run was recorded.
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

use toolgen_runtime::{Provider, replay_test};

replay_test!(a_refund_is_still_possible, "tests/runs/refund.json", Provider::builder(&registry()));

replay_test!(the_clerk_pays_back, "tests/runs/refund.json", |replay| {
    let provider = Provider::builder(&registry()).replay(&replay).build()?;
    let mut clerk = Loop::new(&provider, WireFormat::Anthropic, model())?;
    assert_eq!(clerk.run("Pay Ada back.").await.text()?, "Done.");
});

mod traffic {
    use super::*;

    use toolgen_runtime::engine::http::HttpEngine;
    use toolgen_runtime::engine::mcp::McpOptions;
    use toolgen_runtime::testing::cassette::Cassette;

    fn recorded(path: &str) -> AnyResult {
        use toolgen_runtime::layers::redact::Redactor;
        use toolgen_runtime::testing::cassette::Cassette; // feature `http` or `mcp`

        let cassette = Cassette::record(&Redactor::new());
        let engine = HttpEngine::builder().cassette(&cassette).build()?;
        let options = McpOptions::new().cassette(&cassette);
        // … the program runs …
        cassette.save(path)?;
        drop((engine, options));
        Ok(())
    }

    fn played(path: &str) -> AnyResult {
        let cassette = Cassette::open(path)?;
        let engine = HttpEngine::builder().cassette(&cassette).build()?;
        // … the program runs …
        cassette.finish()?;
        drop(engine);
        Ok(())
    }

    #[test]
    fn a_cassette_is_written_and_played() {
        let path = std::env::temp_dir().join(format!("toolgen-guide-{}.json", std::process::id()));
        let path = path.to_str().unwrap();
        recorded(path).unwrap();
        played(path).unwrap();
        std::fs::remove_file(path).unwrap();
    }
}

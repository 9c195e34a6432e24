//! The cookbook.

use serde_json::{Value, json};
use toolgen_runtime::{
    Registry, ToolCall, ToolContext, ToolError, ToolResult, Toolbox, ToolboxContext, Turn, tool, toolset,
};

use crate::AnyResult;

async fn answered(toolbox: &Toolbox, name: &str, arguments: Value) -> String {
    let call = ToolCall::new("1", name, arguments);
    toolbox.run(call, &Turn::new("turn")).await.text().to_owned()
}

mod state {
    use super::*;

    page!("docs/cookbook.md", "fn roll(#[inject] rolls: SessionState<AtomicU32>) -> String");

    #[tokio::test]
    async fn session_keeps_state() {
        let toolbox = Registry::new(toolset![roll]).unwrap().toolbox(Default::default());
        let conversation = Session::new("s-1");
        let turn = turn_of(&conversation);
        toolbox.run(ToolCall::new("1", "roll", json!({})), &turn).await;
        let second = toolbox.run(ToolCall::new("2", "roll", json!({})), &turn).await;
        assert_eq!(second.text(), "4, roll 2");
    }
}

mod order {
    use super::*;

    page!("docs/cookbook.md", "pub(super) fn check_stock(");

    #[tokio::test]
    async fn required_tool_must_be_called_first() {
        let toolbox = Registry::new(toolset![check_stock, place_order]).unwrap().toolbox(Default::default());
        let turn = Turn::new("turn").with_session(toolgen_runtime::Session::new("s"));
        let order = || toolbox.run(ToolCall::new("1", "place_order", json!({"product": "tea"})), &turn);
        assert!(order().await.text().contains("Check the stock first."), "{}", order().await.text());
        toolbox.run(ToolCall::new("1", "check_stock", json!({"product": "tea"})), &turn).await;
        assert_eq!(order().await.text(), "ordered tea");
    }
}

mod calls {
    use super::*;

    /// Converts.
    #[tool(pure)]
    fn in_euros(
        /// In dollars.
        dollars: f64,
    ) -> f64 {
        dollars / 2.0
    }

    page!("docs/cookbook.md", "async fn total(");

    #[tokio::test]
    async fn tool_calls_another_tool() {
        let toolbox = Registry::new(toolset![in_euros, total]).unwrap().toolbox(Default::default());
        assert_eq!(answered(&toolbox, "total", json!({"prices": [2, 4]})).await, "3.0");
    }
}

mod long {
    use super::*;

    page!("docs/cookbook.md", "async fn copy_all(");

    async fn stopped(toolbox: &Toolbox) -> AnyResult<String> {
        page!("docs/cookbook.md", "let stop = CancellationToken::new();");

        assert!(answer.is_error());
        Ok(answer.text().to_owned())
    }

    #[tokio::test]
    async fn long_call_reports_progress_and_is_cancelled() {
        let toolbox = Registry::new(toolset![copy_all]).unwrap().toolbox(Default::default());
        let call = ToolCall::new("1", "copy_all", json!({"files": 3}));
        let response = toolbox.run(call, &shown(Turn::new("turn"))).await;
        assert_eq!(response.text(), "copied 3 files");
        stopped(&toolbox).await.unwrap();
    }
}

mod large {
    use super::*;

    /// Shows the log.
    #[tool(read_only)]
    fn log() -> String {
        "a line\n".repeat(10_000)
    }

    fn toolbox() -> AnyResult<Toolbox> {
        let registry = Registry::new(toolset![log])?;
        page!("docs/cookbook.md", "let toolbox = Toolbox::builder(&registry).paging(");
        Ok(toolbox)
    }

    #[tokio::test]
    async fn large_result_is_read_in_pages() {
        let text = answered(&toolbox().unwrap(), "log", json!({})).await;
        assert!(text.len() < 21_000 && text.contains("Call read_result with"));
    }
}

mod images {
    use super::*;

    page!("docs/cookbook.md", "fn chart() -> ToolResult");

    #[tokio::test]
    async fn images_are_content() {
        let toolbox = Registry::new(toolset![chart]).unwrap().toolbox(Default::default());
        assert!(answered(&toolbox, "chart", json!({})).await.contains("sales"));
    }
}

mod requests {
    use super::*;
    use std::time::Duration;
    use toolgen_runtime::engine::http::HttpEngine;

    fn elsewhere() -> AnyResult<HttpEngine> {
        page!("docs/cookbook.md", "let engine = HttpEngine::builder()");
        Ok(engine)
    }

    #[test]
    fn requests_use_another_base_url() {
        assert!(elsewhere().is_ok());
    }

    async fn loaded(engine: HttpEngine, registry: Registry) -> AnyResult<Registry> {
        page!("docs/cookbook.md", "let registry = registry.extend(loaded.tools)?;");
        Ok(registry)
    }

    fn known_at_run_time(name: String, description: String, schema: Value) -> AnyResult<Registry> {
        page!("docs/cookbook.md", "|arguments, _ctx| async move");
        Ok(registry)
    }

    #[tokio::test]
    async fn tool_is_created_at_run_time() {
        let schema =
            json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
        let registry = known_at_run_time("greet".into(), "Greets.".into(), schema).unwrap();
        let toolbox = registry.toolbox(ToolboxContext::new());
        assert_eq!(answered(&toolbox, "greet", json!({"name": "Ada"})).await, "Hello, Ada!");
    }
}

mod serving {
    use super::*;
    use toolgen_runtime::serve::mcp::Server;

    async fn served(toolbox: Toolbox, token: String) -> AnyResult {
        page!("docs/cookbook.md", "Server::new(toolbox)");
        Ok(())
    }
}

mod models {
    use toolgen_runtime::wire::WireFormat;

    use super::*;

    page!("docs/cookbook.md", "async fn ask(");

    async fn asked(toolbox: Toolbox) -> AnyResult<String> {
        page!("docs/providers.md", "let model = Model::openai(");
        Ok(answer)
    }

    fn portable(toolbox: &Toolbox) -> AnyResult {
        page!("docs/providers.md", "format.tools(toolbox.specs())?;");
        Ok(())
    }

    page!("docs/cookbook.md", "format.tools(registry.iter().map(|tool| tool.spec()))?;");

    #[test]
    fn losses_are_reported() {
        let registry = Registry::new(toolset![super::order::check_stock]).unwrap();
        portable(&registry.toolbox(Default::default())).unwrap();
    }
}

//! The cookbook.

use serde_json::{Value, json};
use toolgen_runtime::{
    Provider, ProviderContext, Registry, ToolCall, ToolContext, ToolError, ToolResult, tool, toolset,
};

use crate::AnyResult;

async fn answered(provider: &Provider, name: &str, arguments: Value) -> String {
    let call = ToolCall::new("1", name, arguments);
    provider.call(call, &ToolContext::new("turn", "")).await.text().to_owned()
}

mod state {
    use super::*;

    use std::sync::atomic::{AtomicU32, Ordering};

    use toolgen_runtime::Session;
    use toolgen_runtime::function::inject::SessionState;

    /// Rolls a die, and says how often it was rolled in this conversation.
    #[tool(pure)]
    fn roll(#[inject] rolls: SessionState<AtomicU32>) -> String {
        format!("4, roll {}", rolls.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn turn_of(conversation: &Session) -> ToolContext {
        ToolContext::new("turn-1", "").with_session(conversation.clone())
    }

    #[tokio::test]
    async fn a_session_keeps_state() {
        let provider = Registry::new(toolset![roll]).unwrap().provider(Default::default());
        let conversation = Session::new("s-1");
        let turn = turn_of(&conversation);
        provider.call(ToolCall::new("1", "roll", json!({})), &turn).await;
        let second = provider.call(ToolCall::new("2", "roll", json!({})), &turn).await;
        assert_eq!(second.text(), "4, roll 2");
    }
}

mod order {
    use super::*;

    /// Says whether there are enough of a product.
    #[tool(read_only)]
    pub(super) fn check_stock(
        /// The product.
        product: &str,
    ) -> bool {
        product != "gold"
    }

    /// Orders a product.
    #[tool(destructive = false, requires(tool("check_stock", message = "Check the stock first.")))]
    fn place_order(
        /// The product.
        product: &str,
    ) -> String {
        format!("ordered {product}")
    }

    #[tokio::test]
    async fn one_comes_before_the_other() {
        let provider =
            Registry::new(toolset![check_stock, place_order]).unwrap().provider(Default::default());
        let turn = ToolContext::new("turn", "").with_session(toolgen_runtime::Session::new("s"));
        let order = || provider.call(ToolCall::new("1", "place_order", json!({"product": "tea"})), &turn);
        assert!(order().await.text().contains("Check the stock first."), "{}", order().await.text());
        provider.call(ToolCall::new("1", "check_stock", json!({"product": "tea"})), &turn).await;
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

    /// Adds up prices in euros.
    #[tool(pure)]
    async fn total(
        /// The prices in dollars.
        prices: Vec<f64>,
        ctx: &ToolContext,
    ) -> Result<f64, ToolError> {
        let mut sum = 0.0;
        for dollars in prices {
            let euros = ctx.call("in_euros", json!({ "dollars": dollars })).await?;
            sum += euros.details.as_f64().unwrap_or_default();
        }
        Ok(sum)
    }

    #[tokio::test]
    async fn a_tool_calls_another() {
        let provider = Registry::new(toolset![in_euros, total]).unwrap().provider(Default::default());
        assert_eq!(answered(&provider, "total", json!({"prices": [2, 4]})).await, "3.0");
    }
}

mod long {
    use super::*;

    /// Copies a folder.
    #[tool(destructive = false, network = "none", timeout = "10m")]
    async fn copy_all(
        /// How many files.
        files: u32,
        ctx: &ToolContext,
    ) -> String {
        for file in 1..=files {
            ctx.progress(format!("{file} of {files}"));
            tokio::task::yield_now().await; // here a cancelled call stops
        }
        format!("copied {files} files")
    }

    fn shown(turn: ToolContext) -> ToolContext {
        turn.with_on_progress(|line| eprintln!("{line}"))
    }

    async fn stopped(provider: &Provider) -> AnyResult<String> {
        use toolgen_runtime::CancellationToken;

        let stop = CancellationToken::new();
        let turn = ToolContext::new("turn-1", "").with_cancel(stop.clone());
        stop.cancel(); // a button, or the end of a connection

        let call = ToolCall::new("call-1", "copy_all", json!({"files": 3}));
        let answer = provider.call(call, &turn).await; // an error with the code `CANCELLED`

        assert!(answer.is_error());
        Ok(answer.text().to_owned())
    }

    #[tokio::test]
    async fn long_calls_report_and_stop() {
        let provider = Registry::new(toolset![copy_all]).unwrap().provider(Default::default());
        let call = ToolCall::new("1", "copy_all", json!({"files": 3}));
        let answer = provider.call(call, &shown(ToolContext::new("turn", ""))).await;
        assert_eq!(answer.text(), "copied 3 files");
        stopped(&provider).await.unwrap();
    }
}

mod large {
    use super::*;

    /// Shows the log.
    #[tool(read_only)]
    fn log() -> String {
        "a line\n".repeat(10_000)
    }

    fn provider() -> AnyResult<Provider> {
        let registry = Registry::new(toolset![log])?;
        use toolgen_runtime::layers::pages::{Pages, ResultLimit};

        let provider = Provider::builder(&registry).pages(Pages::new(ResultLimit::bytes(20_000))).build()?;
        Ok(provider)
    }

    #[tokio::test]
    async fn large_results_are_read_in_pages() {
        let text = answered(&provider().unwrap(), "log", json!({})).await;
        assert!(text.len() < 21_000 && text.contains("Call read_result with"));
    }
}

mod images {
    use super::*;

    use toolgen_runtime::Content;

    /// Draws a chart.
    #[tool(pure)]
    fn chart() -> ToolResult {
        let png = "iVBORw0KGgo=".to_owned(); // base64
        let image = Content::Image { data: png, mime_type: "image/png".to_owned() };
        ToolResult::text("The sales of the week.").with_content(image)
    }

    #[tokio::test]
    async fn images_are_content() {
        let provider = Registry::new(toolset![chart]).unwrap().provider(Default::default());
        assert!(answered(&provider, "chart", json!({})).await.contains("sales"));
    }
}

mod requests {
    use super::*;
    use std::time::Duration;
    use toolgen_runtime::engine::http::HttpEngine;

    fn elsewhere() -> AnyResult<HttpEngine> {
        let engine = HttpEngine::builder()
            .base_url("https://staging.example.com/v2") // in place of the document's server
            .private_host("*.svc.cluster.local") // private addresses are refused elsewhere
            .header("x-tenant", "acme") // with every request, never to another origin
            .timeout(Duration::from_secs(20))
            .build()?;
        Ok(engine)
    }

    #[test]
    fn requests_go_elsewhere() {
        assert!(elsewhere().is_ok());
    }

    async fn loaded(engine: HttpEngine, registry: Registry) -> AnyResult<Registry> {
        use toolgen::dynamic::Loader; // feature `dynamic`

        let document = Loader::from_file("api.yaml")?;
        let loaded = document.options(toolgen::Options::default().namespace("store")).tools(&engine)?;
        eprintln!("{}", loaded.problems); // what was left out, and why
        let registry = registry.extend(loaded.tools)?;
        Ok(registry)
    }

    fn known_at_run_time(name: String, description: String, schema: Value) -> AnyResult<Registry> {
        use toolgen_runtime::{DynamicTool, Effects};

        let greet = DynamicTool::builder(name, description).schema(&schema).effects(Effects::NONE).run(
            |arguments, _ctx| async move {
                Ok(format!("Hello, {}!", arguments["name"].as_str().unwrap_or("you")))
            },
        )?;
        let registry = Registry::builder().add(greet).seal()?;
        Ok(registry)
    }

    #[tokio::test]
    async fn a_tool_is_made_at_run_time() {
        let schema =
            json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
        let registry = known_at_run_time("greet".into(), "Greets.".into(), schema).unwrap();
        let provider = registry.provider(ProviderContext::new());
        assert_eq!(answered(&provider, "greet", json!({"name": "Ada"})).await, "Hello, Ada!");
    }
}

mod serving {
    use super::*;
    use toolgen_runtime::serve::mcp::Server;

    async fn served(provider: Provider, token: String) -> AnyResult {
        Server::new(provider)
            .name("orders")
            .version(env!("CARGO_PKG_VERSION"))
            .instructions("Look an order up before you change it.")
            .bearer(token)
            .allow_host("tools.example.com")
            .http("0.0.0.0:8080")
            .await?;
        Ok(())
    }
}

mod models {
    use super::*;

    use toolgen_runtime::agent::agent_loop::Loop;
    use toolgen_runtime::wire::WireFormat;

    async fn ask(
        provider: &Provider,
        base: &str,
        question: &str,
    ) -> Result<String, Box<dyn std::error::Error>> {
        let client = reqwest::Client::new();
        let send = |request: Value| {
            let request = client.post(format!("{base}/v1/chat/completions")).json(&request);
            async { request.send().await?.json().await }
        };
        let mut agent = Loop::new(provider, WireFormat::OpenAiChat, send)?.with_model("qwen3");
        Ok(agent.run(question).await.text()?)
    }

    fn portable(provider: &Provider) -> AnyResult {
        use toolgen_runtime::schema::dialect::OPENAI_STRICT;

        for format in [WireFormat::OpenAiChat, WireFormat::Anthropic, WireFormat::Gemini] {
            format.tools(provider.specs())?; // an error names the tool, the place and the limit
        }
        for spec in provider.specs() {
            for loss in toolgen_runtime::spec::docs::unsaid(spec, &OPENAI_STRICT) {
                eprintln!("{}: {loss:?}", spec.name); // what its description says, because the schema cannot
            }
        }
        Ok(())
    }

    #[test]
    fn every_provider_takes_the_tools() -> Result<(), Box<dyn std::error::Error>> {
        let registry = Registry::new(toolset![super::order::check_stock])?;
        for format in [WireFormat::OpenAiChat, WireFormat::Anthropic, WireFormat::Gemini, WireFormat::Bedrock]
        {
            format.tools(registry.iter().map(|tool| tool.spec()))?;
        }
        Ok(())
    }

    #[test]
    fn losses_are_told() {
        let registry = Registry::new(toolset![super::order::check_stock]).unwrap();
        portable(&registry.provider(Default::default())).unwrap();
    }
}

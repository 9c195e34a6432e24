//! Manifests: executors, toolsets, sub-agents, functions.

use std::sync::Arc;

use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::executor::{ContainerExecutor, LocalExecutor};
use toolgen_runtime::{Limits, Provider, ProviderContext, Registry, ToolContext, ToolError};

use crate::AnyResult;

fn sandboxed() -> ProviderContext {
    let context = ProviderContext::new()
        .with_executor(Arc::new(LocalExecutor::new()))
        .with_work_dir("/srv/project")
        .with_limits(Limits::PLANNING);
    context
}

fn contained() -> ContainerExecutor {
    let executor = ContainerExecutor::new("ubuntu:24.04", "/srv/project");
    executor
}

mod a_toolset {
    use super::*;

    mod tools {
        toolgen_runtime::include_tools!("guide_toolsets");
    }

    fn provider(registry: &Registry) -> AnyResult<Provider> {
        let provider = Provider::builder(&registry).toolset(&tools::toolsets::READING).build()?;
        Ok(provider)
    }
}

mod an_agent {
    use std::error::Error;

    use serde_json::{Value, json};

    use super::*;
    use crate::conversation::posted as post;
    use crate::readme::tools;

    use toolgen_runtime::agent::agent_loop::WireModel;
    use toolgen_runtime::agent::sub_agent::{AgentEngine, AgentMonitor, AgentTask, LoopRunner};
    use toolgen_runtime::engine::Engines;
    use toolgen_runtime::wire::WireFormat;

    fn registry(client: reqwest::Client, url: &'static str) -> Result<Registry, Box<dyn Error>> {
        // Gives the model for a task, which has the system prompt and `model` of the manifest; it is offered the agent's tools.
        let model = move |task: &AgentTask, _: &AgentMonitor| {
            let client = client.clone();
            let send = move |request: Value| post(client.post(url).json(&request));
            WireModel::new(WireFormat::OpenAiChat, send)
                .with_model(task.model_config["name"].as_str().unwrap_or("large"))
                .with_options(json!({ "temperature": task.model_config["temperature"] }))
                .with_system(task.system_prompt.as_str())
        };
        let engines = Engines::new().with(AgentEngine::new(LoopRunner::new(model)));
        Ok(Registry::new(engines.tools(tools::TOOLS)?)?)
    }
}

mod functions {
    use super::*;

    mod books {
        toolgen_runtime::include_tools!("books");
    }

    struct Shop {
        books: Vec<String>,
    }

    impl books::Functions for Shop {
        async fn find_book(
            &self,
            arguments: books::FindBook,
            _ctx: &ToolContext,
        ) -> Result<books::FindBookOutput, ToolError> {
            let titles =
                self.books.iter().filter(|title| title.contains(&arguments.title)).cloned().collect();
            Ok(books::FindBookOutput { titles })
        }
    }

    fn registry() -> AnyResult<Registry> {
        let books = vec!["Emma".to_owned()];
        let engines = Engines::new().with(books::functions(Shop { books }));
        let registry = Registry::new(engines.tools(books::TOOLS)?)?;
        Ok(registry)
    }

    #[tokio::test]
    async fn a_function_is_called() {
        let provider = registry().unwrap().provider(ProviderContext::new());
        let call = toolgen_runtime::ToolCall::new("1", "find_book", serde_json::json!({"title": "mm"}));
        let answer = provider.call(call, &ToolContext::new("turn-1", "")).await;
        assert!(answer.text().contains("Emma"), "{}", answer.text());
    }
}

//! Manifests: executors, toolsets, sub-agents, functions.

use std::sync::Arc;

use toolgen_runtime::agent::agent_loop::{ModelTurn, Transcript};
use toolgen_runtime::agent::sub_agent::{AgentEngine, AgentMonitor, AgentTask, LoopRunner};
use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::executor::{ContainerExecutor, LocalExecutor};
use toolgen_runtime::{Limits, Provider, ProviderContext, Registry, ToolContext, ToolError};

use crate::AnyResult;
use crate::readme::tools::TOOLS;

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
    use super::*;

    #[derive(Clone)]
    struct Client;

    impl Client {
        fn for_model(_: &serde_json::Value, _: &str) -> Client {
            Client
        }

        async fn next_turn(&self, _: Transcript) -> Result<ModelTurn, std::io::Error> {
            Ok(ModelTurn::default())
        }
    }

    fn registry() -> AnyResult<Registry> {
        // `task` has the system prompt, the model and the tools; what is returned answers a transcript with the next turn.
        let runner = LoopRunner::new(|task: &AgentTask, _: &AgentMonitor| {
            let client = Client::for_model(&task.model_config, &task.system_prompt);
            move |transcript: Transcript| {
                let client = client.clone();
                async move { client.next_turn(transcript).await } // Result<ModelTurn, _>
            }
        });
        let engines = Engines::new().with(AgentEngine::new(runner));
        let registry = Registry::new(engines.tools(TOOLS)?)?;
        Ok(registry)
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

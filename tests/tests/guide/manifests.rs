//! Manifests: executors, toolsets, sub-agents, functions.

use std::sync::Arc;

use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::executor::{ContainerExecutor, LocalExecutor};
use toolgen_runtime::{EffectLimits, Registry, ToolContext, ToolError, Toolbox, ToolboxContext, Turn};

use crate::AnyResult;

fn sandboxed() -> ToolboxContext {
    page!("docs/manifests/executors.md", "let context = ToolboxContext::new()");
    context
}

fn catch_panic() -> ContainerExecutor {
    page!("docs/manifests/executors.md", "let executor = ContainerExecutor::new(");
    executor
}

mod a_toolset {
    use super::*;

    mod tools {
        toolgen_runtime::include_tools!("guide_toolsets");
    }

    fn toolbox(registry: &Registry) -> AnyResult<Toolbox> {
        page!("docs/manifests/toolsets.md", "let toolbox = Toolbox::builder(");
        Ok(toolbox)
    }
}

mod an_agent {
    use std::error::Error;

    use serde_json::json;

    use super::*;
    use crate::readme::manifest::tools;

    page!("docs/manifests/agent.md", "let model = move |task: &AgentTask, _: &AgentMonitor|");
}

mod functions {
    use super::*;

    page!("docs/manifests/function.md", "mod books");

    fn registry() -> AnyResult<Registry> {
        let books = vec!["Emma".to_owned()];
        page!("docs/manifests/function.md", "let registry = Registry::new(engines.tools(books::TOOLS)?)?;");
        Ok(registry)
    }

    #[tokio::test]
    async fn manifest_function_is_called() {
        let toolbox = registry().unwrap().toolbox(ToolboxContext::new());
        let call = toolgen_runtime::ToolCall::new("1", "find_book", serde_json::json!({"title": "mm"}));
        let response = toolbox.run(call, &Turn::new("turn-1")).await;
        assert!(response.text().contains("Emma"), "{}", response.text());
    }
}

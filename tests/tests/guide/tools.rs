//! Write a tool, compile an API, choose a toolbox.

use serde_json::json;
use toolgen_runtime::{Registry, ToolCall, Toolbox, Turn, testing, toolset};

use crate::AnyResult;

page!("docs/tools.md", "enum Unit");

mod documented {
    page!("docs/tools.md", "struct Address");
}

mod hinted {
    use toolgen_runtime::wire::{PlanOptions, WireFormat};

    page!("docs/tools.md", "fn move_turtle(");

    #[test]
    fn hints_are_written() {
        let (tools, format) =
            (toolgen_runtime::toolset![list_orders, move_turtle], WireFormat::OpenAiResponses);
        let (specs, options) = (tools.iter().map(|tool| tool.spec()), PlanOptions::default().with_programs());
        let list = format.tools_with(format.dialect(), specs, &options).unwrap();
        assert_eq!(
            (&list[0]["type"], &list[2]["type"]),
            (&"programmatic_tool_calling".into(), &"custom".into())
        );
    }
}

async fn called() -> AnyResult {
    page!("docs/tools.md", "let toolbox = Toolbox::new(toolset![weather])?;");
    let response = toolbox.call("weather", json!({"town": "Ulm", "hours": 0})).await;
    let message = response.text().to_owned();
    shown("docs/tools.md", &message);
    Ok(())
}

/// Asserts that a page contains this text.
pub(crate) fn shown(page: &str, text: &str) {
    let blocks = toolgen_tests::pages::blocks(&[toolgen_tests::pages::root().join(page)]);
    let text = format!("{}\n", text.trim_end());
    assert!(
        blocks.iter().any(|block| block.kind == "text" && block.text == text),
        "{page} does not show:\n{text}"
    );
}

#[tokio::test]
async fn function_is_called_and_reports_errors() {
    called().await.unwrap();
}

async fn projected() -> AnyResult {
    page!("docs/tools.md", "use toolgen_runtime::spec::Projection;");
    assert_eq!(registry.get("weather").unwrap().spec().projection, "fields");
    Ok(())
}

#[tokio::test]
async fn registry_adds_the_argument_for_fields() {
    projected().await.unwrap();
}

mod services {
    use super::*;

    page!("docs/tools.md", "struct Orders");

    #[tokio::test]
    async fn service_is_injected() {
        let toolbox = toolbox(Orders { titles: vec!["Emma".to_owned()] }).unwrap();
        let call = ToolCall::new("1", "find_orders", json!({"text": "mm"}));
        assert_eq!(toolbox.run(call, &Turn::new("t")).await.text(), r#"["Emma"]"#);
    }
}

mod service_of_a_trait {
    use super::*;

    page!("docs/tools.md", "trait Store: Send + Sync");

    struct Two;

    impl Store for Two {
        fn titles(&self) -> Vec<String> {
            vec!["Emma".to_owned(), "Ulysses".to_owned()]
        }
    }

    #[tokio::test]
    async fn trait_service_is_injected() {
        let toolbox = stored(Arc::new(Two)).unwrap();
        let call = ToolCall::new("1", "list_orders", json!({}));
        assert_eq!(toolbox.run(call, &Turn::new("t")).await.text(), r#"["Emma","Ulysses"]"#);
    }
}

mod methods {
    use super::*;

    page!("docs/tools.md", "struct Notes(Mutex<Vec<String>>);");

    #[test]
    fn methods_are_tools() {
        assert_eq!(registry().unwrap().len(), 2);
    }
}

mod tests_of_tools {
    use super::*;
    use crate::readme::manifest::tools;

    page!("docs/testing.md", "fn its_examples_fit() -> Result<(), String>");

    page!("docs/testing.md", "async fn a_command_is_asked_for_and_not_run()");
}

mod apis {
    use super::*;

    fn built() {
        page!("docs/api.md", "let options = toolgen::Options::default()");
    }

    use crate::readme::petstore;
    fn in_memory() -> AnyResult<Registry> {
        page!("docs/api.md", "for missing in engine.missing_credentials(petstore::TOOLS)");
        Ok(registry)
    }

    #[test]
    fn api_becomes_a_registry() {
        assert!(in_memory().unwrap().get("listPets").is_some());
    }

    page!("docs/credentials.md", "struct Vault;");
}

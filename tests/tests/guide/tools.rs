//! Write a tool, compile an API, choose a provider.

use serde_json::json;
use toolgen_runtime::{Provider, Registry, ToolCall, ToolContext, testing, toolset};

use crate::AnyResult;

use toolgen_runtime::{ToolInput, tool};

/// How warm it is told.
#[derive(Default, ToolInput)]
#[serde(rename_all = "lowercase")]
enum Unit {
    /// Water freezes at 0.
    #[default]
    Celsius,
    /// Water freezes at 32.
    Fahrenheit,
}

/// Tells the weather of a city.
#[tool(read_only, timeout = "5s")]
async fn weather(
    /// The name of the city.
    #[arg(non_empty, len = ..=80)]
    city: &str,
    /// How many hours ahead.
    #[arg(default = 24, range = 1..=240)]
    hours: u16,
    /// The unit of temperatures.
    unit: Option<Unit>,
) -> Result<String, std::io::Error> {
    let degrees = match unit.unwrap_or_default() {
        Unit::Celsius => "20 °C",
        Unit::Fahrenheit => "68 °F",
    };
    Ok(format!("{city}, next {hours} hours: {degrees}"))
}

mod documented {
    use toolgen_runtime::ToolInput;

    /// Where to send it.
    #[derive(ToolInput)]
    #[tool_input(documented)]
    struct Address {
        /// The street, with the number.
        street: String,
        /// The town, without its code.
        city: String, // without its comment, this does not compile
    }
}

async fn called() -> AnyResult {
    let provider = Registry::new(toolset![weather])?.provider(Default::default());
    let turn = ToolContext::new("turn-1", "");

    let call = ToolCall::new("call-1", "weather", json!({"city": "Ulm", "hours": 6}));
    let answer = provider.call(call, &turn).await;
    assert_eq!(answer.text(), "Ulm, next 6 hours: 20 °C");

    let call = ToolCall::new("call-2", "weather", json!({"town": "Ulm", "hours": 0}));
    println!("{}", provider.call(call, &turn).await.text());
    let call = ToolCall::new("call-2", "weather", json!({"town": "Ulm", "hours": 0}));
    let told = provider.call(call, &turn).await.text().to_owned();
    shown("docs/tools.md", &told);
    Ok(())
}

/// A page shows this text.
pub(crate) fn shown(page: &str, text: &str) {
    let blocks = toolgen_tests::pages::blocks(&[toolgen_tests::pages::root().join(page)]);
    let text = format!("{}\n", text.trim_end());
    assert!(
        blocks.iter().any(|block| block.kind == "text" && block.text == text),
        "{page} does not show:\n{text}"
    );
}

#[tokio::test]
async fn a_function_is_called_and_mistakes_are_told() {
    called().await.unwrap();
}

mod services {
    use super::*;

    use std::sync::Arc;

    use toolgen_runtime::{ProviderContext, Service, tool};

    struct Orders {
        titles: Vec<String>,
    }

    /// Finds orders.
    #[tool(read_only)]
    fn find_orders(
        /// A part of the title.
        text: &str,
        orders: Service<Orders>,
    ) -> Vec<String> {
        orders.titles.iter().filter(|title| title.contains(text)).cloned().collect()
    }

    fn provider(orders: Orders) -> Result<Provider, Box<dyn std::error::Error>> {
        let context = ProviderContext::new().with_service(Arc::new(orders));
        Ok(Registry::new(toolset![find_orders])?.provider(context))
    }

    #[tokio::test]
    async fn a_service_is_given() {
        let provider = provider(Orders { titles: vec!["Emma".to_owned()] }).unwrap();
        let call = ToolCall::new("1", "find_orders", json!({"text": "mm"}));
        assert_eq!(provider.call(call, &ToolContext::new("t", "")).await.text(), r#"["Emma"]"#);
    }
}

mod service_of_a_trait {
    use super::*;

    use std::sync::Arc;

    use toolgen_runtime::{ProviderContext, Service, tool};

    trait Store: Send + Sync {
        fn titles(&self) -> Vec<String>;
    }

    /// Lists the orders.
    #[tool(read_only)]
    fn list_orders(store: Service<dyn Store>) -> Vec<String> {
        store.titles()
    }

    fn stored(store: Arc<dyn Store>) -> Result<Provider, Box<dyn std::error::Error>> {
        let context = ProviderContext::new().with_service(store);
        Ok(Registry::new(toolset![list_orders])?.provider(context))
    }

    struct Two;

    impl Store for Two {
        fn titles(&self) -> Vec<String> {
            vec!["Emma".to_owned(), "Ulysses".to_owned()]
        }
    }

    #[tokio::test]
    async fn a_service_of_a_trait_is_given() {
        let provider = stored(Arc::new(Two)).unwrap();
        let call = ToolCall::new("1", "list_orders", json!({}));
        assert_eq!(provider.call(call, &ToolContext::new("t", "")).await.text(), r#"["Emma","Ulysses"]"#);
    }
}

mod methods {
    use super::*;

    use std::sync::Arc;
    use std::sync::Mutex;

    use toolgen_runtime::tools;

    struct Notes(Mutex<Vec<String>>);

    #[tools]
    impl Notes {
        /// Keeps a note.
        #[tool(destructive = false, network = "none")]
        fn keep(
            &self,
            /// The note.
            text: String,
        ) -> usize {
            let mut notes = self.0.lock().unwrap();
            notes.push(text);
            notes.len()
        }

        /// Lists the notes.
        #[tool(read_only)]
        fn list(&self) -> Vec<String> {
            self.0.lock().unwrap().clone()
        }
    }

    fn registry() -> Result<Registry, Box<dyn std::error::Error>> {
        let notes = Arc::new(Notes(Mutex::default()));
        Ok(Registry::new(toolset![Notes::tools(&notes)])?)
    }

    #[test]
    fn methods_are_tools() {
        assert_eq!(registry().unwrap().len(), 2);
    }
}

mod tests_of_tools {
    use super::*;

    #[tokio::test]
    async fn the_weather_is_told() -> Result<(), toolgen_runtime::ToolError> {
        let told = testing::call(&weather::tool(), json!({"city": "Ulm"})).await?;
        assert_eq!(told.to_text(), "Ulm, next 24 hours: 20 °C");

        let why = testing::call(&weather::tool(), json!({"city": "", "hours": 0})).await.unwrap_err();
        assert!(why.to_string().contains("/city"), "{why}");
        Ok(())
    }

    #[test]
    fn its_examples_fit() -> Result<(), String> {
        testing::check_examples(&weather::tool())
    }

    use std::sync::Arc;

    use toolgen_runtime::ProviderContext;
    use toolgen_runtime::engine::Engines;
    use toolgen_runtime::engine::executor::{ExecOutput, ScriptedExecutor};

    #[tokio::test]
    async fn a_command_is_asked_for_and_not_run() {
        let tools = Engines::new().tools(crate::readme::tools::TOOLS).unwrap();
        let executor = Arc::new(ScriptedExecutor::new([Ok(ExecOutput::new(0, "3 notes.txt\n", ""))]));
        let context = ProviderContext::new().with_executor(executor.clone()).with_work_dir("/work");
        let provider = Registry::new(tools).unwrap().provider(context);

        let call = ToolCall::new("1", "text__count_lines", json!({"path": "notes.txt"}));
        assert_eq!(provider.call(call, &ToolContext::new("turn", "")).await.text(), "3 notes.txt\n");
        assert_eq!(executor.asked()[0].0, ["wc", "-l", "--", "notes.txt"]);
    }
}

mod apis {
    use super::*;

    fn built() {
        // build.rs
        let options = toolgen::Options::default()
            .include("tag:pets") // of the operations, those with this tag
            .exclude("DELETE /**")
            .rename("GET /pets", "list_pets")
            .credential("petstore_auth", "PETSTORE_TOKEN");
        toolgen::Build::new("petstore").document("petstore.yaml").options(options).emit();
    }

    use crate::readme::petstore;
    fn in_memory() -> AnyResult<Registry> {
        use toolgen_runtime::engine::http::{HttpEngine, Secret, StaticCredentials};

        let credentials = StaticCredentials::new().with("api_key", Secret::new("k-1"));
        let engine = HttpEngine::builder().credentials(credentials).build()?;
        for missing in engine.missing_credentials(petstore::TOOLS) {
            eprintln!("{missing}"); // before the first call: how many tools lack a credential, and how to give it
        }
        let registry = Registry::new(engine.tools(petstore::TOOLS))?;
        Ok(registry)
    }

    #[test]
    fn an_api_is_a_registry() {
        assert!(in_memory().unwrap().get("listPets").is_some());
    }

    use toolgen_runtime::engine::http::{CredentialRequest, Credentials, Secret};

    #[derive(Debug)]
    struct Vault;

    impl Credentials for Vault {
        fn credential(&self, request: &CredentialRequest<'_>) -> Option<Secret> {
            (request.scheme == "api_key").then(|| Secret::new("from the vault"))
        }
    }
}

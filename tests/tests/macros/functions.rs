//! Tests of function tools: the generated trait, and calls of its implementation.

use std::path::Path;

use serde_json::{Value, json};
use toolgen::emit::{ModuleStyle, module};
use toolgen_runtime::engine::Engines;
use toolgen_runtime::toolbox::ToolboxContext;
use toolgen_runtime::{Registry, ToolCall, ToolContext, ToolError, ToolResult, Turn};
use toolgen_tests::{compiled, golden};

/// The generated module.
pub mod tools {
    include!("../../ui/modules/functions.rs");
}

/// The module above, which `ui/` also uses, is up to date with its document.
#[test]
fn generated_module_is_up_to_date() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = module(&compiled("tests/documents/functions.yaml"), &ModuleStyle::new("functions.yaml"));
    golden::compare(&tests.join("ui/modules/functions.rs"), &text).unwrap();
}

struct Mine;

impl tools::Functions for Mine {
    async fn count_words(&self, arguments: tools::CountWords, _: &ToolContext) -> Result<i64, ToolError> {
        let mut words: Vec<&str> = arguments.text.split_whitespace().collect();
        if arguments.mode == tools::CountWordsMode::Distinct {
            words.sort_unstable();
            words.dedup();
        }
        i64::try_from(words.len()).map_err(|error| ToolError::failed(error.to_string()))
    }

    async fn greet(&self, arguments: tools::Greet, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        // A reference to the context lives across an await.
        tokio::task::yield_now().await;
        Ok(ToolResult::text(format!("{} says hello to {}", ctx.tool_name, arguments.name)))
    }
}

#[tokio::test]
async fn calls_reach_the_implementation_with_typed_arguments() {
    let tools = Engines::new().with(tools::functions(Mine)).tools(tools::TOOLS).unwrap();
    let toolbox = Registry::new(tools).unwrap().toolbox(ToolboxContext::default());
    let call = async |name: &str, arguments: Value| {
        toolbox.run(ToolCall::new("1", name, arguments), &Turn::new("turn")).await
    };
    let text = "to be or not to be";
    assert_eq!(call(tools::TOOL_COUNT_WORDS, json!({"text": text})).await.text(), "6");
    let distinct = call(tools::TOOL_COUNT_WORDS, json!({"text": text, "mode": "distinct"})).await;
    assert_eq!((distinct.text().as_str(), distinct.is_error()), ("4", false));
    let wrong = call(tools::TOOL_COUNT_WORDS, json!({"text": text, "mode": "some"})).await;
    assert!(wrong.is_error(), "{}", wrong.text());
    let greeting = call(tools::TOOL_GREET, json!({"name": "Ada"})).await;
    assert_eq!(greeting.text(), "greet says hello to Ada");
}

#[test]
fn missing_function_is_reported() {
    let error = Engines::new().tools(tools::TOOLS).err().unwrap().to_string();
    assert!(error.contains("`count_words`, `greet`: "), "{error}");
}

//! Tests of `#[tools]` on `impl` blocks, of `toolset!` and of the test helper.

use std::sync::Arc;

use serde_json::json;
use toolgen_runtime::{
    AgentTool, Registry, RegistryProblem, ToolContext, ToolError, Turn, testing, tool, tools, toolset,
};

/// Adds up.
#[derive(Debug)]
struct Calculator {
    offset: i64,
}

#[tools(list = all)]
impl Calculator {
    const STEP: i64 = 2;

    /// Adds the offset.
    #[tool(read_only)]
    fn add(
        &self,
        /// A number.
        value: i64,
    ) -> i64 {
        self.plain(value)
    }

    /// Adds later.
    #[tool(undocumented)]
    async fn add_later(
        &self,
        ctx: &ToolContext,
        values: &[i64],
        #[arg(default = Self::STEP)] step: i64,
    ) -> Result<i64, ToolError> {
        tokio::task::yield_now().await;
        if ctx.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        Ok(values.iter().sum::<i64>() + self.offset + step)
    }

    /// Has no object.
    #[tool]
    fn zero() -> i64 {
        0
    }

    fn plain(&self, value: i64) -> i64 {
        value + self.offset
    }
}

/// The type of the tool is imported with the function.
mod inner {
    pub(crate) use hidden::hello;

    mod hidden {
        /// Says hello.
        #[toolgen_runtime::tool]
        pub(crate) fn hello() -> &'static str {
            "hello"
        }
    }
}

#[tokio::test]
async fn methods_share_their_receiver() {
    let calculator = Arc::new(Calculator { offset: 10 });
    let zero = zero_two();
    let registry = Registry::new(toolset![inner::hello, Calculator::all(&calculator), (zero)]).unwrap();
    let names: Vec<&str> = registry.iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["add", "add_later", "hello", "zero", "zero_two"]);
    let ctx = Turn::default().call_context("1", "x");
    let call =
        async |name: &str, params| registry.call_without_layers(name, params, &ctx).await.unwrap().to_text();
    assert_eq!(call("add", json!({"value": 1})).await, "11");
    assert_eq!(call("add_later", json!({"values": [1, 2]})).await, "15");
    assert_eq!(call("add_later", json!({"values": [], "step": 0})).await, "10");
    assert_eq!(call("zero", json!({})).await, "0");
    assert_eq!(call("hello", json!({})).await, "hello");
    let schema = registry.get("add_later").unwrap().parameters_schema();
    assert_eq!(schema["properties"]["step"]["default"], 2);
}

fn zero_two() -> impl AgentTool {
    /// Has another name.
    #[tool(name = "zero_two")]
    fn zero() -> i64 {
        0
    }
    zero::tool()
}

#[test]
fn duplicate_tool_names_are_rejected_by_seal() {
    let calculator = Arc::new(Calculator { offset: 0 });
    let twice = toolset![Calculator::all(&calculator), Calculator::all(&calculator)];
    let problems = Registry::new(twice).unwrap_err().problems;
    let RegistryProblem::Duplicate { name, places } = &problems[0] else { panic!("{problems:?}") };
    assert_eq!(name, "add");
    assert!(
        places.iter().all(|location| location.unwrap().file().ends_with("macros_methods.rs")),
        "{places:?}"
    );
}

/// Greets.
///
/// # Examples
///
/// - `{"name": "Ada", "times": 3}`
#[tool(undocumented)]
fn greet(name: &str, #[arg(range = 1..=2)] times: usize) -> String {
    name.repeat(times)
}

#[tokio::test]
async fn test_helper_calls_a_tool_like_a_model() {
    let result = testing::call(&greet::tool(), json!({"name": "Ada", "times": 2})).await.unwrap();
    assert_eq!(result.to_text(), "AdaAda");
    let problem = testing::check_examples(&greet::tool()).unwrap_err();
    assert!(problem.contains("/times"), "{problem}");
    assert!(testing::check_examples(&inner::hello::tool()).is_ok());
}

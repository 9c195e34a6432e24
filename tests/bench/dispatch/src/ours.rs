//! `#[tool]` and a `Registry`.

use serde_json::Value;
use toolgen_runtime::{Registry, ToolCall, ToolContext, ToolInput, Toolbox, Turn, tool, toolset};

#[tool(undocumented, description = "Adds.")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tool(undocumented, description = "Greets.")]
fn greet(name: &str, times: usize) -> String {
    format!("hello {name}").repeat(times)
}

#[tool(undocumented, description = "Sums.")]
fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

#[derive(ToolInput)]
struct Place {
    street: String,
    city: String,
    tags: Vec<String>,
}

#[derive(ToolInput)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Metric,
    Imperial,
}

#[tool(undocumented, description = "Locates.")]
fn locate(place: Place, unit: Unit) -> String {
    let unit = match unit {
        Unit::Metric => "m",
        Unit::Imperial => "ft",
    };
    format!("{}, {} ({}) 10 {unit}", place.street, place.city, place.tags.join(" "))
}

#[tool(undocumented, description = "Searches.")]
async fn search(query: String, limit: Option<u32>, exact: bool, kinds: Vec<String>) -> String {
    format!("{query} {limit:?} {exact} {}", kinds.join(" "))
}

pub fn registry() -> Registry {
    Registry::new(toolset![add, greet, sum, locate, search]).unwrap()
}

/// Without layers. The context is created once.
pub async fn call(registry: &Registry, ctx: &ToolContext, name: &str, arguments: &str) -> String {
    registry.call_without_layers(name, Value::from(arguments), ctx).await.unwrap().into_text()
}

/// The same through a toolbox, with a record of the caller and the outcome. The turn is created once, like in a program
/// that runs several calls of a model.
pub async fn provided(toolbox: &Toolbox, turn: &Turn, name: &str, arguments: &str) -> String {
    let response = toolbox.run(ToolCall::new("1", name, Value::from(arguments)), turn).await;
    response.outcome.unwrap().into_text()
}

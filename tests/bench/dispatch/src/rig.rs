//! `#[rig_tool]`, dispatched like in a driver of `rig-core` 0.46: the type-erased handler of the name handles an
//! effect. (Its `ToolSet` of earlier versions is gone.)

use std::collections::HashMap;

use rig_core::effect::{Answered, EffectId, EffectKind};
use rig_core::serve::adapters::ToolAdapter;
use rig_core::serve::{Dispatch, ErasedHandler, Reply};
use rig_core::tool::ToolExecutionError;
use rig_derive::rig_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[rig_tool(description = "Adds.", params(a = "a", b = "b"), required(a, b))]
fn add(a: i64, b: i64) -> Result<i64, ToolExecutionError> {
    Ok(a + b)
}

#[rig_tool(description = "Greets.", params(name = "name", times = "times"), required(name, times))]
fn greet(name: String, times: usize) -> Result<String, ToolExecutionError> {
    Ok(format!("hello {name}").repeat(times))
}

#[rig_tool(description = "Sums.", params(values = "values"), required(values))]
fn sum(values: Vec<f64>) -> Result<f64, ToolExecutionError> {
    Ok(values.iter().sum())
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Place {
    street: String,
    city: String,
    tags: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Metric,
    Imperial,
}

#[rig_tool(description = "Locates.", params(place = "place", unit = "unit"), required(place, unit))]
fn locate(place: Place, unit: Unit) -> Result<String, ToolExecutionError> {
    let unit = match unit {
        Unit::Metric => "m",
        Unit::Imperial => "ft",
    };
    Ok(format!("{}, {} ({}) 10 {unit}", place.street, place.city, place.tags.join(" ")))
}

#[rig_tool(
    description = "Searches.",
    params(query = "query", limit = "limit", exact = "exact", kinds = "kinds"),
    required(query, exact, kinds)
)]
async fn search(
    query: String,
    limit: Option<u32>,
    exact: bool,
    kinds: Vec<String>,
) -> Result<String, ToolExecutionError> {
    Ok(format!("{query} {limit:?} {exact} {}", kinds.join(" ")))
}

pub type Handlers = HashMap<&'static str, ErasedHandler>;

pub fn handlers() -> Handlers {
    HashMap::from([
        ("add", ErasedHandler::new(ToolAdapter::new(Add))),
        ("greet", ErasedHandler::new(ToolAdapter::new(Greet))),
        ("sum", ErasedHandler::new(ToolAdapter::new(Sum))),
        ("locate", ErasedHandler::new(ToolAdapter::new(Locate))),
        ("search", ErasedHandler::new(ToolAdapter::new(Search))),
    ])
}

pub async fn call(handlers: &Handlers, name: &str, arguments: &str) -> String {
    let kind = EffectKind::ToolCall { name: name.to_owned(), args: arguments.to_owned() };
    let reply = handlers[name].handle(kind, Dispatch::new(EffectId::from_raw(1), false)).await;
    match reply {
        Reply::Outcome(Ok(Answered::ToolResult { result })) => result.output().render(),
        _ => panic!("no result of a tool"),
    }
}

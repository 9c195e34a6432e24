//! `rmcp`'s `#[tool]` and its router.

use rmcp::ErrorData;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    name: String,
    times: usize,
}

#[derive(Deserialize, JsonSchema)]
struct Sum {
    values: Vec<f64>,
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    street: String,
    city: String,
    tags: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Metric,
    Imperial,
}

#[derive(Deserialize, JsonSchema)]
struct Locate {
    place: Place,
    unit: Unit,
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    query: String,
    limit: Option<u32>,
    exact: bool,
    kinds: Vec<String>,
}

pub struct Server {
    router: ToolRouter<Server>,
}

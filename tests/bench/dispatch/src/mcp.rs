//! rmcp's `#[tool]` and its `ToolRouter`, called without a transport: the router is created once, its peer belongs to a
//! service in this process, and each call gets a new context, like in the service.

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ContentBlock, NumberOrString};
use rmcp::service::{Peer, RequestContext, serve_directly};
use rmcp::{RoleServer, ServerHandler, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct AddArgs {
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct GreetArgs {
    name: String,
    times: usize,
}

#[derive(Deserialize, JsonSchema)]
struct SumArgs {
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
struct LocateArgs {
    place: Place,
    unit: Unit,
}

#[derive(Deserialize, JsonSchema)]
struct SearchArgs {
    query: String,
    limit: Option<u32>,
    exact: bool,
    kinds: Vec<String>,
}

pub struct Tools;

#[tool_router]
impl Tools {
    #[tool(description = "Adds.")]
    fn add(&self, Parameters(AddArgs { a, b }): Parameters<AddArgs>) -> String {
        (a + b).to_string()
    }

    #[tool(description = "Greets.")]
    fn greet(&self, Parameters(GreetArgs { name, times }): Parameters<GreetArgs>) -> String {
        format!("hello {name}").repeat(times)
    }

    #[tool(description = "Sums.")]
    fn sum(&self, Parameters(SumArgs { values }): Parameters<SumArgs>) -> String {
        serde_json::to_string(&values.iter().sum::<f64>()).unwrap()
    }

    #[tool(description = "Locates.")]
    fn locate(&self, Parameters(LocateArgs { place, unit }): Parameters<LocateArgs>) -> String {
        let unit = match unit {
            Unit::Metric => "m",
            Unit::Imperial => "ft",
        };
        format!("{}, {} ({}) 10 {unit}", place.street, place.city, place.tags.join(" "))
    }

    #[tool(description = "Searches.")]
    async fn search(
        &self,
        Parameters(SearchArgs { query, limit, exact, kinds }): Parameters<SearchArgs>,
    ) -> String {
        format!("{query} {limit:?} {exact} {}", kinds.join(" "))
    }
}

impl ServerHandler for Tools {}

pub struct Server {
    router: ToolRouter<Tools>,
    peer: Peer<RoleServer>,
}

pub fn server() -> Server {
    let (inside, _outside) = tokio::io::duplex(1024);
    let running = serve_directly(Tools, inside, None);
    Server { router: Tools::tool_router(), peer: running.peer().clone() }
}

pub async fn call(server: &Server, name: &str, arguments: &str) -> String {
    let params =
        CallToolRequestParams::new(name.to_owned()).with_arguments(serde_json::from_str(arguments).unwrap());
    let context = RequestContext::new(NumberOrString::Number(1), server.peer.clone());
    match server.router.call(ToolCallContext::new(&Tools, params, context)).await.unwrap() {
        CallToolResponse::Complete(result) => match result.content.into_iter().next() {
            Some(ContentBlock::Text(text)) => text.text,
            _ => panic!("no text"),
        },
        _ => panic!("not complete"),
    }
}

//! The target as an HTTP service.

use std::sync::LazyLock;

use toolgen_runtime::engine::http::HttpEngine;
use toolgen_runtime::spec::plan::{
    Encoding, ExecutionPlan, Location, Parameter, RequestPlan, Server, Style, Tool,
};
use toolgen_runtime::spec::template::{Reference, Root, Segment, Template};
use toolgen_test_support::http::{self, Reply, Request, Step, ok, raw, reply};

use crate::matrix::evidence::{Ran, World, said, stem};
use crate::prelude::*;

/// One for all cells: it takes longer to build than a cell takes to run.
static ENGINE: LazyLock<HttpEngine> =
    LazyLock::new(|| HttpEngine::builder().private_host("127.0.0.1").build().unwrap());

/// A tool whose service records its requests.
pub(crate) fn tool(world: Arc<World>) -> Arc<dyn AgentTool> {
    let url = http::Server::start(move |request| serve(request, &world)).url;
    let parameter = |name: &'static str, location| Parameter {
        argument: name.into(),
        name: name.into(),
        location,
        encoding: Encoding::Style { style: Style::Form, explode: true, allow_reserved: false },
    };
    let pin = Reference { root: Root::Argument("pin".into()), path: List::EMPTY, optional: false };
    let made = Template::Text(vec![Segment::Literal("-".into()), Segment::Value(pin)].into());
    let plan = RequestPlan {
        method: "POST".into(),
        path: "/do".into(),
        servers: vec![Server { url: url.into(), variables: List::EMPTY }].into(),
        parameters: vec![
            parameter("path", Location::Query),
            parameter("note", Location::Query),
            Parameter { argument: "=pin".into(), ..parameter("pin", Location::Query) },
        ]
        .into(),
        derived: vec![("=pin".into(), made)].into(),
        ..RequestPlan::EMPTY
    };
    let mut spec = crate::matrix::kinds::spec();
    spec.effects.network = Network::Hosts(vec!["127.0.0.1".into()].into());
    ENGINE.tool(Tool { spec, call: ExecutionPlan::Http(plan) })
}

fn serve(request: &Request, world: &World) -> Reply {
    let value = |name: &str| request.query(name).unwrap_or_default().replace("%2F", "/");
    let (path, note) = (value("path"), value("note"));
    let all = format!("{note}{}", value("pin"));
    if stem(&path) == "/slow" {
        return vec![Step::Hold];
    }
    world.ran.lock().unwrap().push(Ran { path: path.clone(), note });
    match stem(&path) {
        "/fail" => reply(500, "Content-Type: text/plain\r\n", format!("it broke at {all}")),
        // The connection closes early.
        "/panic" => raw(""),
        _ => ok("text/plain", said(&path, &all)),
    }
}

//! Requirements of tools on earlier calls, context and services.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "helpers of tests, and tools as they are written"
)]

mod calls;
mod closed;
mod history;
mod inject;
mod order;
mod service;
mod services;
mod troubleshooting;
mod turns;

use toolgen_runtime::layers::dependencies::{MissingDependencies, Unmet};
use toolgen_runtime::schema::shape::read::read_canonical;

use crate::prelude::*;

/// A tool that only counts its runs.
#[derive(Clone)]
struct Probe {
    spec: ToolSpec,
    result: Result<ToolResult, ToolError>,
    runs: Arc<AtomicU32>,
}

impl Probe {
    fn runs(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }

    fn gives(mut self, result: Result<ToolResult, ToolError>) -> Probe {
        self.result = result;
        self
    }
}

impl AgentTool for Probe {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(
        &'a self,
        _params: Value,
        _ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { self.result.clone() })
    }
}

/// A tool with an optional `plan_slug`.
fn probe(name: &str, requires: impl Into<Vec<Requirement>>) -> Probe {
    let input = json!({
        "type": "object",
        "properties": { "plan_slug": { "type": "string" } },
        "additionalProperties": false,
    });
    let spec = ToolSpec {
        name: ToolName::parse(name.to_owned()).unwrap(),
        input: read_canonical(&input).into(),
        requires: requires.into().into(),
        ..ToolSpec::EMPTY
    };
    Probe { spec, result: Ok(ToolResult::text("done")), runs: Arc::default() }
}

fn registry<const N: usize>(probes: [Probe; N]) -> Registry {
    Registry::new(probes.map(|probe| Arc::new(probe) as Arc<dyn AgentTool>)).unwrap()
}

fn in_session(session: &Session) -> Turn {
    Turn::new("c1").with_session(session.clone())
}

/// Checks a tool of a registry with these arguments.
async fn check(
    tools: &Registry,
    name: &str,
    args: Value,
    turn: &Turn,
    dependencies: &Dependencies,
) -> Result<Vec<Unmet>, MissingDependencies> {
    let ctx = turn.call_context("c1", name);
    match dependencies.check(tools.get(name).unwrap().spec(), &args, &ctx, tools).await {
        Ok(optional) => Ok(optional),
        Err(ToolError::MissingDependencies(missing)) => Err(*missing),
        Err(other) => panic!("{other}"),
    }
}

/// Returns what is missing for a call without arguments and without look-ups of the program.
async fn missing(tools: &Registry, name: &str, turn: &Turn) -> Vec<String> {
    let checked = check(tools, name, json!({}), turn, &Dependencies::new()).await;
    checked.map_or_else(|missing| missing.missing.into_iter().map(|it| it.name).collect(), |_| Vec::new())
}

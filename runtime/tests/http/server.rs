//! Helpers that call tools of a server, as a model's call does.

use toolgen_runtime::engine::http::HttpEngine;
use toolgen_runtime::schema::shape::{Kind, ObjectRules};
use toolgen_runtime::spec::plan::{ExecutionPlan, Parameter, SecurityRequirement, SecurityScheme, Server};
use toolgen_runtime::{Shape, ToolName, ToolSpec};

use crate::prelude::*;

pub(crate) fn engine() -> HttpEngineBuilder {
    HttpEngine::builder().private_host("127.0.0.1")
}

pub(crate) fn parameter(name: &str, location: Location, encoding: Encoding) -> Parameter {
    Parameter { argument: name.to_owned().into(), name: name.to_owned().into(), location, encoding }
}

pub(crate) fn plan(method: &'static str, url: &str, path: &str) -> RequestPlan {
    RequestPlan {
        method: method.into(),
        path: path.to_owned().into(),
        servers: vec![Server { url: url.to_owned().into(), variables: List::EMPTY }].into(),
        ..RequestPlan::EMPTY
    }
}

pub(crate) fn secured(plan: RequestPlan, placement: Placement) -> RequestPlan {
    let scheme =
        SecurityScheme { id: "s".into(), placement, scopes: List::EMPTY, env: "TOOLGEN_TEST_NOT_SET".into() };
    RequestPlan { security: vec![SecurityRequirement { schemes: vec![scheme].into() }].into(), ..plan }
}

/// A tool that accepts any arguments.
pub(crate) fn tool(plan: RequestPlan) -> Tool {
    let input = Shape::of(Kind::Object(ObjectRules::ANY)).into();
    Tool {
        spec: ToolSpec { name: ToolName::new("t"), input, ..ToolSpec::EMPTY },
        call: ExecutionPlan::Http(plan),
    }
}

pub(crate) fn turn() -> Turn {
    Turn::new("turn")
}

pub(crate) fn ctx() -> ToolContext {
    turn().call_context("1", "t")
}

/// Calls the tool, as a model's call does.
pub(crate) async fn call(
    engine: HttpEngineBuilder,
    plan: RequestPlan,
    arguments: Value,
) -> Result<ToolResult, ToolError> {
    let engine = engine.build().unwrap();
    Registry::new([engine.tool(tool(plan))]).unwrap().call_without_layers("t", arguments, &ctx()).await
}

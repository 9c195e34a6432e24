//! Tests of values of an HTTP request that are derived from arguments.

use toolgen_runtime::engine::dynamic::DynamicTool;
use toolgen_runtime::engine::http::{Body, BuildOptions, HttpEngine, RequestProblemKind, build};
use toolgen_runtime::spec::plan::{
    self, BodyField, BodySource, Codec, Encoding, Location, Parameter, RequestPlan, Server,
};

use crate::engines::{template, toolbox_in};
use crate::prelude::*;

fn parameter(name: &'static str, location: Location) -> Parameter {
    let encoding = if location == Location::Query { Encoding::FORM } else { Encoding::SIMPLE };
    Parameter { argument: format!("={name}").into(), name: name.into(), location, encoding }
}

fn plan(derived: Value) -> RequestPlan {
    let derived: Vec<_> = derived.as_object().unwrap().iter().collect();
    let derived = derived.into_iter().map(|(name, value)| (Text::from(format!("={name}")), template(value)));
    RequestPlan {
        method: "POST".into(),
        path: "/users/{=id}".into(),
        servers: vec![Server { url: "https://api.example.com".into(), variables: List::EMPTY }].into(),
        parameters: vec![
            parameter("q", Location::Query),
            parameter("X-Who", Location::Header),
            Parameter { name: "=id".into(), ..parameter("id", Location::Path) },
        ]
        .into(),
        body: Some(plan::Body {
            required: false,
            media_type: "application/json".into(),
            codec: Codec::Json,
            source: BodySource::Fields(
                vec![BodyField { argument: "=note".into(), name: "note".into() }].into(),
            ),
        }),
        derived: derived.collect::<Vec<_>>().into(),
        defaults: true,
        ..RequestPlan::EMPTY
    }
}

fn usual() -> RequestPlan {
    plan(json!({
        "id": "{user.id}", "q": "{a}-{b?}", "X-Who": "by {user.name}", "note": {"text": "{a}", "tags": ["{b?}"]},
    }))
}

#[test]
fn derived_values_are_computed_before_the_request() {
    let given = json!({"user": {"id": "a/b", "name": "Ada"}, "a": "x&y", "b": 2});
    let request = build(&usual(), &given, &BuildOptions::default()).unwrap();
    assert_eq!(request.url, "https://api.example.com/users/a%2Fb?q=x%26y-2");
    assert_eq!(request.header("X-Who"), Some("by Ada"));
    let Body::Text(body) = &request.body else { panic!("{request:?}") };
    assert_eq!(serde_json::from_str::<Value>(body).unwrap(), json!({"note": {"text": "x&y", "tags": [2]}}));
    // A missing optional value omits the part that contains it.
    let given = json!({"user": {"id": 1, "name": "Ada"}, "a": "x"});
    let request = build(&usual(), &given, &BuildOptions::default()).unwrap();
    assert_eq!(request.url, "https://api.example.com/users/1");
}

#[test]
fn problems_name_the_original_arguments() {
    let problems = |given: Value| build(&usual(), &given, &BuildOptions::default()).unwrap_err();
    let missing = problems(json!({"user": {"id": 1}, "b": 2}));
    let messages: Vec<_> = missing.iter().map(|problem| (problem.kind, problem.argument.as_str())).collect();
    let kind = RequestProblemKind::MissingArgument;
    assert!(messages.contains(&(kind, "user")) && messages.contains(&(kind, "a")), "{missing:?}");
    assert!(missing.iter().any(|problem| problem.message.contains("`user.name`")), "{missing:?}");
    let wrong = problems(json!({"user": {"id": "..", "name": "a\nb"}, "a": 1}));
    for problem in &wrong {
        assert_eq!(problem.argument, "user", "{problem:?}");
        assert!(!problem.message.contains('='), "{problem:?}");
    }
    assert_eq!(wrong.len(), 2);
}

#[tokio::test]
async fn defaults_are_applied_and_missing_values_reported() {
    let schema = json!({"type": "object", "properties": {
        "user": {"type": "object"}, "a": {"type": "string", "default": "usual"}}, "required": ["user"]});
    let spec = DynamicTool::builder("post", "Posts.").schema(&schema).spec().unwrap();
    let engine = HttpEngine::builder().base_url("http://127.0.0.1:9").build().unwrap();
    let tools = engine.tools_from([Tool { spec: spec.clone(), call: ExecutionPlan::Http(usual()) }]);
    let toolbox = toolbox_in(tools, ToolboxContext::new());
    let call = ToolCall::new("1", "post", json!({"user": {"id": 1}}));
    let error = toolbox.run(call, &Turn::new("turn")).await.outcome.unwrap_err();
    assert_eq!(error.code(), "MISSING_PARAMETER");
    let text = "Invalid arguments: /user: Missing `user.name`, which the request requires";
    assert_eq!(error.to_string(), text);
    // If the service has its own defaults, those of the schema are not sent.
    let message = RequestPlan { defaults: false, ..usual() };
    let tools = engine.tools_from([Tool { spec: spec.clone(), call: ExecutionPlan::Http(message) }]);
    let call = ToolCall::new("1", "post", json!({"user": {"id": 1, "name": "x"}}));
    let response = toolbox_in(tools, ToolboxContext::new()).run(call, &Turn::new("turn")).await;
    assert!(response.text().ends_with("Missing `a`, which the request requires"), "{}", response.text());
    let given = spec.with_defaults(json!({"user": {"id": 1, "name": "x"}}));
    assert!(build(&usual(), &given, &BuildOptions::default()).is_ok());
}

//! The trace context in requests of tools: over HTTP, and to an MCP server in another process.

use std::collections::HashMap;
use std::sync::Once;

use opentelemetry::Context;
use opentelemetry::propagation::{TextMapCompositePropagator, TextMapPropagator};
use opentelemetry::trace::{FutureExt, TraceContextExt, Tracer, TracerProvider};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_sdk::propagation::{BaggagePropagator, TraceContextPropagator};
use toolgen_runtime::engine::http::{HttpEngine, Secret, StaticCredentials};
use toolgen_runtime::engine::mcp::{McpClient, McpOptions};
use toolgen_runtime::schema::shape::{Kind, ObjectRules};
use toolgen_runtime::serve::mcp::Server;
use toolgen_runtime::spec::Effects;
use toolgen_runtime::spec::plan::{
    Encoding, ExecutionPlan, Location, McpServer, McpTransport, Parameter, Placement, RequestPlan,
    SecurityRequirement, SecurityScheme, Tool,
};
use toolgen_runtime::{List, Shape, Text, ToolName, ToolSpec};
use toolgen_test_support::http;

use crate::prelude::*;
use crate::receiver::{Telemetry, attribute, attributes, events, exporting, failed};

/// Sets the global propagator once, as a program does.
fn propagate() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual: Vec<Box<dyn TextMapPropagator + Send + Sync>> =
            vec![Box::new(TraceContextPropagator::new()), Box::new(BaggagePropagator::new())];
        opentelemetry::global::set_text_map_propagator(TextMapCompositePropagator::new(usual));
    });
}

/// Returns the values of a header in all requests.
fn headers(service: &http::Server, name: &str) -> Vec<Option<String>> {
    let of = |request: http::Request| {
        let known = request.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        assert!(known.count() < 2, "duplicate header {name}");
        request.header(name).map(str::to_owned)
    };
    service.seen().into_iter().map(of).collect()
}

/// Returns a tool that sends a request to a service, with these parameters in headers.
pub(crate) fn get(parameters: Vec<Parameter>) -> Tool {
    let input = Shape::of(Kind::Object(ObjectRules::ANY)).into();
    let effects = Effects { read_only: true, ..Effects::UNDECLARED };
    let plan = RequestPlan {
        method: "GET".into(),
        path: "/".into(),
        parameters: parameters.into(),
        ..RequestPlan::EMPTY
    };
    Tool {
        spec: ToolSpec { name: ToolName::new("get"), input, effects, ..ToolSpec::EMPTY },
        call: ExecutionPlan::Http(plan),
    }
}

fn traceparent(span: &opentelemetry_proto::tonic::trace::v1::Span) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("00-{}-{}-01", hex(&span.trace_id), hex(&span.span_id))
}

async fn call_get(telemetry: &Telemetry, engine: HttpEngine, tool: Tool, arguments: serde_json::Value) {
    let registry = Registry::new([engine.tool(tool)]).unwrap();
    let toolbox = Toolbox::builder(&registry).layer(telemetry.otel()).build().unwrap();
    let response = toolbox.run(ToolCall::new("c", "get", arguments), &Turn::new("turn")).await;
    assert!(response.outcome.is_ok(), "{response:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn http_request_carries_the_trace_context_of_its_call() {
    propagate();
    let (telemetry, service) = (Telemetry::start(), http::Server::ok());
    let engine = HttpEngine::builder().base_url(&service.url).build().unwrap();
    call_get(&telemetry, engine, get(Vec::new()), json!({})).await;
    let span = telemetry.span("execute_tool get");
    assert_eq!(headers(&service, "traceparent"), [Some(traceparent(&span))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn trace_propagation_to_a_service_can_be_disabled() {
    propagate();
    let (telemetry, service) = (Telemetry::start(), http::Server::ok());
    let engine = HttpEngine::builder().base_url(&service.url).propagate_trace(false).build().unwrap();
    call_get(&telemetry, engine, get(Vec::new()), json!({})).await;
    assert_eq!(headers(&service, "traceparent"), [None]);
}

/// Incoming baggage that no header can hold does not fail a call; only the trace context is propagated.
#[tokio::test(flavor = "multi_thread")]
async fn service_receives_only_valid_trace_headers() {
    propagate();
    let (telemetry, service) = (Telemetry::start(), http::Server::ok());
    let builder = || HttpEngine::builder().base_url(&service.url);
    for (state, also) in [("a=b", false), ("a=b\r\nX-Evil: 1", false), ("a=b\0", false), ("a=b", true)] {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let carried = [("traceparent", parent), ("tracestate", state), ("baggage", "k=v")];
        let carried: HashMap<String, String> =
            carried.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let context = opentelemetry::global::get_text_map_propagator(|known| known.extract(&carried));
        let engine = if also { builder().propagate_header("baggage") } else { builder() };
        let registry = Registry::new([engine.build().unwrap().tool(get(Vec::new()))]).unwrap();
        let toolbox = Toolbox::builder(&registry).layer(telemetry.otel()).build().unwrap();
        let turn = Turn::new("turn").with_otel_context(context);
        let response = toolbox.run(ToolCall::new("c", "get", json!({})), &turn).await;
        assert!(response.outcome.is_ok(), "{response:?}");
    }
    assert!(headers(&service, "traceparent").iter().all(Option::is_some));
    let states = headers(&service, "tracestate");
    assert_eq!((states[0].as_deref(), states[3].as_deref()), (Some("a=b"), Some("a=b")));
    assert_eq!(headers(&service, "baggage"), [None, None, None, Some("k=v".to_owned())]);
    assert_eq!(headers(&service, "x-evil"), [None, None, None, None]);
}

#[tokio::test(flavor = "multi_thread")]
async fn trace_headers_do_not_replace_explicit_headers() {
    propagate();
    let own = |name: &'static str| Parameter {
        argument: "own".into(),
        name: name.into(),
        location: Location::Header,
        encoding: Encoding::SIMPLE,
    };
    let (telemetry, service) = (Telemetry::start(), http::Server::ok());
    let builder = || HttpEngine::builder().base_url(&service.url);
    let as_argument = get(vec![own("TraceParent")]);
    call_get(&telemetry, builder().build().unwrap(), as_argument, json!({"own": "mine"})).await;
    let operators = builder().header("Traceparent", "the operator's").build().unwrap();
    call_get(&telemetry, operators, get(Vec::new()), json!({})).await;
    let scheme = SecurityScheme {
        id: "s".into(),
        placement: Placement::Header("traceparent".into()),
        scopes: List::EMPTY,
        env: "".into(),
    };
    let mut secured = get(Vec::new());
    let ExecutionPlan::Http(plan) = &mut secured.call else { panic!() };
    plan.security = vec![SecurityRequirement { schemes: vec![scheme].into() }].into();
    let credentials = StaticCredentials::new().with("s", Secret::new("a key"));
    call_get(&telemetry, builder().credentials(credentials).build().unwrap(), secured, json!({})).await;
    let wanted = ["mine", "the operator's", "a key"].map(|value| Some(value.to_owned()));
    assert_eq!(headers(&service, "traceparent"), wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn redirect_to_another_origin_drops_the_trace_context() {
    propagate();
    let (telemetry, other) = (Telemetry::start(), http::Server::ok());
    let redirect = http::reply(302, &format!("Location: {}/\r\n", other.url), "");
    let first = http::Server::in_turn([redirect]);
    let engine = HttpEngine::builder().base_url(&first.url).private_host("127.0.0.1").build().unwrap();
    call_get(&telemetry, engine, get(Vec::new()), json!({})).await;
    assert!(headers(&first, "traceparent")[0].is_some());
    assert_eq!(headers(&other, "traceparent"), [None]);
}

/// Converts a temperature to degrees Fahrenheit.
#[tool(undocumented, read_only)]
fn fahrenheit(celsius: f64) -> Result<f64, String> {
    if celsius < -273.15 {
        Err("there is no such temperature".to_owned())
    } else {
        Ok(celsius * 9.0 / 5.0 + 32.0)
    }
}

/// The other process: a server on standard streams, which exports to the receiver of the first process.
#[test]
fn serves() {
    let Ok(url) = std::env::var("OTEL_TEST_RECEIVER") else { return };
    propagate();
    let (tracers, meters) = exporting(&url);
    let otel = Otel::new().with_tracer_provider(tracers.clone()).with_meter_provider(meters.clone());
    let registry = Registry::new(toolset![fahrenheit]).unwrap();
    let toolbox = Toolbox::builder(&registry).layer(otel).build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // Exported continuously: a client may stop its server without waiting long.
    std::thread::spawn(move || {
        loop {
            let _ = (tracers.force_flush(), meters.force_flush());
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    runtime.block_on(Server::new(toolbox).stdio()).unwrap();
}

/// Returns a server in its own process, which exports its spans to the receiver.
fn server(telemetry: &Telemetry) -> McpServer {
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let words = ["--exact", "--nocapture", "passed_on::serves"].map(str::to_owned);
    let argv: List<Text> = [program].into_iter().chain(words).map(Text::from).collect();
    let env = vec![("OTEL_TEST_RECEIVER".into(), telemetry.url.clone().into())].into();
    let transport = McpTransport::Stdio { argv, env, inherit: List::EMPTY, work_dir: Text::EMPTY };
    McpServer { alias: "units".into(), transport, ..McpServer::EMPTY }
}

#[tokio::test(flavor = "multi_thread")]
async fn trace_continues_in_the_mcp_server_process() {
    propagate();
    let telemetry = Telemetry::start();
    let client = McpClient::connect(server(&telemetry), McpOptions::new()).await.unwrap();
    let registry = Registry::new(client.tools().await.unwrap()).unwrap();
    let toolbox = Toolbox::builder(&registry).layer(telemetry.otel()).build().unwrap();
    let turn = Turn::new("turn");
    let tracer = telemetry.tracers.tracer("the program");
    let above = Context::new().with_span(tracer.start("request"));
    let call = |celsius: f64| ToolCall::new("c", "units__fahrenheit", json!({ "celsius": celsius }));
    let response = toolbox.run(call(100.0), &turn).with_context(above.clone()).await;
    assert_eq!(response.text(), r#"{"result":212.0}"#);
    assert!(toolbox.run(call(-300.0), &turn).await.is_error());
    above.span().end();
    let count =
        |metric: &Metric| crate::receiver::points(metric).iter().map(|(_, count, _)| *count).sum::<u64>();
    let measured =
        |telemetry: &Telemetry| telemetry.metrics().get("mcp.server.operation.duration").map_or(0, count);
    telemetry.until(|telemetry| telemetry.spans().len() == 7 && measured(telemetry) == 2).await;
    client.close().await;
    let trace = telemetry.span("request").trace_id;
    let spans: Vec<_> = telemetry.spans().into_iter().filter(|span| span.trace_id == trace).collect();
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    let wanted =
        ["request", "execute_tool units__fahrenheit", "tools/call fahrenheit", "execute_tool fahrenheit"];
    assert_eq!(names, wanted);
    assert!(spans.windows(2).all(|pair| pair[1].parent_span_id == pair[0].span_id), "{spans:?}");
    let (ours, theirs) = (&spans[1], &spans[2]);
    assert_eq!((ours.kind, theirs.kind), (1, 2), "internal, server");
    assert_eq!(attribute(ours, "mcp.method.name").as_deref(), Some("tools/call"));
    assert_eq!(attribute(ours, "network.transport").as_deref(), Some("pipe"));
    let version = attribute(ours, "mcp.protocol.version").unwrap();
    let displayed = attributes(&theirs.attributes);
    assert_eq!(displayed[0], "gen_ai.operation.name=execute_tool");
    assert_eq!(displayed[1], "gen_ai.tool.name=fahrenheit");
    assert!(displayed[2].starts_with("jsonrpc.request.id="), "{displayed:?}");
    let rest = ["mcp.method.name=tools/call".to_owned(), format!("mcp.protocol.version={version}")];
    assert_eq!(displayed[3..], [&rest[..], &["network.transport=pipe".to_owned()]].concat());
    let failing = telemetry.spans().into_iter().filter(failed);
    let kinds: Vec<String> = failing.map(|span| attribute(&span, "error.type").unwrap()).collect();
    assert_eq!(kinds.len(), 3, "{kinds:?}");
    assert_eq!(kinds[1], "tool_error");
    assert!(telemetry.spans().iter().all(|span| events(span).is_empty()));
    let metrics = telemetry.metrics();
    let metric = &metrics["mcp.server.operation.duration"];
    assert_eq!((metric.unit.as_str(), crate::receiver::points(metric).len()), ("s", 2), "one of them failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn trace_propagation_to_an_mcp_server_can_be_disabled() {
    propagate();
    let telemetry = Telemetry::start();
    let options = McpOptions::new().propagate_trace(false);
    let client = McpClient::connect(server(&telemetry), options).await.unwrap();
    let registry = Registry::new(client.tools().await.unwrap()).unwrap();
    let toolbox = Toolbox::builder(&registry).layer(telemetry.otel()).build().unwrap();
    let call = ToolCall::new("c", "units__fahrenheit", json!({"celsius": 100}));
    toolbox.run(call, &Turn::new("turn")).await;
    telemetry.until(|telemetry| telemetry.spans().len() == 3).await;
    client.close().await;
    let (ours, theirs) =
        (telemetry.span("execute_tool units__fahrenheit"), telemetry.span("tools/call fahrenheit"));
    assert_ne!(ours.trace_id, theirs.trace_id);
    assert!(theirs.parent_span_id.is_empty());
}

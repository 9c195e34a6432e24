//! An agent, a service and an MCP server in three processes, whose spans form one trace.
//!
//! It exports by OTLP over HTTP to `OTEL_EXPORTER_OTLP_ENDPOINT`, and calls the service at the URL in its argument.
//! It is also the MCP server, and starts itself as a child process. `tests/otel` runs it with a collector.

use std::error::Error;

use opentelemetry::global;
use opentelemetry_otlp::{MetricExporter, SpanExporter};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde_json::{Value, json};
use tokio_rustls::rustls::crypto::ring;
use toolgen_runtime::agent::agent_loop::{Agent, WireModel};
use toolgen_runtime::engine::http::HttpEngine;
use toolgen_runtime::engine::mcp::{McpClient, McpOptions};
use toolgen_runtime::layers::otel::Otel;
use toolgen_runtime::schema::shape::{Kind, ObjectRules};
use toolgen_runtime::serve::mcp::Server;
use toolgen_runtime::spec::plan::{ExecutionPlan, McpServer, RequestPlan, Tool};
use toolgen_runtime::wire::WireFormat;
use toolgen_runtime::{Registry, Shape, ToolName, ToolSpec, Toolbox, ToolboxContext, tool, toolset};

/// The OpenTelemetry providers, which a program flushes at its end.
struct Exporting(SdkTracerProvider, SdkMeterProvider);

impl Exporting {
    /// Sets the global providers of OpenTelemetry.
    fn start() -> Result<Exporting, Box<dyn Error>> {
        // The exporter's client is that of the HTTP engine, which lets the program choose the cryptography provider.
        let _ = ring::default_provider().install_default();
        let spans = SpanExporter::builder().with_http().build()?;
        let metrics = MetricExporter::builder().with_http().build()?;
        let tracers = SdkTracerProvider::builder().with_batch_exporter(spans).build();
        let meters = SdkMeterProvider::builder().with_periodic_exporter(metrics).build();
        global::set_tracer_provider(tracers.clone());
        global::set_meter_provider(meters.clone());
        global::set_text_map_propagator(TraceContextPropagator::new());
        Ok(Exporting(tracers, meters))
    }

    /// Exports the remaining data.
    fn end(self) -> Result<(), Box<dyn Error>> {
        self.0.shutdown()?;
        self.1.shutdown()?;
        Ok(())
    }
}

/// Converts a temperature to degrees Fahrenheit.
#[tool(pure)]
fn fahrenheit(
    /// The temperature in degrees Celsius.
    celsius: f64,
) -> f64 {
    celsius * 9.0 / 5.0 + 32.0
}

/// Returns a tool that calls the service.
fn weather() -> Tool {
    let input = Shape::of(Kind::Object(ObjectRules::ANY)).into();
    let plan = RequestPlan { method: "GET".into(), path: "/weather".into(), ..RequestPlan::EMPTY };
    let name = ToolName::new("weather");
    Tool { spec: ToolSpec { name, input, ..ToolSpec::EMPTY }, call: ExecutionPlan::Http(plan) }
}

/// Simulates a model: requests the weather, converts the temperature, and reports it.
async fn model(request: Value) -> Result<Value, String> {
    let call = |id: &str, name: &str, input: Value| {
        let call = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        json!({"content": [call], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}})
    };
    Ok(match request["messages"].as_array().map_or(0, Vec::len) {
        1 => call("1", "weather", json!({})),
        3 => call("2", "units__fahrenheit", json!({"celsius": 20})),
        _ => json!({"content": [{"type": "text", "text": "68 °F"}], "stop_reason": "end_turn"}),
    })
}

/// Serves the function.
async fn serve() -> Result<(), Box<dyn Error>> {
    let toolbox = Toolbox::builder(&Registry::new(toolset![fahrenheit])?).layer(Otel::new()).build()?;
    Server::new(toolbox).name("units").stdio().await?;
    Ok(())
}

/// Runs the agent.
async fn ask(service: &str) -> Result<(), Box<dyn Error>> {
    let engine = HttpEngine::builder().base_url(service).build()?;
    let mut server =
        McpServer::stdio("units", [std::env::args().next().unwrap_or_default(), "serve".to_owned()]);
    // Before protocol version 2026-07-28, a server ends with its input, and exports the remaining data.
    server.revision = "2025-11-25".into();
    if let toolgen_runtime::spec::plan::McpTransport::Stdio { inherit, .. } = &mut server.transport {
        *inherit = vec!["OTEL_EXPORTER_OTLP_ENDPOINT".into()].into();
    }
    let client = McpClient::connect(server, McpOptions::new()).await?;
    let mut tools = client.tools().await?;
    tools.push(engine.tool(weather()));
    let context = ToolboxContext::new().with_agent_id("forecaster");
    let toolbox = Toolbox::builder(&Registry::new(tools)?).context(context).layer(Otel::new()).build()?;
    let mut agent = Agent::new(WireModel::new(WireFormat::Anthropic, model).with_model("a-model"), &toolbox);
    let message = agent.run("How warm is it?").await.text()?;
    client.close().await;
    if message == "68 °F" { Ok(()) } else { Err(format!("the agent said {message:?}").into()) }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let exporting = Exporting::start()?;
    match std::env::args().nth(1).as_deref() {
        None => return Err("pass the URL of the service".into()),
        Some("serve") => serve().await?,
        Some(service) => ask(service).await?,
    }
    tokio::task::spawn_blocking(move || exporting.end().map_err(|error| error.to_string())).await??;
    Ok(())
}

//! The Rust of `docs/telemetry.md`.
#![allow(clippy::let_and_return, clippy::items_after_statements, reason = "an example is a part")]

use std::error::Error;

use opentelemetry_sdk::metrics::SdkMeterProvider as Meters;
use opentelemetry_sdk::trace::SdkTracerProvider as Tracers;
use toolgen_runtime::{Provider, Registry, toolset};

#[allow(dead_code, reason = "the global providers are those of the whole program")]
fn exported() -> Result<(Tracers, Meters), Box<dyn Error>> {
    use opentelemetry::global;
    use opentelemetry_otlp::{MetricExporter, SpanExporter};
    use opentelemetry_sdk::metrics::SdkMeterProvider;
    use opentelemetry_sdk::propagation::TraceContextPropagator;
    use opentelemetry_sdk::trace::SdkTracerProvider;

    // To where OTEL_EXPORTER_OTLP_ENDPOINT says; without it to a collector on this machine.
    let spans = SpanExporter::builder().with_http().build()?;
    let metrics = MetricExporter::builder().with_http().build()?;
    let tracers = SdkTracerProvider::builder().with_batch_exporter(spans).build();
    let meters = SdkMeterProvider::builder().with_periodic_exporter(metrics).build();
    global::set_tracer_provider(tracers.clone());
    global::set_meter_provider(meters.clone());
    global::set_text_map_propagator(TraceContextPropagator::new());
    Ok((tracers, meters))
}

#[test]
fn a_provider_with_the_layer_is_built() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new(toolset![])?;
    use toolgen_runtime::layers::otel::Otel;

    let provider = Provider::builder(&registry).otel(Otel::new()).build()?;
    let otel = Otel::new().with_content(); // gen_ai.tool.call.arguments and .result
    assert_eq!(format!("{otel:?}"), "Otel { content: true, .. }");
    assert!(provider.list().is_empty());
    Ok(())
}

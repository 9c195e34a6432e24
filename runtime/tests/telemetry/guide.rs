//! The Rust code of `docs/telemetry.md`.

use std::error::Error;

use opentelemetry_sdk::metrics::SdkMeterProvider as Meters;
use opentelemetry_sdk::trace::SdkTracerProvider as Tracers;
use toolgen_test_macros::page;

use crate::prelude::*;

#[allow(dead_code, reason = "the global providers are those of the whole program")]
fn exported() -> Result<(Tracers, Meters), Box<dyn Error>> {
    page!("docs/telemetry.md", "let spans = SpanExporter::builder().with_http().build()?;");
    Ok((tracers, meters))
}

#[test]
fn guide_example_builds_a_toolbox_with_the_layer() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new(toolset![])?;
    page!("docs/telemetry.md", "let toolbox = Toolbox::builder(");
    page!("docs/telemetry.md", "let otel = Otel::new().with_content();");
    assert_eq!(format!("{otel:?}"), "Otel { content: true, .. }");
    assert!(toolbox.list().is_empty());
    Ok(())
}

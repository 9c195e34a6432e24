//! Spans and log lines, if there is a subscriber.

use crate::prelude::*;

static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps only relevant lines, so that memory does not grow with the number of cells.
fn keep(line: String) {
    if line.contains(crate::matrix::evidence::PIN) {
        SEEN.lock().unwrap().push(line);
    }
}

/// Returns the spans and log lines that contain a string.
pub(crate) fn with(text: &str) -> Vec<String> {
    SEEN.lock().unwrap().iter().filter(|line| line.contains(text)).cloned().collect()
}

/// The OpenTelemetry layer, with content, and an exporter that keeps what it receives.
pub(crate) fn otel() -> toolgen_runtime::layers::otel::Otel {
    use opentelemetry_sdk::error::OTelSdkResult;
    use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};

    #[derive(Debug)]
    struct Keep;

    impl SpanExporter for Keep {
        async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
            batch.iter().for_each(|span| keep(format!("{span:?}")));
            Ok(())
        }
    }

    let tracers = SdkTracerProvider::builder().with_simple_exporter(Keep).build();
    toolgen_runtime::layers::otel::Otel::new().with_content().with_tracer_provider(tracers)
}

mod listening {
    use std::fmt::{Debug, Write};

    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::keep;

    struct Listener;

    struct Line(String);

    impl Visit for Line {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            write!(self.0, "{field}={value:?} ").unwrap();
        }
    }

    impl Subscriber for Listener {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, span: &Attributes<'_>) -> Id {
            let mut line = Line(String::new());
            span.record(&mut line);
            keep(line.0);
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, values: &Record<'_>) {
            let mut line = Line(String::new());
            values.record(&mut line);
            keep(line.0);
        }

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            let mut line = Line(String::new());
            event.record(&mut line);
            keep(line.0);
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    pub(crate) fn listen() {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| tracing::subscriber::set_global_default(Listener).unwrap());
    }
}

pub(crate) use listening::listen;

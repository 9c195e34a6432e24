//! A receiver of OTLP over HTTP, and the OpenTelemetry SDK that exports to it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{Metric, metric::Data};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use prost::Message;
use tokio_rustls::rustls::crypto::ring;
use toolgen_test_support::http::{Reply, Request, Server, kept};

use crate::prelude::*;

/// The decoded data of an exporter.
#[derive(Default)]
struct Got {
    spans: Vec<Span>,
    metrics: Vec<Metric>,
    scopes: Vec<(String, String)>,
}

/// A receiver, and the providers that export to it.
pub(crate) struct Telemetry {
    pub(crate) url: String,
    pub(crate) tracers: SdkTracerProvider,
    meters: SdkMeterProvider,
    got: Arc<Mutex<Got>>,
}

impl Telemetry {
    /// Starts a receiver, and an exporter that sends to it over HTTP.
    pub(crate) fn start() -> Telemetry {
        let got = Arc::new(Mutex::new(Got::default()));
        let into = Arc::clone(&got);
        let url = Server::start(move |request| receive(request, &into)).url;
        let (tracers, meters) = exporting(&url);
        Telemetry { url, tracers, meters, got }
    }

    /// Returns a layer that exports to the receiver.
    pub(crate) fn otel(&self) -> Otel {
        Otel::new().with_tracer_provider(self.tracers.clone()).with_meter_provider(self.meters.clone())
    }

    /// Returns all exported spans, ordered by their start.
    pub(crate) fn spans(&self) -> Vec<Span> {
        self.tracers.force_flush().unwrap();
        let mut spans = self.got.lock().unwrap().spans.clone();
        spans.sort_by_key(|span| span.start_time_unix_nano);
        spans
    }

    /// Returns the only span with this name.
    pub(crate) fn span(&self, name: &str) -> Span {
        let mut found: Vec<Span> = self.spans().into_iter().filter(|span| span.name == name).collect();
        assert_eq!(found.len(), 1, "{name}: {:?}", self.names());
        found.remove(0)
    }

    /// Waits until a condition holds for the exports of another process.
    pub(crate) async fn until(&self, holds: impl Fn(&Telemetry) -> bool) {
        let until = tokio::time::Instant::now() + Duration::from_secs(30);
        while !holds(self) {
            let got = (self.names(), self.metrics().into_keys().collect::<Vec<_>>());
            assert!(tokio::time::Instant::now() < until, "{got:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns the names of all spans.
    pub(crate) fn names(&self) -> Vec<String> {
        self.spans().into_iter().map(|span| span.name).collect()
    }

    /// Returns all exported metrics, the last of each name.
    pub(crate) fn metrics(&self) -> BTreeMap<String, Metric> {
        self.meters.force_flush().unwrap();
        let got = self.got.lock().unwrap();
        got.metrics.iter().map(|metric| (metric.name.clone(), metric.clone())).collect()
    }

    /// Returns the names and versions of the instrumentation scopes.
    pub(crate) fn scopes(&self) -> Vec<(String, String)> {
        self.got.lock().unwrap().scopes.clone()
    }
}

/// Returns the OpenTelemetry providers of a program that exports to a URL.
pub(crate) fn exporting(url: &str) -> (SdkTracerProvider, SdkMeterProvider) {
    // The exporter's client has TLS because the engine's client has it, so the program must choose a cryptography
    // provider.
    let _ = ring::default_provider().install_default();
    let spans = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(format!("{url}/v1/traces"))
        .build()
        .unwrap();
    let metrics = MetricExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(format!("{url}/v1/metrics"))
        .build()
        .unwrap();
    (
        SdkTracerProvider::builder().with_batch_exporter(spans).build(),
        SdkMeterProvider::builder().with_periodic_exporter(metrics).build(),
    )
}

/// Accepts an export.
fn receive(request: &Request, into: &Mutex<Got>) -> Reply {
    let mut got = into.lock().unwrap();
    match request.path() {
        "/v1/traces" => {
            let request = ExportTraceServiceRequest::decode(&*request.body).unwrap();
            for scope in request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans) {
                let made_by = scope.scope.unwrap();
                got.scopes.push((made_by.name, made_by.version));
                got.spans.extend(scope.spans);
            }
        }
        "/v1/metrics" => {
            let request = ExportMetricsServiceRequest::decode(&*request.body).unwrap();
            let scopes = request.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
            got.metrics.extend(scopes.flat_map(|scope| scope.metrics));
        }
        path => panic!("{path}"),
    }
    kept(200, "Content-Type: application/x-protobuf\r\n", "")
}

fn shown(value: &AnyValue) -> String {
    match value.value.as_ref().unwrap() {
        any_value::Value::StringValue(text) => text.clone(),
        any_value::Value::BoolValue(value) => value.to_string(),
        any_value::Value::IntValue(value) => value.to_string(),
        any_value::Value::DoubleValue(value) => value.to_string(),
        any_value::Value::ArrayValue(array) => {
            format!("[{}]", array.values.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        other => panic!("{other:?}"),
    }
}

/// Formats attributes as `name=value`, sorted.
pub(crate) fn attributes(attributes: &[KeyValue]) -> Vec<String> {
    let mut all: Vec<String> =
        attributes.iter().map(|one| format!("{}={}", one.key, shown(one.value.as_ref().unwrap()))).collect();
    all.sort();
    all
}

/// Returns the value of an attribute of a span.
pub(crate) fn attribute(span: &Span, name: &str) -> Option<String> {
    let found = span.attributes.iter().find(|one| one.key == name)?;
    Some(shown(found.value.as_ref().unwrap()))
}

/// Returns the names and attributes of the events of a span.
pub(crate) fn events(span: &Span) -> Vec<(String, Vec<String>)> {
    span.events.iter().map(|event| (event.name.clone(), attributes(&event.attributes))).collect()
}

/// Whether a span has the status `Error`.
pub(crate) fn failed(span: &Span) -> bool {
    span.status.as_ref().is_some_and(|status| status.code == 2)
}

/// Returns the data points of a metric: their attributes, count and sum.
pub(crate) fn points(metric: &Metric) -> Vec<(Vec<String>, u64, f64)> {
    use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
    let mut points: Vec<(Vec<String>, u64, f64)> = match metric.data.as_ref().unwrap() {
        Data::Histogram(histogram) => {
            let points = histogram.data_points.iter();
            points.map(|point| (attributes(&point.attributes), point.count, point.sum.unwrap())).collect()
        }
        Data::Sum(sum) => {
            assert!(sum.is_monotonic);
            let value = |value: &Option<Value>| match value.as_ref().unwrap() {
                Value::AsInt(value) => f64::from(i32::try_from(*value).unwrap()),
                Value::AsDouble(value) => *value,
            };
            let points = sum.data_points.iter();
            points.map(|point| (attributes(&point.attributes), 1, value(&point.value))).collect()
        }
        other => panic!("{other:?}"),
    };
    points.sort_by(|one, other| one.0.cmp(&other.0));
    points
}

//! The tracer and the instruments of a toolbox.

use std::sync::{Arc, OnceLock};

use opentelemetry::global::{self, BoxedTracer, ObjectSafeTracerProvider};
use opentelemetry::metrics::{Counter, Histogram, Meter, MeterProvider};
use opentelemetry::trace::{
    Link, Span, SpanBuilder, SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState, Tracer,
};
use opentelemetry::{Context, InstrumentationScope, KeyValue};

use crate::call::context::ToolContext;

/// The histogram buckets that the conventions recommend for durations of calls and of model turns, in seconds.
const CALL_SECONDS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/// The buckets for agent runs, in seconds.
const AGENT_SECONDS: [f64; 13] = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6];
/// The buckets for the number of calls per run.
const CALL_COUNTS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
/// The buckets for MCP requests, in seconds.
const MCP_SECONDS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// The destination of spans and metrics. The tracer and the instruments are created at the first call, because the
/// program may set the global providers after it builds its toolbox.
#[derive(Default)]
#[allow(missing_debug_implementations, reason = "only for the crates of the workspace")]
pub struct Signals {
    tracers: Option<Arc<dyn ObjectSafeTracerProvider + Send + Sync>>,
    meters: Option<Arc<dyn MeterProvider + Send + Sync>>,
    tracer: OnceLock<Option<BoxedTracer>>,
    instruments: OnceLock<Instruments>,
}

/// The instruments.
#[allow(missing_debug_implementations, reason = "only for the crates of the workspace")]
pub struct Instruments {
    pub execute_tool: Histogram<f64>,
    pub invoke_agent: Histogram<f64>,
    pub inference_calls: Histogram<u64>,
    pub tool_calls: Histogram<u64>,
    pub inference: Histogram<f64>,
    pub input_tokens: Counter<u64>,
    pub output_tokens: Counter<u64>,
    pub mcp_server: Histogram<f64>,
}

impl Signals {
    pub(super) fn with_tracers(&self, tracers: Arc<dyn ObjectSafeTracerProvider + Send + Sync>) -> Signals {
        Signals { tracers: Some(tracers), meters: self.meters.clone(), ..Signals::default() }
    }

    pub(super) fn with_meters(&self, meters: Arc<dyn MeterProvider + Send + Sync>) -> Signals {
        Signals { tracers: self.tracers.clone(), meters: Some(meters), ..Signals::default() }
    }

    /// Returns the tracer, if it creates spans.
    fn tracer(&self) -> Option<&BoxedTracer> {
        let tracer = self.tracer.get_or_init(|| {
            let tracer = match &self.tracers {
                Some(tracers) => BoxedTracer::new(tracers.boxed_tracer(scope())),
                None => global::tracer_with_scope(scope()),
            };
            (!is_noop(&tracer)).then_some(tracer)
        });
        tracer.as_ref()
    }

    /// Starts a child span of the one in `parent`, and returns the context with it; `None` if no spans are created.
    pub fn start_span(&self, parent: &Context, builder: impl FnOnce() -> SpanBuilder) -> Option<Context> {
        let tracer = self.tracer()?;
        Some(parent.with_span(tracer.build_with_context(builder(), parent)))
    }

    /// The instruments.
    pub fn instruments(&self) -> &Instruments {
        self.instruments.get_or_init(|| {
            Instruments::new(&match &self.meters {
                Some(meters) => meters.meter_with_scope(scope()),
                None => global::meter_with_scope(scope()),
            })
        })
    }
}

/// Whether a tracer is the placeholder that OpenTelemetry uses without an SDK: it gives its spans the identity of
/// their parent, even if telemetry is suppressed and an SDK creates no span. The check exports nothing.
fn is_noop(tracer: &BoxedTracer) -> bool {
    let (trace, span) = (TraceId::from(1), SpanId::from(1));
    let parent = SpanContext::new(trace, span, TraceFlags::default(), true, TraceState::default());
    let suppressed = Context::new().with_remote_span_context(parent.clone()).with_telemetry_suppressed();
    *tracer.build_with_context(SpanBuilder::from_name("none"), &suppressed).span_context() == parent
}

/// The instrumentation scope of the spans and metrics.
fn scope() -> InstrumentationScope {
    InstrumentationScope::builder("toolgen-runtime").with_version(env!("CARGO_PKG_VERSION")).build()
}

impl Instruments {
    fn new(meter: &Meter) -> Instruments {
        let seconds = |name: &'static str, description: &'static str, buckets: &[f64]| {
            let histogram = meter.f64_histogram(name).with_unit("s").with_description(description);
            histogram.with_boundaries(buckets.to_vec()).build()
        };
        let calls = |name: &'static str, unit: &'static str, description: &'static str| {
            let histogram = meter.u64_histogram(name).with_unit(unit).with_description(description);
            histogram.with_boundaries(CALL_COUNTS.to_vec()).build()
        };
        let tokens = |name: &'static str, description: &'static str| {
            meter.u64_counter(name).with_unit("{token}").with_description(description).build()
        };
        Instruments {
            execute_tool: seconds("gen_ai.execute_tool.duration", "Duration of tool calls.", &CALL_SECONDS),
            invoke_agent: seconds("gen_ai.invoke_agent.duration", "Duration of agent runs.", &AGENT_SECONDS),
            inference_calls: calls(
                "gen_ai.invoke_agent.inference_calls",
                "{inference_call}",
                "Number of model calls per agent run.",
            ),
            tool_calls: calls(
                "gen_ai.invoke_agent.tool_calls",
                "{tool_call}",
                "Number of tool calls per agent run.",
            ),
            inference: seconds("gen_ai.client.inference.duration", "Duration of model turns.", &CALL_SECONDS),
            input_tokens: tokens("gen_ai.client.inference.usage.input_tokens", "Number of input tokens."),
            output_tokens: tokens("gen_ai.client.inference.usage.output_tokens", "Number of output tokens."),
            mcp_server: seconds(
                "mcp.server.operation.duration",
                "Duration of requests of MCP clients.",
                &MCP_SECONDS,
            ),
        }
    }
}

/// Returns the agent and the conversation of a call, as attributes.
pub fn agent_attributes(ctx: &ToolContext) -> (Option<KeyValue>, Option<KeyValue>) {
    let agent = ctx.agent_id().map(|id| KeyValue::new("gen_ai.agent.name", id.to_owned()));
    let session = ctx.session().filter(|session| !session.is_passing());
    (agent, session.map(|session| KeyValue::new("gen_ai.conversation.id", session.id().to_owned())))
}

/// Parses a `traceparent` as a link. `None` if it is invalid, or of an unknown version.
pub fn linked(traceparent: &str) -> Option<Link> {
    let mut parts = traceparent.split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if version != "00" || parts.next().is_some() || trace.len() != 32 || span.len() != 16 {
        return None;
    }
    let (trace, span) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?);
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?);
    let context = SpanContext::new(trace, span, flags, true, TraceState::default());
    context.is_valid().then(|| Link::with_context(context))
}

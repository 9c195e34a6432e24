//! The OpenTelemetry context in which a call is made, and the part of it that is propagated.
//! Contexts are written and read by the propagator that the program sets
//! (`opentelemetry::global::set_text_map_propagator`); without a propagator, nothing is propagated.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{self, Poll};

use opentelemetry::propagation::{Extractor, Injector};
use opentelemetry::trace::{TraceContextExt, TraceFlags};
use opentelemetry::{Context, KeyValue, global};
use serde_json::{Map, Value};

use crate::base::frozen::Text;
use crate::call::Turn;
use crate::call::context::ToolContext;
use crate::call::span::{Attribute, Attributes, CallSpan};

/// Maximum length of a value that is sent or read, in bytes: a client may send a longer `tracestate` or `baggage`.
const MAX_VALUE_BYTES: usize = 8 << 10;

/// The OpenTelemetry context that a [`ToolContext`] carries.
pub(crate) struct OtelContext {
    context: Context,
    /// Whether the program set this context. Otherwise the context holds the span of the call, or of its outer call.
    is_from_program: bool,
    /// Whether the tool of the call was run.
    has_run: AtomicBool,
}

impl OtelContext {
    /// Creates the data that the context of a call carries, from a context with the span of the call.
    pub(crate) fn for_call(context: Context) -> Arc<OtelContext> {
        Arc::new(OtelContext { context, is_from_program: false, has_run: AtomicBool::new(false) })
    }

    /// The context.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Whether the tool of the call was run.
    pub(crate) fn has_run(&self) -> bool {
        self.has_run.load(Ordering::Relaxed)
    }
}

impl Turn {
    /// Sets the OpenTelemetry context of the turn: the spans of its calls are children of the span in it. By default
    /// they are children of the span that is current where the call is made.
    ///
    /// ```
    /// use opentelemetry::Context;
    /// use toolgen_runtime::Turn;
    ///
    /// let turn = Turn::new("turn-1").with_otel_context(Context::current());
    /// # let _ = turn;
    /// ```
    #[must_use]
    pub fn with_otel_context(mut self, context: Context) -> Turn {
        self.base_mut().set_span(Arc::new(OtelContext {
            context,
            is_from_program: true,
            has_run: AtomicBool::new(false),
        }));
        self
    }
}

impl ToolContext {
    /// Returns the OpenTelemetry context of the call: in a tool, the one with the span of its call, or with a current
    /// child span that the tool opened. Use it for work that leaves the task of the call, where no context is current:
    /// `tokio::spawn(work.with_context(ctx.otel_context()))`.
    #[must_use]
    pub fn otel_context(&self) -> Context {
        let span = self.span().map(|span| -> &dyn Any { &**span });
        span.and_then(|span| span.downcast_ref::<OtelContext>())
            .map_or_else(Context::current, OtelContext::innermost)
    }

    /// Returns a copy with the span of an agent, for the turns of that agent.
    #[doc(hidden)]
    #[must_use]
    pub fn in_span(&self, context: Context) -> ToolContext {
        let mut child = self.clone();
        child.set_span(OtelContext::for_call(context));
        child
    }
}

impl OtelContext {
    /// Returns the innermost context of the call: the current one, if it belongs to the call.
    fn innermost(&self) -> Context {
        let find_current = || {
            Context::map_current(|current| {
                let trace = self.context.span().span_context().trace_id();
                let is_of_call =
                    current.has_active_span() && current.span().span_context().trace_id() == trace;
                is_of_call.then(|| current.clone())
            })
        };
        if self.is_from_program { None } else { find_current() }.unwrap_or_else(|| self.context.clone())
    }
}

impl CallSpan for OtelContext {
    fn event(&self, name: &'static str, attributes: Attributes<'_>) {
        let span = self.context.span();
        if !self.is_from_program && span.is_recording() {
            span.add_event(name, attributes.iter().map(attribute).collect());
        }
    }

    fn describe(&self, attributes: Attributes<'_>) {
        let span = self.context.span();
        if !self.is_from_program && span.is_recording() {
            span.set_attributes(attributes.iter().map(attribute));
        }
    }

    fn runs(&self) {
        self.has_run.store(true, Ordering::Relaxed);
    }

    /// Independent of the propagator that the program uses.
    fn traceparent(&self) -> Option<Text> {
        let span = self.context.span();
        let ids = span.span_context();
        let flags = ids.trace_flags() & TraceFlags::SAMPLED;
        let is_own = !self.is_from_program && ids.is_valid();
        is_own.then(|| format!("00-{}-{}-{flags:02x}", ids.trace_id(), ids.span_id()).into())
    }

    fn passed_on(&self, extra: &[String]) -> Vec<(String, String)> {
        propagation_pairs(&self.innermost(), extra)
    }
}

fn attribute((name, value): &(&'static str, Attribute<'_>)) -> KeyValue {
    match *value {
        Attribute::Text(text) => KeyValue::new(*name, text.to_owned()),
        Attribute::Number(number) => KeyValue::new(*name, number),
    }
}

/// The members of W3C Trace Context. Other members, such as `baggage`, carry more than the trace.
const TRACE: [&str; 2] = ["traceparent", "tracestate"];

/// Returns the members with which another process continues a context, by name and value: those of W3C Trace Context,
/// and those named in `extra`. Values that are invalid in a header are omitted: a call must not fail because of its
/// trace.
fn propagation_pairs(context: &Context, extra: &[String]) -> Vec<(String, String)> {
    struct Pairs<'a>(Vec<(String, String)>, &'a [String]);
    impl Injector for Pairs<'_> {
        fn set(&mut self, key: &str, value: String) {
            let mut names = TRACE.into_iter().chain(self.1.iter().map(String::as_str));
            let is_valid = (1..=MAX_VALUE_BYTES).contains(&value.len())
                && value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
            if is_valid && names.any(|name| name.eq_ignore_ascii_case(key)) {
                self.0.push((key.to_owned(), value));
            }
        }
    }
    let mut pairs = Pairs(Vec::new(), extra);
    global::get_text_map_propagator(|propagator| propagator.inject_context(context, &mut pairs));
    pairs.0
}

/// Returns the members with which another process continues the current context.
pub(crate) fn current(extra: &[String]) -> Vec<(String, String)> {
    propagation_pairs(&Context::current(), extra)
}

/// Returns a context with the trace members in the `_meta` of a request.
#[doc(hidden)]
pub fn continued(parent: &Context, meta: &Map<String, Value>) -> Context {
    struct Members<'m>(&'m Map<String, Value>);
    impl Extractor for Members<'_> {
        fn get(&self, key: &str) -> Option<&str> {
            self.0.get(key).and_then(Value::as_str).filter(|value| value.len() <= MAX_VALUE_BYTES)
        }

        fn keys(&self) -> Vec<&str> {
            self.0.keys().map(String::as_str).collect()
        }
    }
    global::get_text_map_propagator(|propagator| propagator.extract_with_context(parent, &Members(meta)))
}

/// A future during which a context is current.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only for the crates of the workspace")]
pub struct Attached<'c, F> {
    future: F,
    /// `None` leaves the current context unchanged.
    context: Option<&'c Context>,
}

impl<'c, F: Future + Unpin> Attached<'c, F> {
    /// Wraps a future in a context.
    #[doc(hidden)]
    pub fn new(future: F, context: Option<&'c Context>) -> Attached<'c, F> {
        Attached { future, context }
    }
}

impl<F: Future + Unpin> Future for Attached<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<F::Output> {
        let _current = self.context.cloned().map(Context::attach);
        Pin::new(&mut self.future).poll(cx)
    }
}

//! Layers that every call through a toolbox passes, each in its own module. [`layer`] defines the trait and the
//! stages.

pub mod approval;
pub mod breaker;
pub mod control;
pub mod dependencies;
pub mod events;
pub mod hooks;
#[doc(hidden)]
pub mod layer;
pub mod middleware;
#[doc(hidden)]
pub mod observer;
#[cfg(feature = "otel")]
pub mod otel;
pub mod pages;
pub mod policy;
pub mod rate;
pub mod redact;
pub mod repeat;
#[cfg(feature = "tracing")]
pub mod trace;
pub mod voice;

#[doc(inline)]
pub use layer::{Invocation, Layer, Next, Outcome, Stage};
#[doc(inline)]
pub use observer::{Called, Observer};

use std::sync::Arc;

use crate::call::context::ToolContext;

/// Returns the layers that every toolbox has, unless layers of the same types replace them.
pub(crate) fn defaults() -> Vec<Arc<dyn Layer>> {
    vec![
        Arc::<pages::Pages>::default(),
        Arc::<dependencies::Dependencies>::default(),
        Arc::<repeat::RepeatLayer>::default(),
        Arc::<breaker::CircuitBreaker>::default(),
    ]
}

/// Adds the layer of the innermost span of a call, unless a layer of this type exists. Its log lines are within the
/// spans of all other layers.
pub(crate) fn with_trace(tracers: Vec<Arc<dyn Layer>>) -> Vec<Arc<dyn Layer>> {
    #[cfg(feature = "tracing")]
    if !tracers.iter().any(|layer| layer::of_type(&**layer) == std::any::TypeId::of::<trace::Trace>()) {
        return tracers.into_iter().chain([Arc::new(trace::Trace::new()) as Arc<dyn Layer>]).collect();
    }
    tracers
}

/// Returns the headers, by name and value, with which another process continues the trace of a call, or of the current
/// context if there is no call: those of W3C Trace Context, and the extra ones.
#[doc(hidden)]
#[must_use]
pub fn passed_on(ctx: Option<&ToolContext>, extra: &[String]) -> Vec<(String, String)> {
    match ctx.and_then(ToolContext::span) {
        Some(span) => span.passed_on(extra),
        #[cfg(feature = "otel")]
        None => otel::current(extra),
        #[cfg(not(feature = "otel"))]
        None => Vec::new(),
    }
}

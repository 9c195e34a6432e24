//! The layers that make spans.

use super::ProviderBuilder;
#[cfg(feature = "otel")]
use crate::layers::otel::Otel;
use crate::layers::trace::Trace;

impl ProviderBuilder {
    /// Sets what spans and log lines say about calls, if the feature `tracing` is enabled.
    #[must_use]
    pub fn trace(mut self, trace: Trace) -> ProviderBuilder {
        self.layers.trace = trace;
        self
    }

    /// Makes OpenTelemetry spans and metrics of the calls of the provider, and of the agents and servers that
    /// use it. Without it, none are made.
    #[cfg(feature = "otel")]
    #[must_use]
    pub fn otel(mut self, otel: Otel) -> ProviderBuilder {
        self.layers.otel = Some(otel);
        self
    }
}

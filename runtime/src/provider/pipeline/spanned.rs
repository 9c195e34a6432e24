//! The OpenTelemetry span of a call, or nothing if the feature is off.

#[cfg(feature = "otel")]
pub(super) use on::Span;

#[cfg(not(feature = "otel"))]
pub(super) use off::Span;

#[cfg(feature = "otel")]
mod on {
    use std::pin::Pin;
    use std::time::SystemTime;

    use crate::call::ToolCall;
    use crate::call::context::ToolContext;
    use crate::call::error::ToolError;
    use crate::call::otel::Attached;
    use crate::call::result::ToolResult;
    use crate::layers::otel::{CallSpan, Called};
    use crate::provider::Inner;
    #[cfg(any(feature = "agent", feature = "mcp-server"))]
    use crate::provider::Provider;

    /// The span of a call, if its provider makes spans. On the heap, so that not every call holds the room
    /// for it.
    pub(in crate::provider::pipeline) struct Span(Option<Box<CallSpan>>);

    impl Span {
        /// Begins the span of a call of the tool at the index, and makes it that of the context.
        pub(in crate::provider::pipeline) fn begin(
            inner: &Inner,
            call: &ToolCall,
            index: Option<usize>,
            ctx: &mut ToolContext,
            started: SystemTime,
        ) -> Span {
            Span(inner.layers.otel.as_ref().map(|otel| {
                let tool = index.map(|index| &**inner.registry.at(index));
                let called = Called { call, tool, redactor: &|| inner.redactor(index), started };
                Box::new(CallSpan::begin(otel, &called, ctx))
            }))
        }

        /// Runs a future with the span as the current one.
        pub(in crate::provider::pipeline) fn around<'a, F: Future>(
            &'a self,
            run: Pin<&'a mut F>,
        ) -> Attached<'a, Pin<&'a mut F>> {
            Attached::new(run, self.0.as_deref().and_then(CallSpan::context))
        }

        /// Ends the span.
        pub(in crate::provider::pipeline) fn end(
            self,
            outcome: &Result<ToolResult, ToolError>,
            ctx: &ToolContext,
        ) {
            if let Some(span) = self.0 {
                span.end(outcome, &ctx.secrets().unwrap_or_default());
            }
        }
    }

    #[cfg(any(feature = "agent", feature = "mcp-server"))]
    impl Provider {
        /// Where the spans and metrics of the provider go.
        pub(crate) fn otel(&self) -> Option<&crate::layers::otel::Otel> {
            self.inner().layers.otel.as_ref()
        }
    }
}

#[cfg(not(feature = "otel"))]
mod off {
    use std::pin::Pin;
    use std::time::SystemTime;

    use crate::call::ToolCall;
    use crate::call::context::ToolContext;
    use crate::call::error::ToolError;
    use crate::call::result::ToolResult;
    use crate::provider::Inner;

    /// No span.
    pub(in crate::provider::pipeline) struct Span;

    impl Span {
        pub(in crate::provider::pipeline) fn begin(
            _: &Inner,
            _: &ToolCall,
            _: Option<usize>,
            _: &mut ToolContext,
            _: SystemTime,
        ) -> Span {
            Span
        }

        pub(in crate::provider::pipeline) fn around<'a, F>(&self, run: Pin<&'a mut F>) -> Pin<&'a mut F> {
            run
        }

        pub(in crate::provider::pipeline) fn end(self, _: &Result<ToolResult, ToolError>, _: &ToolContext) {}
    }
}

//! A span and log lines for each call, for subscribers of the `tracing` crate.
//!
//! The span is `execute_tool` and its fields are the attributes of OpenTelemetry's semantic conventions for generative
//! AI (its span of tool execution): `gen_ai.operation.name`, `gen_ai.tool.name`, `gen_ai.tool.type`,
//! `gen_ai.tool.call.id`, `gen_ai.tool.description`, `gen_ai.agent.id`, `gen_ai.conversation.id` and, if the call
//! fails, `error.type`, which is its code. `otel.name`, `otel.kind` and `otel.status_code` are for bridges from
//! `tracing` to OpenTelemetry.
//!
//! The target of the span and of the log lines is `toolgen_runtime::trace`.
//!
//! Arguments and results are included only if the program asks for them, and then redacted.
//!
//! With the feature `tracing` every toolbox has this layer; without it there are neither spans nor log lines.

mod span;
use crate::base::frozen::Text;
use crate::call::context::ToolContext;
use crate::layers::layer::{Layer, Stage};
use crate::layers::observer::{Called, Observer};
use span::TraceSpan;

/// Settings of the spans and log lines of calls.
///
/// ```
/// use toolgen_runtime::layers::trace::Trace;
///
/// // `Executing planning tool: submit_plan`, and its arguments and result in the span.
/// let trace = Trace::new().noun("planning tool").with_content();
/// # let _ = trace;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    noun: Text,
    content: bool,
}

impl Trace {
    /// Includes neither arguments nor results, and uses the noun `tool`.
    #[must_use]
    pub const fn new() -> Trace {
        Trace { noun: Text::Static("tool"), content: false }
    }

    /// Sets the noun for a tool in log lines.
    #[must_use]
    pub fn noun(mut self, noun: impl Into<Text>) -> Trace {
        self.noun = noun.into();
        self
    }

    /// Adds `gen_ai.tool.call.arguments` and `gen_ai.tool.call.result`, redacted.
    #[must_use]
    pub fn with_content(mut self) -> Trace {
        self.content = true;
        self
    }
}

impl Default for Trace {
    fn default() -> Self {
        Trace::new()
    }
}

impl Layer for Trace {
    fn stage(&self) -> Stage {
        Stage::Trace
    }

    fn is_single(&self) -> bool {
        true
    }

    fn observe(&self, called: &Called<'_>, ctx: &mut ToolContext) -> Option<Box<dyn Observer>> {
        TraceSpan::begin(self, called, ctx).map(|span| -> Box<dyn Observer> { Box::new(span) })
    }
}

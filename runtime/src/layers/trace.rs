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
//! Without the feature `tracing` there are neither spans nor log lines.

use crate::base::frozen::Text;
use crate::call::ToolCall;
use crate::call::context::ToolContext;
use crate::call::tool::AgentTool;
use crate::layers::redact::ToolRedactor;

#[cfg(feature = "tracing")]
mod span;
#[cfg(all(test, feature = "tracing"))]
mod tests;

#[cfg(feature = "tracing")]
pub(crate) use span::traced;

/// What spans and log lines say about calls.
///
/// ```
/// use toolgen_runtime::layers::trace::Trace;
///
/// // `Executing planning tool: submit_plan`, and what it got and gave in the span.
/// let trace = Trace::new().noun("planning tool").with_content();
/// # let _ = trace;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    noun: Text,
    content: bool,
}

impl Trace {
    /// Includes neither arguments nor results, and calls a tool a `tool`.
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

/// What the span of a call shows.
#[cfg_attr(not(feature = "tracing"), expect(dead_code, reason = "only a span reads it"))]
pub(crate) struct Traced<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) ctx: &'a ToolContext,
    /// The tool, if there is one of that name.
    pub(crate) tool: Option<&'a dyn AgentTool>,
    /// Returns the redactor of the call; called only if content is shown.
    pub(crate) redactor: &'a (dyn Fn() -> ToolRedactor + Sync),
}

impl Default for Trace {
    fn default() -> Self {
        Trace::new()
    }
}

/// Runs a call without a span, since the feature is off.
#[cfg(not(feature = "tracing"))]
pub(crate) fn traced<F>(_: &Trace, _: &Traced<'_>, run: F) -> F {
    run
}

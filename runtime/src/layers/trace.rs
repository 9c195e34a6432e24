//! A span and log lines for each call, for whatever collects what the `tracing` crate says.
//!
//! The span is `execute_tool` and its fields are the attributes of OpenTelemetry's semantic conventions for
//! generative AI (its span of tool execution): `gen_ai.operation.name`, `gen_ai.tool.name`, `gen_ai.tool.type`,
//! `gen_ai.tool.call.id`, `gen_ai.tool.description`, `gen_ai.agent.id`, `gen_ai.conversation.id` and, if the call
//! fails, `error.type`, which is its code. `otel.name`, `otel.kind` and `otel.status_code` say the rest to bridges
//! from `tracing` to OpenTelemetry.
//!
//! The target of the span and of the log lines is `toolgen_runtime::trace`.
//!
//! Arguments and results are in it only if the program asks for them, and then without secrets.
//!
//! Without the feature `tracing` there is nothing of it.

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

/// What is said of calls.
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
    /// Neither arguments nor results, and a tool is called a `tool`.
    #[must_use]
    pub const fn new() -> Trace {
        Trace { noun: Text::Static("tool"), content: false }
    }

    /// What a tool is called in log lines.
    #[must_use]
    pub fn noun(mut self, noun: impl Into<Text>) -> Trace {
        self.noun = noun.into();
        self
    }

    /// Adds `gen_ai.tool.call.arguments` and `gen_ai.tool.call.result`, without secrets.
    #[must_use]
    pub fn with_content(mut self) -> Trace {
        self.content = true;
        self
    }
}

/// What the span of a call says of it.
pub(crate) struct Traced<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) ctx: &'a ToolContext,
    /// The tool, if there is one of that name.
    pub(crate) tool: Option<&'a dyn AgentTool>,
    /// What hides the secrets of the call; asked only if content is shown.
    pub(crate) redactor: &'a (dyn Fn() -> ToolRedactor + Sync),
}

impl Default for Trace {
    fn default() -> Self {
        Trace::new()
    }
}

/// Without the feature a call has no span.
#[cfg(not(feature = "tracing"))]
pub(crate) fn traced<F>(_: &Trace, _: &Traced<'_>, run: F) -> F {
    run
}

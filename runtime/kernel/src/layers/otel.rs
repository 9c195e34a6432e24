//! OpenTelemetry spans and metrics of calls, agents and requests of MCP clients.
//!
//! A toolbox with an [`Otel`] layer creates them through the OpenTelemetry API; your program chooses the SDK and the
//! exporter. The names follow version 0.1.0 of the [GenAI semantic conventions], which are still in development: later
//! versions of this crate may follow later versions of the conventions.
//!
//! | span | kind | scope | attributes |
//! |---|---|---|---|
//! | `execute_tool {tool}` | internal | a call of a [`Toolbox`](crate::Toolbox), from its name to its result | `gen_ai.operation.name`, `gen_ai.tool.name`, `gen_ai.tool.type` (`function`), `gen_ai.tool.call.id`, `gen_ai.tool.description`, `gen_ai.agent.name`, `gen_ai.conversation.id`, `error.type`; for a tool of an MCP server also `mcp.method.name`, `mcp.protocol.version`, `network.transport`, `server.address`, `server.port` |
//! | `invoke_agent {agent}` | internal | a run of the loop of an agent, see `agent::agent_loop` | `gen_ai.operation.name`, `gen_ai.agent.name`, `gen_ai.conversation.id`, `gen_ai.request.model`, `gen_ai.usage.input_tokens`, `gen_ai.usage.output_tokens`, `error.type` |
//! | `chat {model}` | client | a turn of the agent's model | `gen_ai.operation.name`, `gen_ai.provider.name`, `gen_ai.request.model`, `gen_ai.request.stream`, `gen_ai.conversation.id`, `gen_ai.response.finish_reasons`, `gen_ai.usage.*`, `error.type` |
//! | `tools/call {tool}` | server | a request to `serve::mcp` | `mcp.method.name`, `mcp.protocol.version`, `gen_ai.operation.name`, `gen_ai.tool.name`, `jsonrpc.request.id`, `network.transport`, `error.type`, `rpc.response.status_code` |
//!
//! | metric | instrument | unit | attributes |
//! |---|---|---|---|
//! | `gen_ai.execute_tool.duration` | histogram | `s` | `gen_ai.tool.name`, `gen_ai.tool.type`, `gen_ai.agent.name`, `error.type` |
//! | `gen_ai.invoke_agent.duration` | histogram | `s` | `gen_ai.operation.name`, `gen_ai.agent.name`, `error.type` |
//! | `gen_ai.invoke_agent.inference_calls` | histogram | `{inference_call}` | `gen_ai.agent.name` |
//! | `gen_ai.invoke_agent.tool_calls` | histogram | `{tool_call}` | `gen_ai.agent.name` |
//! | `gen_ai.client.inference.duration` | histogram | `s` | `gen_ai.operation.name`, `gen_ai.provider.name`, `gen_ai.request.model`, `error.type` |
//! | `gen_ai.client.inference.usage.input_tokens`, `….output_tokens` | counter | `{token}` | the same without `error.type`, and `gen_ai.token.modality` (`unknown`) |
//! | `mcp.server.operation.duration` | histogram | `s` | `mcp.method.name`, `gen_ai.operation.name`, `gen_ai.tool.name`, `network.transport`, `error.type` |
//!
//! `error.type` is the code of the [`ToolError`](crate::ToolError) that the model reads, such as `TIMEOUT`. A code that
//! comes from data, such as a result or the output of a command, is shown only if this crate defines it or the tool
//! declares it, as a value of `code` in the schema of its result. Other codes are shown as `EXECUTION_ERROR`, because
//! each would create a separate series of metrics. Values that a model chooses, such as the ID of a call, are cut to
//! 256 bytes. For a loop, `error.type` is `NO_TOOL_CALL`, `MAX_ITERATIONS`, `CANCELLED` or `MODEL_ERROR`; for a request
//! to a server, `tool_error`, or the code of the protocol's error.
//! [`ToolContext::agent_id`](crate::ToolContext::agent_id) names the agent of a call: an agent with a new ID for each
//! run creates new series of metrics for each run. A tool that a toolbox does not have is `_OTHER` in metrics, and its
//! span is named `execute_tool`. An unknown vendor of models is also `_OTHER`.
//!
//! Events of the span describe what happens to a call before its end:
//!
//! | event | attributes | meaning |
//! |---|---|---|
//! | `toolgen.approval.decided` | `toolgen.approval.decision`: `approved`, `rejected`, `later` | the approver decided; a wait for a person ends here |
//! | `toolgen.input.requested` | | the tool requests input |
//! | `toolgen.call.waiting` | `toolgen.waiting.for`: `approval`, `input` | the call has its result, and waits to be resumed; its status is unset |
//! | `toolgen.call.refused` | `error.type` | the call was refused without running the tool |
//! | `toolgen.request.repeated` | `http.request.resend_count`, `toolgen.repeated.after_ms` | the HTTP engine retries a request |
//!
//! A call that is [resumed](crate::Toolbox::resume) has a separate span, with a link to the span of the call that
//! waited, even much later and in another process.
//!
//! Nested calls of a tool, and those of an agent behind it, are inside its span. In a tool's task, the span of its
//! call is current, so that other instrumentation is also inside it. If a propagator is set, the HTTP engine passes
//! the context on in headers and the MCP client in `_meta`; `serve::mcp` continues it from `_meta`.
//!
//! [GenAI semantic conventions]: https://github.com/open-telemetry/semantic-conventions-genai

mod call;
mod code;
mod context;
mod signals;

use std::fmt;
use std::sync::Arc;

use opentelemetry::global::ObjectSafeTracerProvider;
use opentelemetry::metrics::MeterProvider;

use crate::call::context::ToolContext;
use crate::layers::layer::{Layer, Stage};
use crate::layers::observer::{Called, Observer};

use call::OtelSpan;
#[doc(hidden)]
pub use call::short;
pub(crate) use context::current;
#[doc(hidden)]
pub use context::{Attached, continued};
#[doc(hidden)]
pub use signals::{Signals, agent_attributes, linked};

/// A [layer](crate::layers) that creates spans and metrics of the calls of a toolbox, and of the agents and servers
/// that use it.
///
/// Spans and metrics go to the global providers of OpenTelemetry, as set when the first call is made, or to those set
/// here. Arguments and results are omitted unless [`with_content`](Self::with_content) adds them.
///
/// ```
/// use toolgen_runtime::layers::otel::Otel;
/// use toolgen_runtime::{Toolbox, Registry, toolset};
///
/// let registry = Registry::new(toolset![])?;
/// let toolbox = Toolbox::builder(&registry).layer(Otel::new()).build()?;
/// # let _ = toolbox;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Otel {
    content: bool,
    signals: Arc<Signals>,
}

impl Otel {
    /// Uses the global tracer and meter providers, and includes neither arguments nor results.
    #[must_use]
    pub fn new() -> Otel {
        Otel { content: false, signals: Arc::default() }
    }

    /// Adds `gen_ai.tool.call.arguments` and `gen_ai.tool.call.result` to spans, as JSON, redacted by the
    /// [`redactor`](crate::toolbox::ToolboxBuilder::redactor) of the toolbox.
    #[must_use]
    pub fn with_content(mut self) -> Otel {
        self.content = true;
        self
    }

    /// Creates spans with this tracer provider, such as an `SdkTracerProvider`, instead of the global one.
    #[must_use]
    pub fn with_tracer_provider(
        mut self,
        tracers: impl ObjectSafeTracerProvider + Send + Sync + 'static,
    ) -> Otel {
        self.signals = Arc::new(self.signals.with_tracers(Arc::new(tracers)));
        self
    }

    /// Creates metrics with this meter provider, such as an `SdkMeterProvider`, instead of the global one.
    #[must_use]
    pub fn with_meter_provider(mut self, meters: impl MeterProvider + Send + Sync + 'static) -> Otel {
        self.signals = Arc::new(self.signals.with_meters(Arc::new(meters)));
        self
    }

    #[doc(hidden)]
    pub fn signals(&self) -> &Arc<Signals> {
        &self.signals
    }
}

impl Default for Otel {
    fn default() -> Otel {
        Otel::new()
    }
}

impl fmt::Debug for Otel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Otel").field("content", &self.content).finish_non_exhaustive()
    }
}

impl Layer for Otel {
    fn stage(&self) -> Stage {
        Stage::Trace
    }

    fn is_single(&self) -> bool {
        true
    }

    fn observe(&self, called: &Called<'_>, ctx: &mut ToolContext) -> Option<Box<dyn Observer>> {
        Some(Box::new(OtelSpan::begin(self, called, ctx)))
    }
}

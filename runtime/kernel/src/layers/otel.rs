//! Spans and metrics of calls, agents and requests of MCP clients, for OpenTelemetry.
//!
//! A toolbox with an [`Otel`] makes them with the interface of OpenTelemetry alone; the library behind it, and where it
//! sends what it gets, are up to the program. They follow version 0.1.0 of the [GenAI semantic conventions], which are in
//! development: other versions of this crate may follow others.
//!
//! | span | kind | what it covers | attributes |
//! |---|---|---|---|
//! | `execute_tool {tool}` | internal | a call of a [`Toolbox`](crate::Toolbox), from its name to its answer | `gen_ai.operation.name`, `gen_ai.tool.name`, `gen_ai.tool.type` (`function`), `gen_ai.tool.call.id`, `gen_ai.tool.description`, `gen_ai.agent.name`, `gen_ai.conversation.id`, `error.type`; of a tool of an MCP server also `mcp.method.name`, `mcp.protocol.version`, `network.transport`, `server.address`, `server.port` |
//! | `invoke_agent {agent}` | internal | a run of the loop of an agent, see `agent::agent_loop` | `gen_ai.operation.name`, `gen_ai.agent.name`, `gen_ai.conversation.id`, `gen_ai.request.model`, `gen_ai.usage.input_tokens`, `gen_ai.usage.output_tokens`, `error.type` |
//! | `chat {model}` | client | a turn of its model | `gen_ai.operation.name`, `gen_ai.provider.name`, `gen_ai.request.model`, `gen_ai.request.stream`, `gen_ai.conversation.id`, `gen_ai.response.finish_reasons`, `gen_ai.usage.*`, `error.type` |
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
//! `error.type` is the code of the [`ToolError`](crate::ToolError), the one a model reads, such as `TIMEOUT`. A code
//! that comes from data, such as a result or a program's output, is shown if it is one of this crate's or the tool
//! declares it, as a value of `code` in the schema of its result; others are `EXECUTION_ERROR`, since each would be a
//! series of metrics of its own. Of what a model makes up, such as the ID of a call, the first 256 bytes are shown.
//! For a loop, `error.type` is `NO_TOOL_CALL`, `MAX_ITERATIONS`, `CANCELLED` or `MODEL_ERROR`; for a request to a
//! server, `tool_error`, or the code of the protocol's error. The agent of a call is named by
//! [`ToolContext::agent_id`](crate::ToolContext::agent_id): an agent with a new ID each time makes as many series of
//! metrics. A tool that a toolbox does not have is `_OTHER` in metrics, and its span is named `execute_tool`. An
//! unknown vendor of models is `_OTHER`, too.
//!
//! What happens to a call before its end are events of its span:
//!
//! | event | attributes | says |
//! |---|---|---|
//! | `toolgen.approval.decided` | `toolgen.approval.decision`: `approved`, `rejected`, `later` | what the approver said; a wait for a person ends here |
//! | `toolgen.input.requested` | | the tool needs to know more |
//! | `toolgen.call.waiting` | `toolgen.waiting.for`: `approval`, `input` | the call is answered, and waits to be resumed; its status is unset |
//! | `toolgen.call.refused` | `error.type` | the call was answered without the tool being run |
//! | `toolgen.request.repeated` | `http.request.resend_count`, `toolgen.repeated.after_ms` | the HTTP engine sends a request again |
//!
//! A call that is [resumed](crate::Toolbox::resume) has a span of its own, with a link to the span of the call that
//! waited, however much later and in whatever process that is.
//!
//! Calls that a tool makes, and those of an agent behind it, are inside its span. The span of its call is current in a
//! tool's task, so that other instrumentation is inside it, too. The context is passed on by the HTTP engine in
//! headers and by the MCP client in `_meta`, if a propagator is set, and continued from `_meta` by
//! `serve::mcp`.
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
pub use signals::{Signals, linked, named};

/// A [layer](crate::layers) that makes spans and metrics of the calls of a toolbox, and of the agents and servers that use
/// it.
///
/// Spans and metrics go to the global providers of OpenTelemetry, as they are when the first call is made, or to those
/// given here. Arguments and results are left out unless [`with_content`](Self::with_content) asks for them.
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
    /// Uses the global providers of tracers and meters, and includes neither arguments nor results.
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

    /// Makes spans with this toolbox of tracers, such as an `SdkTracerProvider`, in place of the global one.
    #[must_use]
    pub fn with_tracer_provider(
        mut self,
        tracers: impl ObjectSafeTracerProvider + Send + Sync + 'static,
    ) -> Otel {
        self.signals = Arc::new(self.signals.with_tracers(Arc::new(tracers)));
        self
    }

    /// Makes metrics with this toolbox of meters, such as an `SdkMeterProvider`, in place of the global one.
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

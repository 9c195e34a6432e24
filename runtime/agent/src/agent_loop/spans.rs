//! OpenTelemetry spans of an agent and its model requests.

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use opentelemetry::trace::{SpanBuilder, SpanKind, Status, TraceContextExt};
use opentelemetry::{Array, Context, KeyValue, StringValue, Value};

use super::{LanguageModel, LoopEnd, LoopError, ModelInfo, ModelTurn, Transcript};
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::layers::otel::{Attached, Otel, Signals, agent_attributes};
use toolgen_kernel::toolbox::Toolbox;
use toolgen_wire::{StopReason, Usage};

/// Fallback for a vendor or an error code without a name in the semantic conventions.
const OTHER: &str = "_OTHER";

/// The span of an agent run, if its toolbox creates spans. If it is dropped, the run was abandoned.
pub(super) struct AgentSpan(Option<ActiveSpan>);

struct ActiveSpan {
    signals: Arc<Signals>,
    /// `None` if no spans are created.
    context: Option<Context>,
    since: Instant,
    agent: Option<KeyValue>,
    conversation: Option<KeyValue>,
    sums: Mutex<Sums>,
    ended: bool,
}

/// The usage of a run so far.
#[derive(Clone, Copy, Default)]
struct Sums {
    used: Usage,
    model_requests: u64,
    called: u64,
}

impl AgentSpan {
    /// Starts the span of a run as the parent of its turns.
    pub(super) fn begin(toolbox: &Toolbox, turn: &mut ToolContext, info: &ModelInfo) -> AgentSpan {
        let Some(otel) = toolbox.layer::<Otel>() else { return AgentSpan(None) };
        let agent_id = turn.agent_id().or(toolbox.context().agent_id.as_deref()).map(str::to_owned);
        let (_, conversation) = agent_attributes(turn);
        let agent = agent_id.clone().map(|id| KeyValue::new("gen_ai.agent.name", id));
        let mut attributes = vec![KeyValue::new("gen_ai.operation.name", "invoke_agent")];
        attributes.extend(agent.clone());
        attributes.extend(conversation.clone());
        attributes.extend(model(info));
        let signals = Arc::clone(otel.signals());
        let name = agent_id.map_or("invoke_agent".to_owned(), |id| format!("invoke_agent {id}"));
        let context = start_span(&signals, name, SpanKind::Internal, attributes, &turn.otel_context());
        if let Some(context) = &context {
            *turn = turn.in_span(context.clone());
        }
        let (since, sums) = (Instant::now(), Mutex::default());
        AgentSpan(Some(ActiveSpan { signals, context, since, agent, conversation, sums, ended: false }))
    }

    /// Runs a future within the span.
    pub(super) async fn instrument<F: Future>(&self, run: Pin<&mut F>) -> F::Output {
        Attached::new(run, self.0.as_ref().and_then(|open| open.context.as_ref())).await
    }

    /// Ends the span with the outcome of the run.
    pub(super) fn end<E>(mut self, outcome: &Result<LoopEnd, LoopError<E>>) {
        let code = outcome.as_ref().err().map(|error| match error {
            LoopError::NoToolCalls => "NO_TOOL_CALL",
            LoopError::MaxIterations(_) => "MAX_ITERATIONS",
            LoopError::MaxTokens(_) => "MAX_TOKENS",
            LoopError::MaxCost(_) => "MAX_COST",
            LoopError::NoPrice(_) => "NO_PRICE",
            LoopError::MaxTime(_) => "MAX_TIME",
            LoopError::Cancelled => "CANCELLED",
            LoopError::Tools(_) => "TOOLS_REFUSED",
            LoopError::Model(_) => "MODEL_ERROR",
        });
        if let Some(open) = &mut self.0 {
            open.finish(code);
        }
    }
}

impl ActiveSpan {
    fn finish(&mut self, code: Option<&'static str>) {
        self.ended = true;
        let sums = *unpoisoned(self.sums.lock());
        let kind = code.map(|code| KeyValue::new("error.type", code));
        ended(self.context.as_ref(), tokens(sums.used).collect(), kind.as_ref());
        let mut measured: Vec<KeyValue> = self.agent.iter().cloned().collect();
        let instruments = self.signals.instruments();
        instruments.inference_calls.record(sums.model_requests, &measured);
        instruments.tool_calls.record(sums.called, &measured);
        measured.push(KeyValue::new("gen_ai.operation.name", "invoke_agent"));
        measured.extend(kind);
        instruments.invoke_agent.record(self.since.elapsed().as_secs_f64(), &measured);
    }
}

impl Drop for ActiveSpan {
    fn drop(&mut self) {
        if !self.ended {
            self.finish(Some("CANCELLED"));
        }
    }
}

/// The span of a request to a model. If it is dropped, the request was abandoned.
struct ModelRequestSpan {
    signals: Arc<Signals>,
    context: Option<Context>,
    since: Instant,
    measured: Vec<KeyValue>,
    ended: bool,
}

impl ModelRequestSpan {
    fn finish(&mut self, turn: Result<&ModelTurn, &'static str>) {
        self.ended = true;
        let instruments = self.signals.instruments();
        let used = turn.map(|turn| turn.usage).unwrap_or_default();
        let mut attributes: Vec<KeyValue> = tokens(used).collect();
        if let Some(reason) = turn.ok().and_then(reason) {
            let reasons = Value::Array(Array::String(vec![StringValue::from(reason)]));
            attributes.push(KeyValue::new("gen_ai.response.finish_reasons", reasons));
        }
        let kind = turn.err().map(|code| KeyValue::new("error.type", code));
        ended(self.context.as_ref(), attributes, kind.as_ref());
        let mut counted = self.measured.clone();
        counted.push(KeyValue::new("gen_ai.token.modality", "unknown"));
        instruments.input_tokens.add(used.input, &counted);
        instruments.output_tokens.add(used.output, &counted);
        self.measured.extend(kind);
        instruments.inference.record(self.since.elapsed().as_secs_f64(), &self.measured);
    }
}

impl Drop for ModelRequestSpan {
    fn drop(&mut self) {
        if !self.ended {
            self.finish(Err("CANCELLED"));
        }
    }
}

/// Requests the next turn from a model, in its own span.
pub(super) async fn request_turn<M: LanguageModel + ?Sized>(
    model_of: &mut M,
    info: &ModelInfo,
    transcript: &Transcript,
    span: &AgentSpan,
) -> Result<ModelTurn, M::Error> {
    let Some(open) = &span.0 else { return model_of.next(transcript).await };
    unpoisoned(open.sums.lock()).model_requests += 1;
    let operation = if info.operation.is_empty() { "chat" } else { info.operation };
    let provider = if info.provider.is_empty() { OTHER } else { info.provider };
    let mut measured = vec![
        KeyValue::new("gen_ai.operation.name", operation),
        KeyValue::new("gen_ai.provider.name", provider),
    ];
    measured.extend(model(info));
    let mut attributes = measured.clone();
    attributes.extend(open.conversation.clone());
    if info.streamed {
        attributes.push(KeyValue::new("gen_ai.request.stream", true));
    }
    let name = match info.model.as_str() {
        "" => operation.to_owned(),
        model => format!("{operation} {model}"),
    };
    let context = open.context.as_ref();
    let context =
        context.and_then(|above| start_span(&open.signals, name, SpanKind::Client, attributes, above));
    let signals = Arc::clone(&open.signals);
    let mut asked = ModelRequestSpan { signals, context, since: Instant::now(), measured, ended: false };
    let turn = Attached::new(pin!(model_of.next(transcript)), asked.context.as_ref()).await;
    asked.finish(turn.as_ref().map_err(|_| "MODEL_ERROR"));
    if let Ok(turn) = &turn {
        let mut sums = unpoisoned(open.sums.lock());
        sums.used = sums.used.plus(turn.usage);
        sums.called += u64::try_from(turn.calls.len()).unwrap_or(u64::MAX);
    }
    turn
}

fn start_span(
    signals: &Signals,
    name: String,
    kind: SpanKind,
    attributes: Vec<KeyValue>,
    parent: &Context,
) -> Option<Context> {
    signals.start_span(parent, || SpanBuilder::from_name(name).with_kind(kind).with_attributes(attributes))
}

/// Ends a span, if there is one.
fn ended(context: Option<&Context>, attributes: Vec<KeyValue>, kind: Option<&KeyValue>) {
    let Some(context) = context else { return };
    let span = context.span();
    span.set_attributes(attributes);
    if let Some(kind) = kind {
        span.set_status(Status::error(""));
        span.set_attribute(kind.clone());
    }
    span.end();
}

fn model(info: &ModelInfo) -> Option<KeyValue> {
    let model = info.model.as_str();
    (!model.is_empty()).then(|| KeyValue::new("gen_ai.request.model", model.to_owned()))
}

/// The known token counts as attributes.
fn tokens(used: Usage) -> impl Iterator<Item = KeyValue> {
    let counts = [
        ("gen_ai.usage.input_tokens", used.input),
        ("gen_ai.usage.output_tokens", used.output),
        ("gen_ai.usage.cache_read.input_tokens", used.cached),
        ("gen_ai.usage.reasoning.output_tokens", used.reasoning),
    ];
    let known = counts.into_iter().filter(|(_, count)| *count > 0);
    known.map(|(name, count)| KeyValue::new(name, i64::try_from(count).unwrap_or(i64::MAX)))
}

/// The stop reason, in the terms that most vendors share.
fn reason(turn: &ModelTurn) -> Option<&'static str> {
    Some(match turn.stop {
        StopReason::EndTurn => "stop",
        StopReason::ToolCalls => "tool_call",
        StopReason::MaxTokens => "length",
        StopReason::Refused => "content_filter",
        StopReason::Failed | StopReason::Interrupted => "error",
        _ => return None,
    })
}

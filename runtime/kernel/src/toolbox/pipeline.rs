//! The path of every call through a [`Toolbox`]:
//!
//! known, allowed and in scope → [`Stage::Admit`](crate::layers::Stage::Admit) → session refreshed, seal verified →
//! `Result` → `Arguments` → arguments checked → `Decide` → approver → exclusive calls → `Around` → intent recorded →
//! the tool (or a replay), under its time limit and token. `Record` and `Trace` see all of it. Layers of a stage come
//! in the order of their list, those of the toolbox first; [`Passed`](crate::layers::layer::Passed) has those of a
//! tool.
//!
//! Every call gets exactly one response, regardless of the layers.

mod control;
mod decide;
mod execute;
mod observers;
mod otel_span;
mod recording;
mod resume;

use std::any::{Any, TypeId};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tokio::time::Instant;
use toolgen_core::internal::hosts;

use crate::base::exclusive_lock::Exclusion;
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::call::callback::CallbackTimeouts;
use crate::call::context::{DEFAULT_MAX_NESTED_CALLS, ToolContext, TurnContext};
use crate::call::error::ToolError;
use crate::call::tool::{exact_text, guarded, parsed, read};
use crate::call::toolbox_context::FactoryError;
use crate::call::{ToolCall, ToolResponse, Turn};
use crate::layers;
use crate::layers::approval::Seals;
use crate::layers::dependencies;
use crate::layers::events::OnEvent;
use crate::layers::hooks::Hooks;
use crate::layers::layer::{self, Course, Invocation, Layer, Outcome, Provided, of_type};
use crate::layers::middleware::Approver;
use crate::layers::redact::Redactor;
use crate::spec::ToolSpec;
use crate::spec::output::StructuredOutput;
use crate::toolbox::{Admitted, Toolbox, ToolboxError};
use toolgen_core::internal::BorrowedValue;

pub(crate) use control::Controls;
use observers::{CallGuard, Observers};
use otel_span::Spanned;
pub(crate) use recording::Record;

/// The layers of a toolbox that are set.
#[derive(Clone)]
pub(crate) struct Layers {
    pub(crate) default_timeout: Duration,
    pub(crate) nested_calls: u32,
    /// The lock that keeps other calls from running concurrently with exclusive ones, if there are any.
    pub(crate) exclusion: Option<Arc<Exclusion>>,
    /// The layers, those of one stage in the order in which calls pass them.
    pub(crate) layers: Vec<Arc<dyn Layer>>,
    pub(crate) controls: Controls,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) seals: Seals,
    pub(crate) callback_timeouts: CallbackTimeouts,
    pub(crate) hooks: Option<Arc<dyn Hooks>>,
    pub(crate) on_event: Option<OnEvent>,
    pub(crate) redactor: Redactor,
}

impl Layers {
    pub(crate) fn new(default_timeout: Duration) -> Layers {
        Layers {
            default_timeout,
            nested_calls: DEFAULT_MAX_NESTED_CALLS,
            exclusion: None,
            layers: layers::defaults(),
            controls: Controls::default(),
            approver: None,
            seals: Seals::default(),
            callback_timeouts: CallbackTimeouts::default(),
            hooks: None,
            on_event: None,
            redactor: Redactor::new(),
        }
    }

    /// Returns the arguments in the text of the model, if they are valid without changes and nothing reads them
    /// before the tool does. Most calls are like that and need no [`Value`].
    fn exact_arguments<'a>(&self, call: &'a ToolCall, seen: &Invocation<'_>) -> Option<BorrowedValue<'a>> {
        let Value::String(text) = &call.arguments else { return None };
        // An input handler may run the tool again with the same arguments.
        let are_read = !seen.layers().decide.is_empty()
            || self.controls.input.is_some()
            || seen.layers().arguments.iter().any(|layer| layer.reads_arguments(seen));
        if are_read { None } else { exact_text(seen.spec(), text, seen.ctx().dialect()) }
    }

    /// Adds a layer, or replaces the layer of its type.
    pub(crate) fn add(&mut self, layer: Arc<dyn Layer>) {
        let of = of_type(&*layer);
        match self.layers.iter_mut().find(|known| layer.is_single() && of_type(&***known) == of) {
            Some(known) => *known = layer,
            None => self.layers.push(layer),
        }
    }

    /// Changes the layer of a type.
    pub(crate) fn change<L: Layer + Clone + Default>(&mut self, change: impl FnOnce(&mut L)) {
        let mut layer = self.find::<L>().map(|layer| L::clone(&layer)).unwrap_or_default();
        change(&mut layer);
        self.add(Arc::new(layer));
    }

    /// Removes the layer of a type.
    pub(crate) fn remove<L: Layer>(&mut self) {
        self.layers.retain(|layer| of_type(&**layer) != TypeId::of::<L>());
    }

    /// Returns the layer of a type.
    pub(crate) fn find<L: Layer>(&self) -> Option<Arc<L>> {
        self.layers.iter().find_map(|layer| {
            let layer: Arc<dyn Any + Send + Sync> = layer.clone();
            layer.downcast().ok()
        })
    }
}

/// The receiver of the result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A model, which reads a large result page by page.
    Model,
    /// A tool, or a program of the model, which receives it whole.
    Tool,
}

/// Returns the number of a call of the program, from 1.
fn next_call() -> u64 {
    static MADE: AtomicU64 = AtomicU64::new(0);
    MADE.fetch_add(1, Ordering::Relaxed) + 1
}

impl Toolbox {
    /// Calls a tool by its name, through all layers, in a turn of its own. The call gets an ID that no other call of
    /// the process has. [`run`](Self::run) runs the call of a model, in its turn.
    ///
    /// This never fails: an error is a response.
    ///
    /// ```
    /// # use serde_json::json;
    /// use toolgen_runtime::{Toolbox, tool, toolset};
    ///
    /// /// Adds two numbers.
    /// #[tool(read_only, undocumented)]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Toolbox::new(toolset![add])?;
    /// assert_eq!(tools.call("add", json!({"a": 2, "b": 40})).await.text(), "42");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call(&self, name: &str, arguments: Value) -> ToolResponse {
        let id = format!("call-{}", next_call());
        self.run(ToolCall::new(id, name, arguments), &Turn::default()).await
    }

    /// Runs the call of a model, through all layers. The context of the call is derived from the turn.
    ///
    /// This never fails: an error is a response.
    pub async fn run(&self, mut call: ToolCall, turn: &Turn) -> ToolResponse {
        call.fit();
        let turn = turn.base();
        let call = self.unwrap_discovery_call(call, turn);
        self.run_call(call, turn, self.turn_context(turn), Reader::Model).await
    }

    /// Runs a call that a tool makes, and returns its whole result. Not an `async` function: its future would be on the
    /// stack of each nested call.
    pub(super) fn call_by_tool<'a>(
        &'a self,
        mut call: ToolCall,
        caller: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResponse> {
        call.fit();
        let call = self.unwrap_discovery_call(call, caller);
        Box::pin(self.run_call(call, caller, self.turn_context(caller), Reader::Tool))
    }

    /// Returns the call that a call of `call_tool` describes, which is then handled like any call of its tool. Other
    /// calls are returned unchanged, and so are calls of `call_tool` with invalid arguments, which then fail as such.
    pub(crate) fn unwrap_discovery_call(&self, mut call: ToolCall, turn: &ToolContext) -> ToolCall {
        let Some(discovery) = &self.inner().discovery else { return call };
        while call.blocked.is_none() && call.resumption.is_none() && discovery.calls(&call.name) {
            let Some((name, arguments)) = discovery.inner(&call.arguments, turn.dialect()) else {
                return call;
            };
            let through = std::mem::replace(&mut call.name, name);
            call.via.get_or_insert(through);
            call.arguments = arguments;
            call.fit();
        }
        call
    }

    /// Returns the context that the calls of a turn share: that of the turn, completed by that of the toolbox.
    pub(crate) fn turn_context(&self, turn: &ToolContext) -> Arc<TurnContext> {
        let around = turn.rights();
        if self.is_peer_of(&around) {
            // A tool calls another tool: the context is already complete.
            return around.into_owned();
        }
        let context = self.context();
        let mut all = TurnContext::clone(&around);
        all.services = around.services.over(&context.services);
        all.services = context.confined(all.services);
        all.roots = around.roots.over(&context.roots);
        all.hosts = hosts::both(&around.hosts, &context.limits.network);
        all.values = context.values.merged(&around.values);
        all.agent_id = around.agent_id.clone().or_else(|| context.agent_id.clone());
        all.peers = Some(self.peers());
        Arc::new(all)
    }

    /// Runs one call that [fits](ToolCall::fit).
    pub(crate) async fn run_call(
        &self,
        mut call: ToolCall,
        turn: &ToolContext,
        around: Arc<TurnContext>,
        reader: Reader,
    ) -> ToolResponse {
        // The response has the ID as the caller sent it.
        let id = call.shorten_id();
        let (started, clock) = (SystemTime::now(), Instant::now());
        let inner = self.inner();
        let index = inner.registry.index(&call.name);
        if let Some(displayed) = index.is_none().then(|| turn.secrets()?.replace(&call.name)).flatten() {
            // The name may contain a secret that a tool made up; no tool has this name, and it must not be shown.
            call.name = displayed.into();
        }
        let watch = Observers::of(self, &call, index, &around);
        let around = watch.as_ref().map_or_else(|| Arc::clone(&around), |watch| watch.instrument(&around));
        let mut ctx = turn.child_in(around, call.id.clone(), call.name.clone());
        if let Some(redactor) = index.and_then(|index| inner.redactor_at(index)) {
            redactor.hide_secrets(&call.arguments, &ctx);
        }
        // If this future is dropped, the record shows it.
        let mut record = self.record(&call, index, started, &mut ctx);
        if let Some(watch) = &watch
            && let Some(response) = watch.begins(&call, &ctx).await
        {
            let mut response = Box::new(ToolResponse { id, started, ..*response });
            record.finish(&response.outcome, ctx.secrets()).await;
            response.attribute_to(call);
            return *response;
        }
        let mut spans = inner.observers(&inner.tracers, (&call, index, started), &mut ctx);
        let begun = CallGuard::new(watch.as_deref(), &ctx, clock);
        let outcome = {
            let run = pin!(self.admit_and_run(&call, index, &ctx, &mut record, (watch.as_deref(), reader)));
            Spanned { spans: &mut spans, run: pin!(guarded(run)) }.await
        };
        if !spans.is_empty() {
            // On the heap: otherwise the future of every call would contain it.
            Box::pin(Record(spans).end(&outcome, ctx.secrets())).await;
        }
        // From here on the call reports only its response.
        ctx.end();
        record.finish(&outcome, ctx.secrets()).await;
        let declared = index.filter(|_| outcome.is_ok()).and_then(|index| inner.declared(index));
        let declared = declared.map(|declared| declared_by(declared, &outcome));
        let mut response = ToolResponse {
            id,
            name: ctx.tool_name.clone(),
            outcome,
            skipped: false,
            program: None,
            started,
            duration: clock.elapsed(),
            declared,
        };
        dependencies::record(&ctx, response.name.clone(), &response.outcome);
        if let Some(session) = ctx.session().filter(|session| session.is_shared()) {
            // The call has run. Changes that cannot be stored now are stored with the next ones.
            let _ = Box::pin(session.save()).await;
        }
        begun.answered();
        if let Some(watch) = &watch {
            watch.ends(&response, &ctx).await;
        }
        response.attribute_to(call);
        response
    }

    /// Returns a response to a call without running it. Observers see it with `null` arguments, and no hook is
    /// called.
    pub(crate) async fn pass_over(
        &self,
        mut call: ToolCall,
        turn: &ToolContext,
        around: Arc<TurnContext>,
        mut response: ToolResponse,
    ) -> ToolResponse {
        call.shorten_id();
        let mut ctx = turn.child_in(Arc::clone(&around), call.id.clone(), call.name.clone());
        let index = self.inner().registry.index(&call.name);
        self.record(&call, index, SystemTime::now(), &mut ctx).finish(&response.outcome, ctx.secrets()).await;
        let without_arguments = ToolCall::without_arguments(call.id.clone(), call.name.clone());
        if let Some(watch) = Observers::of(self, &without_arguments, index, &around) {
            watch.passed_over(&response, &ctx);
        }
        response.attribute_to(call);
        response
    }

    /// Runs a call from the name of the tool to the outcome.
    async fn admit_and_run(
        &self,
        call: &ToolCall,
        index: Option<usize>,
        ctx: &ToolContext,
        record: &mut Record,
        (watch, reader): (Option<&Observers>, Reader),
    ) -> Outcome {
        let inner = self.inner();
        let admitted = match &call.blocked {
            // A call that could not be parsed may lack even the name.
            Some(reason) if call.name.is_empty() => return Err(reason.error()),
            _ => inner.admit(index, &call.name, ctx.principal())?,
        };
        let spec = admitted.spec;
        // A model reads the rest of a result for which it was already authorized.
        if let Some(principal) = ctx.principal().filter(|_| !inner.is_own(admitted.index)) {
            principal.check(spec)?;
        }
        let (tool, passed) = (&**inner.registry.at(admitted.index), inner.passed(admitted.index));
        let (provided, course) = (Provided { registry: &inner.registry, layers: passed }, Course::default());
        let is_for_model = reader == Reader::Model && call.program.is_none();
        let seen = Invocation::new((tool, &call.arguments), ctx, provided, is_for_model, &course);
        if passed.admit.is_empty() {
            return self.run_admitted(admitted, call, record, (watch, &seen)).await;
        }
        // On the heap: otherwise the future of every call would contain what few calls need.
        let run = Box::pin(self.run_admitted(admitted, call, record, (watch, &seen)));
        Box::pin(layer::pass(&passed.admit, &seen, run)).await
    }

    /// Runs a call that may use its tool, from its arguments to the outcome.
    async fn run_admitted(
        &self,
        admitted: Admitted<'_>,
        call: &ToolCall,
        record: &mut Record,
        (watch, seen): (Option<&Observers>, &Invocation<'_>),
    ) -> Outcome {
        let inner = self.inner();
        let (layers, ctx) = (&inner.layers, seen.ctx());
        // Requirements, middleware and the tool itself use session values that other processes have set.
        if let Some(session) = ctx.session().filter(|session| session.is_shared()) {
            Box::pin(session.refresh()).await?;
        }
        if let Some(reason) = &call.blocked {
            return Err(reason.error());
        }
        layers.seals.verify(call, &**inner.registry.at(admitted.index), &inner.registry, ctx)?;
        if let Some(reason) = &call.brings().denied {
            return Err(reason.clone());
        }
        let results = &seen.layers().result[..];
        let (let_on, goes_on) = match layer::before(results, seen) {
            None => (results, Ok(())),
            Some(asked) => asked.await,
        };
        let mut outcome = match goes_on.map(|()| layers.exact_arguments(call, seen)) {
            Err(reason) => Err(*reason),
            Ok(Some(given)) => {
                let mut outcome = self.perform(admitted, given, call, seen, record).await;
                layer::after(&seen.layers().arguments, seen, &mut outcome).await;
                outcome
            }
            // On the heap: waiting for people and stores needs more space than the tool's own part.
            Ok(None) => Box::pin(self.run_checked(admitted, call, seen, (record, watch))).await,
        };
        if let (Ok(result), Some(declared)) = (&mut outcome, inner.declared(admitted.index)) {
            result.enforce_output_schema(&declared);
        }
        layer::after(let_on, seen, &mut outcome).await;
        outcome
    }

    /// Runs a call from its arguments to the outcome, through every layer that reads arguments.
    async fn run_checked(
        &self,
        admitted: Admitted<'_>,
        call: &ToolCall,
        seen: &Invocation<'_>,
        (record, watch): (&mut Record, Option<&Observers>),
    ) -> Outcome {
        let inner = self.inner();
        let (spec, ctx) = (admitted.spec, seen.ctx());
        if let Some(error) = FactoryError::lacking(spec, ctx.services()) {
            return Err(unbuilt(spec, error));
        }
        // A call that needs more input resumes with the same arguments.
        let sent = parsed(call.arguments.clone());
        let read = sent.as_ref().ok().and_then(|sent| read(spec, sent));
        let was_read = read.is_some();
        let arguments = read.map_or(sent, Ok);
        if let (Ok(arguments), true, Some(redactor)) =
            (&arguments, was_read, inner.redactor_at(admitted.index))
        {
            redactor.hide_secrets(arguments, ctx);
        }
        let readers = &seen.layers().arguments[..];
        let read = seen.with_arguments(arguments.as_ref().ok());
        let (let_on, goes_on) = match layer::before(readers, &read) {
            None => (readers, Ok(())),
            Some(asked) => asked.await,
        };
        let mut outcome = match goes_on.map(|()| arguments) {
            Err(error) => Err(*error),
            Ok(Err(error)) => Err(error),
            Ok(Ok(arguments)) => {
                self.run_decided(admitted, (arguments, was_read), call, seen, (record, watch)).await
            }
        };
        layer::after(let_on, seen, &mut outcome).await;
        outcome
    }

    /// Runs a call with parsed arguments, through middleware and approvers.
    async fn run_decided(
        &self,
        admitted: Admitted<'_>,
        (arguments, was_read): (Value, bool),
        call: &ToolCall,
        seen: &Invocation<'_>,
        (record, watch): (&mut Record, Option<&Observers>),
    ) -> Outcome {
        let inner = self.inner();
        let (layers, ctx) = (&inner.layers, seen.ctx());
        let tool = &**inner.registry.at(admitted.index);
        let redactor = inner.redactor_at(admitted.index);
        let decide = &seen.layers().decide[..];
        let (arguments, approved) =
            layers.decide((tool, &inner.registry, decide), redactor, arguments, call, (ctx, record)).await?;
        let call = approved.as_deref().unwrap_or(call);
        if call.is_approved() {
            let by = &call.brings().approver;
            record.set_approved(by);
            if let Some(watch) = watch {
                watch.approved(by);
            }
        }
        if call.is_approved() || was_read || !decide.is_empty() {
            record.set_arguments(&arguments);
        }
        self.perform(admitted, arguments.into(), call, seen, record).await
    }
}

/// Returns the structured result of a call: only the fields that the call selects.
fn declared_by(declared: Arc<StructuredOutput>, outcome: &Outcome) -> Arc<StructuredOutput> {
    match outcome {
        Ok(result) if !result.selected.is_empty() => {
            let paths: Vec<&str> = result.selected.iter().map(Text::as_str).collect();
            Arc::new(declared.projected(&paths))
        }
        _ => declared,
    }
}

/// The error of a call of a tool that lacks a service: a model can only report it.
fn unbuilt(spec: &ToolSpec, error: FactoryError) -> ToolError {
    let help = format!(
        "{error}: add a service of that type to the toolbox's context (`ToolboxContext::with_service`), or one with \
         that name (`with_named_service`)"
    );
    let error = ToolboxError::Create { name: spec.name.to_string(), source: error };
    ToolError::failed_with("SERVICE_UNAVAILABLE", error.to_string()).with_operator_detail(help)
}

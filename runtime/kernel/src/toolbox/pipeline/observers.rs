//! Observers of a call: hooks and subscribers of events.

mod event_order;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::base::frozen::Text;
use crate::base::future::catch_panic;
use crate::call::callback::{CallbackFailure, with_timeout};
use crate::call::context::{ToolContext, TurnContext};
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::{ToolCall, ToolResponse};
use crate::layers::events::{Event, EventKind, OnEvent};
use crate::layers::hooks::{Hooks, SKIPPED_BY_HOOK, SKIPPED_BY_LATE_HOOK};
use crate::layers::redact::{Secrets, ToolRedactor};
use crate::toolbox::Toolbox;

use event_order::Gate;

/// The observers of one call.
pub(super) struct Observers {
    hooks: Option<Arc<dyn Hooks>>,
    /// The time limit of a hook.
    hook_timeout: Duration,
    events: Option<Events>,
    id: Text,
    name: Text,
    agent_id: Option<Text>,
    session_id: Option<Text>,
    principal: Option<Text>,
    approved_by: OnceLock<Text>,
}

/// The subscriber of events.
struct Events {
    on_event: OnEvent,
    redactor: ToolRedactor,
    gate: Gate<Event>,
    /// Notified when another thread has delivered the last event.
    ended: Notify,
}

impl Observers {
    /// Returns the observers of a call of the tool at the index through this toolbox, if there are any.
    pub(super) fn of(
        toolbox: &Toolbox,
        call: &ToolCall,
        index: Option<usize>,
        turn: &TurnContext,
    ) -> Option<Arc<Observers>> {
        let inner = toolbox.inner();
        let layers = &inner.layers;
        if layers.hooks.is_none() && layers.on_event.is_none() {
            return None;
        }
        let events = layers.on_event.clone().map(|on_event| {
            let redactor = inner.redactor(index);
            Events { on_event, redactor, gate: Gate::default(), ended: Notify::new() }
        });
        Some(Arc::new(Observers {
            hooks: layers.hooks.clone(),
            hook_timeout: layers.callback_timeouts.callbacks,
            events,
            id: call.id.clone(),
            name: call.name.clone(),
            agent_id: turn.agent_id.clone(),
            session_id: turn.session.as_ref().map(|session| Text::copy_of(session.id())),
            principal: turn.principal.as_ref().map(|principal| principal.id.clone()),
            approved_by: OnceLock::new(),
        }))
    }

    /// Returns a context that reports to these observers first. Its reports contain no secrets of the call.
    pub(super) fn instrument(self: &Arc<Self>, turn: &TurnContext) -> Arc<TurnContext> {
        let mut instrumented = turn.clone();
        let (observers, next) = (Arc::clone(self), turn.on_progress.clone());
        instrumented.on_progress = Some(Arc::new(move |line| {
            observers.report(|events| EventKind::Progress {
                message: events.redactor.text(&line, &Secrets::default()).into_owned(),
            });
            if let Some(next) = &next {
                catch_panic(|| next(line));
            }
        }));
        let (observers, next) = (Arc::clone(self), turn.on_update.clone());
        instrumented.on_update = Some(Arc::new(move |result| observers.update(result, next.as_deref())));
        Arc::new(instrumented)
    }

    /// Calls the hooks before the call. Returns a response if the call must not run.
    pub(super) async fn begins(&self, call: &ToolCall, ctx: &ToolContext) -> Option<Box<ToolResponse>> {
        if let Some(hooks) = &self.hooks {
            let ask =
                with_timeout(Some(self.hook_timeout), async { hooks.before_tool_execution(call, ctx).await });
            match ctx.caller_token().run_until_cancelled(ask).await {
                Some(Ok(true)) => {}
                Some(Err(CallbackFailure::TimedOut)) => {
                    return Some(Box::new(ToolResponse::skipped(call, SKIPPED_BY_LATE_HOOK)));
                }
                Some(_) => return Some(Box::new(ToolResponse::skipped(call, SKIPPED_BY_HOOK))),
                None => {
                    let response = ToolResponse::new(call, Err(ToolError::Cancelled));
                    self.report_begin(&call.arguments, ctx);
                    self.report_end(&response.outcome, response.duration, ctx);
                    return Some(Box::new(response));
                }
            }
        }
        self.report_begin(&call.arguments, ctx);
        None
    }

    /// Records the approver of the call, or an empty name if it is unknown.
    pub(super) fn approved(&self, by: &Text) {
        // A call is approved only once.
        let _ = self.approved_by.set(by.clone());
    }

    /// Reports the response of the call.
    pub(super) async fn ends(&self, response: &ToolResponse, ctx: &ToolContext) {
        if !self.report_end(&response.outcome, response.duration, ctx)
            && let Some(events) = &self.events
        {
            // Boxed: few calls still report from another thread when they end.
            let _ = Box::pin(with_timeout(Some(self.hook_timeout), events.ended.notified())).await;
        }
        if let Some(hooks) = &self.hooks {
            // The response is final; an error of a hook does not affect the call.
            let notified = with_timeout(Some(self.hook_timeout), async {
                hooks.after_tool_execution(response, ctx).await;
            });
            let _ = notified.await;
        }
    }

    /// Reports a call that got a response without running. No hook is called.
    pub(super) fn passed_over(&self, response: &ToolResponse, ctx: &ToolContext) {
        self.report_begin(&Value::Null, ctx);
        self.report_end(&response.outcome, response.duration, ctx);
    }

    fn report_begin(&self, arguments: &Value, ctx: &ToolContext) {
        if let Some(events) = &self.events {
            catch_panic(|| {
                let arguments = events.redactor.redact_arguments(arguments, ctx);
                (events.on_event)(self.event(EventKind::ToolCall { arguments }));
            });
        }
    }

    /// Sends the last event of the call, after all others. Returns `false` if another thread, which is reporting now,
    /// sends it.
    fn report_end(
        &self,
        outcome: &Result<ToolResult, ToolError>,
        duration: Duration,
        ctx: &ToolContext,
    ) -> bool {
        let Some(events) = &self.events else { return true };
        let secrets = ctx.secrets().unwrap_or_default();
        let kind = catch_panic(|| match outcome {
            Ok(result) => {
                let (content, _) = events.redact_result(result, &secrets);
                EventKind::ToolResponse { content, is_error: result.is_error(), duration }
            }
            Err(error) => {
                let message = events.redactor.message(error, &secrets);
                let code = secrets.code(error.code()).unwrap_or("EXECUTION_ERROR").to_owned();
                EventKind::Error { message, code, duration }
            }
        });
        let unknown_error =
            || EventKind::Error { message: String::new(), code: "UNKNOWN".to_owned(), duration };
        let end = events.gate.close(self.event(kind.unwrap_or_else(unknown_error)));
        let is_sent = end.is_some();
        end.and_then(|end| catch_panic(|| (events.on_event)(end)));
        is_sent
    }

    fn update(&self, result: ToolResult, next: Option<&(dyn Fn(ToolResult) + Send + Sync)>) {
        if let Some(hooks) = &self.hooks
            && catch_panic(|| hooks.before_tool_execution_update(&self.id, &self.name, &result))
                == Some(false)
        {
            return;
        }
        self.report(|events| {
            let (content, details) = events.redact_result(&result, &Secrets::default());
            EventKind::Update { content, details }
        });
        let Some(hooks) = &self.hooks else {
            if let Some(next) = next {
                catch_panic(|| next(result));
            }
            return;
        };
        if let Some(next) = next {
            catch_panic(|| next(result.clone()));
        }
        catch_panic(|| hooks.after_tool_execution_update(&self.id, &self.name, &result));
    }

    /// Sends an event of a running call.
    fn report(&self, kind: impl FnOnce(&Events) -> EventKind) {
        let Some(events) = self.events.as_ref().filter(|events| events.gate.enter()) else { return };
        // An error of a subscriber does not affect the call.
        catch_panic(|| (events.on_event)(self.event(kind(events))));
        if let Some(end) = events.gate.leave() {
            catch_panic(|| (events.on_event)(end));
            events.ended.notify_one();
        }
    }

    fn event(&self, kind: EventKind) -> Event {
        Event {
            id: self.id.clone(),
            name: self.name.clone(),
            agent_id: self.agent_id.clone(),
            session_id: self.session_id.clone(),
            principal: self.principal.clone(),
            approved_by: self.approved_by.get().cloned(),
            at: SystemTime::now(),
            kind,
        }
    }
}

impl Events {
    /// Returns the redacted content and details of a result.
    fn redact_result(&self, result: &ToolResult, secrets: &Secrets) -> (Value, Value) {
        let mut redacted = self.redactor.result(result, secrets);
        (redacted["content"].take(), redacted["details"].take())
    }
}

/// A call that has begun. If it is dropped without a response because its caller abandoned it, the subscriber of
/// events is notified. In both cases, work that outlives the call can no longer report.
pub(super) struct CallGuard<'a> {
    observers: Option<&'a Observers>,
    ctx: &'a ToolContext,
    started: Instant,
}

impl<'a> CallGuard<'a> {
    pub(super) fn new(
        observers: Option<&'a Observers>,
        ctx: &'a ToolContext,
        started: Instant,
    ) -> CallGuard<'a> {
        CallGuard { observers, ctx, started }
    }

    /// Records that the call has a response, which is reported next.
    pub(super) fn answered(mut self) {
        self.observers = None;
    }
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        self.ctx.end();
        if let Some(observers) = self.observers {
            observers.report_end(&Err(ToolError::Cancelled), self.started.elapsed(), self.ctx);
        }
    }
}

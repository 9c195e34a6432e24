//! Those who watch a call: hooks and takers of events.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use crate::base::frozen::Text;
use crate::base::future::caught;
use crate::call::context::{Surroundings, ToolContext};
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::{ToolCall, ToolResponse};
use crate::layers::events::{Event, EventKind, OnEvent};
use crate::layers::hooks::{Hooks, SKIPPED_BY_HOOK};
use crate::layers::redact::{Secrets, ToolRedactor};
use crate::provider::Provider;

/// Those who watch one call.
pub(super) struct Watch {
    hooks: Option<Arc<dyn Hooks>>,
    events: Option<Events>,
    id: Text,
    name: Text,
    agent_id: Option<Text>,
}

/// Who takes events, and what they must not see.
struct Events {
    on_event: OnEvent,
    redactor: ToolRedactor,
    arguments: Value,
    secrets: Secrets,
}

impl Watch {
    /// Those who watch a call through this provider, if anybody does.
    pub(super) fn of(provider: &Provider, call: &ToolCall, around: &Surroundings) -> Option<Arc<Watch>> {
        let inner = provider.inner();
        let layers = &inner.layers;
        if layers.hooks.is_none() && layers.on_event.is_none() {
            return None;
        }
        let events = layers.on_event.clone().map(|on_event| {
            let redactor = inner.redactor(&call.name);
            let (arguments, secrets) = redactor.arguments(call.arguments.clone());
            Events { on_event, redactor, arguments, secrets }
        });
        let (hooks, agent_id) = (layers.hooks.clone(), around.agent_id.clone());
        Some(Arc::new(Watch { hooks, events, id: call.id.clone(), name: call.name.clone(), agent_id }))
    }

    /// Surroundings that report here first.
    pub(super) fn around(self: &Arc<Self>, around: &Surroundings) -> Arc<Surroundings> {
        let mut own = around.clone();
        let (watch, next) = (Arc::clone(self), around.on_progress.clone());
        own.on_progress = Some(Arc::new(move |line| {
            watch.emit(|events| EventKind::Progress {
                message: events.redactor.text(&line, &events.secrets).into_owned(),
            });
            if let Some(next) = &next {
                next(line);
            }
        }));
        let (watch, next) = (Arc::clone(self), around.on_update.clone());
        own.on_update = Some(Arc::new(move |result| watch.update(result, next.as_deref())));
        Arc::new(own)
    }

    /// Lets the call begin, or gives what it is answered with instead.
    pub(super) async fn begins(&self, call: &ToolCall, ctx: &ToolContext) -> Option<ToolResponse> {
        if let Some(hooks) = &self.hooks {
            let asked = caught(async { hooks.before_tool_execution(call, ctx).await });
            match ctx.caller_token().run_until_cancelled(asked).await {
                Some(Some(true)) => {}
                Some(_) => return Some(ToolResponse::skipped(call, SKIPPED_BY_HOOK)),
                None => {
                    let response = ToolResponse::new(call, Err(ToolError::Cancelled));
                    self.passed_over(&response);
                    return Some(response);
                }
            }
        }
        self.began();
        None
    }

    /// The call was answered.
    pub(super) async fn ends(&self, response: &ToolResponse, ctx: &ToolContext) {
        self.ended(response);
        if let Some(hooks) = &self.hooks {
            let _ = caught(async { hooks.after_tool_execution(response, ctx).await }).await;
        }
    }

    /// The call was answered without being run: no hook is asked.
    pub(super) fn passed_over(&self, response: &ToolResponse) {
        self.began();
        self.ended(response);
    }

    fn began(&self) {
        self.emit(|events| EventKind::ToolCall { arguments: events.arguments.clone() });
    }

    fn ended(&self, response: &ToolResponse) {
        let duration = response.duration;
        self.emit(|events| match &response.outcome {
            Ok(result) => {
                let (content, _) = events.shown(result);
                EventKind::ToolResponse { content, is_error: result.is_error(), duration }
            }
            Err(why) => {
                let message = events.redactor.text(&why.to_string(), &events.secrets).into_owned();
                EventKind::Error { message, code: why.code().to_owned(), duration }
            }
        });
    }

    fn update(&self, result: ToolResult, next: Option<&(dyn Fn(ToolResult) + Send + Sync)>) {
        if let Some(hooks) = &self.hooks {
            let wanted = catch_unwind(AssertUnwindSafe(|| {
                hooks.before_tool_execution_update(&self.id, &self.name, &result)
            }));
            if !wanted.unwrap_or(true) {
                return;
            }
        }
        self.emit(|events| {
            let (content, details) = events.shown(&result);
            EventKind::Update { content, details }
        });
        let Some(hooks) = &self.hooks else {
            if let Some(next) = next {
                next(result);
            }
            return;
        };
        if let Some(next) = next {
            next(result.clone());
        }
        let _ = catch_unwind(AssertUnwindSafe(|| {
            hooks.after_tool_execution_update(&self.id, &self.name, &result);
        }));
    }

    fn emit(&self, kind: impl FnOnce(&Events) -> EventKind) {
        if let Some(events) = &self.events {
            let (id, name, agent_id) = (self.id.clone(), self.name.clone(), self.agent_id.clone());
            let event = Event { id, name, agent_id, at: SystemTime::now(), kind: kind(events) };
            // What is wrong with whoever takes events is not the call's concern.
            let _ = catch_unwind(AssertUnwindSafe(|| (events.on_event)(event)));
        }
    }
}

impl Events {
    /// The content and the details of a result, as far as they may be shown.
    fn shown(&self, result: &ToolResult) -> (Value, Value) {
        let mut shown = self.redactor.result(result, &self.secrets);
        (shown["content"].take(), shown["details"].take())
    }
}

//! Combines the observers of a call into one.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::otel_span::within;
use crate::base::frozen::Text;
use crate::base::future::{BoxFuture, catch_panic, catch_panic_async};
use crate::call::ToolCall;
use crate::call::context::{ToolContext, next_turn};
use crate::call::error::ToolError;
use crate::layers::layer::{Layer, Outcome};
use crate::layers::middleware::Approval;
use crate::layers::observer::{Called, Observer};
use crate::layers::redact::Secrets;
use crate::toolbox::{Inner, Toolbox};

impl Toolbox {
    /// Starts recording a call of the tool at the index.
    pub(crate) fn record(
        &self,
        call: &ToolCall,
        index: Option<usize>,
        started: SystemTime,
        ctx: &mut ToolContext,
    ) -> Record {
        let called = (call, index, started);
        Record(self.inner().observers(&self.inner().recorders, called, ctx))
    }

    /// Returns the number of a new turn, or 0 if nothing observes calls.
    pub(crate) fn recorded_turn(&self) -> u64 {
        if self.inner().recorders.is_empty() { 0 } else { next_turn() }
    }
}

impl Inner {
    /// Starts observing a call of the tool at the index, which arrived at `started`.
    #[inline]
    pub(super) fn observers(
        &self,
        layers: &[Arc<dyn Layer>],
        called: (&ToolCall, Option<usize>, SystemTime),
        ctx: &mut ToolContext,
    ) -> Vec<Box<dyn Observer>> {
        if layers.is_empty() { Vec::new() } else { self.start_observers(layers, called, ctx) }
    }

    fn start_observers(
        &self,
        layers: &[Arc<dyn Layer>],
        (call, index, started): (&ToolCall, Option<usize>, SystemTime),
        ctx: &mut ToolContext,
    ) -> Vec<Box<dyn Observer>> {
        let redactor = || self.redactor(index);
        let tool = index.map(|index| self.registry.at(index));
        let called = Called { call, tool, redactor: &redactor, started };
        let relevant = layers.iter().filter(|layer| tool.is_none_or(|tool| layer.applies_to(tool.spec())));
        let mut observers = Vec::new();
        for layer in relevant {
            let mut observer = None;
            within(&observers, &mut || {
                observer = catch_panic(|| layer.observe(&called, ctx))
                    .unwrap_or_else(|| Some(Box::new(PanickedObserver)));
            });
            observers.extend(observer);
        }
        observers
    }
}

/// Replaces an observer that panicked at the start of a call.
struct PanickedObserver;

impl Observer for PanickedObserver {
    fn intent(&mut self) -> Result<Option<BoxFuture<'_, Result<(), ToolError>>>, ToolError> {
        Err(ToolError::failed("the call could not be observed, so it was not executed"))
    }
}

/// The observers of a call, in the order of their layers.
pub(crate) struct Record(pub(super) Vec<Box<dyn Observer>>);

impl Record {
    pub(crate) fn set_arguments(&mut self, arguments: &Value) {
        self.0.iter_mut().for_each(|observer| observer.arguments(arguments));
    }

    /// Sets the arguments that the tool would get after the call is approved.
    pub(crate) fn set_completed(&mut self, arguments: &dyn Fn() -> Result<Value, ToolError>) {
        self.0.iter_mut().for_each(|observer| observer.completed(arguments));
    }

    /// Returns the recorded decision, if any, that replaces that of the approver.
    pub(crate) fn decision(&self) -> Option<Approval> {
        self.0.iter().find_map(|observer| observer.decide())
    }

    pub(crate) fn set_approved(&mut self, by: &Text) {
        self.0.iter_mut().for_each(|observer| observer.approved(by));
    }

    /// Reports to the observers that the tool is about to run. Returns an error if an observer objects, and `None` if
    /// there is nothing to await.
    pub(crate) fn intent(&mut self) -> Result<Option<BoxFuture<'_, Result<(), ToolError>>>, ToolError> {
        let mut observers = self.0.iter_mut();
        while let Some(observer) = observers.next() {
            if let Some(intent) = observer.intent()? {
                return Ok(Some(Box::pin(async move {
                    intent.await?;
                    for observer in observers {
                        if let Some(intent) = observer.intent()? {
                            intent.await?;
                        }
                    }
                    Ok(())
                })));
            }
        }
        Ok(None)
    }

    /// Returns the recorded outcome, if any, that replaces the run of the tool.
    pub(crate) fn replayed_outcome(&self) -> Option<Outcome> {
        self.0.iter().find_map(|observer| observer.answer())
    }

    /// Finishes the observers, the innermost first, each within the spans of the outer observers.
    pub(super) async fn end(mut self, outcome: &Outcome, secrets: Option<Arc<Secrets>>) {
        while let Some(innermost) = self.0.pop() {
            let (mut innermost, mut finish) = (Some(innermost), None);
            within(&self.0, &mut || {
                if let Some(observer) = innermost.take() {
                    finish = catch_panic(|| observer.finish(outcome, secrets.clone())).flatten();
                }
            });
            if let Some(finish) = finish {
                catch_panic_async(finish).await;
            }
        }
    }

    pub(crate) async fn finish(self, outcome: &Outcome, secrets: Option<Arc<Secrets>>) {
        for observer in self.0 {
            // The response is final; an error of an observer does not change it.
            if let Some(Some(finish)) = catch_panic(|| observer.finish(outcome, secrets.clone())) {
                catch_panic_async(finish).await;
            }
        }
    }
}

//! The record of a call, and its place in a replay; without the feature `audit` there is neither.

#[cfg(not(feature = "audit"))]
pub(crate) use off::Record;
#[cfg(feature = "audit")]
pub(crate) use on::Record;

use crate::call::ToolCall;
use crate::call::context::ToolContext;
use crate::provider::Provider;

impl Provider {
    /// Starts the record of a call of the tool at the index, if calls are recorded or replayed.
    #[cfg(feature = "audit")]
    pub(crate) fn record(&self, call: &ToolCall, index: Option<usize>, ctx: &ToolContext) -> Record {
        on::record(self, call, index, ctx)
    }

    /// Returns the number of a turn that begins, or 0 if calls are not recorded.
    pub(crate) fn recorded_turn(&self) -> u64 {
        #[cfg(feature = "audit")]
        if self.inner().layers.auditor.is_on() {
            return crate::call::context::next_turn();
        }
        0
    }

    #[cfg(not(feature = "audit"))]
    pub(crate) fn record(&self, _: &ToolCall, _: Option<usize>, _: &ToolContext) -> Record {
        Record
    }
}

#[cfg(feature = "audit")]
mod on {
    use std::sync::Arc;

    use serde_json::Value;

    use crate::base::frozen::Text;
    use crate::call::ToolCall;
    use crate::call::context::{Recorded, ToolContext};
    use crate::call::error::ToolError;
    use crate::call::result::ToolResult;
    use crate::call::tool::AgentTool;
    use crate::layers::audit::{CallInfo, Record as Written};
    use crate::layers::middleware::Approval;
    use crate::layers::redact::Secrets;
    use crate::layers::replay::Live;
    use crate::provider::Provider;

    /// The record of a call, and the call as it is replayed.
    pub(crate) struct Record {
        written: Written,
        live: Option<Box<Live>>,
    }

    pub(super) fn record(
        provider: &Provider,
        call: &ToolCall,
        index: Option<usize>,
        ctx: &ToolContext,
    ) -> Record {
        let inner = provider.inner();
        let tool = || index.map(|index| Arc::clone(inner.registry.at(index)));
        let written = inner.layers.auditor.record(|| {
            let attempt = if call.is_approved() { 2 } else { 1 };
            CallInfo::of(ctx, call.arguments.clone()).with_tool(tool()).with_attempt(attempt)
        });
        let live = inner.layers.replay.as_ref().map(|replay| {
            let composes =
                |tool: Arc<dyn AgentTool>| tool.spec().sub_agent || !tool.called_tools().is_empty();
            let above = ctx.recorded().map_or(0, |above| above.replayed);
            let called = (call.name.clone(), &call.arguments);
            Box::new(Live::new(replay, above, called, inner.redactor(index), tool().is_some_and(composes)))
        });
        Record { written, live }
    }

    impl Record {
        pub(crate) fn set_arguments(&mut self, arguments: &Value) {
            self.written.set_arguments(arguments);
            if let Some(live) = &mut self.live {
                live.set_arguments(arguments);
            }
        }

        /// Sets the arguments that the tool would get once the call is approved, for a replay.
        pub(crate) fn set_completed(&mut self, arguments: impl FnOnce() -> Result<Value, ToolError>) {
            if let Some(live) = &mut self.live
                && let Ok(arguments) = arguments()
            {
                live.set_completed(arguments);
            }
        }

        /// Returns what a replay decides about the call, in place of the approver.
        pub(crate) fn decision(&self) -> Option<Approval> {
            self.live.as_ref().map(|live| live.decide())
        }

        pub(crate) fn set_approved(&mut self, by: Text) {
            self.written.set_approved(by);
        }

        pub(crate) fn hide(&mut self, secrets: Option<Arc<Secrets>>) {
            self.written.hide(secrets);
        }

        pub(crate) fn place(&self) -> Option<Recorded> {
            let place = self.written.place();
            match &self.live {
                None => place,
                Some(live) => {
                    let none = Recorded { auditor: 0, key: 0, replayed: 0 };
                    Some(Recorded { replayed: live.key(), ..place.unwrap_or(none) })
                }
            }
        }

        pub(crate) fn waits(&self) -> bool {
            self.written.waits()
        }

        /// Records that the call is about to run, unless it is not the one that a replay expects.
        pub(crate) async fn intent(&mut self) -> Result<(), ToolError> {
            if let Some(live) = &mut self.live {
                live.intent()?;
            }
            self.written.intent().await
        }

        /// Returns the answer of a replay, which the call gets in place of that of its tool.
        pub(crate) fn answer(&self) -> Option<Result<ToolResult, ToolError>> {
            self.live.as_ref()?.answer()
        }

        /// Whether a replay answers the call.
        pub(crate) fn is_answered(&self) -> bool {
            self.live.as_ref().is_some_and(|live| live.is_answered())
        }

        pub(crate) async fn finish(self, outcome: &Result<ToolResult, ToolError>) {
            let Record { written, live } = self;
            if let Some(mut live) = live {
                live.finish(outcome);
            }
            written.finish(outcome).await;
        }
    }
}

#[cfg(not(feature = "audit"))]
mod off {
    use std::sync::Arc;

    use serde_json::Value;

    use crate::base::frozen::Text;
    use crate::call::context::Recorded;
    use crate::call::error::ToolError;
    use crate::call::result::ToolResult;
    use crate::layers::middleware::Approval;
    use crate::layers::redact::Secrets;

    /// A record that does nothing.
    pub(crate) struct Record;

    impl Record {
        pub(crate) fn set_arguments(&mut self, _: &Value) {}

        pub(crate) fn set_completed(&mut self, _: impl FnOnce() -> Result<Value, ToolError>) {}

        pub(crate) fn decision(&self) -> Option<Approval> {
            None
        }

        pub(crate) fn set_approved(&mut self, _: Text) {}

        pub(crate) fn hide(&mut self, _: Option<Arc<Secrets>>) {}

        pub(crate) fn place(&self) -> Option<Recorded> {
            None
        }

        pub(crate) fn waits(&self) -> bool {
            false
        }

        pub(crate) async fn intent(&mut self) -> Result<(), ToolError> {
            Ok(())
        }

        pub(crate) fn answer(&self) -> Option<Result<ToolResult, ToolError>> {
            None
        }

        pub(crate) fn is_answered(&self) -> bool {
            false
        }

        pub(crate) async fn finish(self, _: &Result<ToolResult, ToolError>) {}
    }
}

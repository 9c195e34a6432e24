//! The record of a call; without the feature `audit` there is none.

#[cfg(feature = "audit")]
use std::sync::Arc;

#[cfg(feature = "audit")]
pub(crate) use crate::layers::audit::Record;
#[cfg(not(feature = "audit"))]
pub(crate) use off::Record;

use crate::call::ToolCall;
use crate::call::context::ToolContext;
use crate::provider::Provider;

impl Provider {
    /// Starts the record of a call of the tool at the index, if calls are recorded.
    #[cfg(feature = "audit")]
    pub(crate) fn record(&self, call: &ToolCall, index: Option<usize>, ctx: &ToolContext) -> Record {
        let inner = self.inner();
        inner.layers.auditor.record(|| {
            let tool = index.map(|index| Arc::clone(inner.registry.at(index)));
            let attempt = if call.is_approved() { 2 } else { 1 };
            crate::layers::audit::CallInfo::of(ctx, call.arguments.clone())
                .with_tool(tool)
                .with_attempt(attempt)
        })
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

#[cfg(not(feature = "audit"))]
mod off {
    use std::sync::Arc;

    use serde_json::Value;

    use crate::base::frozen::Text;
    use crate::call::context::Recorded;
    use crate::call::error::ToolError;
    use crate::call::result::ToolResult;
    use crate::layers::redact::Secrets;

    /// A record that does nothing.
    pub(crate) struct Record;

    impl Record {
        pub(crate) fn set_arguments(&mut self, _: &Value) {}

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

        pub(crate) async fn finish(self, _: &Result<ToolResult, ToolError>) {}
    }
}

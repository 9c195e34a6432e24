//! The calls that a model makes through another tool.

use crate::call::ToolCall;
use crate::call::context::ToolContext;
use crate::provider::Provider;

impl Provider {
    /// Returns the call that a model means by a call of `call_tool`, which is then handled like any call of its tool.
    /// Other calls are returned unchanged, and so are calls of `call_tool` with wrong arguments, which are answered as
    /// such.
    pub(crate) fn meant(&self, mut call: ToolCall, turn: &ToolContext) -> ToolCall {
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
}

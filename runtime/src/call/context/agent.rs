//! The context of an agent that a call started.

use super::CancellationToken;
use super::ToolContext;
use crate::base::frozen::Text;
use crate::call::session::Session;

impl ToolContext {
    /// The context for the turns of an agent that this call starts. Services and the principal stay, the session is the
    /// agent's own, and reports of the agent's tools are not reports of this call.
    pub(crate) fn for_agent(
        &self,
        agent_id: Text,
        session: Session,
        token: CancellationToken,
    ) -> ToolContext {
        let mut below =
            self.child(self.tool_call_id.clone(), self.tool_name.clone()).with_cancel(token).with(|around| {
                (around.on_update, around.on_progress) = (None, None);
                around.agent_id = Some(agent_id);
                around.session = Some(session);
            });
        (below.depth, below.agents) = (self.depth + 1, self.agents + 1);
        below
    }
}

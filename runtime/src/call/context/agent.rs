//! The context of an agent that a call started.

use crate::base::frozen::Text;
use crate::call::session::Session;

use super::{CancellationToken, ToolContext};

impl ToolContext {
    /// How many agents are above this call: none for a call of the program's own agent, one for a call of a sub-agent.
    #[must_use]
    pub fn agent_depth(&self) -> u32 {
        self.agents
    }

    /// The context of the turns of an agent that this call starts: what is lent and for whom it is stay, the session is
    /// its own, and what its tools report is not a report of this call.
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

//! The context of an agent that a call started.

use std::sync::Arc;

use super::{CancellationToken, ToolContext, TurnContext};
use crate::base::frozen::Text;
use crate::call::Turn;
use crate::call::session::{Session, Span};

impl Turn {
    /// The turns of a loop: this turn, in a session that ends with the loop unless it already has one.
    #[doc(hidden)]
    #[must_use]
    pub fn for_loop(&self) -> Turn {
        let rights = self.0.rights();
        if rights.session.is_some() {
            return self.clone();
        }
        let session = Some(Session::passing(Span::Loop));
        let turn = TurnContext { session, ..TurnContext::clone(&rights) };
        Turn(ToolContext { turn: Some(Arc::new(turn)), ..self.0.clone() })
    }
}

impl ToolContext {
    /// The context for the turns of an agent that this call starts. Services and the principal are kept, the session
    /// is the agent's own, and reports of the agent's tools are not reports of this call.
    #[doc(hidden)]
    pub fn for_agent(&self, agent_id: Text, session: Session, token: CancellationToken) -> Turn {
        let turn = TurnContext {
            on_update: None,
            on_progress: None,
            agent_id: Some(agent_id),
            session: Some(session),
            ..TurnContext::clone(&self.rights())
        };
        let mut below = self
            .child_in(Arc::new(turn), self.tool_call_id.clone(), self.tool_name.clone())
            .with_cancel(token);
        (below.depth, below.agents) = (self.depth + 1, self.agents + 1);
        // A model makes the agent's calls, and the turns of the agent limit them.
        below.nested = None;
        Turn(below)
    }
}

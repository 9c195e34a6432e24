//! What an agent reports while it works, and how far it may go.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use super::{AgentFailure, AgentLimits};
use crate::call::context::ToolContext;
use crate::call::result::ToolResult;

/// What a sub-agent reports to while it works. Clones are the same.
///
/// It passes on what the agent says to those who watch the call, and holds the agent to its limits: where one is
/// reached the token of the agent fires, and the call fails whatever the agent says.
#[derive(Clone, Debug)]
pub struct AgentMonitor(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    ctx: ToolContext,
    token: CancellationToken,
    limits: AgentLimits,
    turns: AtomicU32,
    tokens: AtomicU64,
    said: AtomicU64,
    exceeded: OnceLock<AgentFailure>,
}

impl AgentMonitor {
    pub(super) fn new(ctx: ToolContext, token: CancellationToken, limits: AgentLimits) -> AgentMonitor {
        AgentMonitor(Arc::new(Inner {
            ctx,
            token,
            limits,
            turns: AtomicU32::new(0),
            tokens: AtomicU64::new(0),
            said: AtomicU64::new(0),
            exceeded: OnceLock::new(),
        }))
    }

    /// The model is about to be asked.
    ///
    /// # Errors
    ///
    /// [`AgentFailure::MaxTurns`], if it was asked as often as it may be.
    pub fn begin_turn(&self) -> Result<(), AgentFailure> {
        let most = self.0.limits.max_turns;
        let next = |turns: u32| (turns < most).then(|| turns + 1);
        match self.0.turns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            Ok(_) => Ok(()),
            Err(_) => Err(self.exceed(AgentFailure::MaxTurns(most))),
        }
    }

    /// A turn has cost so many tokens, both ways.
    ///
    /// # Errors
    ///
    /// [`AgentFailure::MaxTokens`], if all turns together have cost more than they may.
    pub fn spend(&self, tokens: u64) -> Result<(), AgentFailure> {
        let most = self.0.limits.max_tokens;
        let spent = |before: u64| Some(before.saturating_add(tokens));
        let before = self.0.tokens.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spent);
        if before.unwrap_or_default().saturating_add(tokens) <= most {
            return Ok(());
        }
        Err(self.exceed(AgentFailure::MaxTokens(most)))
    }

    /// The model said a piece of text. Those who watch the call see it at once.
    pub fn text(&self, delta: &str) {
        self.0.said.fetch_add(1, Ordering::Relaxed);
        if !delta.is_empty() {
            self.0.ctx.update(ToolResult::text(delta));
        }
    }

    /// The agent calls a tool: `[sub-agent calling tool: {name}]`.
    pub fn calls(&self, tool: &str) {
        self.0.ctx.update(ToolResult::text(format!("[sub-agent calling tool: {tool}]")));
    }

    /// How many turns the model has taken.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.0.turns.load(Ordering::Relaxed)
    }

    /// How many tokens it has cost.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.0.tokens.load(Ordering::Relaxed)
    }

    /// How many pieces of text there were.
    pub(super) fn said(&self) -> u64 {
        self.0.said.load(Ordering::Relaxed)
    }

    /// The limit that was reached, if one was.
    pub(super) fn exceeded(&self) -> Option<AgentFailure> {
        self.0.exceeded.get().cloned()
    }

    fn exceed(&self, limit: AgentFailure) -> AgentFailure {
        let limit = self.0.exceeded.get_or_init(|| limit).clone();
        self.0.token.cancel();
        limit
    }
}

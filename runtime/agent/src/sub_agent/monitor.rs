//! The monitor of a running sub-agent: progress reports and limits.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use tokio_util::sync::CancellationToken;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::result::ToolResult;

use super::{AgentFailure, AgentLimits};

/// Maximum number of bytes of text that are held back until more arrives.
const MAX_HELD_BYTES: usize = 64 << 10;

/// Receives the reports of a sub-agent while it runs. Clones share their state.
///
/// It forwards the agent's output to the observers of the call, and enforces the agent's limits: when a limit is
/// reached, the agent's cancellation token is cancelled, and the call fails regardless of the agent's result.
#[derive(Clone, Debug)]
pub struct AgentMonitor(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    ctx: ToolContext,
    token: CancellationToken,
    limits: AgentLimits,
    turns: AtomicU32,
    tokens: AtomicU64,
    model_output: AtomicU64,
    /// The end of the text so far, which may be the start of a secret.
    held: Mutex<String>,
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
            model_output: AtomicU64::new(0),
            held: Mutex::default(),
            exceeded: OnceLock::new(),
        }))
    }

    /// Reports that a request to the model is about to be sent.
    ///
    /// # Errors
    ///
    /// Returns [`AgentFailure::MaxTurns`] if the turn limit is reached.
    pub fn begin_turn(&self) -> Result<(), AgentFailure> {
        self.flush();
        let max = self.0.limits.max_turns;
        let next = |turns: u32| (turns < max).then(|| turns + 1);
        match self.0.turns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            Ok(_) => Ok(()),
            Err(_) => Err(self.exceed(AgentFailure::MaxTurns(max))),
        }
    }

    /// Reports the cost of a turn in tokens, input and output.
    ///
    /// # Errors
    ///
    /// Returns [`AgentFailure::MaxTokens`] if the total cost exceeds the limit.
    pub fn add_tokens(&self, tokens: u64) -> Result<(), AgentFailure> {
        let max = self.0.limits.max_tokens;
        let spent = |before: u64| Some(before.saturating_add(tokens));
        let before = self.0.tokens.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spent);
        if before.unwrap_or_default().saturating_add(tokens) <= max {
            return Ok(());
        }
        Err(self.exceed(AgentFailure::MaxTokens(max)))
    }

    /// Reports a piece of the model's text, which observers of the call see immediately. If the end of the text may
    /// be the start of a secret of the call, it is held back until the next piece or the end of the turn.
    pub fn text(&self, delta: &str) {
        self.0.model_output.fetch_add(1, Ordering::Relaxed);
        let mut held = unpoisoned(self.0.held.lock());
        held.push_str(delta);
        let secrets = self.0.ctx.secrets().filter(|_| held.len() <= MAX_HELD_BYTES);
        let end = secrets.map_or(held.len(), |secrets| secrets.unfinished(&held));
        let rest = held.split_off(end);
        let displayed = std::mem::replace(&mut *held, rest);
        drop(held);
        self.show(displayed);
    }

    /// Reports the rest of a turn's text.
    pub(super) fn flush(&self) {
        let rest = std::mem::take(&mut *unpoisoned(self.0.held.lock()));
        self.show(rest);
    }

    fn show(&self, text: String) {
        if !text.is_empty() {
            self.0.ctx.update(ToolResult::text(text));
        }
    }

    /// Reports that the agent calls a tool: `[sub-agent calling tool: {name}]`.
    pub fn report_call(&self, tool: &str) {
        self.flush();
        self.0.ctx.update(ToolResult::text(format!("[sub-agent calling tool: {tool}]")));
    }

    /// Returns the number of turns of the model so far.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.0.turns.load(Ordering::Relaxed)
    }

    /// Returns the token cost of the agent so far.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.0.tokens.load(Ordering::Relaxed)
    }

    /// Returns the number of reported pieces of text.
    pub(super) fn text_count(&self) -> u64 {
        self.0.model_output.load(Ordering::Relaxed)
    }

    /// Returns the limit that was exceeded, if any.
    pub(super) fn exceeded(&self) -> Option<AgentFailure> {
        self.0.exceeded.get().cloned()
    }

    fn exceed(&self, limit: AgentFailure) -> AgentFailure {
        let limit = self.0.exceeded.get_or_init(|| limit).clone();
        self.0.token.cancel();
        limit
    }
}

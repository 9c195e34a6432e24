//! The request to a model that led to a call.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::frozen::Text;

/// The request to a model that led to the calls of a turn. The loop of an agent adds it to the context of the calls;
/// layers that record calls read it there.
#[doc(hidden)]
#[derive(Clone)]
#[non_exhaustive]
#[allow(missing_debug_implementations, reason = "for the crates of the workspace alone")]
pub struct ModelRequest {
    /// The number of the request among those of the program, from 1. All calls of a turn have the same request.
    pub number: u64,
    /// The first message of the user in the conversation, including secrets.
    pub prompt: Text,
    /// The name of the model; empty if unknown.
    pub model: Text,
    /// The tokens of the request; 0 if unknown.
    pub input_tokens: u64,
    /// The tokens of the reply; 0 if unknown.
    pub output_tokens: u64,
    /// The cost of the request, in US dollars; `None` if the price is unknown.
    pub cost_usd: Option<f64>,
}

impl ModelRequest {
    /// Creates the next request of the program.
    #[must_use]
    pub fn new(
        prompt: Text,
        model: Text,
        (input_tokens, output_tokens): (u64, u64),
        cost_usd: Option<f64>,
    ) -> ModelRequest {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed) + 1;
        ModelRequest { number, prompt, model, input_tokens, output_tokens, cost_usd }
    }
}

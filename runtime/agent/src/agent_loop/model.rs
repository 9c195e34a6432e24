//! The language model of a loop.

use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::Dialects;
use toolgen_kernel::toolbox::Toolbox;
use toolgen_wire::{PlanError, Usage};

use super::{AgentListener, Cost, ModelTurn, Transcript};

/// A language model. Functions from a [`Transcript`] to a future are models, see [`run_loop`](super::run_loop).
pub trait LanguageModel: Send {
    /// Reason why a request to the model failed.
    type Error: Send;

    /// Returns the model's next turn for a transcript.
    fn next<'a>(&'a mut self, transcript: &'a Transcript) -> BoxFuture<'a, Result<ModelTurn, Self::Error>>;

    /// Returns information about the model for spans and metrics. Default: none.
    fn about(&self) -> ModelInfo {
        ModelInfo::default()
    }

    /// Tells the model which tools it has, before its first turn. Returns the dialects of the tools, if they are known.
    /// The default does nothing: the program passes the tools itself.
    ///
    /// # Errors
    ///
    /// Returns all tools that cannot be expressed for the model, with all reasons, or an error if there are too many.
    fn offer(&mut self, _: &Toolbox) -> Result<Option<Dialects>, PlanError> {
        Ok(None)
    }

    /// Sets who gets the text of the model while it arrives, and learns of retries. The default does nothing: the
    /// loop then reports the text of each turn as a whole.
    fn report_to(&mut self, _: Option<AgentListener>) {}

    /// Returns the cost of a request with this usage, or `None` if the price is unknown. Default: unknown.
    fn cost(&self, _: &Usage) -> Option<Cost> {
        None
    }
}

impl<F, Said, E> LanguageModel for F
where
    F: FnMut(Transcript) -> Said + Send,
    Said: Future<Output = Result<ModelTurn, E>> + Send,
    E: Send,
{
    type Error = E;

    fn next<'a>(&'a mut self, transcript: &'a Transcript) -> BoxFuture<'a, Result<ModelTurn, E>> {
        Box::pin(async move { self(transcript.clone()).await })
    }
}

/// Information about a model for spans and metrics. Empty fields are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelInfo {
    /// The vendor, as named in the OpenTelemetry semantic conventions: `openai`, `anthropic`, `gcp.gemini`,
    /// `aws.bedrock`.
    pub provider: &'static str,
    /// The operation, as named in these conventions: `chat`, `generate_content`; empty means `chat`.
    pub operation: &'static str,
    /// The name of the requested model.
    pub model: Text,
    /// Whether replies are streamed.
    pub streamed: bool,
}

impl ModelInfo {
    /// Creates the information from the names of the vendor and the model.
    #[must_use]
    pub fn new(provider: &'static str, model: impl Into<Text>) -> ModelInfo {
        ModelInfo { provider, model: model.into(), ..ModelInfo::default() }
    }
}

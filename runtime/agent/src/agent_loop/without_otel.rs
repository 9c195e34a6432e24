//! Replaces `spans` in builds without the feature `otel`.

use std::pin::Pin;

use super::{LanguageModel, LoopEnd, LoopError, ModelInfo, ModelTurn, Transcript};
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::toolbox::Toolbox;

/// No span.
pub(super) struct AgentSpan;

impl AgentSpan {
    pub(super) fn begin(_: &Toolbox, _: &mut ToolContext, _: &ModelInfo) -> AgentSpan {
        AgentSpan
    }

    pub(super) async fn instrument<F: Future>(&self, run: Pin<&mut F>) -> F::Output {
        run.await
    }

    pub(super) fn end<E>(self, _: &Result<LoopEnd, LoopError<E>>) {}
}

pub(super) async fn request_turn<M: LanguageModel + ?Sized>(
    model: &mut M,
    _: &ModelInfo,
    transcript: &Transcript,
    _: &AgentSpan,
) -> Result<ModelTurn, M::Error> {
    model.next(transcript).await
}

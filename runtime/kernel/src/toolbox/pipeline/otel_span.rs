//! Runs a call, from its first layer to its tool, within its spans.

use std::pin::Pin;
use std::task::{Context, Poll};

use crate::layers::layer::Outcome;
use crate::layers::observer::Observer;

/// A call whose steps run within the spans that layers created for it.
pub(super) struct Spanned<'s, F> {
    pub(super) spans: &'s mut [Box<dyn Observer>],
    pub(super) run: F,
}

impl<F: Future<Output = Outcome> + Unpin> Future for Spanned<'_, F> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let Spanned { spans, run } = &mut *self;
        if spans.is_empty() {
            return Pin::new(run).poll(cx);
        }
        // On the heap: nested calls of tools would otherwise use a lot of stack.
        let mut poll = Box::new(Poll::Pending);
        within(spans, &mut || *poll = Pin::new(&mut *run).poll(cx));
        *poll
    }
}

/// Runs a step within the spans of observers. The first observer is the outermost.
pub(super) fn within(spans: &[Box<dyn Observer>], step: &mut dyn FnMut()) {
    match spans {
        [] => step(),
        [innermost] => innermost.within(step),
        [outer, spans @ ..] => outer.within(&mut || within(spans, step)),
    }
}

//! The span of a call: what a layer that traces calls lets those within the call add to it, and pass on.
//!
//! A layer at [`Stage::Trace`](crate::layers::Stage::Trace) gives it to the context of the call with
//! [`ToolContext::set_span`]. Without one, nothing is noted.

use std::any::Any;
use std::sync::Arc;

use crate::base::frozen::Text;
use crate::call::context::ToolContext;

/// A value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attribute<'a> {
    /// A text.
    Text(&'a str),
    /// A number.
    Number(i64),
}

/// Attributes of a span or of an event, with their names.
pub type Attributes<'a> = &'a [(&'static str, Attribute<'a>)];

/// The span of a call.
pub trait CallSpan: Any + Send + Sync {
    /// Adds an event.
    fn event(&self, name: &'static str, attributes: Attributes<'_>);

    /// Adds attributes.
    fn describe(&self, attributes: Attributes<'_>);

    /// Notes that the tool of the call runs.
    fn runs(&self);

    /// The span as a `traceparent` of W3C Trace Context.
    fn traceparent(&self) -> Option<Text>;

    /// Returns the headers, by name and value, by which another process continues the trace: those of W3C Trace Context, and
    /// these.
    fn passed_on(&self, also: &[String]) -> Vec<(String, String)>;
}

impl ToolContext {
    /// Sets the span of the call, for those within the call and for the calls that its tool makes.
    pub fn set_span(&mut self, span: Arc<dyn CallSpan>) {
        self.span = Some(span);
    }

    /// The span of the call, if a layer made one.
    #[must_use]
    pub fn span(&self) -> Option<&Arc<dyn CallSpan>> {
        self.span.as_ref()
    }

    /// Adds an event to the span of the call, if it has one.
    pub fn add_event(&self, name: &'static str, attributes: Attributes<'_>) {
        if let Some(span) = &self.span {
            span.event(name, attributes);
        }
    }

    /// The span of the call as a `traceparent`, if it has one.
    pub(crate) fn traceparent(&self) -> Option<Text> {
        self.span.as_ref()?.traceparent()
    }
}

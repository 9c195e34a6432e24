//! The span of a call: code that runs in the call adds events and attributes to the span, and propagates it.
//!
//! A layer at [`Stage::Trace`](crate::layers::Stage::Trace) sets it in the context of the call with
//! [`ToolContext::set_span`](crate::ToolContext::set_span). Without a span, nothing is recorded.

use std::any::Any;

use crate::base::frozen::Text;

/// A value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attribute<'a> {
    /// A string.
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

    /// Records that the tool of the call was started.
    fn runs(&self);

    /// Returns the span as a `traceparent` of W3C Trace Context.
    fn traceparent(&self) -> Option<Text>;

    /// Returns the headers, as names and values, that let another process continue the trace: those of W3C Trace
    /// Context, and those of `also`.
    fn passed_on(&self, also: &[String]) -> Vec<(String, String)>;
}

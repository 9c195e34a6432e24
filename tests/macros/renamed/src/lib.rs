//! A renamed runtime, no prelude, no `serde`, and all lints are errors.
#![no_implicit_prelude]
#![deny(warnings, missing_docs, missing_debug_implementations, unused_qualifications, unreachable_pub)]
#![deny(clippy::all, clippy::pedantic)]
#![forbid(unsafe_code)]

use ::agent_tools::{tool, tools, toolset, ToolContext, ToolError, ToolInput};
use ::std::string::String;

/// An alias that hides the real one.
pub type Result<T> = ::std::result::Result<T, ToolError>;

/// Hides the real one.
#[derive(Debug)]
pub struct Some;

/// Where something is.
#[derive(Debug, ToolInput)]
pub struct Place {
    /// The street.
    #[serde(rename = "street-name")]
    #[arg(len = 1..=80)]
    pub street: String,
    /// The kind.
    #[serde(default)]
    pub kind: Kind,
    /// Places inside.
    #[serde(default)]
    pub inner: ::std::vec::Vec<Place>,
}

/// A kind of place.
#[derive(Debug, Default, ToolInput)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A home.
    #[default]
    Home,
    /// An office.
    Office,
}

/// What can happen.
#[derive(Debug, ToolInput)]
#[serde(tag = "kind")]
pub enum Event {
    /// Nothing.
    Nothing,
    /// Something.
    Something {
        /// Where.
        at: Place,
    },
}

/// Finds a place.
///
/// # Errors
///
/// Never.
#[tool(read_only, timeout = "5s", scopes("read"), exactly_one(name, place), requires(session("x")))]
pub async fn find(
    /// The name.
    #[arg(non_empty, pattern = "^[a-z]+$")]
    name: ::std::option::Option<&str>,
    /// The place.
    place: ::std::option::Option<Place>,
    /// How many.
    #[arg(default = 3, range = 1..=10)]
    limit: u8,
    /// What happened.
    #[arg(default = ::std::vec::Vec::new())]
    events: ::std::vec::Vec<Event>,
    ctx: &ToolContext,
) -> Result<String> {
    ::std::future::ready((name, place, limit, events, ctx)).await;
    ::std::result::Result::Ok(String::new())
}

/// Counts.
#[derive(Debug)]
pub struct Counter;

#[tools]
impl Counter {
    /// Counts up.
    #[tool]
    #[must_use]
    pub fn count(
        &self,
        /// By how much.
        by: u32,
    ) -> u32 {
        let _ = self;
        by
    }
}

/// All tools.
#[must_use]
pub fn all() -> ::std::vec::Vec<::std::sync::Arc<dyn ::agent_tools::AgentTool>> {
    let counter = ::std::sync::Arc::new(Counter);
    toolset![find, Counter::tools(&counter)]
}

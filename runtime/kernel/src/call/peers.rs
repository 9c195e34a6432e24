//! The other tools of the toolbox through which a tool is called.

use std::any::Any;
use std::sync::Arc;

use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::{ToolCall, ToolResponse};
use crate::spec::ToolSpec;

/// The tools that a call may call. The toolbox implements this trait, so that this module does not depend on the
/// toolbox.
pub(crate) trait Peers: Any + Send + Sync {
    /// Calls one of the tools, through all layers of the toolbox.
    fn call<'a>(self: Arc<Self>, call: ToolCall, ctx: &'a ToolContext) -> BoxFuture<'a, ToolResponse>;

    /// Returns the maximum number of calls that tools may make for a single call of a model, at all depths together.
    fn nested_calls(&self) -> u32;

    /// Returns the specifications of the tools that may be used, sorted by name.
    fn specs(&self) -> Vec<&ToolSpec>;

    /// Returns the specifications of the tools that match a query best, the best match first: at most `limit`
    /// of those for which `keep` returns true.
    fn search(&self, query: &str, limit: usize, keep: &dyn Fn(&ToolSpec) -> bool) -> Vec<&ToolSpec>;
}

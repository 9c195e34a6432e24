//! What a tool sees of the provider it is called through: the tools beside it.

use std::any::Any;
use std::sync::Arc;

use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::{ToolCall, ToolResponse};
use crate::spec::ToolSpec;

/// The tools that a call may call in its turn. The provider implements it; this floor knows no more of it.
pub(crate) trait Peers: Any + Send + Sync {
    /// Calls one of them, through all layers of the provider.
    fn call<'a>(self: Arc<Self>, call: ToolCall, ctx: &'a ToolContext) -> BoxFuture<'a, ToolResponse>;

    /// The specifications of those that may be used, sorted by name.
    fn specs(&self) -> Vec<&ToolSpec>;
}

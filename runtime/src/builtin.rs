//! Ready-made tools.

mod bash;
mod chat;
mod coding;
mod commands;
mod edit;
mod files;
mod grep;
mod place;
mod shell;
mod text;
mod walk;
mod workspaces;

use std::sync::Arc;

pub use bash::Bash;
pub use chat::{ChatMessage, ChatService};
pub use coding::{coding, dispatch_agent};
pub use workspaces::Workspaces;

use crate::call::tool::AgentTool;
use crate::provider::ToolFactory;
use crate::toolset;

/// Tools for files.
#[must_use]
pub fn files() -> Vec<Arc<dyn AgentTool>> {
    toolset![files::read_file, files::write_file, files::edit_file, files::list_files, files::search]
}

/// The tools for files, and [`Bash`].
#[must_use]
pub fn pack() -> Vec<Arc<dyn AgentTool>> {
    toolset![Bash::default(), files()]
}

/// A tool that does all its work in the executor of its context, and is not built without one.
fn started<T: AgentTool + Clone + 'static>(tool: T) -> ToolFactory {
    ToolFactory::new(tool.spec().clone(), move |ctx| ctx.executor(tool.name()).map(|_| tool.clone()))
        .confined()
}

/// The tool `shell`, which runs lines of shell in the executor of its context and returns everything about the run.
#[must_use]
pub fn shell() -> Vec<Arc<dyn AgentTool>> {
    toolset![started(shell::shell::tool())]
}

/// The tools `chat_post` and `chat_read`, over the [`ChatService`] of their context.
#[must_use]
pub fn chat() -> Vec<Arc<dyn AgentTool>> {
    toolset![chat::tools()]
}

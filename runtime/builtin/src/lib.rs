//! Ready-made tools: files and searches, lines of shell, workspaces of others, chats.
//!
//! They are functions with `#[tool]` like those of any program, so schemas, documentation and effects come from the code
//! that runs, and they pass the layers of a toolbox like any other tool.
//!
//! | list | tools |
//! |---|---|
//! | [`pack`] | `bash`, and those of [`files`] |
//! | [`files`] | `read_file`, `write_file`, `edit_file`, `list_files`, `search` |
//! | [`coding`] | `LS`, `GlobTool`, `GrepTool`, `View`, `Edit`, `Replace`, `Bash`; also [`dispatch_agent`] |
//! | [`shell`] | `shell` |
//! | [`Workspaces`] | `read_file`, `list_files` and `get_diff`, in directories of others |
//! | [`chat`] | `chat_post`, `chat_read` |
//!
//! ```
//! use serde_json::json;
//! use toolgen_runtime::builtin::{self, Bash};
//! use toolgen_runtime::{Limits, ToolboxContext, Registry, ToolCall, ToolContext, toolset};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::env::temp_dir().join(format!("toolgen-builtin-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory)?;
//! let registry = Registry::new(toolset![Bash::default().deny("git push"), builtin::files()])?;
//! // `bash` also needs an executor: `with_executor`.
//! let context = ToolboxContext::new().with_work_dir(&directory);
//! let toolbox = registry.toolbox(context.clone());
//! let turn = ToolContext::new("turn-1", "");
//! let call = ToolCall::new("1", "write_file", json!({"path": "a/b.txt", "content": "one\ntwo\n"}));
//! assert_eq!(toolbox.call(call, &turn).await.text(), "Wrote 8 bytes to a/b.txt");
//! let call = ToolCall::new("2", "search", json!({"pattern": "^t"}));
//! assert_eq!(toolbox.call(call, &turn).await.text(), "a/b.txt:2:two\n(1 matches)");
//!
//! // An agent that plans may read, and not write.
//! let planner = registry.toolbox(context.with_limits(Limits::PLANNING));
//! let call = ToolCall::new("3", "write_file", json!({"path": "a/b.txt", "content": ""}));
//! assert!(planner.call(call, &turn).await.is_error());
//! # std::fs::remove_dir_all(&directory)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Files
//!
//! Paths lead to files below the working directory (`ToolboxContext::with_work_dir`) and nowhere else: a path or a
//! link that leaves it is refused, also when the link is put there while the tool works, because every step is made
//! from an open directory to the next. A hard link cannot be distinguished from any other name of its file, so files
//! with several names are not written. What one user can read, the tools can: the directory is not a sandbox for
//! programs, and what those may do is up to their [executor](toolgen_exec).
//!
//! A file is replaced as a whole or not at all. Searches know regular expressions of the crate `regex`, leave out what
//! `.gitignore` does, and end with their call.

#![cfg_attr(docsrs, feature(doc_cfg))]

// What the macros write names the facade, of which `toolgen-function` has all that they need.
extern crate toolgen_function as toolgen_runtime;

mod bash;
mod chat;
mod coding;
mod edit;
mod files;
mod grep;
mod shell;
mod shell_line;
mod text;
mod walk;
mod work_dir;
mod workspaces;

use std::sync::Arc;

use toolgen_macros::toolset;

pub use bash::Bash;
pub use chat::{ChatMessage, ChatService};
pub use coding::{coding, dispatch_agent};
pub use workspaces::Workspaces;

use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::toolbox::ToolFactory;

/// Returns `bash` as [`Bash`] has it by default, and the tools for [`files`].
#[must_use]
pub fn pack() -> Vec<Arc<dyn AgentTool>> {
    toolset![Bash::default(), files()]
}

/// Returns the tools for files below the working directory: `read_file`, `write_file`, `edit_file`, `list_files` and
/// `search`.
#[must_use]
pub fn files() -> Vec<Arc<dyn AgentTool>> {
    toolset![files::read_file, files::write_file, files::edit_file, files::list_files, files::search]
}

/// Returns the tool `shell`, which runs lines of shell in the executor of its context and returns everything about the
/// run.
#[must_use]
pub fn shell() -> Vec<Arc<dyn AgentTool>> {
    toolset![started(shell::shell::tool())]
}

/// Returns the tools `chat_post` and `chat_read`, over the [`ChatService`] of their context.
#[must_use]
pub fn chat() -> Vec<Arc<dyn AgentTool>> {
    toolset![chat::tools()]
}

/// A tool that does all its work in the executor of its context, and is not built without one.
fn started<T: AgentTool + Clone + 'static>(tool: T) -> ToolFactory {
    ToolFactory::new(tool.spec().clone(), move |ctx| ctx.executor(tool.name()).map(|_| tool.clone()))
        .confined()
}

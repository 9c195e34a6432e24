//! Ready-made tools: files and searches, shell commands, workspaces of other agents, chats.
//!
//! The tools are ordinary functions with `#[tool]`. Schemas, documentation and effects are derived from the code, and
//! calls pass the layers of a toolbox like the calls of any other tool.
//!
//! | list | tools |
//! |---|---|
//! | [`pack`] | `bash`, and the tools of [`files`] |
//! | [`files`] | `read_file`, `write_file`, `edit_file`, `list_files`, `search` |
//! | [`coding`] | `LS`, `GlobTool`, `GrepTool`, `View`, `Edit`, `Replace`, `Bash`; also [`dispatch_agent`] |
//! | [`shell`] | `shell` |
//! | [`Workspaces`] | `read_file`, `list_files` and `get_diff`, in directories of other agents |
//! | [`chat`] | `chat_post`, `chat_read` |
//!
//! ```
//! use serde_json::json;
//! use toolgen_runtime::builtin::{self, Bash};
//! use toolgen_runtime::{EffectLimits, ToolboxContext, Registry, ToolCall, Turn, toolset};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::env::temp_dir().join(format!("toolgen-builtin-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory)?;
//! let registry = Registry::new(toolset![Bash::default().deny("git push"), builtin::files()])?;
//! // `bash` also needs an executor: `with_executor`.
//! let context = ToolboxContext::new().with_work_dir(&directory);
//! let toolbox = registry.toolbox(context.clone());
//! let turn = Turn::new("turn-1");
//! let call = ToolCall::new("1", "write_file", json!({"path": "a/b.txt", "content": "one\ntwo\n"}));
//! assert_eq!(toolbox.run(call, &turn).await.text(), "Wrote 8 bytes to a/b.txt");
//! let call = ToolCall::new("2", "search", json!({"pattern": "^t"}));
//! assert_eq!(toolbox.run(call, &turn).await.text(), "a/b.txt:2:two\n(1 matches)");
//!
//! // An agent that plans can read, but not write.
//! let planner = registry.toolbox(context.with_limits(EffectLimits::PLANNING));
//! let call = ToolCall::new("3", "write_file", json!({"path": "a/b.txt", "content": ""}));
//! assert!(planner.run(call, &turn).await.is_error());
//! # std::fs::remove_dir_all(&directory)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Files
//!
//! Paths must be inside the working directory (`ToolboxContext::with_work_dir`). A path or link that leaves it is
//! rejected, even if the link is created while the tool runs, because every step is resolved relative to an open
//! directory. A hard link cannot be distinguished from any other name of its file, so files with several names are
//! not written. The tools can read what the user of the process can read. The working directory is not a sandbox for
//! programs: the [executor](toolgen_exec) decides what programs may do.
//!
//! A file is replaced completely or not at all. Searches use the regular expressions of the crate `regex`, omit files
//! that `.gitignore` excludes, and stop when their call is cancelled.

#![cfg_attr(docsrs, feature(doc_cfg))]

// The macros generate paths of the facade; `toolgen-function` has all items that they need.
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

/// Returns `bash` with the defaults of [`Bash`], and the tools of [`files`].
#[must_use]
pub fn pack() -> Vec<Arc<dyn AgentTool>> {
    toolset![Bash::default(), files()]
}

/// Returns the tools for files in the working directory: `read_file`, `write_file`, `edit_file`, `list_files` and
/// `search`.
#[must_use]
pub fn files() -> Vec<Arc<dyn AgentTool>> {
    toolset![files::read_file, files::write_file, files::edit_file, files::list_files, files::search]
}

/// Returns the tool `shell`, which runs shell commands in the executor of its context and returns all details of the
/// run.
#[must_use]
pub fn shell() -> Vec<Arc<dyn AgentTool>> {
    toolset![executor_tool(shell::shell::tool())]
}

/// Returns the tools `chat_post` and `chat_read`, which use the [`ChatService`] of their context.
#[must_use]
pub fn chat() -> Vec<Arc<dyn AgentTool>> {
    toolset![chat::tools()]
}

/// A tool that runs in the executor of its context. Building it fails without an executor.
fn executor_tool<T: AgentTool + Clone + 'static>(tool: T) -> ToolFactory {
    ToolFactory::new(tool.spec().clone(), move |ctx| ctx.executor(tool.name()).map(|_| tool.clone()))
        .confined()
}

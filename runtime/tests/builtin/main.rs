//! The ready-made tools.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

/// The error for a path that escapes the directory of its tool.
macro_rules! led_out {
    ($argument:literal, up) => {
        led_out!(@ $argument, "it contains `..`; write a path inside the directory, without `..`")
    };
    ($argument:literal, link) => {
        led_out!(@ $argument, "it contains a link out of the directory; use the real path below the directory")
    };
    (@ $argument:literal, $why:literal) => {
        concat!("Invalid arguments: /", $argument, ": path traversal not allowed: ", $why)
    };
}

mod chat;
mod coding;
mod confined;
mod files;
mod peers;
mod prelude;
mod scripts;
mod shells;
mod specs;
mod workspaces;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;

use toolgen_runtime::engine::executor::ExecError;
use toolgen_runtime::engine::executor::Sandbox;
use toolgen_runtime::{AgentTool, Registry, ToolResponse, ToolResult, Toolbox};

use crate::prelude::*;

/// A directory that contains a working directory; it is removed when dropped.
struct Bench {
    base: PathBuf,
    tools: Vec<Arc<dyn AgentTool>>,
    context: ToolboxContext,
}

impl Bench {
    fn new(tools: Vec<Arc<dyn AgentTool>>) -> Bench {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let base = std::env::temp_dir().join(format!("toolgen-builtin-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&base);
        fs::create_dir_all(base.join("work")).unwrap();
        let base = base.canonicalize().unwrap();
        let context = ToolboxContext::new().with_work_dir(base.join("work"));
        Bench { base, tools, context }
    }

    /// Writes a file with a path relative to the working directory.
    fn file(self, path: &str, content: impl AsRef<[u8]>) -> Bench {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn limits(mut self, limits: EffectLimits) -> Bench {
        self.context = self.context.clone().with_limits(limits);
        self
    }

    fn path(&self, path: &str) -> PathBuf {
        self.base.join("work").join(path)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn toolbox(&self) -> Toolbox {
        let registry = Registry::new(self.tools.iter().cloned()).unwrap();
        Toolbox::builder(&registry).context(self.context.clone()).without_paging().build().unwrap()
    }

    async fn call(&self, name: &str, arguments: Value) -> ToolResponse {
        self.call_in(name, arguments, &Turn::new("turn")).await
    }

    async fn call_in(&self, name: &str, arguments: Value, turn: &Turn) -> ToolResponse {
        self.toolbox().run(ToolCall::new("1", name, arguments), turn).await
    }

    /// Calls a tool and returns the text of its result.
    async fn text(&self, name: &str, arguments: Value) -> String {
        self.call(name, arguments).await.text()
    }

    async fn result(&self, name: &str, arguments: Value) -> ToolResult {
        self.call(name, arguments).await.outcome.unwrap()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.base);
    }
}

/// All sandboxes that work on this machine, each in its own executor.
const SANDBOXES: [Sandbox; 3] = [Sandbox::Auto, Sandbox::Bubblewrap, Sandbox::Landlock];

/// The error of an executor that cannot prevent writes.
fn no_promise() -> ExecError {
    let (options, reason) = (vec!["read_only"], "there is no sandbox".to_owned());
    ExecError::Unsupported { executor: "the executor of this test", options, reason }
}

/// Returns the names of the files in a directory, recursively.
fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

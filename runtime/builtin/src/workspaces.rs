//! Tools that read the work of other agents, in directories that the program names.

use std::collections::BTreeMap;
use std::io;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgen_core::internal::below::fault;
use toolgen_exec::{ExecOptions, Executor};
use toolgen_function::inject::Service;
use toolgen_function::toolset::IntoTools;
use toolgen_kernel::base::truncate::trim_partial_char;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::roots::traversal;
use toolgen_kernel::call::tool::AgentTool;
use toolgen_macros::tools;

use super::executor_tool;
use super::files::compile_glob;
use super::grep::invalid_argument;
use super::text::is_binary;
use super::walk::{WalkOptions, walk};
use super::work_dir::{WorkDir, file_error, io_message};

/// Maximum number of bytes read of a file: 1 MiB.
const MAX_CONTENT_BYTES: u64 = 1 << 20;
/// Maximum number of listed files.
const MAX_LISTED: usize = 1_000;
/// Maximum number of lines of a diff.
const MAX_DIFF_LINES: usize = 10_000;
/// Overrides of repository settings that would start programs when the repository is read.
const SAFE_CONFIG: [&str; 4] = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];

/// The tools `read_file`, `list_files` and `get_diff`, which read the workspaces of other agents.
///
/// A model names a workspace, never a directory. `get_diff` runs `git` in the executor of its context and requires a
/// run without writes and network access, because a repository can make `git` start programs; an executor that cannot
/// guarantee this rejects the run. Such programs can still read what the executor can read, and include it in the
/// diff: for untrusted workspaces, use a [`ContainerExecutor`](toolgen_exec) without other data.
///
/// ```
/// use toolgen_runtime::builtin::Workspaces;
/// use toolgen_runtime::{Registry, toolset};
///
/// let workspaces = Workspaces::new().add("coder-001", "/mnt/coders/coder-001").base("origin/main");
/// assert_eq!(Registry::new(toolset![(workspaces)])?.len(), 3);
/// # Ok::<(), toolgen_runtime::RegistryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Workspaces {
    roots: BTreeMap<String, PathBuf>,
    base: String,
}

impl Default for Workspaces {
    fn default() -> Workspaces {
        Workspaces { roots: BTreeMap::new(), base: "origin/main".to_owned() }
    }
}

impl Workspaces {
    /// Creates an empty set of workspaces.
    #[must_use]
    pub fn new() -> Workspaces {
        Workspaces::default()
    }

    /// Adds a workspace: the ID of its agent, and its directory.
    #[must_use]
    pub fn add(mut self, coder_id: impl Into<String>, directory: impl Into<PathBuf>) -> Workspaces {
        self.roots.insert(coder_id.into(), directory.into());
        self
    }

    /// Sets the revision that diffs compare with. Default: `origin/main`.
    #[must_use]
    pub fn base(mut self, revision: impl Into<String>) -> Workspaces {
        self.base = revision.into();
        self
    }

    fn root(&self, coder_id: &str) -> Result<&Path, ToolError> {
        let root = self.roots.get(coder_id).map(PathBuf::as_path);
        root.ok_or_else(|| invalid_argument("/coder_id", "invalid coder_id".to_owned()))
    }
}

#[tools(list = functions)]
impl Workspaces {
    /// Read a file from the workspace of another agent.
    ///
    /// # Returns
    ///
    /// coder_id, path, content and size, which is the length of the content in bytes.
    #[tool(read_only, open_world = false, spawns = false, blocking)]
    fn read_file(
        &self,
        /// The ID of the agent, such as coder-001.
        #[arg(non_empty)]
        coder_id: String,
        /// The path of the file in the workspace.
        #[arg(non_empty, len = ..=4096)]
        path: String,
    ) -> Result<Value, ToolError> {
        let work_dir = WorkDir::open(self.root(&coder_id)?)?;
        let read_error = |error| file_error(&error, "path", &format!("Cannot read {path}"), "");
        let (file, metadata) = work_dir.open_file(&path).map_err(read_error)?;
        let mut bytes = Vec::new();
        file.take(MAX_CONTENT_BYTES).read_to_end(&mut bytes).map_err(read_error)?;
        if is_binary(&bytes) {
            return Err(ToolError::failed(format!("Cannot read {path}: it is a binary file")));
        }
        let truncated = metadata.len() > MAX_CONTENT_BYTES;
        let content = String::from_utf8_lossy(if truncated { trim_partial_char(&bytes) } else { &bytes });
        let mut result =
            json!({ "coder_id": coder_id, "path": path, "content": content, "size": content.len() });
        if truncated {
            result["truncated"] = true.into();
        }
        Ok(result)
    }

    /// List the files in the workspace of another agent.
    ///
    /// # Returns
    ///
    /// success, files, count, pattern and truncated.
    #[tool(read_only, open_world = false, spawns = false, blocking)]
    fn list_files(
        &self,
        /// The ID of the agent, such as coder-001.
        #[arg(non_empty)]
        coder_id: String,
        /// A glob for the files, such as `*.go` or `src/**/*.js`. Default: all files.
        #[arg(default = "*", non_empty, len = ..=1000)]
        pattern: String,
        ctx: &ToolContext,
    ) -> Result<Value, ToolError> {
        let work_dir = WorkDir::open(self.root(&coder_id)?)?;
        let filter = compile_glob(Some(&pattern), "/pattern")?;
        let options = WalkOptions {
            max_depth: usize::MAX,
            skipped_dirs: &[".git"],
            include_hidden: true,
            ..WalkOptions::default()
        };
        let mut files = Vec::new();
        let walk_result = walk(&work_dir, ".", options, ctx, &mut |file| {
            if files.len() == MAX_LISTED {
                return ControlFlow::Break(());
            }
            files.extend((!filter.matched(file.path, false).is_ignore()).then(|| file.path.to_owned()));
            ControlFlow::Continue(())
        });
        let is_complete = walk_result.map_err(|error: io::Error| {
            ToolError::failed(format!("failed to list files: {}", io_message(&error)))
        })?;
        let count = files.len();
        Ok(
            json!({ "success": true, "files": files, "count": count, "pattern": pattern, "truncated": !is_complete }),
        )
    }

    /// Get the diff between the workspace of another agent and the main branch, in the format of git.
    ///
    /// # Returns
    ///
    /// success, diff, coder_id, path, truncated and lines.
    #[tool(read_only, network = "none", timeout = "35s")]
    async fn get_diff(
        &self,
        /// The ID of the agent, such as coder-001.
        #[arg(non_empty)]
        coder_id: String,
        /// The file or directory to compare. Default: all files.
        #[arg(default = "", len = ..=4096)]
        path: String,
        executor: Service<dyn Executor>,
        ctx: &ToolContext,
    ) -> Result<Value, ToolError> {
        let root = self.root(&coder_id)?;
        if let Some(reason) = fault(&path) {
            return Err(traversal("path", reason));
        }
        let mut argv: Vec<String> = vec!["git".into()];
        argv.extend(SAFE_CONFIG.map(String::from));
        argv.extend(["--literal-pathspecs", "--no-pager", "diff"].map(String::from));
        argv.extend(["--no-color", "--no-ext-diff", "--no-textconv", "--end-of-options"].map(String::from));
        argv.extend([self.base.clone(), "--".to_owned()]);
        argv.extend((!path.is_empty()).then(|| path.clone()));
        let options = ExecOptions::default().work_dir(root).read_only().without_network();
        let options =
            options.timeout(Duration::from_secs(30)).max_output(4 << 20).env("GIT_OPTIONAL_LOCKS", "0");
        let output = executor.run(&argv, &options, ctx.cancel()).await?;
        if !output.success() {
            // Outside a repository, `git diff` compares its arguments as two files and reports errors for them.
            let no_repository_errors = ["ot a git repository", "error: Could not access"];
            let reason = if no_repository_errors.iter().any(|text| output.stderr.contains(text)) {
                format!("workspace {coder_id} is not a git repository")
            } else {
                format!("git diff failed: {}", output.stderr.trim())
            };
            return Ok(json!({ "success": false, "error": reason }));
        }
        let lines = output.stdout.lines().count();
        let diff: String = output.stdout.split_inclusive('\n').take(MAX_DIFF_LINES).collect();
        let truncated = lines > MAX_DIFF_LINES || output.is_truncated();
        let lines = lines.min(MAX_DIFF_LINES);
        Ok(json!({
            "success": true, "diff": diff, "coder_id": coder_id, "path": path, "truncated": truncated, "lines": lines,
        }))
    }
}

impl IntoTools for Workspaces {
    fn add_to(self, tools: &mut Vec<Arc<dyn AgentTool>>) {
        for tool in Workspaces::functions(&Arc::new(self)) {
            if tool.spec().effects.spawns { executor_tool(tool).add_to(tools) } else { tool.add_to(tools) }
        }
    }
}

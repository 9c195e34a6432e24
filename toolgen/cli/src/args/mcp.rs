//! Arguments of the `mcp` commands.

use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};

use super::Format;
use super::selection::{PrivateHosts, check_variable, variables};

/// Lock the tools of MCP servers, and compare servers with their locks
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub(crate) task: McpTask,
}

/// The subcommands of `mcp`.
#[derive(Debug, Subcommand)]
pub(crate) enum McpTask {
    Lock(Box<Lock>),
    Verify(Verify),
}

/// List the tools of servers, and write locks for review and commit
#[derive(Debug, Args)]
#[command(
    after_help = "An existing lock is replaced, and each change is reported with its class: compatible, text, added, \
    breaking or security."
)]
pub(crate) struct Lock {
    /// Manifests that import MCP servers, and locks to rewrite
    #[arg(value_name = "FILE")]
    pub(crate) documents: Vec<PathBuf>,
    /// Name of a server that is in no file; its tools are `NAME__…`
    #[arg(long, value_name = "NAME")]
    alias: Option<String>,
    /// Lock file of that server [default: NAME.lock.json]
    #[arg(long, value_name = "FILE", requires = "alias")]
    out: Option<PathBuf>,
    /// Environment variable to pass to its process
    #[arg(long, value_name = "ENV_VAR", requires = "alias")]
    env: Vec<String>,
    /// Working directory of its process
    #[arg(long, value_name = "DIR", requires = "alias")]
    cwd: Option<String>,
    /// URL of the server, instead of a command
    #[arg(long, value_name = "URL", requires = "alias")]
    url: Option<String>,
    /// Header whose value is in an environment variable
    #[arg(long, value_name = "NAME=ENV_VAR", requires = "url")]
    header: Vec<String>,
    /// Environment variable with the bearer token
    #[arg(long, value_name = "ENV_VAR", requires = "url")]
    bearer: Option<String>,
    /// Client capability to declare to servers
    #[arg(long = "capability", value_name = "NAME", value_parser = ["elicitation", "roots", "sampling", "tasks"])]
    pub(crate) capabilities: Vec<String>,
    /// Identity that the list of tools depends on, recorded in the lock
    #[arg(long = "auth-scope", value_name = "TEXT")]
    pub(crate) scope: Option<String>,
    #[command(flatten)]
    pub(crate) listing: ListingOptions,
    #[command(flatten)]
    pub(crate) format: Format,
    /// Command that starts the server, with its arguments
    #[arg(value_name = "COMMAND", last = true, requires = "alias", conflicts_with = "url")]
    command: Vec<String>,
    /// The server of `--alias`, which is in no file.
    #[arg(skip)]
    pub(crate) server: Option<Server>,
}

/// A server given on the command line.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) alias: String,
    pub(crate) out: PathBuf,
    pub(crate) transport: ServerTransport,
}

/// The transport to a server.
#[derive(Debug)]
pub(crate) enum ServerTransport {
    Program { argv: Vec<String>, inherit: Vec<String>, work_dir: String },
    Url { url: String, headers: Vec<(String, String)>, bearer: String },
}

/// Compare servers with their locks; exit with 1 if anything differs
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Manifests that import MCP servers, and locks
    #[arg(value_name = "FILE", required = true)]
    pub(crate) documents: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) listing: ListingOptions,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// How tools are listed
#[derive(Debug, Args)]
pub(crate) struct ListingOptions {
    /// Timeout in seconds to start a server, and then to list its tools
    // The server's package may have to be installed first.
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = value_parser!(u64).range(1..))]
    pub(crate) timeout: u64,
    #[command(flatten)]
    pub(crate) hosts: PrivateHosts,
}

impl McpTask {
    /// Validates the arguments. `Err` names the invalid argument.
    pub(super) fn validate(&mut self) -> Result<(), String> {
        match self {
            McpTask::Lock(lock) => {
                lock.listing.hosts.check()?;
                lock.server = lock.validate()?;
                Ok(())
            }
            McpTask::Verify(verify) => verify.listing.hosts.check(),
        }
    }
}

impl Lock {
    /// Returns the server that `--alias` declares.
    fn validate(&self) -> Result<Option<Server>, String> {
        for (option, variable) in self
            .env
            .iter()
            .map(|variable| ("`--env ENV_VAR`", variable))
            .chain(self.bearer.iter().map(|variable| ("`--bearer ENV_VAR`", variable)))
        {
            check_variable(option, variable)?;
        }
        let Some(alias) = self.alias.clone() else {
            return if self.documents.is_empty() {
                Err("pass a manifest or a lock, or a server as `--alias NAME -- COMMAND`".to_owned())
            } else {
                Ok(None)
            };
        };
        let transport = match self.url.clone() {
            Some(url) => ServerTransport::Url {
                url,
                headers: variables(&self.header, "header", "NAME")?,
                bearer: self.bearer.clone().unwrap_or_default(),
            },
            None if self.command.is_empty() => {
                return Err(
                    "the server has no command and no URL; add `-- COMMAND` or `--url URL`".to_owned()
                );
            }
            None => ServerTransport::Program {
                argv: self.command.clone(),
                inherit: self.env.clone(),
                work_dir: self.cwd.clone().unwrap_or_default(),
            },
        };
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from(format!("{alias}.lock.json")));
        Ok(Some(Server { alias, out, transport }))
    }
}

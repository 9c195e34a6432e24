//! The words of the commands about MCP servers.

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

/// What is to be done with servers.
#[derive(Debug, Subcommand)]
pub(crate) enum McpTask {
    Lock(Box<Lock>),
    Verify(Verify),
}

/// Ask servers for their tools, and write locks to be read and committed
#[derive(Debug, Args)]
#[command(
    after_help = "An existing lock is replaced, and each change is reported with its class: compatible, text, added, \
    breaking or security."
)]
pub(crate) struct Lock {
    /// Manifests that import MCP servers, and locks to be written again
    #[arg(value_name = "FILE")]
    pub(crate) documents: Vec<PathBuf>,
    /// The name of a server that no file names: its tools are `NAME__…`
    #[arg(long, value_name = "NAME")]
    alias: Option<String>,
    /// The lock of that server; NAME.lock.json by default
    #[arg(long, value_name = "FILE", requires = "alias")]
    out: Option<PathBuf>,
    /// A variable of this environment that its program gets
    #[arg(long, value_name = "VARIABLE", requires = "alias")]
    env: Vec<String>,
    /// The folder that its program starts in
    #[arg(long, value_name = "DIR", requires = "alias")]
    cwd: Option<String>,
    /// Where it is, if it is not a program
    #[arg(long, value_name = "URL", requires = "alias")]
    url: Option<String>,
    /// A header, by the variable that holds it
    #[arg(long, value_name = "NAME=VARIABLE", requires = "url")]
    header: Vec<String>,
    /// The variable that holds the bearer token
    #[arg(long, value_name = "VARIABLE", requires = "url")]
    bearer: Option<String>,
    /// Tell servers that they may ask for this, or answer with tasks
    #[arg(long = "capability", value_name = "NAME", value_parser = ["elicitation", "roots", "sampling", "tasks"])]
    pub(crate) capabilities: Vec<String>,
    /// Who is asking, if the list depends on it: kept in the lock
    #[arg(long = "auth-scope", value_name = "TEXT")]
    pub(crate) scope: Option<String>,
    #[command(flatten)]
    pub(crate) asking: Asking,
    #[command(flatten)]
    pub(crate) format: Format,
    /// The program that is started, and its arguments
    #[arg(value_name = "COMMAND", last = true, requires = "alias", conflicts_with = "url")]
    command: Vec<String>,
    /// A server that no file names.
    #[arg(skip)]
    pub(crate) server: Option<Server>,
}

/// A server as it is given on the command line.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) alias: String,
    pub(crate) out: PathBuf,
    pub(crate) reached: Reached,
}

/// How a server is reached.
#[derive(Debug)]
pub(crate) enum Reached {
    Program { argv: Vec<String>, inherit: Vec<String>, work_dir: String },
    Url { url: String, headers: Vec<(String, String)>, bearer: String },
}

/// Compare what servers offer with their locks; exit with 1 if anything differs
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Manifests that import MCP servers, and locks
    #[arg(value_name = "FILE", required = true)]
    pub(crate) documents: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) asking: Asking,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// How servers are asked
#[derive(Debug, Args)]
pub(crate) struct Asking {
    /// How long a server may take to start, and then to list its tools
    // A package may have to be installed first.
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = value_parser!(u64).range(1..))]
    pub(crate) timeout: u64,
    #[command(flatten)]
    pub(crate) hosts: PrivateHosts,
}

impl McpTask {
    /// Reads the words. An error says which one is wrong.
    pub(super) fn read(&mut self) -> Result<(), String> {
        match self {
            McpTask::Lock(lock) => {
                lock.asking.hosts.check()?;
                lock.server = lock.read()?;
                Ok(())
            }
            McpTask::Verify(verify) => verify.asking.hosts.check(),
        }
    }
}

impl Lock {
    /// Returns the server that no file names.
    fn read(&self) -> Result<Option<Server>, String> {
        for (name, given) in self
            .env
            .iter()
            .map(|given| ("`--env VARIABLE`", given))
            .chain(self.bearer.iter().map(|given| ("`--bearer VARIABLE`", given)))
        {
            check_variable(name, given)?;
        }
        let Some(alias) = self.alias.clone() else {
            return if self.documents.is_empty() {
                Err("name a manifest or a lock, or a server by `--alias NAME -- COMMAND`".to_owned())
            } else {
                Ok(None)
            };
        };
        let reached = match self.url.clone() {
            Some(url) => Reached::Url {
                url,
                headers: variables(&self.header, "header", "NAME")?,
                bearer: self.bearer.clone().unwrap_or_default(),
            },
            None if self.command.is_empty() => {
                return Err("say how the server is reached: `-- COMMAND` or `--url URL`".to_owned());
            }
            None => Reached::Program {
                argv: self.command.clone(),
                inherit: self.env.clone(),
                work_dir: self.cwd.clone().unwrap_or_default(),
            },
        };
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from(format!("{alias}.lock.json")));
        Ok(Some(Server { alias, out, reached }))
    }
}

//! A call of a tool of an MCP server, as data.

use std::time::Duration;

use crate::base::frozen::{Frozen, List, Text};

/// A call of a tool that an MCP server offers.
#[derive(Clone, Debug, PartialEq)]
pub struct McpPlan {
    /// The server, which the tools of a server share.
    pub server: Frozen<McpServer>,
    /// The name that the server knows the tool by.
    pub tool: Text,
    /// What the server said about the tool when it was locked: its descriptor in `tools/list` as canonical JSON (RFC
    /// 8785). A tool whose descriptor differs is not called. Empty for a tool that is not locked.
    pub descriptor: Text,
}

/// An MCP server: how to reach it, and what it is given. End a literal with `..McpServer::EMPTY`.
#[derive(Clone, Debug, PartialEq)]
pub struct McpServer {
    /// The name by which a program distinguishes it from others, of `a` to `z`, `0` to `9` and `-`. Its tools are
    /// called `alias__tool`.
    pub alias: Text,
    /// How to reach it.
    pub transport: McpTransport,
    /// The revision it used when it was locked, such as `2025-11-25`. Empty if the client is to find out.
    pub revision: Text,
    /// The most calls at the same time; 0 for the default of the engine.
    pub concurrency: u32,
    /// How long a call may be silent: without an answer and without progress. `None` for the default of the engine.
    pub idle_timeout: Option<Duration>,
    /// How long a call may take in total. `None` for the default of the engine.
    pub call_timeout: Option<Duration>,
    /// Which requests of its own the server may make of the client, such as `elicitation`: what was declared to it when
    /// it was locked. The list of its tools may depend on it.
    pub capabilities: List<Text>,
}

impl McpServer {
    /// A server that cannot be reached: the base of every literal.
    pub const EMPTY: McpServer = McpServer {
        alias: Text::EMPTY,
        transport: McpTransport::EMPTY,
        revision: Text::EMPTY,
        concurrency: 0,
        idle_timeout: None,
        call_timeout: None,
        capabilities: List::EMPTY,
    };

    /// Creates a server that is started, from its program and the program's arguments.
    ///
    /// ```
    /// use toolgen_runtime::spec::plan::McpServer;
    ///
    /// let server = McpServer::stdio("files", ["npx", "-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "."]);
    /// assert_eq!(server.alias, "files");
    /// ```
    #[must_use]
    pub fn stdio<T: Into<Text>>(alias: impl Into<Text>, argv: impl IntoIterator<Item = T>) -> McpServer {
        let argv = argv.into_iter().map(Into::into).collect::<Vec<Text>>().into();
        let transport =
            McpTransport::Stdio { argv, env: List::EMPTY, inherit: List::EMPTY, work_dir: Text::EMPTY };
        McpServer { alias: alias.into(), transport, ..McpServer::EMPTY }
    }

    /// Creates a server behind a URL, without headers and without a token.
    #[must_use]
    pub fn http(alias: impl Into<Text>, url: impl Into<Text>) -> McpServer {
        let transport = McpTransport::Http { url: url.into(), headers: List::EMPTY, bearer: Text::EMPTY };
        McpServer { alias: alias.into(), transport, ..McpServer::EMPTY }
    }
}

/// How to reach an MCP server.
#[derive(Clone, Debug, PartialEq)]
pub enum McpTransport {
    /// A program that is started, over its standard input and output.
    Stdio {
        /// The program and its arguments.
        argv: List<Text>,
        /// The environment variables that are set, by their names.
        env: List<(Text, Text)>,
        /// The variables of this process's environment that the program gets, in addition to the few that every program
        /// gets.
        inherit: List<Text>,
        /// The working directory. Empty for that of this process.
        work_dir: Text,
    },
    /// Streamable HTTP.
    Http {
        /// The URL.
        url: Text,
        /// The headers of every request: a name, and the environment variable that holds the value.
        headers: List<(Text, Text)>,
        /// The environment variable that holds the bearer token. Empty for none.
        bearer: Text,
    },
}

impl McpTransport {
    /// A program without a name: the base of every literal.
    pub const EMPTY: McpTransport = McpTransport::Stdio {
        argv: List::EMPTY,
        env: List::EMPTY,
        inherit: List::EMPTY,
        work_dir: Text::EMPTY,
    };
}

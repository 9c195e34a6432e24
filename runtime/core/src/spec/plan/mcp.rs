//! A call of a tool of an MCP server, as data.

use std::time::Duration;

use crate::base::frozen::{Frozen, List, Text};

/// A call of a tool that an MCP server offers.
#[derive(Clone, Debug, PartialEq)]
pub struct McpPlan {
    /// The server, which all its tools share.
    pub server: Frozen<McpServer>,
    /// The server's name for the tool.
    pub tool: Text,
    /// The descriptor of the tool when it was locked: its item in `tools/list` as canonical JSON (RFC 8785). A tool
    /// whose descriptor differs is not called. Empty for a tool that is not locked.
    pub descriptor: Text,
}

/// An MCP server: how to reach it, and its configuration. End a literal with `..McpServer::EMPTY`.
#[derive(Clone, Debug, PartialEq)]
pub struct McpServer {
    /// The name that distinguishes the server in a program, made of `a` to `z`, `0` to `9` and `-`. Its tools are
    /// named `alias__tool`.
    pub alias: Text,
    /// How to reach it.
    pub transport: McpTransport,
    /// The protocol version when the server was locked, such as `2025-11-25`. Empty if the client negotiates it.
    pub revision: Text,
    /// Maximum number of concurrent calls; 0 for the default of the engine.
    pub concurrency: u32,
    /// Idle timeout: maximum time of a call without a response and without progress. `None` for the default of the
    /// engine.
    pub idle_timeout: Option<Duration>,
    /// Timeout of a call in total. `None` for the default of the engine.
    pub call_timeout: Option<Duration>,
    /// The requests that the server may send to the client, such as `elicitation`, as declared when it was locked. The
    /// list of its tools may depend on them.
    pub capabilities: List<Text>,
}

impl McpServer {
    /// A server without a transport: the base of every literal.
    pub const EMPTY: McpServer = McpServer {
        alias: Text::EMPTY,
        transport: McpTransport::EMPTY,
        revision: Text::EMPTY,
        concurrency: 0,
        idle_timeout: None,
        call_timeout: None,
        capabilities: List::EMPTY,
    };

    /// Creates a server that is started as a program, from the program and its arguments.
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

    /// Creates a server with a URL, without headers and without a token.
    #[must_use]
    pub fn http(alias: impl Into<Text>, url: impl Into<Text>) -> McpServer {
        let transport = McpTransport::Http { url: url.into(), headers: List::EMPTY, bearer: Text::EMPTY };
        McpServer { alias: alias.into(), transport, ..McpServer::EMPTY }
    }
}

/// How to reach an MCP server.
#[derive(Clone, Debug, PartialEq)]
pub enum McpTransport {
    /// A program that is started, with its standard input and output.
    Stdio {
        /// The program and its arguments.
        argv: List<Text>,
        /// The environment variables that are set, by name.
        env: List<(Text, Text)>,
        /// The environment variables of this process that the program inherits, in addition to the few that every
        /// program gets.
        inherit: List<Text>,
        /// The working directory. Empty for that of this process.
        work_dir: Text,
    },
    /// Streamable HTTP.
    Http {
        /// The URL.
        url: Text,
        /// The headers of every request: the name, and the environment variable with the value.
        headers: List<(Text, Text)>,
        /// The environment variable with the bearer token. Empty for none.
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

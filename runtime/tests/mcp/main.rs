//! Clients and servers of the Model Context Protocol.

mod mcp;
mod mcp_http;
mod prelude;
mod serve;

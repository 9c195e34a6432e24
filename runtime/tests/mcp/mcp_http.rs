//! Tools of MCP servers over HTTP, served by rmcp, in both eras of the protocol.

mod calls;
mod hosts;
mod sessions;
mod world;

//! Tools of MCP servers over HTTP, served by `rmcp`, in protocol versions with and without sessions.

mod calls;
mod hosts;
mod sessions;
mod world;

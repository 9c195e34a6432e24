//! Serves the tools of a [`Provider`](crate::Provider) to clients outside the program.

pub mod mcp;

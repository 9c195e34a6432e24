//! The MCP client against a server that misbehaves in every way. The test program is also the server, see `server`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is also a server")]
#![allow(clippy::zombie_processes, reason = "whether a client ends them is what is tested")]

mod basics;
mod cassette;
mod hostile;
mod inputs;
mod locked;
mod odd;
mod real;
mod server;
mod soak;
mod support;
mod tasks;

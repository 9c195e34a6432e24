//! The command line, as the program that it is.

mod approvals;
mod cases;
mod command_line;
mod gateway;
mod guide;
mod mcp;
mod project;
mod record;
mod serve;
mod shell;
mod timeline;
mod transfer;

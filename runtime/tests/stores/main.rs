//! What is kept of calls, in memory, in files and in databases.

mod approvals;
mod audit;
mod postgres;
mod prelude;
mod redis;
mod replay;

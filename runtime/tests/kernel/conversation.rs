//! Conversations: streamed replies, transcripts as the messages of each vendor, and loops over HTTP.

mod custom;
mod hostile;
mod loops;
pub(crate) mod programs;
pub(crate) mod recorded;
mod streams;
mod transcripts;

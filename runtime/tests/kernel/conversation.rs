//! Conversations: replies that are streamed, transcripts as the messages of each provider, and loops over HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod custom;
mod hostile;
mod loops;
mod recorded;
mod streams;
mod transcripts;

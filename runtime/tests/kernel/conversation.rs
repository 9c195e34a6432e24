//! Conversations: replies that are streamed, transcripts as the messages of each provider, and loops over HTTP.

mod custom;
mod hostile;
mod loops;
mod recorded;
mod streams;
mod transcripts;

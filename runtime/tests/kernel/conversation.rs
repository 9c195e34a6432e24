//! Conversations: replies that are streamed, transcripts as the messages of each toolbox, and loops over HTTP.

mod custom;
mod hostile;
mod loops;
mod recorded;
mod streams;
mod transcripts;

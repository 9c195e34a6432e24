//! What takes minutes: the corpus of real documents.

#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used, reason = "a test fails by panicking")]

mod discovery;
mod openapi_corpus;
mod overlay_corpus;
mod pages_corpus;
mod tokens_corpus;

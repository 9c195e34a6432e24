//! The HTTP engine against a real server, byte by byte.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod approval;
mod calls;
mod cassette;
mod endpoints;
mod oauth;
mod pages;
mod prelude;
mod redirects;
mod refused;
mod requests;
mod responses;
mod retries;
mod roundtrip;
mod saving;
mod sequences;
mod server;
mod settings;
mod texts;
mod tls;
mod typed;
mod uploads;
mod whole;

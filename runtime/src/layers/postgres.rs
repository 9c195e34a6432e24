//! How PostgreSQL databases are reached: what their URLs mean, TLS, and which errors may pass.

mod target;
mod tls;

pub(crate) use target::{Target, breaks, class, may_pass, text};

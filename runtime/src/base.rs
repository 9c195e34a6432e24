//! The foundation: helpers independent of tools.

pub(crate) mod canonical;
pub(crate) mod const_text;
#[cfg(test)]
pub(crate) mod cpu_time;
#[cfg(feature = "runtime")]
pub(crate) mod data;
#[cfg(feature = "runtime")]
pub(crate) mod depth;
#[cfg(feature = "runtime")]
pub(crate) mod discreet;
#[cfg(feature = "runtime")]
pub(crate) mod exclusion;
pub(crate) mod frozen;
#[cfg(feature = "runtime")]
mod frozen_data;
#[cfg(feature = "runtime")]
pub(crate) mod future;
pub(crate) mod hidden;
#[cfg(feature = "runtime")]
pub(crate) mod join;
pub(crate) mod json;
#[cfg(feature = "runtime")]
pub(crate) mod media_type;
#[cfg(feature = "runtime")]
pub(crate) mod needle;
pub(crate) mod printable;
#[cfg(feature = "runtime")]
pub(crate) mod secret_names;
pub(crate) mod sha256;
#[cfg(feature = "runtime")]
#[cfg_attr(
    not(all(feature = "mcp", feature = "http")),
    allow(dead_code, reason = "only MCP takes up a stream again that was lost")
)]
pub(crate) mod sse;
#[cfg(feature = "runtime")]
pub(crate) mod sync;
#[cfg(feature = "runtime")]
pub(crate) mod time;
#[cfg(any(feature = "http", feature = "redis"))]
pub(crate) mod tls;
pub(crate) mod truncate;

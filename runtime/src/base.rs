//! The foundation: helpers independent of tools. Those that need no runtime are in `toolgen-core`.

#[allow(unused_imports, reason = "which of them are used depends on the features")]
pub(crate) use toolgen_core::internal::{canonical, const_text, frozen, json, printable, sha256, truncate};

#[cfg(test)]
#[path = "../core/src/base/cpu_time.rs"]
pub(crate) mod cpu_time;
#[cfg(feature = "runtime")]
pub(crate) mod data;
#[cfg(feature = "runtime")]
pub(crate) mod depth;
#[cfg(feature = "runtime")]
pub(crate) mod discreet;
#[cfg(feature = "runtime")]
pub(crate) mod exclusion;
#[cfg(feature = "runtime")]
pub(crate) mod future;
#[cfg(feature = "runtime")]
pub(crate) mod join;
#[cfg(any(feature = "mcp", feature = "mcp-server"))]
pub(crate) mod lines;
#[cfg(feature = "runtime")]
pub(crate) mod media_type;
#[cfg(feature = "runtime")]
pub(crate) mod needle;
#[cfg(feature = "runtime")]
pub(crate) mod panics;
#[cfg(any(feature = "audit", feature = "http", feature = "mcp"))]
pub(crate) mod private;
#[cfg(feature = "runtime")]
pub(crate) mod secret_names;
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

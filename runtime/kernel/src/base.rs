//! Helpers that do not depend on tools. The helpers that need no runtime are in `toolgen-core`.

#![allow(missing_debug_implementations, reason = "only for the crates of the workspace")]

pub use toolgen_core::internal::{canonical, const_text, frozen, json, printable, sha256, truncate};

pub mod data;
pub mod depth;
pub mod exclusive_lock;
pub mod future;
pub mod future_set;
pub mod lines;
pub mod media_type;
pub mod needle;
pub mod panics;
pub mod private;
pub mod redacted_debug;
pub mod secret_names;
pub mod sse;
pub mod sync;
pub mod time;
#[cfg(feature = "tls")]
pub mod tls;

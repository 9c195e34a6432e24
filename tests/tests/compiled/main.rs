//! What the build script compiled, beside what the compiler gives when it is asked now.

#![allow(unreachable_pub, reason = "what is generated is public, wherever it stands")]

mod equivalence;
mod formats;
mod locks;
mod manifest_arguments;
mod manifest_calls;
mod manifest_engines;
mod manifests;
mod mcp_locks;
mod systems;
mod tagged;
mod types;

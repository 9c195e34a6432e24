//! Executors, which run programs on this machine or in a container. The trait and its guards are in the kernel.

pub mod command;
#[cfg(feature = "process")]
mod programs;

pub use toolgen_kernel::engine::executor::*;

#[cfg(feature = "process")]
pub use programs::*;

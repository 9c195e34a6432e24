//! Executors that start programs on this machine or in a container.

mod capture;
mod container;
#[cfg(target_os = "linux")]
mod descriptors;
mod lines;
#[doc(hidden)]
pub mod local;
#[doc(hidden)]
pub mod process;
mod sandbox;

pub use container::ContainerExecutor;
pub use local::LocalExecutor;
pub use sandbox::Sandbox;

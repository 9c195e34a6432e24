//! What runs programs: on this machine, or in a container. The trait and its guards are in the kernel.

#[cfg(feature = "process")]
mod capture;
pub mod command;
#[cfg(feature = "process")]
mod container;
#[cfg(all(feature = "process", target_os = "linux"))]
mod descriptors;
#[cfg(feature = "process")]
mod lines;
#[cfg(feature = "process")]
#[doc(hidden)]
pub mod local;
#[cfg(feature = "process")]
#[doc(hidden)]
pub mod process;
#[cfg(feature = "process")]
mod sandbox;

pub use toolgen_kernel::engine::executor::*;

#[cfg(feature = "process")]
pub use container::ContainerExecutor;
#[cfg(feature = "process")]
pub use local::LocalExecutor;
#[cfg(feature = "process")]
pub use sandbox::Sandbox;

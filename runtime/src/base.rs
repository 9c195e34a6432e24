//! The foundation: helpers independent of tools.

#[cfg(feature = "runtime")]
pub(crate) mod data;
#[cfg(feature = "runtime")]
pub(crate) mod discreet;
#[cfg(feature = "runtime")]
pub(crate) mod exclusion;
pub(crate) mod frozen;
#[cfg(feature = "runtime")]
mod frozen_data;
#[cfg(feature = "runtime")]
pub(crate) mod future;
pub(crate) mod json;
#[cfg(feature = "runtime")]
pub(crate) mod sync;
#[cfg(feature = "runtime")]
pub(crate) mod time;
pub(crate) mod truncate;

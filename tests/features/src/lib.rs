//! An empty crate, for its dependencies. The runtime cannot depend on itself, because its unit tests would then link it
//! twice.

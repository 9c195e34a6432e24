//! Test helpers for shapes, and the runner of the test scripts.

pub(crate) mod arbitrary;
mod scripts;

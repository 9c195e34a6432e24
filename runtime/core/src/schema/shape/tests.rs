//! Helpers of the tests of shapes, and the runner of their scripts.

pub(crate) mod arbitrary;
mod scripts;

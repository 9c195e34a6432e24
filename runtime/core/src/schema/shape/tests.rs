//! What tests of shapes share, and the scripts beside them.

pub(crate) mod arbitrary;
mod scripts;

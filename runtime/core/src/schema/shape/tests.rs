//! What tests of shapes share.

pub(crate) mod arbitrary;

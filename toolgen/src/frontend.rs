//! The front ends: a kind of document each.

pub mod openapi;

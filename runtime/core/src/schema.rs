//! Schemas: the tree that says which values are arguments, and the dialects in which LLM providers read it.

pub mod dialect;
pub mod shape;

//! Schemas of arguments and results, and the dialects of JSON Schema that LLM providers accept.

pub mod dialect;
#[doc(hidden)]
pub mod shape;

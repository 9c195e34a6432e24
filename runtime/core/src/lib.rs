//! The definition of an LLM tool, as data. `toolgen-runtime` and its compiler share this crate, which needs no async
//! runtime.
//!
//! Programs use `toolgen-runtime`, which re-exports all items under the same paths.

#![cfg_attr(docsrs, feature(doc_cfg))]

/// Implements `Debug` with the output of `Display`: `unwrap`, and a `main` that returns an error, print it with
/// `{:?}`.
#[doc(hidden)]
#[macro_export]
macro_rules! __readable_debug {
    ($error:ty) => {
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
    };
}

mod base;
#[doc(hidden)]
pub mod internal;
pub mod schema;
pub mod spec;

pub use base::frozen::{Frozen, List, Text};
pub use base::invisible::InvisibleChar;
pub use base::printable::{printable, visible};
pub use schema::shape::{Def, Schema, Shape};
pub use spec::limits::EffectLimits;
pub use spec::plan::{ExecutionPlan, RequestPlan, Tool};
pub use spec::{Effects, ToolName, ToolSpec};

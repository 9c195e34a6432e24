//! The locks of shared state, in one module so that a model checker can replace them.
//!
//! In tests built with `--cfg toolgen_model` they are the locks of `loom`, which only work inside `loom::model`; the
//! tests in the `model` modules run that way (see `.ci/run`).

use std::sync::{LockResult, PoisonError};

#[cfg(all(test, toolgen_model))]
pub use loom::sync::{Mutex, RwLock};
#[cfg(not(all(test, toolgen_model)))]
pub use std::sync::{Mutex, RwLock};

/// Returns the guard of a lock, even after a holder panicked: the data is consistent after every statement.
pub fn unpoisoned<G>(locked: LockResult<G>) -> G {
    locked.unwrap_or_else(PoisonError::into_inner)
}

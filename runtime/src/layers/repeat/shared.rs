//! Failures that processes count together.

use std::fmt;
use std::time::Duration;

use crate::base::future::BoxFuture;
use crate::call::error::ToolError;

/// A call that failed several times in a row with the same error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCall {
    /// How often it failed.
    pub count: u32,
    /// The beginning of the error, which the model reads again.
    pub error: String,
}

/// Counts failures where other processes see them, in addition to the memory of this one, which alone is the default.
/// Set with [`ProviderBuilder::repeat_store`](crate::provider::ProviderBuilder::repeat_store).
///
/// `call` stands for the caller, the session, the tool and the arguments, and `error` for the text of an error: both are
/// digests, texts of 64 digits.
pub trait FailureStore: fmt::Debug + Send + Sync {
    /// Returns the failures of a call; `None` if its last run did not fail, or that is forgotten.
    ///
    /// # Errors
    ///
    /// If the store cannot tell. Then only the failures in this process count.
    fn failures<'a>(&'a self, call: &'a str) -> BoxFuture<'a, Result<Option<FailedCall>, ToolError>>;

    /// Counts a failure, starting again from one if the error differs from the last one. `shown` is the beginning of
    /// the error. It is remembered for this long.
    ///
    /// # Errors
    ///
    /// If it could not be counted.
    fn failed<'a>(
        &'a self,
        call: &'a str,
        error: &'a str,
        shown: &'a str,
        memory: Duration,
    ) -> BoxFuture<'a, Result<(), ToolError>>;

    /// Forgets the failures of a call, since it succeeded.
    ///
    /// # Errors
    ///
    /// If they could not be forgotten.
    fn succeeded<'a>(&'a self, call: &'a str) -> BoxFuture<'a, Result<(), ToolError>>;
}
